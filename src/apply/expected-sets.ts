import { type DomainName, isAtOrBelow, parentOf } from '../dns/domain-name.ts'
import { groupRrsets, type ResourceRecord } from '../dns/record.ts'
import { finalRecords } from '../plan/plan.ts'
import type { ZoneVerification } from '../report/verification.ts'
import type { PlannedZone } from './plan-zones.ts'

/** Seconds of TTL that records without one of their own get in a zone without one (interface, Domain: 0 means the default). */
const DEFAULT_TTL = 86_400

/** A record set as a server should answer it. */
export interface ExpectedSet {
  readonly name: DomainName
  readonly type: string
  /** `TTL data` lines, sorted. */
  readonly lines: readonly string[]
  /** Every TTL of the records. Of several a server has to choose one for all of them (RFC 2181 section 5.2), and which one is its affair. */
  readonly ttls: ReadonlySet<number>
  /** The server refers to another zone here: the records are in the authority section, without authority (RFC 1034 section 4.3.2). */
  readonly referral: boolean
}

/** What servers should answer for a zone, and what none answers with: what is below delegations. */
export function expectedSets({ plan, existing, rendered }: PlannedZone): { sets: ExpectedSet[]; hidden: ZoneVerification['hidden'] } {
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
