/** What a reader must know about a plan before its counts: names without answers, mail and name servers, and zones that change as a whole. */
import { compareText } from '../dns/compare-text.ts'
import { compareNames, type DomainName, isBelow, parentOf } from '../dns/domain-name.ts'
import { groupRrsets, type ResourceRecord, rrsetKey } from '../dns/record.ts'
import type { ExistingZone } from '../dns/zone.ts'
import type { RrsetCounts } from './compare-zones.ts'
import { type Change, finalRecords, type Impact, type LostAnswers, type NameAndType } from './plan.ts'

/** Record types whose loss no client sees by itself. */
const UNASKED: ReadonlySet<string> = new Set(['RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM', 'SOA'])

/** Types by which an address is found, in place of each other. */
const ADDRESS_TYPES = ['A', 'AAAA', 'CNAME', 'ALIAS'] as const

/** Null if there is nothing to say. A new zone has no impact: nobody asks its target for it yet. */
export function impactOf(existing: ExistingZone | null, changes: readonly Change[], rrsets: RrsetCounts): Impact | null {
  if (existing === null || changes.length === 0) return null
  const isDeleted = changes.some(({ subject, action }) => subject === 'domain' && action === 'delete')
  const before = groupRrsets(existing.records)
  const after = groupRrsets(isDeleted ? [] : finalRecords(existing.records, changes))
  const changed = [...before, ...after].flatMap(([key, records]) => (dataOf(before.get(key)) === dataOf(after.get(key)) ? [] : [records]))
  const touched = [...new Map(changed.map(([first]) => [rrsetKey(first as ResourceRecord), first as ResourceRecord])).values()]
  const nameservers = new Set([...before.values(), ...after.values()].flat().flatMap(({ type, data }) => (type === 'NS' ? [data] : [])))
  const impact: Impact = {
    stopsAnswering: lostAnswers(existing, before, isDeleted ? null : after),
    mail: namesOf(touched.filter((record) => isOfMail([...(before.get(rrsetKey(record)) ?? []), ...(after.get(rrsetKey(record)) ?? [])]))),
    nameservers: namesOf(touched.filter((record) => isOfNameServers(record, nameservers))),
    changesAll: isDeleted || (rrsets.existing > 1 && rrsets.removed.length + rrsets.changed.length === rrsets.existing),
  }
  return isEmptyImpact(impact) ? null : impact
}

export const isEmptyImpact = ({ stopsAnswering, mail, nameservers, changesAll }: Impact): boolean =>
  stopsAnswering.length + mail.length + nameservers.length === 0 && !changesAll

const dataOf = (records: readonly ResourceRecord[] = []): string =>
  records
    .map(({ data }) => data)
    .sort()
    .join('\n')

const namesOf = (records: readonly ResourceRecord[]): NameAndType[] =>
  records.map(({ name, type }) => ({ name, type })).sort((a, b) => compareNames(a.name, b.name) || compareText(a.type, b.type))

/** MX records, and the TXT records by which mail is accepted: SPF (RFC 7208), DKIM (RFC 6376), DMARC (RFC 7489), MTA-STS (RFC 8461), TLS reports (RFC 8460). */
function isOfMail(records: readonly ResourceRecord[]): boolean {
  const [first] = records
  if (first === undefined) return false
  if (first.type === 'MX' || first.type === 'SPF') return true
  if (first.type !== 'TXT' && first.type !== 'CNAME') return false
  if (/(?:^|\.)(?:_dmarc|_domainkey|_mta-sts|_smtp\._tls)\./.test(first.name)) return true
  return first.type === 'TXT' && records.some(({ data }) => /^"?v=spf1(?![^ "])/i.test(data))
}

/** NS and DS records, and addresses of the name servers that the zone names. */
const isOfNameServers = ({ name, type }: ResourceRecord, nameservers: ReadonlySet<string>): boolean =>
  type === 'NS' || type === 'DS' || ((type === 'A' || type === 'AAAA') && nameservers.has(name))

type Rrsets = ReadonlyMap<string, readonly ResourceRecord[]>

/** The RRsets that get no answer any more, by name. `after` is null if the zone is deleted. */
function lostAnswers(zone: ExistingZone, before: Rrsets, after: Rrsets | null): LostAnswers[] {
  const answers = after === null ? null : createAnswers(zone, after)
  const lost = new Map<DomainName, string[]>()
  for (const [key, [record]] of before) {
    if (record === undefined || after?.has(key) || UNASKED.has(record.type) || answers?.has(record)) continue
    const types = lost.get(record.name)
    if (types) types.push(record.type)
    else lost.set(record.name, [record.type])
  }
  return [...lost]
    .map(([name, types]): LostAnswers => ({ name, types: types.sort(compareText), isGone: answers === null || !answers.hasName(name) }))
    .sort((a, b) => compareNames(a.name, b.name))
}

/** Whether the records of a zone answer a name and type: by an alias, a wildcard (RFC 4592), a DNAME record or a delegation, too. */
function createAnswers(zone: ExistingZone, rrsets: Rrsets): { has(asked: NameAndType): boolean; hasName(name: DomainName): boolean } {
  const types = new Map<DomainName, Set<string>>()
  for (const { name, type } of [
    ...[...rrsets.values()].map(([first]) => first as ResourceRecord),
    ...(zone.unplanned ?? []).filter(({ holdsRrset }) => holdsRrset),
  ]) {
    const known = types.get(name)
    if (known) known.add(type)
    else types.set(name, new Set([type]))
  }
  /** All names that exist: those with records, and the empty ones above them. */
  const names = new Set<DomainName>([zone.name])
  for (const owner of types.keys()) for (let name = owner; !names.has(name); name = parentOf(name)) names.add(name)

  const holds = (name: DomainName, type: string): boolean => {
    const held = types.get(name)
    if (held === undefined) return false
    const isAddress = (ADDRESS_TYPES as readonly string[]).includes(type)
    return (
      held.has(type) ||
      held.has('CNAME') ||
      (type === 'CNAME' ? ADDRESS_TYPES.some((one) => held.has(one)) : isAddress && held.has('ALIAS'))
    )
  }
  /** Whether another zone answers, or a DNAME record. */
  const isElsewhere = (name: DomainName): boolean => {
    for (let above = parentOf(name); above !== zone.name; above = parentOf(above))
      if (types.get(above)?.has('NS') || types.get(above)?.has('DNAME')) return true
    return types.get(zone.name)?.has('DNAME') === true
  }
  const encloser = (name: DomainName): DomainName => {
    let above = parentOf(name)
    while (!names.has(above)) above = parentOf(above)
    return above
  }
  return {
    has: ({ name, type }) =>
      holds(name, type) ||
      (isBelow(name, zone.name) && (isElsewhere(name) || (!names.has(name) && holds(`*.${encloser(name)}` as DomainName, type)))),
    hasName: (name) => types.has(name),
  }
}
