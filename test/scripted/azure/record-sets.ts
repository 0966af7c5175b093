/**
 * Which record sets Azure DNS stores. The recordings show A, CNAME and TXT record sets, ETags, statuses and the order of lists; the other rules are those of
 * its API reference and of reports by its users.
 */
import { isIPv4, isIPv6 } from 'node:net'
import { besideCname, compare, type Fields, fromRoot, isWholeNumber, Refusal } from '../base.ts'

export interface RecordSet {
  /** Relative to the zone; `@` for the apex. */
  readonly name: string
  readonly type: string
  readonly etag: string
  readonly ttl: number
  readonly metadata: Fields | undefined
  /** The property with its records; null for an alias record set. */
  readonly records: readonly Fields[]
  readonly targetResource: Fields
}

/** Errors of the service itself have no frame, those of Azure Resource Manager have one. */
export const refusal = (status: number, code: string, message: string, headers = {}): Refusal =>
  new Refusal(status, status === 400 || status === 412 ? { code, message } : { error: { code, message } }, headers)
export const badRequest = (message: string): Refusal => refusal(400, 'BadRequest', message)

/** The property of a type, and whether it holds one record. Private zones have the same names with a small first letter. */
const PROPERTIES: Readonly<Record<string, readonly [property: string, isSingle?: true]>> = {
  A: ['ARecords'],
  AAAA: ['AAAARecords'],
  CAA: ['caaRecords'],
  CNAME: ['CNAMERecord', true],
  MX: ['MXRecords'],
  NS: ['NSRecords'],
  PTR: ['PTRRecords'],
  SOA: ['SOARecord', true],
  SRV: ['SRVRecords'],
  TXT: ['TXTRecords'],
}
/** Public zones only. */
const PUBLIC: ReadonlySet<string> = new Set(['CAA', 'NS'])

export function propertyOf(type: string, isPrivate: boolean): readonly [property: string, isSingle?: true] {
  const [property, ...single] = (isPrivate && PUBLIC.has(type) ? undefined : PROPERTIES[type]) ?? []
  if (property === undefined) throw badRequest(`The record type '${type}' is not valid.`)
  return [isPrivate ? property.replace(/^[A-Z]+(?=R)/, (word) => word.toLowerCase()) : property, ...single]
}

const MAX_RECORDS = 20
const MAX_TTL = 2 ** 31 - 1
const MAX_STRING = 255
const MAX_TEXTS = 4096
const LABEL = /^(?:\*|@|(?:\*\.)?[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*)$/
const HOST = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.?$/i

/** Properties of JSON are found whatever their case, as the service does. */
export const fieldOf = (fields: Fields | undefined, name: string): unknown =>
  Object.entries(fields ?? {}).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1]

const host = (value: unknown, isRootAllowed = false): string => {
  const text = String(value ?? '')
  if (!HOST.test(text) && !(isRootAllowed && text === '.')) throw badRequest(`The domain name '${text}' is invalid.`)
  return text
}

const numberOf = (fields: Fields, name: string, most = 65_535): number => {
  const value = fieldOf(fields, name)
  if (isWholeNumber(value, 0, most)) return value
  throw badRequest(`The value of '${name}' is invalid.`)
}

const RECORD_FORMS: Readonly<Record<string, (record: Fields) => Fields>> = {
  A(record) {
    const ipv4Address = String(fieldOf(record, 'ipv4Address'))
    if (!isIPv4(ipv4Address)) throw badRequest(`The value '${ipv4Address}' is not a valid IPv4 address.`)
    return { ipv4Address }
  },
  AAAA(record) {
    const ipv6Address = String(fieldOf(record, 'ipv6Address'))
    if (!isIPv6(ipv6Address)) throw badRequest(`The value '${ipv6Address}' is not a valid IPv6 address.`)
    return { ipv6Address }
  },
  CAA: (one) => ({ flags: numberOf(one, 'flags', 255), tag: String(fieldOf(one, 'tag')), value: String(fieldOf(one, 'value')) }),
  CNAME: (record) => ({ cname: host(fieldOf(record, 'cname')) }),
  MX: (record) => ({ exchange: host(fieldOf(record, 'exchange')), preference: numberOf(record, 'preference') }),
  NS: (record) => ({ nsdname: host(fieldOf(record, 'nsdname')) }),
  PTR: (record) => ({ ptrdname: host(fieldOf(record, 'ptrdname')) }),
  SOA: (record) => record,
  SRV: (record) => ({
    port: numberOf(record, 'port'),
    priority: numberOf(record, 'priority'),
    target: host(fieldOf(record, 'target'), true),
    weight: numberOf(record, 'weight'),
  }),
  TXT(record) {
    const strings = fieldOf(record, 'value')
    const isValid =
      Array.isArray(strings) && strings.length > 0 && strings.every((one) => typeof one === 'string' && one.length <= MAX_STRING)
    if (!isValid || strings.join('') === '') throw badRequest('The value of a TXT record is invalid.')
    return { value: strings }
  },
}

export type SentSet = { ttl: number; records: readonly Fields[]; metadata: Fields | undefined; targetResource: Fields }

/** What a PUT request says about a record set. */
export function sentSet(type: string, name: string, body: Fields, isPrivate: boolean): SentSet {
  if (!LABEL.test(name.toLowerCase())) throw badRequest(`The domain name label '${name}' is invalid.`)
  const properties = (fieldOf(body, 'properties') ?? {}) as Fields
  const [property, isSingle] = propertyOf(type, isPrivate)
  const found = fieldOf(properties, property)
  const sent = found == null ? [] : isSingle ? [found as Fields] : (found as readonly Fields[])
  const target = (fieldOf(properties, 'targetResource') ?? {}) as Fields
  const isAlias = typeof fieldOf(target, 'id') === 'string'
  const records = sent.map((record) => (RECORD_FORMS[type] as (record: Fields) => Fields)(record))
  if (!isAlias && records.length === 0) throw badRequest(`The record set has no records of type '${type}'.`)
  if (records.length > MAX_RECORDS)
    throw badRequest(`The record set has ${records.length} records, which is more than the maximum of ${MAX_RECORDS}.`)
  if (new Set(records.map((record) => JSON.stringify(record))).size < records.length)
    throw badRequest('The record set contains duplicate records.')
  const octets = type === 'TXT' ? records.flatMap(({ value }) => value as string[]).join('').length : 0
  if (octets > MAX_TEXTS) throw badRequest(`The texts of a record set have at most ${MAX_TEXTS} characters.`)
  const ttl = fieldOf(properties, 'TTL')
  if (!isWholeNumber(ttl, 1, MAX_TTL)) throw badRequest(`The TTL '${String(ttl)}' is not between 1 and ${MAX_TTL}.`)
  if (type === 'NS' && name.startsWith('*')) throw badRequest("Wildcard record sets of type 'NS' are not supported.")
  return { ttl, records, metadata: fieldOf(properties, 'metadata') as Fields | undefined, targetResource: isAlias ? target : {} }
}

/** Refuses a CNAME beside other record sets, and at the apex. */
export function refuseBesideCname(type: string, name: string, others: Iterable<RecordSet>): void {
  if (type === 'CNAME' && name === '@') throw badRequest('A CNAME record set cannot be created at the zone apex.')
  if (besideCname({ name, type }, others) === undefined) return
  throw badRequest(
    type === 'CNAME'
      ? 'The CNAME record could not be created because records of other types with the same name already exist in this zone.'
      : 'The record could not be created because a CNAME record with the same name already exists in this zone.',
  )
}

/** Lists are in the canonical order of names. */
export const compareSets = (a: RecordSet, b: RecordSet): number => compare(pathOf(a.name), pathOf(b.name)) || compare(a.type, b.type)
const pathOf = (name: string): string => (name === '@' ? '' : fromRoot(name))
