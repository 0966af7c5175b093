/**
 * Renders a domain and its records into the zone that the name servers serve and its zone file.
 *
 * The text form of stored zones: one record per line, fields separated by tabs. Owners are relative and in lower case. One that the master wrote
 * with capital letters is absolute, as it wrote it.
 */
import { failure, ok, type Result } from '../../base/result.ts'
import { octetsToTxtRdata } from '../../dns/character-string.ts'
import { type DomainName, nameOctets, parseDomainName, ROOT } from '../../dns/domain-name.ts'
import { emailToName } from '../../dns/mailbox.ts'
import { canonicalRdata, rdataFields } from '../../dns/rdata/canonical.ts'
import type { Token } from '../../dns/rdata/field.ts'
import type { SerialNumber } from '../../dns/serial-number.ts'
import type { Ttl } from '../../dns/ttl.ts'
import type { ServedRecord } from '../nameserver/zone-data.ts'
import type { ZoneRecord, ZoneSource } from '../store/zone-file-store.ts'

const DEFAULT_TTL = '$TTL '

/** Formats a transferred zone. Its first record must be the SOA. */
export function formatTransferredZone(name: DomainName, domainId: number, records: readonly ServedRecord[]): string {
  const lines = [`; ${name.slice(0, -1)} [${domainId}]`]
  for (const record of records) {
    if (lines.length === 1) lines.push(`${DEFAULT_TTL}${record.ttl}`, `${record.writtenOwner ?? '@'}\tIN\tSOA\t${record.data}`)
    else lines.push(`${record.writtenOwner ?? relativeOwner(record.name, name)}\t${record.ttl}\t${record.type}\t${record.data}`)
  }
  return lines.join('\n')
}

const relativeOwner = (owner: DomainName, zone: DomainName): string => (owner === zone ? '@' : owner.slice(0, -zone.length - 1))

/** Default times in seconds, used for the value 0 (API, Domain). */
const DEFAULTS = { expire: 1209600, refresh: 14400, retry: 14400, ttl: 86400 } as const

export interface RenderedZone {
  readonly name: DomainName
  readonly serial: SerialNumber
  /** The SOA record, the NS records of the service's name servers, then the domain's records in the order of their ids. */
  readonly records: readonly ServedRecord[]
  /** The zone file: one record per line, owners relative to the zone, with a TTL only if the record has its own. */
  readonly lines: readonly string[]
  /** Messages about records that DNS cannot carry. They are not in the zone. */
  readonly omitted: readonly string[]
}

/**
 * Renders a zone with the given serial. `nsNames` are the service's name servers, primary first. Records that are equal in DNS, such as NS
 * records of the domain that repeat `nsNames`, appear once.
 */
export function renderZone(
  source: ZoneSource,
  stored: readonly ZoneRecord[],
  nsNames: readonly DomainName[],
  serial: SerialNumber,
): RenderedZone {
  const name = `${source.domain}.` as DomainName
  const ttl = (source.ttl_sec || DEFAULTS.ttl) as Ttl
  const soa = soaData(source, nsNames[0] ?? name, serial, ttl)
  const records: ServedRecord[] = [{ name, type: 'SOA', ttl, data: soa }]
  const lines = [`; ${source.domain} [${source.id}]`, `$TTL ${ttl}`, soaLine(soa)]
  for (const data of nsNames) {
    records.push({ name, type: 'NS', ttl, data })
    lines.push(`@\t\tNS\t${data}`)
  }
  const seen = new Set(nsNames.map((data) => `@ NS ${data}`))
  const omitted: string[] = []
  const sizeProblem = createSizeCheck()
  for (const record of stored) {
    const owner = record.name === '' ? '@' : record.name
    const ownerName = (record.name === '' ? name : `${record.name}.${name}`) as DomainName
    const rdata = recordRdata(record)
    const key = rdata.ok ? `${owner} ${record.type} ${rdata.value}` : ''
    if (seen.has(key)) continue
    const problem = rdata.ok ? sizeProblem(ownerName, record.type, rdata.value) : rdata.message
    if (!rdata.ok || problem !== null) {
      omitted.push(`${owner} ${record.type} [${record.id}]: ${problem}`)
      lines.push(`; left out: ${omitted.at(-1)}`)
      continue
    }
    seen.add(key)
    records.push({ name: ownerName, type: record.type, ttl: (record.ttl_sec || ttl) as Ttl, data: rdata.value })
    lines.push(`${owner}\t${record.ttl_sec || ''}\t${record.type}\t${rdata.value}`)
  }
  return { name, serial, records, lines, omitted }
}

/** The zone with another serial. */
export function withSerial(zone: RenderedZone, serial: SerialNumber): RenderedZone {
  const [soa, ...records] = zone.records as [ServedRecord, ...ServedRecord[]]
  const fields = rdataFields(soa.data)
  const data = [...fields.slice(0, 2), serial, ...fields.slice(3)].join(' ')
  const lines = zone.lines.with(SOA_LINE, soaLine(data))
  return { ...zone, serial, lines, records: [{ ...soa, data }, ...records] }
}

/** Increase it whenever the same domain and records are rendered differently, so that stored zones are rendered again. */
const RENDERING_VERSION = 3

/** The index of the SOA record in `lines`. */
const SOA_LINE = 2

const soaLine = (data: string): string => `@\tIN\tSOA\t${data}`

/** SOA rdata (RFC 1035 section 3.3.13). MINIMUM, the TTL of negative answers, is the zone's TTL. */
function soaData(source: ZoneSource, primary: DomainName, serial: SerialNumber, ttl: Ttl): string {
  const refresh = source.refresh_sec || DEFAULTS.refresh
  const retry = source.retry_sec || DEFAULTS.retry
  const expire = source.expire_sec || DEFAULTS.expire
  return `${primary} ${emailToName(source.soa_email) ?? ROOT} ${serial} ${refresh} ${retry} ${expire} ${ttl}`
}

/** Maximum size of a DNS message over TCP in octets: its length has 16 bits (RFC 1035 section 4.2.2). */
const MAX_MESSAGE_OCTETS = 65535

/** Fixed size of a response in octets: header, type and class of the question, and OPT (RFC 6891). */
const OVERHEAD = 12 + 4 + 11

/** Size of a record in octets without its rdata: the owner as a pointer to the question, type, class, TTL and length. */
const RECORD_OVERHEAD = 2 + 10

/**
 * Returns a function that adds a record to the size of its RRset. It returns an error message if the RRset would no longer fit into a DNS
 * message, else null. Such an RRset could never be served, and other name servers would refuse the zone. Names in rdata count uncompressed,
 * because no server has to compress them.
 */
function createSizeCheck(): (owner: DomainName, type: string, data: string) => string | null {
  const sizes = new Map<string, number>()
  return (owner, type, data) => {
    const key = `${owner} ${type}`
    const octets = dataOctets(type, data)
    const others = sizes.get(key) ?? 0
    const free = MAX_MESSAGE_OCTETS - OVERHEAD - nameOctets(owner) - RECORD_OVERHEAD - others
    if (octets <= free) {
      sizes.set(key, others + RECORD_OVERHEAD + octets)
      return null
    }
    const suffix = others === 0 ? '' : ' in addition to the other records with its name and type'
    return `${octets} octets of data; a DNS message can carry ${Math.max(0, free)}${suffix}`
  }
}

/** Size of rdata in octets; for types with names and numbers, an upper bound. */
function dataOctets(type: string, data: string): number {
  if (type === 'A') return 4
  if (type === 'AAAA') return 16
  if (type !== 'TXT') return data.length + NUMBERS_OCTETS
  if (data.length <= SHORT_TEXT && !data.includes('\\')) return data.length - 1
  return rdataFields(data).reduce((sum, string) => sum + 1 + textOctets(string), 0)
}

/** How many octets the numbers of SRV can take more than their text. */
const NUMBERS_OCTETS = 4

/** Maximum length of a single quoted string. */
const SHORT_TEXT = 257

/** Size of a quoted string in octets. An escape is one octet. */
const textOctets = (quoted: string): number => quoted.replace(/\\(?:[0-9]{3}|.)/g, '.').length - 2

/** The canonical rdata of a stored record, or an error. */
export function recordRdata(record: ZoneRecord): Result<string> {
  const { type, target, priority, weight, port, tag } = record
  switch (type) {
    case 'TXT':
      return ok(octetsToTxtRdata(Buffer.from(target, 'utf8')))
    case 'MX':
      return withName(target === '' ? '.' : target, (name) => `${priority} ${name}`)
    case 'SRV':
      return withName(target === '' ? '.' : target, (name) => `${priority} ${weight} ${port} ${name}`)
    case 'NS':
    case 'CNAME':
    case 'PTR':
      return withName(target, (name) => name)
    case 'CAA':
      return canonicalRdata(type, [word('0'), word(tag ?? ''), { text: target, quoted: true }], noName)
    default:
      return canonicalRdata(type, [word(target)], noName)
  }
}

/** Targets are stored without the final dot. */
function withName(target: string, data: (name: DomainName) => string): Result<string> {
  const name = parseDomainName(target === '.' ? target : `${target}.`)
  return name.ok ? ok(data(name.value)) : name
}

const word = (text: string): Token => ({ text, quoted: false })

const noName = (): Result<DomainName> => failure('has no name')

/**
 * Everything besides domains and records that affects rendering, as text: the rendering version and the service's name servers, primary first.
 * It is stored in the database, so that all processes render alike, with the options of the process started last. Otherwise a zone would change
 * with each process that renders it.
 */
export const renderingInputs = (nsNames: readonly DomainName[]): string => [RENDERING_VERSION, ...nsNames].join(' ')

/** The name servers in stored rendering inputs; null if another version of the program stored them: then this process must not render. */
export function nameServersOf(inputs: string): readonly DomainName[] | null {
  const [version, ...names] = inputs.split(' ')
  return version === String(RENDERING_VERSION) ? (names as DomainName[]) : null
}
