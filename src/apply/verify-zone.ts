import type { Diagnostic } from '../dns/diagnostic.ts'
import { type DomainName, isAtOrBelow, parentOf } from '../dns/domain-name.ts'
import { groupRrsets, type ResourceRecord } from '../dns/record.ts'
import { finalRecords } from '../plan/plan.ts'
import type { AnswerDifference, NameServerVerification, ZoneVerification } from '../report/verification.ts'
import type { HostPolicy } from '../transport/allowed-hosts.ts'
import { refusedServer } from '../transport/allowed-hosts.ts'
import { createDnsClient, type DnsAnswer } from '../transport/dns-client.ts'
import { type DnsServer, isDnsFailure } from '../transport/dns-exchange.ts'
import type { PlannedZone } from './plan-zones.ts'
import { DEFAULT_ZONE_TTL } from './rendered-state.ts'

/**
 * Compares a planned zone with its rendered file and with the answers of the servers for every record set. A server that the policy refuses is an error and
 * is not asked, since the NS records of a zone can name any host.
 */
export async function verifyZone(planned: PlannedZone, given: readonly AskedServer[], policy: HostPolicy): Promise<ZoneVerification> {
  const { plan, rendered, existing } = planned
  const disabled = existing?.settings.status === 'disabled'
  const { sets, hidden } = expectedSets(planned)
  const what = `${plan.zone} at ${plan.target}`
  const judged = (existing === null || disabled ? [] : given).map((asked) => ({
    asked,
    refusal: refusedServer(policy, what, asked.server, planned.job.desired.at),
  }))
  const servers = judged.flatMap(({ asked, refusal }) => (refusal === null ? [asked] : []))
  const nameServers = await Promise.all(servers.map((server) => askServer(server, sets)))
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
      ...judged.flatMap(({ refusal }) => refusal ?? []),
      ...nameServers.flatMap((server, index) => failureOf(server, servers[index]?.role, planned)),
    ],
  }
}

/** Warns of a disabled zone, which no server answers for, unless the definition disables it. */
function unservedWarning({ plan, job }: PlannedZone): Diagnostic[] {
  if (job.desired.settings.status === 'disabled') return []
  const message = `${plan.zone} is disabled at ${plan.target}: no name server was asked, since none answers for it`
  return [{ severity: 'warning', code: 'zone-disabled', message, at: job.desired.at, hint: 'set "status: active" or "status: disabled"' }]
}

/** A server that cannot be asked is an error, not a difference. */
function failureOf(
  { server, failure }: NameServerVerification,
  role: AskedServer['role'] | undefined,
  { plan, job }: PlannedZone,
): Diagnostic[] {
  if (failure === null) return []
  const what = role === 'resolver' ? 'resolver' : 'name server'
  const message = `${plan.zone} at ${plan.target}: the ${what} ${server} could not be asked: ${failure}`
  const hint = 'name the servers to ask with --nameserver or "nameservers" in the config, or ask none with --no-dns'
  return [{ severity: 'error', code: 'nameserver-failed', message, at: job.desired.at, hint: role === 'resolver' ? undefined : hint }]
}

/** The answer that a server should give for a record set. */
export interface ExpectedSet {
  readonly name: DomainName
  readonly type: string
  /** `TTL data` lines, sorted. */
  readonly lines: readonly string[]
  /** Every TTL of the records. A server has to choose one of them for all (RFC 2181 section 5.2). */
  readonly ttls: ReadonlySet<number>
  /** Whether this is a delegation: the records are in the authority section, without authority (RFC 1034 section 4.3.2). */
  readonly referral: boolean
}

/** The answers that servers should give for a zone, and the record sets that delegations hide. */
function expectedSets({ plan, existing, rendered }: PlannedZone): { sets: ExpectedSet[]; hidden: ZoneVerification['hidden'] } {
  const zoneTtl = existing?.settings.ttl_sec || DEFAULT_ZONE_TTL
  const records = finalRecords(existing?.records ?? [], plan.changes)
  const cuts = new Set(records.filter((record) => record.type === 'NS' && record.name !== plan.zone).map((record) => record.name))
  const sets: ExpectedSet[] = []
  const hidden: { name: DomainName; type: string }[] = []
  for (const set of groupRrsets(records).values()) {
    const { name, type } = set[0] as ResourceRecord
    // The records do not include the provider's own apex NS records.
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

/** The highest delegation at or above a name; null without one. */
function cutAbove(name: DomainName, zone: DomainName, cuts: ReadonlySet<DomainName>): DomainName | null {
  if (cuts.size === 0) return null
  let highest: DomainName | null = null
  for (let at = name; at !== zone && isAtOrBelow(at, zone); at = parentOf(at)) if (cuts.has(at)) highest = at
  return highest
}

/** Differences reported per server. */
const MAX_DIFFERENCES = 100

/** Unanswered queries after which a server is not asked any more. */
const MAX_UNANSWERED = 3

/** A server to ask: an authoritative one, or a resolver. */
export interface AskedServer {
  readonly server: DnsServer
  readonly role: 'authoritative' | 'resolver'
}

/** Compares the answers of one server with the expected ones. A resolver is not asked about delegations, since it answers from the child zone. */
export async function askServer({ server, role }: AskedServer, all: readonly ExpectedSet[]): Promise<NameServerVerification> {
  const resolves = role === 'resolver'
  const sets = resolves ? all.filter((set) => !set.referral) : all
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
          const answer = await client.query({ name: set.name, type: set.type, recursion: resolves })
          if (set.referral && answer.authoritative && answer.answers.length > 0) {
            covered.push(set.name)
            return
          }
          const difference = resolves ? compareResolved(set, answer) : compareAnswer(set, answer)
          if (difference === null) agreed += 1
          else if (differences.length < MAX_DIFFERENCES) differences.push(difference)
        } catch (error) {
          if (!isDnsFailure(error)) throw error
          unanswered += 1
          if (unanswered >= MAX_UNANSWERED || unanswered === sets.length) {
            failure ??= error.message
            // Each of the other queries, possibly thousands, would wait as long.
            client.close()
          } else differences.push({ name: set.name, type: set.type, expected: set.lines, answered: [], note: error.message })
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

/** The cached answer of a resolver has a reduced TTL and may be out of date. */
function compareResolved({ name, type, ttls, lines }: ExpectedSet, { rcode, answers }: DnsAnswer): AnswerDifference | null {
  const section = answers.filter((record) => record.name === name && record.type === type)
  const lineOf = new Map(lines.map((line) => [line.slice(line.indexOf(' ') + 1), line]))
  const answered = section.map(({ ttl, data }) => lineOf.get(data) ?? `${ttl} ${data}`).sort()
  const difference = (note?: string): AnswerDifference => ({ name, type, expected: lines, answered, note })
  if (rcode !== 'NOERROR') return difference(`the resolver says ${rcode}`)
  if (section.length === 0) return difference('the resolver has no such records')
  const wanted = [...lineOf.keys()].sort()
  const found = [...new Set(section.map(({ data }) => data))].sort()
  const longest = Math.max(...section.map(({ ttl }) => ttl ?? 0))
  if (JSON.stringify(found) !== JSON.stringify(wanted)) return difference(`the resolver keeps its answer for ${longest} s more`)
  if (longest > Math.max(...ttls)) return difference('the resolver has a longer TTL')
  return null
}
