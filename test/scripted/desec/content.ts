/** Which contents of records deSEC accepts, and in which form it returns them. Its own tests (api/desecapi/tests/test_rrsets.py) have examples of both. */
import { isIPv4, isIPv6 } from 'node:net'

/** A content that is refused. */
export class ContentError extends Error {}

const malformed = (type: string, why: string): ContentError => new ContentError(`Record content for type ${type} malformed: ${why}`)
type Form = 'u8' | 'u16' | 'name' | 'host' | 'text' | 'quoted' | 'hex' | 'base64' | 'params' | 'rest'
const forms = (text: string): readonly Form[] => text.split(' ') as Form[]

/** The fields of each type. */
const TYPES: Readonly<Record<string, readonly Form[]>> = {
  A: [],
  AAAA: [],
  AFSDB: forms('u16 name'),
  APL: forms('rest'),
  CAA: forms('u8 text quoted'),
  CDNSKEY: forms('u16 u8 u8 base64'),
  CDS: forms('u16 u8 u8 hex'),
  CERT: forms('text u16 text base64'),
  CNAME: forms('name'),
  CSYNC: forms('rest'),
  DHCID: forms('base64'),
  DLV: forms('u16 u8 u8 hex'),
  DNAME: forms('name'),
  DNSKEY: forms('u16 u8 u8 base64'),
  DS: forms('u16 u8 u8 hex'),
  EUI48: forms('text'),
  EUI64: forms('text'),
  HINFO: forms('quoted quoted'),
  HTTPS: forms('u16 name params'),
  KX: forms('u16 name'),
  L32: forms('u16 text'),
  L64: forms('u16 text'),
  LOC: forms('rest'),
  LP: forms('u16 name'),
  MX: forms('u16 host'),
  NAPTR: forms('u16 u16 quoted quoted quoted name'),
  NID: forms('u16 text'),
  NS: forms('host'),
  OPENPGPKEY: forms('base64'),
  PTR: forms('name'),
  RP: forms('name name'),
  SMIMEA: forms('u8 u8 u8 hex'),
  SPF: [],
  SRV: forms('u16 u16 u16 host'),
  SSHFP: forms('u8 u8 hex'),
  SVCB: forms('u16 name params'),
  TLSA: forms('u8 u8 u8 hex'),
  TXT: [],
  URI: forms('u16 u16 quoted'),
}

const AUTOMATIC: ReadonlySet<string> = new Set(['KEY', 'NSEC', 'NSEC3', 'OPT', 'RRSIG', 'NSEC3PARAM', 'SOA'])

/** Why a type cannot be managed; null if it can. */
export function typeProblem(type: string): string | null {
  if (Object.hasOwn(TYPES, type)) return null
  if (AUTOMATIC.has(type)) return `You cannot tinker with the ${type} RR set. It is managed automatically.`
  return type.startsWith('TYPE') ? 'Generic type format is not supported.' : `The ${type} RR set type is currently unsupported.`
}

/** Tokens of a text: quoted strings with their quotes, and words. */
function tokensOf(type: string, text: string): string[] {
  if (/[^\S ]|\0/.test(text)) throw malformed(type, 'unexpected character')
  const tokens = text.match(/(?:[^\s"]+=)?"(?:[^"\\]|\\.)*"|[^\s"]+/g) ?? []
  if (tokens.join('').replaceAll(' ', '') !== text.replaceAll(' ', ''))
    throw new ContentError(`Data for ${type} records must be given using quotation marks.`)
  return tokens
}

/** The canonical form of a content. Throws a `ContentError` if it is refused. */
export function canonicalContent(type: string, content: string): string {
  if (type === 'A') {
    if (!isIPv4(content)) throw malformed(type, 'Text input is malformed.')
    return content
  }
  if (type === 'AAAA') {
    if (!isIPv6(content)) throw malformed(type, 'Text input is malformed.')
    return new URL(`http://[${content}]`).hostname.slice(1, -1)
  }
  const tokens = tokensOf(type, content)
  if (type === 'TXT' || type === 'SPF') {
    if (tokens.length === 0) throw malformed(type, 'Unexpected end of input.')
    return tokens.flatMap((token) => chunksOf(type, token)).join(' ')
  }
  const fields: string[] = []
  let next = 0
  for (const form of TYPES[type] ?? []) {
    const takesRest = form === 'rest' || form === 'params' || form === 'hex' || form === 'base64'
    const taken = takesRest ? tokens.slice(next) : tokens.slice(next, next + 1)
    next += taken.length
    if (taken.length === 0 && form !== 'rest' && form !== 'params') throw malformed(type, 'Unexpected end of input.')
    fields.push(...fieldOf(type, form, taken))
  }
  if (next < tokens.length) throw malformed(type, 'expected EOL or EOF')
  if (type === 'DS' || type === 'CDS' || type === 'DLV') refuseDigest(type, fields)
  return fields.join(' ')
}

const DIGEST_OCTETS: Readonly<Record<string, number>> = { 1: 20, 2: 32, 3: 32, 4: 48 }

function refuseDigest(type: string, [, , digestType = '', digest = '']: readonly string[]): void {
  const octets = type === 'CDS' && digestType === '0' ? 1 : DIGEST_OCTETS[digestType]
  if (digestType === '0' && octets === undefined) throw new ContentError('Cannot parse record contents: digest type 0 is reserved')
  if (octets !== undefined && digest.length !== octets * 2)
    throw new ContentError('Cannot parse record contents: digest length inconsistent with digest type')
}

function fieldOf(type: string, form: Form, tokens: readonly string[]): string[] {
  const [token = ''] = tokens
  switch (form) {
    case 'u8':
    case 'u16':
      if (!/^\d+$/.test(token) || Number(token) > (form === 'u8' ? 255 : 65_535)) throw malformed(type, 'expecting an identifier')
      return [String(Number(token))]
    case 'name':
    case 'host':
      return [nameOf(type, form, token)]
    case 'quoted':
      return chunksOf(type, token.startsWith('"') ? token : `"${token}"`)
    case 'hex': {
      const hex = tokens.join('')
      if (!/^(?:[0-9a-f]{2})+$/i.test(hex)) throw new ContentError('Cannot parse hexadecimal or base64 record contents')
      return [hex.toLowerCase()]
    }
    case 'base64': {
      const base64 = tokens.join('')
      if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]+=*$/.test(base64))
        throw new ContentError('Cannot parse hexadecimal or base64 record contents')
      return [base64]
    }
    case 'params':
      return paramsOf(type, tokens)
    case 'rest':
      return tokens.map((one) => (one.includes('=') ? one : one.replace(/^"(.*)"$/, '$1')))
    default:
      return [token.replace(/^"(.*)"$/, '$1')]
  }
}

const PARAMS = ['mandatory', 'alpn', 'no-default-alpn', 'port', 'ipv4hint', 'ech', 'ipv6hint', 'dohpath']

/** deSEC removes the quotes that dnspython writes around these, because PowerDNS refuses them (api/desecapi/dns.py). */
const UNQUOTED: ReadonlySet<string | undefined> = new Set(['mandatory', 'alpn', 'port', 'ipv4hint', 'ipv6hint'])

/** The parameters of SVCB in the order of their numbers. */
function paramsOf(type: string, tokens: readonly string[]): string[] {
  const params = tokens.map((token) => {
    const [, name = '', value] = /^([A-Za-z0-9-]+)(?:=(.*))?$/s.exec(token) ?? []
    const number = /^key\d+$/i.test(name) ? Number(name.slice(3)) : PARAMS.indexOf(name.toLowerCase())
    if (number === -1) throw malformed(type, `unknown parameter ${name}`)
    const key = PARAMS[number] ?? `key${number}`
    if (value === undefined) return { number, text: key }
    const quoted = chunksOf(type, value.startsWith('"') ? value : `"${value}"`).join('')
    return { number, text: `${key}=${UNQUOTED.has(key) ? quoted.slice(1, -1) : quoted}` }
  })
  return params.sort((a, b) => a.number - b.number).map(({ text }) => text)
}

/** PowerDNS accepts these as names of hosts. */
const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+$/

function nameOf(type: string, form: 'name' | 'host', token: string): string {
  if (!token.endsWith('.')) throw new ContentError('Hostname must be fully qualified (i.e., end in a dot: "example.com.")')
  if (token.length > 254) throw new ContentError('Hostname must be no longer than 255 characters')
  const isRoot = token === '.' && type !== 'NS'
  if (type === 'CNAME' && !/^(?:\.|(?:\*\.)?(?:[A-Za-z0-9_-]+\.)+)$/.test(token))
    throw new ContentError(`Cannot parse record contents: invalid target: ${token}`)
  if (form === 'host' && !isRoot && !HOST.test(token)) throw new ContentError(`Cannot parse record contents: invalid target: ${token}`)
  return token
}

/** A quoted string as strings of at most 255 octets, with the escapes of dnspython. */
function chunksOf(type: string, token: string): string[] {
  if (!/^".*"$/.test(token)) throw new ContentError(`Data for ${type} records must be given using quotation marks.`)
  const octets: number[] = []
  for (const [part] of token.slice(1, -1).matchAll(/\\[0-9]{3}|\\.|[^\\]/gu)) {
    if (/^\\[0-9]{3}$/.test(part)) {
      if (Number(part.slice(1)) > 255) throw malformed(type, 'bad escape')
      octets.push(Number(part.slice(1)))
    } else octets.push(...Buffer.from(part.startsWith('\\') ? part.slice(1) : part, 'utf8'))
  }
  const chunks: string[] = []
  for (let at = 0; at < Math.max(octets.length, 1); at += 255)
    chunks.push(
      `"${octets
        .slice(at, at + 255)
        .map(escaped)
        .join('')}"`,
    )
  return chunks
}

function escaped(octet: number): string {
  if (octet === 0x22 || octet === 0x5c) return `\\${String.fromCharCode(octet)}`
  return octet >= 0x20 && octet < 0x7f ? String.fromCharCode(octet) : `\\${String(octet).padStart(3, '0')}`
}
