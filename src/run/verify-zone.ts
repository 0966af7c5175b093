/** Compares one zone with its rendered file and with the answers of name servers and resolvers. */
import type { Diagnostic } from '../base/diagnostic.ts'
import { listed } from '../base/english.ts'
import { type DomainName, isAtOrBelow, parentOf } from '../dns/domain-name.ts'
import { compareRecords, groupRrsets, type ResourceRecord } from '../dns/record.ts'
import { typeCode } from '../dns/record-type.ts'
import { formatServerAddress } from '../dns/server-address.ts'
import { unmanagedTest } from '../dns/unmanaged.ts'
import { finalRecords } from '../plan/plan.ts'
import type { AnswerDifference, NameServerVerification, ZoneVerification } from '../report/verification.ts'
import type { HostPolicy } from '../transport/allowed-hosts.ts'
import { ALLOWED_HOSTS, refusedServer } from '../transport/allowed-hosts.ts'
import { createDnsClient, type DnsAnswer } from '../transport/dns-client.ts'
import { type DnsServer, isDnsFailure } from '../transport/dns-exchange.ts'
import type { PlannedJob } from './plan/plan-zones.ts'
import { DEFAULT_ZONE_TTL } from './read/rendered-state.ts'

/**
 * Compares a planned zone with its rendered file, and with the answers of servers for every RRset. Servers that the policy refuses are not queried, which is a
 * notice: NS records name them, since those of the config and the command line have been checked before. Unknown servers are a warning. A zone that does not
 * exist or is disabled is not served, so no server is queried.
 */
export async function verifyZone(
  planned: PlannedJob,
  candidates: readonly QueriedServer[] | 'unknown',
  policy: HostPolicy,
): Promise<ZoneVerification> {
  const { plan, rendered, existing } = planned
  const disabled = existing?.settings.status === 'disabled'
  const isServed = existing !== null && !disabled
  const { rrsets, hidden } = expectedRrsets(planned)
  const isUnknown = candidates === 'unknown'
  const found = isServed && !isUnknown ? candidates : []
  const refused = found.filter(({ server }) => refusedServer(policy, plan.zone, server) !== null)
  const servers = found.filter((one) => !refused.includes(one))
  const results = await Promise.all(servers.map(async (queried) => ({ role: queried.role, result: await queryServer(queried, rrsets) })))
  return {
    zone: plan.zone,
    target: plan.target,
    owner: plan.owner,
    pending: plan.changes.length,
    isRemoved: planned.job.isRemoved,
    rendered: rendered.state,
    renderedDifferences: rendered.differences,
    nameServers: results.map(({ result }) => result),
    hidden,
    unmanaged: unmanagedRrsets(planned),
    diagnostics: [
      // Nothing is to be changed here.
      ...plan.diagnostics.filter(({ code }) => code !== 'zone-read-only'),
      ...(disabled ? disabledZoneWarning(planned) : []),
      ...(isServed && isUnknown ? [unknownServersWarning(planned)] : []),
      ...(refused.length > 0 ? [skippedServersNotice(planned, refused)] : []),
      ...results.flatMap(({ role, result }) => failureDiagnostic(result, role, planned)),
    ],
  }
}

/** The live RRsets in which a selector leaves records to other clients. */
function unmanagedRrsets({ existing, job: { desired } }: PlannedJob): NonNullable<ZoneVerification['unmanaged']> {
  const isUnmanaged = unmanagedTest(desired.unmanaged, desired.name, { live: [existing], declared: desired.records })
  const sets = groupRrsets((existing?.records ?? []).filter(isUnmanaged).sort(compareRecords))
  return [...sets.values()].flatMap(([first]) => (first === undefined ? [] : [{ name: first.name, type: first.type }]))
}

/** A warning if the zone is disabled at the provider but not by its definition. Name servers do not answer for a disabled zone. */
function disabledZoneWarning({ plan, job }: PlannedJob): Diagnostic[] {
  if (job.desired.settings.status === 'disabled') return []
  const message = `${plan.zone} is disabled at ${plan.target}, so name servers do not answer for it and none was queried`
  const hint = 'in the definition, set "status: active" to serve the zone again, or "status: disabled" to keep it disabled'
  return [{ severity: 'warning', code: 'zone-disabled', message, at: job.desired.at, hint }]
}

/** A warning that no server was queried, since neither the options nor the config nor the NS records of the zone name one. */
const unknownServersWarning = ({ plan, job }: PlannedJob): Diagnostic => ({
  severity: 'warning',
  code: 'nameservers-unknown',
  message: `${plan.zone} at ${plan.target}: no name server is known, so none was queried`,
  at: job.desired.at,
  hint: 'name the servers to query with --nameserver or "nameservers" in the config, or query none with --no-dns',
})

/** A notice that servers were not queried, since the environment does not allow them. */
function skippedServersNotice({ plan, job }: PlannedJob, refused: readonly QueriedServer[]): Diagnostic {
  const servers = listed(
    refused.map(({ server }) => formatServerAddress(server)),
    5,
  )
  const message = `not queried, since ${ALLOWED_HOSTS} does not have the name servers in the NS records`
  return {
    severity: 'notice',
    code: 'nameservers-skipped',
    message: `${plan.zone} at ${plan.target}: ${message}: ${servers}`,
    at: job.desired.at,
    hint: 'add them to the variable to compare their answers as well, or query none with --no-dns',
    cause: { subject: 'zone', message },
  }
}

/** An error for a server that cannot be queried. */
function failureDiagnostic(
  { server, failure }: NameServerVerification,
  role: QueriedServer['role'],
  { plan, job }: PlannedJob,
): Diagnostic[] {
  if (failure === null) return []
  const what = role === 'resolver' ? 'resolver' : 'name server'
  const message = `${plan.zone} at ${plan.target}: the ${what} ${server} could not be queried: ${failure}`
  const hint =
    role === 'resolver'
      ? 'run verify without --resolvers, or repeat it later'
      : 'name the servers to query with --nameserver or "nameservers" in the config, or query none with --no-dns'
  return [{ severity: 'error', code: 'nameserver-failed', message, at: job.desired.at, hint }]
}

/** The answer that a server should give for an RRset. */
export interface ExpectedRrset {
  readonly name: DomainName
  readonly type: string
  /** `TTL DATA` of each record, sorted. All have the lowest of `ttls`; answers are normalised in the same way. */
  readonly lines: readonly string[]
  /** Every TTL of the records. A server has to choose one of them for all (RFC 2181 section 5.2). */
  readonly ttls: ReadonlySet<number>
  /** Whether this is a delegation: the records are in the authority section of a non-authoritative answer (RFC 1034 section 4.3.2). */
  readonly referral: boolean
}

/** The answers that servers should give for a zone, and the RRsets that delegations hide. */
function expectedRrsets({ plan, existing, rendered }: PlannedJob): { rrsets: ExpectedRrset[]; hidden: ZoneVerification['hidden'] } {
  const zoneTtl = existing?.settings.ttl_sec || DEFAULT_ZONE_TTL
  const records = finalRecords(existing?.records ?? [], plan.changes)
  /** The apex NS records that only the rendered file has are part of the served RRset. */
  const addedApexNs = (rendered.providerApexNs ?? []).map((data) => ({ data, ttl: null }))
  const cuts = new Set(records.filter((record) => record.type === 'NS' && record.name !== plan.zone).map((record) => record.name))
  const rrsets: ExpectedRrset[] = []
  const hidden: { name: DomainName; type: string }[] = []
  for (const set of groupRrsets(records).values()) {
    const { name, type } = set[0] as ResourceRecord
    // No query can ask for a type that has no number.
    if (typeCode(type) === null) continue
    const isApex = type === 'NS' && name === plan.zone
    // Without a rendered file, the NS records that the provider adds at the apex are unknown, so the answer cannot be predicted.
    if (isApex && rendered.providerApexNs === null) continue
    const cut = delegationOf(name, plan.zone, cuts)
    const referral = cut === name && type === 'NS'
    if (cut !== null && !referral) {
      hidden.push({ name, type })
      continue
    }
    const served = isApex ? [...set, ...addedApexNs] : set
    const ttls = new Set(served.map((record) => record.ttl ?? zoneTtl))
    const lowest = Math.min(...ttls)
    const lines = served.map((record) => `${lowest} ${record.data}`)
    rrsets.push({ name, type, lines: [...new Set(lines)].sort(), ttls, referral })
  }
  return { rrsets, hidden }
}

/** The topmost delegation that a name is at or below; null if there is none. */
function delegationOf(name: DomainName, zone: DomainName, cuts: ReadonlySet<DomainName>): DomainName | null {
  if (cuts.size === 0) return null
  let highest: DomainName | null = null
  for (let at = name; at !== zone && isAtOrBelow(at, zone); at = parentOf(at)) if (cuts.has(at)) highest = at
  return highest
}

/** Maximum differences reported per server. */
const MAX_DIFFERENCES = 100

/** Unanswered queries after which a server is not queried any more. */
const MAX_UNANSWERED = 3

/** A server to query: an authoritative one, or a resolver. */
export interface QueriedServer {
  readonly server: DnsServer
  readonly role: 'authoritative' | 'resolver'
}

/** Compares the answers of one server with the expected ones. A resolver is not queried for delegations, since it answers from the child zone. */
export async function queryServer({ server, role }: QueriedServer, all: readonly ExpectedRrset[]): Promise<NameServerVerification> {
  const resolves = role === 'resolver'
  const sets = resolves ? all.filter((set) => !set.referral) : all
  const client = createDnsClient(server)
  const differences: AnswerDifference[] = []
  const answeredByChild: DomainName[] = []
  let agreed = 0
  let unanswered = 0
  let failure: string | null = null
  try {
    await Promise.all(
      sets.map(async (set) => {
        if (failure !== null) return
        try {
          const answer = await client.query({ name: set.name, type: set.type, recursion: resolves })
          // This server also serves the child zone, so it answers from that zone instead of referring to it.
          if (set.referral && answer.authoritative && answer.answers.length > 0) {
            answeredByChild.push(set.name)
            return
          }
          const difference = resolves ? compareResolved(set, answer) : compareAnswer(set, answer)
          if (difference === null) agreed += 1
          else if (differences.length < MAX_DIFFERENCES) differences.push(difference)
        } catch (error) {
          if (!isDnsFailure(error)) throw error
          unanswered += 1
          // Otherwise each of the remaining queries, possibly thousands, would wait for its timeout.
          if (unanswered >= MAX_UNANSWERED || unanswered === sets.length) {
            failure ??= error.message
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
    server: formatServerAddress(server),
    asked: sets.length - answeredByChild.length,
    agreed,
    differences,
    covered: answeredByChild.sort(),
    failure,
  }
}

function compareAnswer(set: ExpectedRrset, answer: DnsAnswer): AnswerDifference | null {
  const { name, type, referral, ttls } = set
  const section = (referral ? answer.authorities : answer.answers).filter((record) => record.name === name && record.type === type)
  const answered = section.map((record) => `${record.ttl} ${record.data}`).sort()
  const difference = (note?: string): AnswerDifference => ({ name, type, expected: set.lines, answered, note })
  if (answer.rcode !== 'NOERROR') return difference(`the server answered ${answer.rcode}`)
  if (!referral && !answer.authoritative) return difference('the answer is not authoritative')
  const lowest = Math.min(...ttls)
  const comparable = section.map((record) => `${record.ttl !== null && ttls.has(record.ttl) ? lowest : record.ttl} ${record.data}`).sort()
  return JSON.stringify(comparable) === JSON.stringify(set.lines) ? null : difference()
}

/**
 * Compares the answer of a resolver by data only, since the TTL in its cache is lower than that of the record. Equal data is reported with the expected
 * TTL, so that the report shows only differences.
 */
function compareResolved({ name, type, ttls, lines }: ExpectedRrset, { rcode, answers }: DnsAnswer): AnswerDifference | null {
  const section = answers.filter((record) => record.name === name && record.type === type)
  const lineOf = new Map(lines.map((line) => [line.slice(line.indexOf(' ') + 1), line]))
  const answered = section.map(({ ttl, data }) => lineOf.get(data) ?? `${ttl} ${data}`).sort()
  const difference = (note?: string): AnswerDifference => ({ name, type, expected: lines, answered, note })
  if (rcode !== 'NOERROR') return difference(`the resolver answered ${rcode}`)
  if (section.length === 0) return difference('the answer of the resolver is empty')
  const wanted = [...lineOf.keys()].sort()
  const found = [...new Set(section.map(({ data }) => data))].sort()
  const longest = Math.max(...section.map(({ ttl }) => ttl ?? 0))
  if (JSON.stringify(found) !== JSON.stringify(wanted))
    return difference(`the resolver has another answer in its cache, for up to ${longest} s`)
  if (longest > Math.max(...ttls)) return difference(`the TTL of ${longest} s is longer than that of the record`)
  return null
}
