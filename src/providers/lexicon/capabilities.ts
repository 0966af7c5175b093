/** What a service of dns-lexicon supports, and its records in the terms of plans. */
import { MAX_STRING_OCTETS } from '../../dns/character-string.ts'
import { type DomainName, isAtOrBelow, parseAbsoluteName, relativeName } from '../../dns/domain-name.ts'
import { targetName } from '../../dns/rdata/canonical.ts'
import { type ExistingRecord, isApexNs, type ResourceRecord } from '../../dns/record.ts'
import type { Ttl } from '../../dns/ttl.ts'
import type { UnplannedRecord } from '../../dns/zone.ts'
import { type Capabilities, RRSET_STORE } from '../../plan/capabilities.ts'
import { lenientRdata, unquoted } from '../api-records.ts'
import type { ZoneSnapshot } from '../provider.ts'
import { isPrintable, joinedTexts, plainOwners, plainTargets, refuseIf, texts, ttlRange } from '../record-rules.ts'
import type { LexiconService } from './services.ts'

const LEXICON = 'dns-lexicon'

export function lexiconCapabilities(service: LexiconService): Capabilities {
  return {
    ...RRSET_STORE,
    calls: { ...RRSET_STORE.calls, unit: 'record', maxUnits: 1, atomic: false, oneAtATime: true, movesRecords: false },
    onlyCreates: service.onlyCreates,
    types: new Set(service.types.split(' ')),
    servesApexNs: true,
    rules: [
      ...(service.ttls === undefined ? [] : [ttlRange(...service.ttls)]),
      joinedTexts,
      texts(LEXICON, (octets) => textProblem(octets, service)),
      plainOwners(LEXICON),
      plainTargets(LEXICON, []),
      refuseIf((record, zone) => (isApexNs(record, zone) ? ['type-unsupported', 'the service has its own apex NS records'] : null)),
      refuseIf(({ name }, zone) =>
        relativeName(name, zone).endsWith(zone.slice(0, -1))
          ? `${LEXICON} takes this name for another one, because it has the name of the zone twice`
          : null,
      ),
    ],
  }
}

/** Services differ in what they make of other texts. */
function textProblem(octets: Uint8Array, { hasLongTexts }: LexiconService): string | null {
  const text = Buffer.from(octets).toString('latin1')
  if (!isPrintable(octets) || /["\\]|^\s|\s$/.test(text)) return `${LEXICON} may change this text`
  return hasLongTexts || octets.length <= MAX_STRING_OCTETS ? null : 'the service stores texts of at most 255 characters'
}

/** A record as dns-lexicon lists it. */
export type ListedRecord = Readonly<Record<'id' | 'type' | 'name' | 'ttl' | 'content', unknown>>

/** Thrown for a list that does not show a zone. The message has words that follow "lists". */
export class UnreadableList extends Error {}

/** The records of a zone. Those that dns-lexicon may not describe as they are, are left alone. `redact` removes secrets. */
export function readListed(
  items: readonly unknown[],
  zone: DomainName,
  service: LexiconService,
  redact: (text: string) => string,
): Pick<ZoneSnapshot, 'records' | 'ownApexNs'> & { readonly unplanned: readonly UnplannedRecord[] } {
  const listed = items.map((item) => shapeOf(item, zone))
  // In the URL of a request, 1 and "1" are the same.
  const uses = new Map<string, number>()
  for (const { id } of listed) uses.set(String(id), (uses.get(String(id)) ?? 0) + 1)
  const records: ExistingRecord[] = []
  const unplanned: UnplannedRecord[] = []
  const ownApexNs: DomainName[] = []
  const rules = lexiconCapabilities(service).rules
  for (const { id, name, type, ttl, content } of listed) {
    if (type === 'SOA') continue
    const data = dataOf(type, content)
    if (isApexNs({ name, type, ttl: null, data: '' }, zone)) {
      if (data !== null) ownApexNs.push(data as DomainName)
      continue
    }
    const hasOwnId = (typeof id === 'number' || (typeof id === 'string' && id !== '')) && uses.get(String(id)) === 1
    const record: ResourceRecord = { name, type, ttl: ttl as Ttl, data: data ?? '' }
    const isKept = (one: ResourceRecord): boolean =>
      rules.every((rule) => JSON.stringify(rule({ ...one, at: AT }, zone).record) === JSON.stringify({ ...one, at: AT }))
    const reason = !service.types.split(' ').includes(type)
      ? `has a type that ${LEXICON} may not describe completely`
      : data === null || ttl === null || !isKept(record)
        ? `has a form that ${LEXICON} may not describe completely`
        : !hasOwnId && service.onlyCreates === undefined
          ? 'has no identifier of its own'
          : null
    if (reason !== null) unplanned.push({ name, type, data: redact(content).slice(0, 500), reason, holdsRrset: true })
    else records.push({ ...record, ...(hasOwnId && { id: id as string | number }) })
  }
  return { records, unplanned, ...(ownApexNs.length > 0 && { ownApexNs: ownApexNs.sort() }) }
}

const AT = { file: '', line: 1, column: 1 }

function shapeOf(item: unknown, zone: DomainName) {
  const { id, type, name, ttl, content } = (item ?? {}) as ListedRecord
  if (typeof type !== 'string' || typeof name !== 'string') throw new UnreadableList('a record without name or type')
  const owner = parseAbsoluteName(name.replace(/^@?\.|^@$/, '').replace(/^\\052/, '*') || zone)
  if (!owner.ok || !isAtOrBelow(owner.value, zone)) throw new UnreadableList(`a record named ${JSON.stringify(name.slice(0, 300))}`)
  const seconds = ttl === null || !/^[0-9]+$/.test(String(ttl)) ? null : Number(ttl)
  return { id, type: type.slice(0, 100).toUpperCase(), name: owner.value, ttl: seconds, content: String(content ?? '') }
}

/** Services list names with a dot or without. One without any dot may be a relative name. */
function dataOf(type: string, content: string): string | null {
  const data = lenientRdata(type, content)
  const target = data.ok ? targetName(type, data.value) : null
  return data.ok && (target === null || /\..|^\.$/.test(target)) ? data.value : null
}

/** The content that dns-lexicon takes: usually a text without quotes; names with their dots. */
export const contentOf = ({ quotesTexts }: LexiconService, type: string, data: string): string =>
  type === 'TXT' && !quotesTexts ? unquoted(data) : data
