/**
 * Which RRsets Hetzner stores, and in which form. The recordings show A, AAAA, CNAME, NS, SOA and TXT; the other rules are those of its API reference and
 * official client library. Values are zone-file text and are stored as they are sent.
 */
import { isIPv4, isIPv6 } from 'node:net'
import { besideCname, type Fields, isWholeNumber, Refusal } from '../base.ts'

export type HetznerRecord = { readonly value: string; readonly comment: string }

/** An RRset as the API returns it. */
export interface HetznerRrset {
  readonly id: string
  /** Relative to the zone; `@` for the apex. */
  readonly name: string
  readonly type: string
  /** Null for the TTL of the zone. */
  readonly ttl: number | null
  readonly labels: Readonly<Record<string, string>>
  readonly protection: { readonly change: boolean }
  readonly records: readonly HetznerRecord[]
  readonly zone: number
}

export const refusal = (status: number, code: string, message: string, details: unknown = null): Refusal =>
  new Refusal(status, { error: { code, message, details } })
export const invalidInput = (field: string, why: string): Refusal =>
  refusal(422, 'invalid_input', `invalid input in field '${field}': ${why}`, { fields: [{ name: field, messages: [why] }] })

const HOST = /^(?:\.|(?:\*\.)?(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}\.?)$/i
const STRING = '"(?:[^"\\\\]|\\\\.)*"'
const number = (most: number) => (text: string | undefined) => /^\d{1,10}$/.test(text ?? '') && Number(text) <= most
const [octet, short] = [number(255), number(65_535)]
const host = (text: string | undefined): boolean => HOST.test(text ?? '')
const hex = (text: string | undefined): boolean => /^(?:[0-9a-f]{2})+$/i.test(text ?? '')
const string = (text: string | undefined): boolean => new RegExp(`^(?:${STRING}|[^"\\s]+)$`, 's').test(text ?? '')
type Check = (field: string | undefined) => boolean

/** The fields of a value, by type. The last of a list that ends with `others` may repeat. */
const FIELDS: Readonly<Record<string, readonly Check[]>> = {
  A: [(text) => isIPv4(text ?? '')],
  AAAA: [(text) => isIPv6(text ?? '')],
  CAA: [octet, (text) => /^[a-z0-9]+$/i.test(text ?? ''), string],
  CNAME: [host],
  DS: [short, octet, octet, hex],
  HINFO: [string, string],
  MX: [short, host],
  NS: [host],
  PTR: [host],
  RP: [host, host],
  SOA: [host, host, ...Array.from({ length: 5 }, () => number(4_294_967_295))],
  SRV: [short, short, short, host],
  TLSA: [octet, octet, octet, hex],
}

const TYPES: ReadonlySet<string> = new Set([...Object.keys(FIELDS), 'HTTPS', 'SVCB', 'TXT'])

function checkValue(type: string, value: string): void {
  const fields = value.match(new RegExp(`${STRING}|\\S+`, 'gs')) ?? []
  const isValid = (): boolean => {
    if (type === 'TXT') return new RegExp(`^${STRING}(?: ${STRING})*$`, 's').test(value) && fields.every(isShort)
    if (type === 'HTTPS' || type === 'SVCB') return short(fields[0]) && host(fields[1])
    const checks = FIELDS[type] ?? []
    return fields.length === checks.length && checks.every((check, index) => check(fields[index]))
  }
  if (!isValid()) throw invalidInput('records', `invalid ${type} record value`)
}

/** Whether a quoted string has at most 255 octets. */
const isShort = (text: string): boolean => Buffer.byteLength(text.slice(1, -1).replace(/\\(?:\d{3}|.)/gs, 'x')) <= 255

export function checkTtl(ttl: unknown): number {
  if (isWholeNumber(ttl, 60, 2_147_483_647)) return ttl
  throw invalidInput('ttl', 'must be between 60 and 2147483647')
}

/** Checks the owner and type of an RRset. */
export function checkIdentity(name: unknown, type: unknown, zone: string): void {
  if (typeof type !== 'string' || !TYPES.has(type)) throw invalidInput('type', 'is not supported')
  const isName =
    typeof name === 'string' && (name === '@' || name === '*' || (HOST.test(name) && name === name.toLowerCase() && !name.endsWith('.')))
  if (!isName || name === zone || name.endsWith(`.${zone}`)) throw invalidInput('name', 'is not a relative name in lower case')
}

/** The records of a request in their stored form. */
export function storedRecords(type: string, sent: unknown): HetznerRecord[] {
  if (!Array.isArray(sent) || sent.length === 0) throw invalidInput('records', 'must not be empty')
  const records = sent.map(({ value, comment }: Fields) => {
    if (typeof value !== 'string') throw invalidInput('records', 'value is missing')
    checkValue(type, value)
    return { value, comment: typeof comment === 'string' ? comment : '' }
  })
  if (new Set(records.map(({ value }) => value)).size < records.length) throw invalidInput('records', 'must be distinct')
  if (records.length > 1 && (type === 'CNAME' || type === 'SOA')) throw invalidInput('records', `a ${type} RRset has one record`)
  return records
}

/** Refuses an RRset that cannot be beside the others of the zone. */
export function refuseClash(rrset: HetznerRrset, others: Iterable<HetznerRrset>): void {
  if (rrset.type === 'CNAME' && rrset.name === '@') throw invalidInput('name', 'a CNAME cannot be at the apex')
  if (besideCname(rrset, others)) throw invalidInput('name', 'a CNAME cannot be beside other RRsets')
}
