import { compareNames, type DomainName, relativeName } from '../../model/domain-name.ts'
import type { ImportedZone, ZoneComment } from '../../model/exchange.ts'
import { compareRecords, type ResourceRecord } from '../../model/record.ts'
import type { Ttl } from '../../model/ttl.ts'
import { ZONE_SETTINGS } from '../../model/zone.ts'
import { compareNatural } from '../octodns/natural-order.ts'
import { type PlainYaml, printEntry, printItem, printText } from '../yaml/print-plain.ts'
import { SETTING_KEYS } from './keys.ts'
import { printValue } from './print-value.ts'

/** Records that share a TTL before it is worth a line of its own. */
const MANY = 3

/**
 * A new definition in the layout with settings, as `fmt` would have it. Reading it gives the settings and records again, all of them;
 * a record without a TTL has none again. Comments stand above their owner.
 */
export function printDefinition(zone: ImportedZone): string {
  const comments = commentsByName(zone.comments ?? [])
  const defaultTtl = commonestTtl(zone.records)
  const settings: Record<string, PlainYaml> = { domain: zone.name.slice(0, -1) }
  for (const key of ZONE_SETTINGS) {
    const value = zone.settings[key]
    if (value !== undefined) settings[key] = value
  }
  if (defaultTtl !== null) settings['default_ttl'] = defaultTtl
  if (zone.apexNs === 'manage') settings['apex_ns'] = 'manage'
  if (zone.unmanaged && zone.unmanaged.length > 0) {
    settings['unmanaged'] = zone.unmanaged.map(({ name, type, target }) => ({
      ...(name !== undefined && { name }),
      ...(type !== undefined && { type }),
      ...(target !== undefined && { target }),
    }))
  }
  let text = commentLines(comments.get(null) ?? [], 0)
  for (const key of SETTING_KEYS) if (settings[key] !== undefined) text += printEntry(key, settings[key], 0)
  if (zone.settings.type === 'slave' && zone.records.length === 0) return text
  if (zone.records.length === 0) return `${text}records: {}\n`
  text += 'records:\n'
  for (const { name, records } of byOwner(zone.records, zone.name)) {
    text += commentLines(comments.get(name) ?? [], 2)
    comments.delete(name)
    const entries = entriesOf(records, zone.name, defaultTtl)
    const [first] = entries
    const key = relativeName(name, zone.name)
    if (entries.length === 1 && first) text += printEntry(key, first, 2)
    else text += `  ${printText(key, 'key')}:\n${entries.map((entry) => printItem(entry, 4)).join('')}`
  }
  // What stands above owners that have no records.
  for (const [name, texts] of comments) if (name !== null) text += commentLines(texts, 2)
  return text
}

function commentsByName(comments: readonly ZoneComment[]): Map<DomainName | null, string[]> {
  const byName = new Map<DomainName | null, string[]>()
  for (const { name, text } of comments) {
    const texts = byName.get(name)
    if (texts) texts.push(text)
    else byName.set(name, [text])
  }
  return byName
}

/** What would end a comment, or is no character of YAML. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const NOT_IN_COMMENTS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g

const commentLines = (texts: readonly string[], indent: number): string =>
  texts
    .flatMap((text) => text.split(/\r\n|[\n\r\u0085\u2028\u2029]/))
    .map((line) => `${' '.repeat(indent)}# ${line.replace(NOT_IN_COMMENTS, '\ufffd')}`.trimEnd())
    .map((line) => `${line}\n`)
    .join('')

/** The TTL that most records have, where all have one and that saves lines; null otherwise. */
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
  readonly records: readonly ResourceRecord[]
}

function byOwner(records: readonly ResourceRecord[], zone: DomainName): OwnerRecords[] {
  const owners = new Map<DomainName, ResourceRecord[]>()
  for (const record of records) {
    const known = owners.get(record.name)
    if (known) known.push(record)
    else owners.set(record.name, [record])
  }
  return [...owners]
    .map(([name, all]) => ({ name, key: relativeName(name, zone), records: all.sort(compareRecords) }))
    .sort((a, b) => compareNatural(a.key, b.key) || compareNames(a.name, b.name))
}

/** The entries of one owner, an RRset each, or more of them where its TTLs differ. */
function entriesOf(records: readonly ResourceRecord[], zone: DomainName, defaultTtl: Ttl | null): PlainYaml[] {
  const sets = new Map<string, ResourceRecord[]>()
  for (const record of records) {
    const key = `${record.type} ${record.ttl}`
    const known = sets.get(key)
    if (known) known.push(record)
    else sets.set(key, [record])
  }
  return [...sets.values()].map((set) => {
    const { type, ttl } = set[0] as ResourceRecord
    const values = set.map((record) => printValue(type, record.data, zone))
    const [value] = values
    return {
      type,
      ...(ttl !== null && ttl !== defaultTtl && { ttl }),
      ...(values.length === 1 && value !== undefined ? { value } : { values }),
    }
  })
}
