/**
 * Which records DigitalOcean stores, and in which form. The recordings show A, CNAME, NS, SOA and TXT; the other rules are those of its API reference, of
 * octoDNS's provider and of DNSControl's, which is tested at the real service.
 */
import { isIPv4, isIPv6 } from 'node:net'
import { besideCname, type Fields, isWholeNumber, Refusal } from '../base.ts'

/** A record as the API returns it. */
export interface DigitalOceanRecord {
  readonly id: number
  readonly type: string
  /** Relative to the domain; `@` for the apex. */
  readonly name: string
  /** Names without the final dot; `@` for the domain itself. */
  readonly data: string
  readonly priority: number | null
  readonly port: number | null
  readonly ttl: number
  readonly weight: number | null
  readonly flags: number | null
  readonly tag: string | null
}

export const refusal = (status: number, id: string, message: string, headers = {}): Refusal => new Refusal(status, { id, message }, headers)
export const unprocessable = (message: string): Refusal => refusal(422, 'unprocessable_entity', message)
const HOST = /^(?:\*\.)?(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}$/i
const TYPES: ReadonlySet<string> = new Set(['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'SOA', 'SRV', 'TXT'])
const NAME_TYPES: ReadonlySet<string> = new Set(['CNAME', 'MX', 'NS', 'SRV'])
const USUAL_TTL = 1800
const MIN_TTL = 30
const MAX_TEXT = 512

function wholeNumber(sent: unknown, what: string, most: number): number {
  if (isWholeNumber(sent, 0, most)) return sent
  throw unprocessable(`${what} must be between 0 and ${most}`)
}

/** A name as rdata: absolute, or a name in the domain. */
function target(sent: string, type: string, domain: string): string {
  if (sent === '@') return '@'
  if (sent === '.' && type === 'SRV') return '.'
  if (!sent.endsWith('.')) throw unprocessable('Data needs to end with a dot (.)')
  const name = sent.slice(0, -1).toLowerCase()
  if (!HOST.test(name)) throw unprocessable('Data is invalid')
  return name === domain ? '@' : name
}

function dataOf(type: string, sent: unknown, domain: string): string {
  const data = typeof sent === 'string' ? sent : ''
  if (type === 'A' && !isIPv4(data)) throw unprocessable('IP address did not match IPv4 format')
  if (type === 'AAAA' && !isIPv6(data)) throw unprocessable('IP address did not match IPv6 format')
  if (NAME_TYPES.has(type)) return target(data, type, domain)
  if (type === 'CAA' && (data === '' || /\s/.test(data))) throw unprocessable('Data is invalid')
  if (type === 'CAA') return data.replace(/\.$/, '')
  if (type === 'TXT' && (data === '' || data.includes('\\') || JSON.stringify(data).length > MAX_TEXT))
    throw unprocessable('Data is invalid')
  return data
}

/** A name that ends in the domain and a dot is absolute, as clients such as lego send it. */
function relative(name: string, domain: string): string {
  if (name === `${domain}.`) return '@'
  return name.endsWith(`.${domain}.`) ? name.slice(0, -domain.length - 2) : name
}

/** What a request says about a record, in the stored form. */
export function storedForm(id: number, sent: Fields, domain: string): DigitalOceanRecord {
  const type = String(sent['type'] ?? '')
  if (!TYPES.has(type)) throw unprocessable('Type is not included in the list')
  const name = typeof sent['name'] === 'string' ? relative(sent['name'].toLowerCase(), domain) : ''
  if (name !== '@' && name !== '*' && !HOST.test(name)) throw unprocessable('Name is invalid')
  const ttl = sent['ttl'] == null ? USUAL_TTL : wholeNumber(sent['ttl'], 'Ttl', 2_147_483_647)
  if (ttl < MIN_TTL) throw unprocessable(`Ttl must be greater than or equal to ${MIN_TTL}`)
  const tag = type === 'CAA' ? String(sent['tag']) : null
  if (tag !== null && !['issue', 'issuewild', 'iodef'].includes(tag)) throw unprocessable('Tag is invalid')
  return {
    id,
    type,
    name,
    data: dataOf(type, sent['data'], domain),
    priority: type === 'MX' || type === 'SRV' ? wholeNumber(sent['priority'], 'Priority', 65_535) : null,
    port: type === 'SRV' ? wholeNumber(sent['port'], 'Port', 65_535) : null,
    ttl,
    weight: type === 'SRV' ? wholeNumber(sent['weight'], 'Weight', 65_535) : null,
    flags: type === 'CAA' ? wholeNumber(sent['flags'], 'Flags', 255) : null,
    tag,
  }
}

/** Refuses a record that cannot be beside the others of the domain. */
export function refuseClash(record: DigitalOceanRecord, others: Iterable<DigitalOceanRecord>): void {
  if (record.type === 'CNAME' && record.name === '@') throw unprocessable('CNAME records cannot be at the apex')
  if (besideCname(record, others, true)) throw unprocessable('CNAME records cannot share a name with other records')
}

/** The record as a line of the domain's zone file. */
export function zoneFileLine({ name, type, ttl, data, priority, port, weight, flags, tag }: DigitalOceanRecord, domain: string): string {
  const host = data === '@' ? `${domain}.` : data === '.' ? '.' : `${data}.`
  const rdata: Readonly<Record<string, string>> = {
    CAA: `${flags} ${tag} "${data}"`,
    CNAME: host,
    MX: `${priority} ${host}`,
    NS: host,
    SRV: `${priority} ${weight} ${port} ${host}`,
  }
  return `${name === '@' ? '' : `${name}.`}${domain}. ${ttl} IN ${type} ${rdata[type] ?? data}`
}
