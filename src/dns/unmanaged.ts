/** Matches records with selectors of `unmanaged`. */
import { parseTxtRdata } from './character-string.ts'
import { type DomainName, isAtOrBelow, parseDomainName, relativeName } from './domain-name.ts'
import { globIndex, globTest } from './glob.ts'
import { type ResourceRecord, recordKey, rrsetKey } from './record.ts'
import { type ExistingZone, PRESETS, type UnmanagedSelector } from './zone.ts'

/** What selectors of an owner or a preset are judged by. */
export interface LiveContext {
  /** The live zone, also at several times. */
  readonly live: readonly (ExistingZone | null)[]
  /** The records of the definition, as the target stores them; none if absent. */
  readonly declared?: readonly ResourceRecord[] | undefined
}

const KNOWN_CLIENTS: readonly UnmanagedSelector[] = [{ owner: 'external-dns' }, ...PRESETS.map((preset) => ({ preset }))]

/** The selectors of known clients, such as `{preset: acme}`, that select one of these records of a live zone. */
export const knownClients = (zone: ExistingZone, records: readonly ResourceRecord[] = zone.records): UnmanagedSelector[] =>
  KNOWN_CLIENTS.filter((one) => records.some(unmanagedTest([one], zone.name, { live: [zone] })))

/** `{preset: acme}`, as one writes it. */
export const clientText = ({ owner, preset }: UnmanagedSelector): string =>
  owner === undefined ? `{preset: ${preset}}` : `{owner: ${owner}}`

/**
 * Returns a test for records of `zone` that a selector leaves unmanaged. Without a live zone, no selector of an owner or a preset matches. Its time per
 * record is linear in the length of the name and the number of selectors whose name globs are near (see `globIndex`).
 */
export function unmanagedTest(
  selectors: readonly UnmanagedSelector[],
  zone: DomainName,
  context: LiveContext | null = null,
): (record: ResourceRecord) => boolean {
  if (selectors.length === 0) return () => false
  const tests = globIndex<SelectorTest>()
  for (const selector of selectors) {
    const isOfClient = selector.owner === undefined && selector.preset === undefined ? null : clientTest(selector, context)
    const glob = nameGlob(selector.name ?? '*')
    tests.add(glob, selectorTest(selector, glob.includes('*') ? globTest(glob) : null, isOfClient))
  }
  return (record) => {
    // A file may hold anything.
    if (!isAtOrBelow(record.name, zone)) return false
    const relative = relativeName(record.name, zone)
    for (const test of tests.near(relative)) if (test(record, relative)) return true
    return false
  }
}

/** Tests a record with its name relative to the zone. */
type SelectorTest = (record: ResourceRecord, relative: string) => boolean

/** A test for the records of an owner, of a preset, or of both. Other clients may share a TXT RRset, so only declared values of it are managed. */
function clientTest({ owner, preset }: UnmanagedSelector, context: LiveContext | null): (record: ResourceRecord) => boolean {
  if (context === null) return () => false
  const keyOf = (record: LiveRecord): string => (record.type === 'TXT' ? recordKey(record) : rrsetKey(record))
  const declared = new Set((context.declared ?? []).map(keyOf))
  const isDeclared = (record: LiveRecord): boolean => declared.has(keyOf(record))
  const live = context.live.flatMap((one) => (one === null ? [] : [...one.records, ...(one.unplanned ?? [])]))
  const isOwned = owner === undefined ? null : externalDnsTest(live, isDeclared)
  const isPreset = preset === undefined ? null : presetTest(preset, live)
  return (record) => (isOwned === null || isOwned(record)) && (isPreset === null || (isPreset(record) && !isDeclared(record)))
}

function selectorTest(
  selector: UnmanagedSelector,
  name: ((relative: string) => boolean) | null,
  isOfClient: ((record: ResourceRecord) => boolean) | null,
): SelectorTest {
  const target = selector.target === undefined ? null : globTest(selector.target.toLowerCase())
  const type = selector.type?.toUpperCase()
  return (record, relative) =>
    (type === undefined || record.type === type) &&
    (name === null || name(relative)) &&
    (isOfClient === null || isOfClient(record)) &&
    (target === null || target(record.data.toLowerCase()) || matchesText(record, target))
}

const TEXT_TYPES: ReadonlySet<string> = new Set(['TXT', 'SPF'])

/** Whether the text of a TXT or SPF record matches: its strings joined, without quotes and escapes. */
function matchesText({ type, data }: ResourceRecord, target: (text: string) => boolean): boolean {
  const octets = TEXT_TYPES.has(type) ? parseTxtRdata(data) : null
  return octets !== null && target(Buffer.from(octets).toString('utf8').toLowerCase())
}

/** A selector without its position, its keys in the order of documents. */
export const plainSelector = ({ name, type, target, owner, preset }: UnmanagedSelector) => ({
  ...(name !== undefined && { name }),
  ...(type !== undefined && { type }),
  ...(target !== undefined && { target }),
  ...(owner !== undefined && { owner }),
  ...(preset !== undefined && { preset }),
})

/** A glob for names, in the form in which they are compared. Unicode labels become A-labels, so both spellings of a name match. */
export function nameGlob(glob: string): string {
  if (glob === '@') return ''
  // Only labels that need it: parsing would remove the backslash of an asterisk that stands for itself.
  const labels = glob.split('.').map((label) => {
    const ascii = /^[\x20-\x7e]*$/.test(label) ? null : parseDomainName(`${label}.`)
    return ascii?.ok ? ascii.value.slice(0, -1) : label.toLowerCase()
  })
  return labels.join('.')
}

// Recognizes the records of other clients in a live zone.

/** The part of a live record that shows whose it is. */
type LiveRecord = Pick<ResourceRecord, 'name' | 'type' | 'data'>

type RecordTest = (record: LiveRecord) => boolean

const textOf = ({ type, data }: LiveRecord): string | null => {
  const octets = type === 'TXT' ? parseTxtRdata(data) : null
  return octets === null ? null : Buffer.from(octets).toString('latin1')
}

/** Types at a name that a DHCP server writes. */
const DHCP_TYPES: ReadonlySet<string> = new Set(['A', 'AAAA', 'PTR', 'DHCID'])

/** Marks a name as one of a DHCP client: a DHCID record (RFC 4703), or the TXT record that servers wrote before. */
const isDhcpMark = (record: LiveRecord): boolean => record.type === 'DHCID' || /^(?:0[0-2]|31)[0-9a-f]{32}$/.test(textOf(record) ?? '')

/** A test for the records of a preset. Those of `dhcp` are known by the other records of the zone. */
function presetTest(preset: NonNullable<UnmanagedSelector['preset']>, live: readonly LiveRecord[]): RecordTest {
  if (preset === 'acme') return ({ name, type }) => type === 'TXT' && /(?:^|\.)_acme-challenge\./.test(name)
  if (preset === 'acm-validation')
    return ({ name, type, data }) => type === 'CNAME' && name.startsWith('_') && data.endsWith('.acm-validations.aws.')
  const names = new Set(live.filter(isDhcpMark).map(({ name }) => name))
  return (record) => names.has(record.name) && (DHCP_TYPES.has(record.type) || isDhcpMark(record))
}

/** The start of the text in which external-dns registers a record. Some providers keep the quotation marks. */
const HERITAGE = /^"?heritage=external-dns,/

/** The same text, encrypted with AES-GCM: at least 116 characters of base64. */
const ENCRYPTED = /^"?[A-Za-z0-9+/]{100,}={0,2}"?$/

/** The types of versions that register no type. */
const ADDRESSES = ['A', 'AAAA', 'CNAME', 'ALIAS']

/** Types by their names in a registry. An alias is a CNAME there, whatever the provider makes of it. */
const REGISTERED = new Map<string, readonly string[]>([
  ['cname', ADDRESSES],
  ...['a', 'aaaa', 'dname', 'mx', 'naptr', 'ns', 'ptr', 'srv', 'txt'].map((type) => [type, [type.toUpperCase()]] as [string, string[]]),
])

/** Labels that a prefix may have, and after which a suffix is looked for. Without a limit, a name of many labels takes time quadratic in their number. */
const MAX_LABELS = 8

/** From here on, the record sets that a registry record stands for are a guess. */
const GUESS = 3

/** The record sets of one owner that a registry record stands for. */
interface Registered {
  readonly name: string
  readonly types: readonly string[]
  /** The lower, the surer. */
  readonly rank: number
}

/**
 * A test for the records of external-dns: its registry's TXT records, and the record sets that these name. A registry record is at the owner's name with a
 * prefix before it, or a suffix after its first labels, either of any form. The type precedes the first label (`a-www`), is part of prefix or suffix
 * (`%{record_type}`), or is missing in versions before 0.12. A declared record is never taken on a guess.
 * Source: registry/mapper/mapper.go of external-dns.
 */
function externalDnsTest(live: readonly LiveRecord[], isDeclared: RecordTest): RecordTest {
  const isRegistry = (record: LiveRecord): boolean => HERITAGE.test(textOf(record) ?? '')
  const registry = live.filter(isRegistry)
  const encrypted = live.filter((record) => ENCRYPTED.test(textOf(record) ?? ''))
  if (registry.length + encrypted.length === 0) return () => false
  const typesOf = new Map<string, Set<string>>()
  for (const record of live) if (!isRegistry(record)) typesOf.set(record.name, (typesOf.get(record.name) ?? new Set()).add(record.type))
  const ends = new Set([...typesOf.keys()].flatMap(endsOf))
  const sure = new Set<string>()
  const guessed = new Set<string>()
  const take = (record: LiveRecord, isPlain: boolean): void => {
    const found = registeredBy(record.name, typesOf, ends)
    const keys = found?.types.map((type) => `${found.name} ${type}`) ?? []
    // Any text of base64 may look encrypted: only a name with a type, or another record for the same set, makes it one of the registry.
    const hasType = found !== null && (found.rank === 0 || found.rank === 2 || found.rank === GUESS)
    if (!isPlain && !hasType && !keys.some((key) => guessed.has(key))) return
    if (!isPlain) guessed.add(recordKey(record))
    for (const key of keys) (isPlain && found !== null && found.rank < GUESS ? sure : guessed).add(key)
  }
  for (const record of registry) take(record, true)
  for (const record of [...encrypted, ...encrypted]) take(record, false)
  return (record) => {
    if (isRegistry(record) || sure.has(rrsetKey(record))) return true
    return (guessed.has(rrsetKey(record)) || guessed.has(recordKey(record))) && !isDeclared(record)
  }
}

/** The name without its first label, its first two labels, and so on, each with the dot before it. */
function endsOf(name: string): string[] {
  const ends: string[] = []
  for (let dot = name.indexOf('.'); dot !== -1 && ends.length < MAX_LABELS; dot = name.indexOf('.', dot + 1)) ends.push(name.slice(dot))
  return ends
}

/** The surest record sets that a registry record of this name may stand for; null if there are none. */
function registeredBy(registry: string, typesOf: ReadonlyMap<string, ReadonlySet<string>>, ends: ReadonlySet<string>): Registered | null {
  let best: Registered | null = null as Registered | null
  const consider = (name: string, before: string, after: string, atLeast = 0): void => {
    const present = typesOf.get(name)
    if (present === undefined) return
    const { rank: own, types } = readAffix(before, after)
    const rank = Math.max(own, atLeast)
    const found = types.filter((type) => present.has(type))
    const isBetter = best === null || rank < best.rank || (rank === best.rank && name.length > best.name.length)
    if (found.length > 0 && isBetter) best = { name, types: found, rank }
  }
  const last = registry.length - (endsOf(registry).at(-1)?.length ?? 0)
  for (let from = 0; from <= last + 1; from += 1) consider(registry.slice(from), registry.slice(0, from), '')
  if (best !== null && best.rank < GUESS) return best
  for (const rest of endsOf(registry)) {
    if (!ends.has(rest)) continue
    const head = registry.slice(0, -rest.length)
    const typed = [...REGISTERED.keys()].filter((type) => head.startsWith(`${type}-`))
    for (const from of [0, ...typed.map((type) => type.length + 1)])
      for (let to = from + 1; to < head.length; to += 1) consider(head.slice(from, to) + rest, head.slice(0, from), head.slice(to))
    // A word may replace the asterisk of a wildcard.
    consider(`*${rest}`, head, '', GUESS)
  }
  return best
}

/** The types that the parts of a registry record's name before and after the owner's stand for. */
function readAffix(before: string, after: string): Pick<Registered, 'rank' | 'types'> {
  const direct = REGISTERED.get(/(?:^|[^a-z0-9])([a-z]+)-$/.exec(before)?.[1] ?? '')
  if (direct !== undefined) return { rank: /^[a-z]+-$/.test(before) && after === '' ? 0 : 2, types: direct }
  if (before === '' && after === '') return { rank: 1, types: ADDRESSES }
  const types = `${before} ${after}`.split(/[^a-z0-9]+/).flatMap((word) => REGISTERED.get(word) ?? [])
  return types.length > 0 ? { rank: GUESS, types } : { rank: GUESS + 1, types: ADDRESSES }
}
