/** What a reader must know about a plan before its counts: names without answers, mail and name servers, and zones that change as a whole. */
import { compareText } from '../base/text.ts'
import { compareNames, type DomainName } from '../dns/domain-name.ts'
import { targetName } from '../dns/rdata/canonical.ts'
import { groupRrsets, type ResourceRecord, rrsetKey } from '../dns/record.ts'
import type { ExistingZone } from '../dns/zone.ts'
import { type Answers, createAnswers } from './answers.ts'
import type { RrsetCounts } from './compare-zones.ts'
import { type Change, finalRecords, type Impact, type LostAnswers, type NameAndType } from './plan.ts'

/** Record types whose loss no client sees by itself. */
const UNASKED: ReadonlySet<string> = new Set(['RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM', 'SOA'])

/** Null if there is nothing to say. A new zone has no impact: nobody asks its target for it yet. */
export function impactOf(existing: ExistingZone | null, changes: readonly Change[], rrsets: RrsetCounts): Impact | null {
  if (existing === null || changes.length === 0) return null
  const isDeleted = changes.some(({ subject, action }) => subject === 'domain' && action === 'delete')
  const before = groupRrsets(existing.records)
  const after = groupRrsets(isDeleted ? [] : finalRecords(existing.records, changes))
  const changed = [...before, ...after].flatMap(([key, records]) => (dataOf(before.get(key)) === dataOf(after.get(key)) ? [] : [records]))
  const touched = [...new Map(changed.map(([first]) => [rrsetKey(first as ResourceRecord), first as ResourceRecord])).values()]
  const targetsOf = (wanted: string): Set<string | null> =>
    new Set([...before.values(), ...after.values()].flat().flatMap(({ type, data }) => (type === wanted ? [targetName(type, data)] : [])))
  const [nameservers, mailHosts] = [targetsOf('NS'), targetsOf('MX')]
  const impact: Impact = {
    stopsAnswering: touched.length === 0 ? [] : lostAnswers(existing, before, isDeleted ? null : after),
    mail: namesOf(
      touched.filter(
        (record) =>
          isAddressOf(mailHosts, record) || isOfMail([...(before.get(rrsetKey(record)) ?? []), ...(after.get(rrsetKey(record)) ?? [])]),
      ),
    ),
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

/** MX and SPF records, keys of mail servers (DANE, RFC 7672), and the TXT records by which mail is accepted: SPF (RFC 7208), DKIM (RFC 6376), DMARC (RFC 7489), MTA-STS (RFC 8461), TLS reports (RFC 8460). */
function isOfMail(records: readonly ResourceRecord[]): boolean {
  const [first] = records
  if (first === undefined) return false
  if (first.type === 'MX' || first.type === 'SPF' || (first.type === 'TLSA' && first.name.startsWith('_25._tcp.'))) return true
  if (first.type !== 'TXT' && first.type !== 'CNAME') return false
  if (/(?:^|\.)(?:_dmarc|_domainkey|_mta-sts|_smtp\._tls)\./.test(first.name)) return true
  return first.type === 'TXT' && records.some(({ data }) => /^"?v=spf1(?![^ "])/i.test(data))
}

/** NS and DS records, and addresses of the name servers that the zone names. */
const isOfNameServers = (record: ResourceRecord, nameservers: ReadonlySet<string | null>): boolean =>
  record.type === 'NS' || record.type === 'DS' || isAddressOf(nameservers, record)

/** Whether a record has the address of one of the hosts. */
const isAddressOf = (hosts: ReadonlySet<string | null>, { name, type }: ResourceRecord): boolean =>
  (type === 'A' || type === 'AAAA') && hosts.has(name)

type Rrsets = ReadonlyMap<string, readonly ResourceRecord[]>

/** The RRsets that get no answer any more, by name, and the types that aliases of the zone no longer lead to. `after` is null if the zone is deleted. */
function lostAnswers(zone: ExistingZone, before: Rrsets, after: Rrsets | null): LostAnswers[] {
  const answers = after === null ? null : createAnswers(zone, [...after.values()].flat())
  const lost = new Map<DomainName, Set<string>>()
  const lose = (name: DomainName, type: string): void => {
    const types = lost.get(name)
    if (types) types.add(type)
    else lost.set(name, new Set([type]))
  }
  for (const [key, [record]] of before) {
    if (record === undefined || after?.has(key) || UNASKED.has(record.type) || answers?.has(record)) continue
    lose(record.name, record.type)
  }
  if (after !== null && answers !== null) for (const { name, type } of lostByAliases(zone, before, after, answers)) lose(name, type)
  return [...lost]
    .map(
      ([name, types]): LostAnswers => ({ name, types: [...types].sort(compareText), isGone: answers === null || !answers.hasName(name) }),
    )
    .sort((a, b) => compareNames(a.name, b.name))
}

/** The types that existing names answered by an alias, and do not answer by the alias that they keep or get: `CNAME` if they are unknown. Nobody asks an alias for name servers. */
function lostByAliases(zone: ExistingZone, before: Rrsets, after: Rrsets, answers: Answers): NameAndType[] {
  const aliases = [...after.values()].flatMap(([first]) => (first?.type === 'CNAME' || first?.type === 'ALIAS' ? [first] : []))
  if (aliases.length === 0) return []
  const former = createAnswers(zone, [...before.values()].flat())
  return aliases.flatMap(({ name, type: alias }) => {
    if (!former.hasName(name)) return []
    const types = former.typesOf(name)
    const now = answers.typesOf(name)
    if (types === null) return now?.size === 0 ? [{ name, type: alias }] : []
    if (now === null) return []
    return [...types].flatMap((type) => (UNASKED.has(type) || type === 'NS' || now.has(type) ? [] : [{ name, type }]))
  })
}
