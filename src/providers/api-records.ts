/** Records as APIs state them, in the terms of plans. */
import { failure, ok, type Result } from '../base/result.ts'
import { octetsToTxtRdata, quoteString, txtRdataToOctets } from '../dns/character-string.ts'
import { type DomainName, isAtOrBelow, parseAbsoluteName, parseDomainName, relativeName } from '../dns/domain-name.ts'
import { parseRdata, rdataFields, targetName } from '../dns/rdata/canonical.ts'
import { type ExistingRecord, isApexNs } from '../dns/record.ts'
import { MAX_TTL, type Ttl } from '../dns/ttl.ts'
import type { UnplannedRecord } from '../dns/zone.ts'
import { type Fields, ShapeError } from './json-shape.ts'

/** The owner of a record that the API writes as `text`. Throws a `ShapeError` if that is no name. */
export function ownerOf(text: string, name: Result<DomainName>, what = 'a record'): DomainName {
  if (name.ok) return name.value
  throw new ShapeError(`${what} is named ${JSON.stringify(text.slice(0, 300))}: ${name.message}`)
}

/** The owner with a name relative to the zone. `apex` is the API's name of the apex. */
export const relativeOwner = (text: string, zone: DomainName, apex = '@', what = 'a record'): DomainName =>
  ownerOf(text, parseAbsoluteName(text === apex ? zone : `${text}.${zone}`), what)

/** The owner with an absolute name, which must be in the zone. */
export function absoluteOwner(text: string, zone: DomainName): DomainName {
  const parsed = parseAbsoluteName(text)
  return ownerOf(text, parsed.ok && !isAtOrBelow(parsed.value, zone) ? failure(`is outside ${zone}`) : parsed)
}

/** The name relative to the zone. */
export const relativeTo = (name: DomainName, zone: DomainName, apex = '@'): string => relativeName(name, zone) || apex

/** A record of an API with the `ttl` in seconds. Malformed rdata stays as it is: text that no definition can contain. */
export const apiRecord = (
  name: DomainName,
  type: string,
  ttl: number | null,
  text: string,
  data: Result<string> = parseRdata(type, text),
): ExistingRecord => ({
  name,
  type,
  ttl: ttl === null ? null : (Math.min(ttl, MAX_TTL) as Ttl),
  data: data.ok ? data.value : text,
})

/**
 * Records by whether plans can contain them. `reasonOf` says why one cannot be managed whose type is, null if it can. The SOA record, which the service maintains,
 * is in neither list.
 */
export function byType<T extends ExistingRecord>(
  all: readonly T[],
  types: ReadonlySet<string>,
  reasonOf: (record: T) => string | null = () => null,
) {
  const [records, unplanned]: [T[], (T & UnplannedRecord)[]] = [[], []]
  for (const record of all) {
    const reason = types.has(record.type) ? reasonOf(record) : 'has a type that is not managed'
    if (reason === null) records.push(record)
    else if (record.type !== 'SOA') unplanned.push({ ...record, reason })
  }
  return { records, unplanned }
}

/** Apart from the others, the NS records of the apex of a service that sets them itself. */
export const withoutApexNs = <T extends ExistingRecord>(records: readonly T[], zone: DomainName) => ({
  others: records.filter((record) => !isApexNs(record, zone)),
  ownApexNs: records.flatMap((record) => (isApexNs(record, zone) ? [record.data as DomainName] : [])).sort(),
})

/** Throws a `ShapeError` unless the returned record or RRset has the owner and type that were sent. `apiName`: the owner as the API writes it. */
export function checkReturned(
  { name, type }: { readonly name: string; readonly type: string },
  returned: { readonly name: string; readonly type: string },
  apiName = name,
): void {
  if (returned.name !== apiName || returned.type !== type)
    throw new ShapeError(`${name} ${type} was returned as ${returned.name} ${returned.type}`)
}

/** Rdata whose names without the final dot are relative to the zone. */
export const relativeRdata = (type: string, text: string, zone: DomainName): Result<string> =>
  parseRdata(type, text, (name) => parseDomainName(name, zone))

/** A text in quotes. */
export const quoted = (text: unknown): string => quoteString(Buffer.from(String(text ?? ''), 'utf8'))

/** The text in quoted strings of printable ASCII. */
export const unquoted = (strings: string): string => Buffer.from(txtRdataToOctets(strings)).toString('latin1')

/** TXT data with the text of an API that has no strings. */
export const textToRdata = (text: string): string => octetsToTxtRdata(Buffer.from(text, 'utf8'))

/** Rdata of an API whose texts may lack their quotes, and whose strings have any length. */
export function lenientRdata(type: string, text: string): Result<string> {
  if (type === 'TXT' && !text.startsWith('"')) return ok(textToRdata(text))
  const data = parseRdata(type, text)
  return data.ok && type === 'TXT' ? ok(octetsToTxtRdata(txtRdataToOctets(data.value))) : data
}

/** How an API writes TXT data: one string in quotes, or the text alone. */
type TextForm = 'quoted' | 'plain'

/** Rdata of an API that has the priority of MX and SRV in a field of its own. */
export function rdataWithPriority(type: string, priority: unknown, text: string, form: TextForm = 'quoted'): Result<string> {
  if (type === 'TXT') return ok(textToRdata(form === 'plain' ? text : text.replace(/^"(.*)"$/s, '$1')))
  return parseRdata(type, /^(?:MX|SRV)$/.test(type) ? `${priority} ${text}` : text)
}

/** The same for a request, with names without the final dot; without a priority for other types. */
export function priorityApart(
  type: string,
  data: string,
  form: TextForm = 'quoted',
): { readonly priority?: number; readonly text: string } {
  if (type === 'TXT') return { text: form === 'plain' ? unquoted(data) : `"${unquoted(data)}"` }
  if (targetName(type, data) === null) return { text: data }
  const fields = rdataFields(data)
  const priority = /^(?:MX|SRV)$/.test(type) ? Number(fields.shift()) : undefined
  const text = [...fields.slice(0, -1), withoutDot(fields.at(-1) ?? '')].join(' ')
  return priority === undefined ? { text } : { priority, text }
}

export const withoutDot = (name: string): string => (name === '.' ? name : name.slice(0, -1))

/** A part of rdata: its name at the API and its form. The parts are in the order of presentation. */
export type Part = readonly [name: string, form: 'number' | 'text' | 'name' | 'string' | 'strings' | 'metres']

/** Parts such as `preference:number exchange:name`. */
export const parts = (text: string): readonly Part[] => text.split(' ').map((part) => part.split(':') as unknown as Part)

/** Canonical rdata as the fields of an API. */
export function partsToApi(structure: readonly Part[], data: string): Fields {
  const fields = rdataFields(data)
  const fieldOf = (form: Part[1], field: string): unknown => {
    if (form === 'number') return Number(field)
    if (form === 'metres') return Number.parseFloat(field)
    if (form === 'strings') return fields.map(unquoted)
    return form === 'name' ? withoutDot(field) : form === 'string' ? unquoted(field) : field
  }
  return Object.fromEntries(structure.map(([name, form], index) => [name, fieldOf(form, fields[index] ?? '')]))
}
