/** Prints a zone as a definition. */
import { groupBy } from '../../base/group-by.ts'
import { compareNames, type DomainName, ROOT, relativeName } from '../../dns/domain-name.ts'
import { ownershipOf } from '../../dns/ownership.ts'
import { compareRecords, type ResourceRecord, rrsetKey } from '../../dns/record.ts'
import { SOA_FIELDS } from '../../dns/soa.ts'
import { suppressionsData } from '../../dns/suppression.ts'
import type { Ttl } from '../../dns/ttl.ts'
import { plainSelector } from '../../dns/unmanaged.ts'
import type { SoaFields, ZoneComment } from '../../dns/zone.ts'
import { ZONE_SETTINGS, type ZoneSettings } from '../../dns/zone.ts'
import type { InventoryCondition, InventoryKind, OwnQuarantine } from '../../dns/zone-source.ts'
import type { ImportedRecord, ImportedZone } from '../imported-zone.ts'
import { SETTING_KEYS } from '../parse/read-settings.ts'
import type { YamlData } from '../yaml/print-yaml.ts'
import { DEFINITION_WIDTH, printEntry, printItem, printText } from '../yaml/print-yaml.ts'
import { compareNatural } from './natural-order.ts'
import { printValue, targetValue } from './print-value.ts'

/** Records with the same TTL that justify a `default_ttl` line. */
const MANY = 3

/**
 * Prints a new definition in our own layout, formatted like `fmt`. Reading it returns the same settings and records; a record without a TTL still has
 * none. Comments are next to their subjects.
 */
export function printDefinition(zone: ImportedZone): string {
  const commentsOf = commentIndex(zone.comments ?? [], zone.records)
  const ofAll = commentsOf({ name: null })
  const defaultTtl = zone.sourced === undefined ? commonestTtl(zone.records) : (zone.defaultTtl?.ttl ?? null)
  const settings: Record<string, YamlData> = { domain: zone.name === ROOT ? '.' : zone.name.slice(0, -1) }
  for (const key of ZONE_SETTINGS) {
    const value = zone.settings[key]
    if (value !== undefined) settings[key] = value
  }
  Object.assign(settings, ownershipOf(zone))
  if (zone.soa !== undefined) settings['soa'] = soaData(zone.soa, zone.name)
  if (defaultTtl !== null) settings['default_ttl'] = defaultTtl
  if (zone.absent) settings['absent'] = true
  if (zone.allow !== undefined && zone.allow.length > 0) settings['allow'] = zone.allow
  if (zone.unsupported === 'skip') settings['unsupported'] = 'skip'
  if (zone.autoPtr !== undefined) settings['auto_ptr'] = zone.autoPtr
  if (zone.ignore !== undefined && zone.ignore.length > 0) settings['ignore'] = suppressionsData(zone)
  if (zone.sources !== undefined) settings['sources'] = zone.sources.map(({ at, ...source }) => sourceData(source))
  if (zone.targets !== undefined) settings['targets'] = zone.targets
  if (zone.policy !== undefined) settings['policy'] = zone.policy
  if (zone.apexNs !== undefined && zone.apexNs !== 'keep') settings['apex_ns'] = zone.apexNs
  if (zone.unmanaged && zone.unmanaged.length > 0) {
    settings['unmanaged'] = zone.unmanaged.map((selector) => ({ ...plainSelector(selector) }))
  }
  const extras = extrasOf(zone)
  let text = separatedLines(ofAll['above-with-blank-line'], 0) + commentLines(ofAll.above, 0)
  for (const key of SETTING_KEYS) {
    const value = settings[key]
    const comments = commentsOf({ name: null, setting: key as keyof ZoneSettings })
    // Comments on an absent setting are printed at its place.
    text += value === undefined ? withComments('', comments, 0) : withComments(printEntry(key, value, 0), comments, 0)
  }
  const end = ofAll['end-of-file'].map((one) => `\n${commentLines([one], 0)}`).join('')
  const others = groupBy(entriesWithoutData(zone, extras), ({ name }) => name)
  if (zone.settings.type === 'slave' && zone.records.length === 0) return text + end
  if (zone.records.length === 0 && others.size === 0) return `${text}records: {}\n${end}`
  text += 'records:\n'
  for (const { name, records } of byOwner(zone.records, others.keys(), zone.name)) {
    text += commentLines(commentsOf({ name }).above, 2)
    const sets = rrsetsOf(records, zone.name, defaultTtl, extras).map((set) => ({ ...set, commentsOf }))
    const more = others.get(name) ?? []
    const [first] = sets
    const key = relativeName(name, zone.name)
    if (sets.length === 1 && first && more.length === 0) text += printRrset(key, first, 2)
    else {
      const items = [...sets.map((set) => printRrset(null, set, 4)), ...more.map(({ entry }) => printItem(entry, 4))]
      text += `  ${printText(key, 'key')}:\n${items.join('')}`
    }
  }
  return (text.endsWith('\n\n') ? text.slice(0, -1) : text) + end
}

const soaData = (soa: SoaFields, zone: DomainName): YamlData =>
  Object.fromEntries(
    SOA_FIELDS.flatMap((field) => {
      const value = soa[field]
      if (value === undefined) return []
      return [[field, typeof value === 'string' ? targetValue(value, zone) : value]]
    }),
  )

/** The TTL of most records, if all have one and a default saves lines; null otherwise. */
function commonestTtl(records: readonly ResourceRecord[]): Ttl | null {
  const counts = new Map<Ttl, number>()
  for (const { ttl } of records) {
    if (ttl === null) return null
    counts.set(ttl, (counts.get(ttl) ?? 0) + 1)
  }
  let commonest: Ttl | null = null
  for (const [ttl, count] of counts) if (count >= MANY && count > (commonest === null ? 0 : (counts.get(commonest) ?? 0))) commonest = ttl
  return commonest
}

interface OwnerRecords {
  readonly name: DomainName
  readonly records: readonly ImportedRecord[]
}

function byOwner(records: readonly ImportedRecord[], others: Iterable<DomainName>, zone: DomainName): OwnerRecords[] {
  const groups = groupBy(records, ({ name }) => name)
  for (const name of others) if (!groups.has(name)) groups.set(name, [])
  return [...groups]
    .map(([name, all]) => ({ name, key: relativeName(name, zone), records: all.sort(compareRecords) }))
    .sort((a, b) => compareNatural(a.key, b.key) || compareNames(a.name, b.name))
}

/** The entries of one owner: one per RRset, TTL and settings. */
function rrsetsOf(
  records: readonly ImportedRecord[],
  zone: DomainName,
  defaultTtl: Ttl | null,
  extras: ReadonlyMap<string, YamlData>,
): Pick<PrintedRrset, 'records' | 'entry'>[] {
  const sets = groupBy(records, (record) => {
    const extra = [record.providerSettings, record.autoPtr, record.owner, record.expires, suppressionsData(record)]
    return `${record.type} ${record.ttl} ${JSON.stringify(extra)}`
  })
  return [...sets.values()].map((set) => {
    const { type, ttl, providerSettings, ignore, autoPtr, ...ownership } = set[0] as ImportedRecord
    const values = set.map((record) => printValue(type, record.data, zone))
    const [value] = values
    const octodns = extras.get(rrsetKey(set[0] as ResourceRecord))
    const entry = {
      type,
      ...(ttl !== null && ttl !== defaultTtl && { ttl }),
      ...(values.length === 1 && value !== undefined ? { value } : { values }),
      ...ownershipOf(ownership),
      ...(ignore !== undefined && { ignore: suppressionsData({ ignore }) }),
      ...(autoPtr !== undefined && { auto_ptr: autoPtr }),
      ...providerSettings,
      ...(octodns !== undefined && { octodns }),
    }
    return { records: set, entry }
  })
}

/** The entries of RRsets without data: those of sources, and of single providers. */
function entriesWithoutData({ sourced = [], providerSpecific = [] }: ImportedZone, extras: ReadonlyMap<string, YamlData>) {
  const entryOf = (set: NameAndType, more: { readonly [key: string]: YamlData }) => {
    const octodns = extras.get(rrsetKey(set))
    return { name: set.name, entry: { type: set.type, ...more, ...(octodns !== undefined && { octodns }) } }
  }
  return [
    ...sourced.map((set) => {
      const { ttl, query, quarantine, ignore } = set
      const from = sourceData({ ...query, quarantine })
      return entryOf(set, { ...(ttl !== null && { ttl }), from, ...ownershipOf(set), ...(ignore && { ignore: suppressionsData(set) }) })
    }),
    ...providerSpecific.map((set) => entryOf(set, {})),
  ]
}

type NameAndType = Pick<ResourceRecord, 'name' | 'type'>

/** A source under the keys of a definition. */
function sourceData({ kind = 'zone', provider, zone, name, type, quarantine, ...conditions }: PrintedSource): YamlData {
  const { reads, seconds } = quarantine ?? {}
  const rule = { ...(reads !== undefined && { reads }), ...(seconds !== undefined && { for: seconds }) }
  return {
    ...(provider !== null && { provider }),
    ...(zone !== undefined && { zone }),
    ...(name !== undefined && { name }),
    ...(type !== undefined && { type }),
    ...(kind !== 'zone' && { [kind]: conditions as Readonly<Record<string, string>> }),
    ...(Object.keys(rule).length > 0 && { quarantine: rule }),
  }
}

interface PrintedSource extends Readonly<Partial<Record<InventoryCondition, string | undefined>>> {
  readonly kind?: InventoryKind | 'zone'
  readonly provider: string | null
  readonly zone?: DomainName
  readonly name?: string | undefined
  readonly type?: string | undefined
  readonly quarantine?: OwnQuarantine | undefined
}

/** The `octodns:` mappings of RRsets, by `rrsetKey`. */
function extrasOf({ rrsetTargets = [], lenient = new Set() }: ImportedZone): Map<string, YamlData> {
  const extras = new Map<string, YamlData>()
  for (const key of lenient) extras.set(key, { lenient: true })
  for (const scope of rrsetTargets) {
    const key = rrsetKey(scope)
    extras.set(key, {
      ...(scope.ignored && { ignored: true }),
      ...(scope.included.length > 0 && { included: scope.included }),
      ...(scope.excluded.length > 0 && { excluded: scope.excluded }),
      ...(lenient.has(key) && { lenient: true }),
    })
  }
  return extras
}

/** The comments on one subject in a new definition, by their position. */
type CommentsAt = Readonly<Record<CommentPlace, readonly string[]>>

type CommentPlace = NonNullable<ZoneComment['place']>

type CommentSubject = Pick<ZoneComment, 'name' | 'rrset' | 'setting'>

const noComments = (): Record<CommentPlace, string[]> => ({
  'above-with-blank-line': [],
  above: [],
  'same-line': [],
  below: [],
  'end-of-file': [],
})

const NONE: CommentsAt = noComments()

/** Returns the comments on a subject. */
type CommentIndex = (subject: CommentSubject) => CommentsAt

/** Indexes the comments of a zone by subject. Comments on a record that is not in `records` go to the end of the file. */
function commentIndex(comments: readonly ZoneComment[], records: readonly ResourceRecord[]): CommentIndex {
  const bySubject = new Map<string, Record<CommentPlace, string[]>>()
  const present = comments.length === 0 ? new Set<string>() : subjectsOf(records)
  for (const one of comments) {
    const comment: ZoneComment = one.name === null || present.has(keyOf(one)) ? one : { name: null, place: 'end-of-file', text: one.text }
    const key = keyOf(comment)
    const known = bySubject.get(key) ?? noComments()
    bySubject.set(key, known)
    known[comment.place ?? 'above'].push(comment.text)
  }
  return (subject) => (bySubject.size === 0 ? NONE : (bySubject.get(keyOf(subject)) ?? NONE))
}

function subjectsOf(records: readonly ResourceRecord[]): Set<string> {
  const keys = new Set<string>()
  for (const { name, type, ttl, data } of records)
    for (const subject of [{ name }, { name, rrset: { type, ttl } }, { name, rrset: { type, ttl, data } }]) keys.add(keyOf(subject))
  return keys
}

const keyOf = ({ name, rrset, setting }: CommentSubject): string =>
  rrset ? `${name} ${rrset.type} ${rrset.ttl} ${rrset.data ?? ''}` : `${name} ${setting ?? ''}`

const hasComments = (comments: CommentsAt): boolean => Object.values(comments).some((texts) => texts.length > 0)

/** The comments of two subjects that are printed as one. */
const mergeComments = (a: CommentsAt, b: CommentsAt): CommentsAt => ({
  'above-with-blank-line': [...a['above-with-blank-line'], ...b['above-with-blank-line']],
  above: [...a.above, ...b.above],
  'same-line': [...a['same-line'], ...b['same-line']],
  below: [...a.below, ...b.below],
  'end-of-file': [...a['end-of-file'], ...b['end-of-file']],
})

/** A printed entry with its comments above and below. A comment on the same line stays there if the entry has one line and the comment fits. */
function withComments(printed: string, comments: CommentsAt, indent: number): string {
  if (!hasComments(comments)) return printed
  const { 'above-with-blank-line': separated, above, 'same-line': onSameLine, below } = comments
  const [words = ''] = onSameLine
  const lines = commentLinesOf(words)
  const isOneLine = onSameLine.length === 1 && lines.length === 1 && printed.indexOf('\n') === printed.length - 1
  const whole = isOneLine ? `${printed.slice(0, -1)} ${lines[0]}\n` : ''
  const fits = isOneLine && whole.length <= DEFINITION_WIDTH + 1
  const lead = separatedLines(separated, indent) + commentLines(above, indent)
  return (fits ? lead + whole : lead + commentLines(onSameLine, indent) + printed) + separatedLines(below, indent)
}

/** Comments, each followed by a blank line. */
const separatedLines = (texts: readonly string[], indent: number): string =>
  texts.map((text) => `${commentLines([text], indent)}\n`).join('')

const commentLines = (texts: readonly string[], indent: number): string =>
  texts
    .flatMap(commentLinesOf)
    .map((line) => `${' '.repeat(indent)}${line}\n`)
    .join('')

/** Characters that YAML does not allow or that some parsers read as a line end. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const NOT_IN_COMMENTS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]|\p{Surrogate}/gu

/** The lines of a comment, each with a `#`. Control characters are escaped. */
const commentLinesOf = (text: string): string[] =>
  text.split(/\r\n|[\n\r\u0085\u2028\u2029]/).map((line) => {
    const words = line.replace(NOT_IN_COMMENTS, escapeOf).trimEnd()
    return words === '' ? '#' : words.startsWith('#') ? `#${words}` : `# ${words}`
  })

function escapeOf(character: string): string {
  const code = character.charCodeAt(0).toString(16)
  return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`
}

/** An RRset to print, or its records with one TTL. */
interface PrintedRrset {
  /** In the order of the entry's values. */
  readonly records: readonly ResourceRecord[]
  readonly entry: { readonly [key: string]: YamlData }
  readonly commentsOf: CommentIndex
}

/** Prints an RRset with its comments under a key, or as a list item if the key is null. Values with comments get one line each. */
function printRrset(key: string | null, { records, entry, commentsOf }: PrintedRrset, indent: number): string {
  const [{ name, type, ttl }] = records as [ResourceRecord]
  const ofSet = commentsOf({ name, rrset: { type, ttl } })
  const ofValues = records.map(({ data }) => commentsOf({ name, rrset: { type, ttl, data } }))
  const { values } = entry
  if (Array.isArray(values) && ofValues.some(hasComments))
    return withComments(printLong(key, { ...entry, values }, ofValues, indent), ofSet, indent)
  const printed = key === null ? printItem(entry, indent) : printEntry(key, entry, indent)
  return withComments(printed, ofValues.reduce(mergeComments, ofSet), indent)
}

function printLong(
  key: string | null,
  entry: { readonly [key: string]: YamlData; readonly values: readonly YamlData[] },
  ofValues: readonly CommentsAt[],
  indent: number,
): string {
  const within = indent + 2
  const parts = Object.entries(entry).map(([part, value]) => {
    if (part !== 'values') return printEntry(part, value, within)
    const items = entry.values.map((item, i) => withComments(printItem(item, within + 2), ofValues[i] as CommentsAt, within + 2))
    return `${' '.repeat(within)}values:\n${items.join('')}`
  })
  const lead = ' '.repeat(indent)
  return key === null ? `${lead}- ${parts.join('').slice(within)}` : `${lead}${printText(key, 'key')}:\n${parts.join('')}`
}
