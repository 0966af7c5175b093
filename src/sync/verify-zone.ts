import type { Diagnostic } from '../model/diagnostic.ts'
import { type DomainName, isAtOrBelow, parentOf } from '../model/domain-name.ts'
import { groupRrsets, type ResourceRecord } from '../model/record.ts'
import { finalRecords } from '../plan/final-state.ts'
import type { AnswerDifference, NameServerVerification, ZoneVerification } from '../plan/verification.ts'
import { createDnsClient, type DnsAnswer, type DnsClient } from '../transport/dns-client.ts'
import { isDnsFailure } from '../transport/dns-client-failure.ts'
import type { DnsServer } from '../transport/dns-client-server.ts'
import type { PlannedZone } from './plan-zones.ts'

/** Seconds of TTL that records without one of their own get in a zone without one (interface, Domain: 0 means the default). */
const DEFAULT_TTL = 86_400

/** Differences kept for a report. */
const MAX_DIFFERENCES = 100

/** Unanswered questions after which a server is given up. */
const MAX_UNANSWERED = 3

/** A record set as a server should answer it. */
interface ExpectedSet {
  readonly name: DomainName
  readonly type: string
  /** `TTL data` lines, sorted. */
  readonly lines: readonly string[]
  /** Every TTL of the records. Of several a server has to choose one for all of them (RFC 2181 section 5.2), and which one is its affair. */
  readonly ttls: ReadonlySet<number>
  /** The server refers to another zone here: the records are in the authority section, without authority (RFC 1034 section 4.3.2). */
  readonly referral: boolean
}

/** Holds a planned zone against its rendered file, and against the answers of the given name servers to every record set. */
export async function verifyZone(planned: PlannedZone, servers: readonly DnsServer[]): Promise<ZoneVerification> {
  const { plan, rendered, existing } = planned
  const disabled = existing?.settings.status === 'disabled'
  const { sets, hidden } = expectedSets(planned)
  const nameServers = existing === null || disabled ? [] : await Promise.all(servers.map((server) => askServer(server, sets)))
  return {
    zone: plan.zone,
    target: plan.target,
    pending: plan.changes.length,
    rendered: rendered.state,
    renderedDifferences: rendered.differences,
    nameServers,
    hidden,
    diagnostics: [
      ...plan.diagnostics,
      ...(disabled ? unservedWarning(planned) : []),
      ...nameServers.flatMap((server) => failureOf(server, planned)),
    ],
  }
}

/** Nobody answers for a disabled zone, which a definition that does not say so hardly means. */
function unservedWarning({ plan, job }: PlannedZone): Diagnostic[] {
  if (job.desired.settings.status === 'disabled') return []
  const message = `${plan.zone} is disabled at ${plan.target}: no name server was asked, since none answers for it`
  return [{ severity: 'warning', code: 'zone-disabled', message, at: job.desired.at, hint: 'set "status: active" or "status: disabled"' }]
}

/** A server that could not be asked tells nothing about the zone: that is a failure, not a difference. */
function failureOf({ server, failure }: NameServerVerification, { plan, job }: PlannedZone): Diagnostic[] {
  if (failure === null) return []
  return [
    {
      severity: 'error',
      code: 'nameserver-failed',
      message: `${plan.zone} at ${plan.target}: the name server ${server} could not be asked: ${failure}`,
      at: job.desired.at,
      hint: 'name the servers to ask with --nameserver or "nameservers" in the config, or ask none with --no-dns',
    },
  ]
}

function expectedSets({ plan, existing, rendered }: PlannedZone): { sets: ExpectedSet[]; hidden: ZoneVerification['hidden'] } {
  const zoneTtl = existing?.settings.ttl_sec || DEFAULT_TTL
  const records = finalRecords(existing?.records ?? [], plan.changes)
  const cuts = new Set(records.filter((record) => record.type === 'NS' && record.name !== plan.zone).map((record) => record.name))
  const sets: ExpectedSet[] = []
  const hidden: { name: DomainName; type: string }[] = []
  for (const set of groupRrsets(records).values()) {
    const { name, type } = set[0] as ResourceRecord
    // What the provider serves at the apex by itself is not among the records.
    if (type === 'NS' && name === plan.zone && rendered.servedApexNs === null) continue
    const cut = cutAbove(name, plan.zone, cuts)
    const referral = cut === name && type === 'NS'
    if (cut !== null && !referral) {
      hidden.push({ name, type })
      continue
    }
    const served = type === 'NS' && name === plan.zone ? (rendered.servedApexNs ?? []).map((data) => ({ data, ttl: null })) : []
    const ttls = new Set([...set, ...served].map((record) => record.ttl ?? zoneTtl))
    const lowest = Math.min(...ttls)
    const lines = [...set, ...served].map((record) => `${lowest} ${record.data}`)
    sets.push({ name, type, lines: [...new Set(lines)].sort(), ttls, referral })
  }
  return { sets, hidden }
}

/** The highest delegation at or above a name; null where there is none. */
function cutAbove(name: DomainName, zone: DomainName, cuts: ReadonlySet<DomainName>): DomainName | null {
  if (cuts.size === 0) return null
  let highest: DomainName | null = null
  for (let at = name; at !== zone && isAtOrBelow(at, zone); at = parentOf(at)) if (cuts.has(at)) highest = at
  return highest
}

async function askServer(server: DnsServer, sets: readonly ExpectedSet[]): Promise<NameServerVerification> {
  const client = createDnsClient(server)
  const differences: AnswerDifference[] = []
  const covered: DomainName[] = []
  let agreed = 0
  let unanswered = 0
  let failure: string | null = null
  try {
    await Promise.all(
      sets.map(async (set) => {
        if (failure !== null) return
        try {
          const answer = await ask(client, set)
          if (set.referral && answer.authoritative && answer.answers.length > 0) {
            covered.push(set.name)
            return
          }
          const difference = compareAnswer(set, answer)
          if (difference === null) agreed += 1
          else if (differences.length < MAX_DIFFERENCES) differences.push(difference)
        } catch (error) {
          if (!isDnsFailure(error)) throw error
          unanswered += 1
          if (unanswered >= MAX_UNANSWERED || unanswered === sets.length) failure ??= error.message
          else differences.push({ name: set.name, type: set.type, expected: set.lines, answered: [], note: error.message })
        }
      }),
    )
  } finally {
    client.close()
  }
  differences.sort((a, b) => (`${a.name} ${a.type}` < `${b.name} ${b.type}` ? -1 : 1))
  return {
    server: server.host.includes(':') ? `[${server.host}]:${server.port}` : `${server.host}:${server.port}`,
    asked: sets.length - covered.length,
    agreed,
    differences,
    covered: covered.sort(),
    failure,
  }
}

const ask = (client: DnsClient, { name, type }: ExpectedSet): Promise<DnsAnswer> => client.query({ name, type })

function compareAnswer(set: ExpectedSet, answer: DnsAnswer): AnswerDifference | null {
  const { name, type, referral, ttls } = set
  const section = (referral ? answer.authorities : answer.answers).filter((record) => record.name === name && record.type === type)
  const answered = section.map((record) => `${record.ttl} ${record.data}`).sort()
  const difference = (note?: string): AnswerDifference => ({ name, type, expected: set.lines, answered, note })
  if (answer.rcode !== 'NOERROR') return difference(`the server says ${answer.rcode}`)
  if (!referral && !answer.authoritative) return difference('the server answers without authority')
  const lowest = Math.min(...ttls)
  const comparable = section.map((record) => `${record.ttl !== null && ttls.has(record.ttl) ? lowest : record.ttl} ${record.data}`).sort()
  return JSON.stringify(comparable) === JSON.stringify(set.lines) ? null : difference()
}
