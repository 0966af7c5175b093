/** A record as a call in dnsconfig.js that DNSControl 4 and 5 take for the same (their pkg/js/helpers.js, pkg/normalize and models). */
import { domainToASCII, domainToUnicode } from 'node:url'
import { txtRdataToOctets } from '../../dns/character-string.ts'
import { rdataFields } from '../../dns/rdata/canonical.ts'
import { RDATA_TYPES } from '../../dns/rdata/rdata-types.ts'
import { failure, ok, type Result } from '../../dns/result.ts'

/** Types that DNSControl has a function for and its zone-file provider can hold. */
export const DNSCONTROL_TYPES: ReadonlySet<string> = new Set(
  'A AAAA CAA CNAME DHCID DNAME DNSKEY DS HTTPS LOC MX NAPTR NS OPENPGPKEY PTR RP SMIMEA SOA SRV SSHFP SVCB TLSA TXT'.split(' '),
)

/** The arguments of the function of a type after the label, and modifiers; a fault says what DNSControl cannot hold. */
export function callArguments(type: string, data: string): Result<string[]> {
  if (data.startsWith('\\#')) return failure('data in the generic form of RFC 3597')
  switch (type) {
    case 'TXT':
      return textArgument(data)
    case 'CAA':
      return certificationArguments(data)
    case 'LOC':
      return locationArguments(data)
    case 'SOA': {
      const [mname = '', rname = '', , ...times] = data.split(' ')
      if (times.includes('0')) return failure('a time of 0 in the SOA record')
      // Of the mailbox only the sign is looked at.
      return named(rname.includes('@') ? [mname, rname] : [mname], [literal(mname), literal(rname), ...times])
    }
    case 'SVCB':
    case 'HTTPS':
      return serviceArguments(data)
    case 'OPENPGPKEY':
      // What could be either, DNSControl takes for hexadecimal.
      return ok([literal(/^[0-9A-Fa-f]+$/.test(data) ? Buffer.from(data, 'base64').toString('hex') : data)])
    case 'TLSA':
    case 'SMIMEA':
      return /^[0-3] [01] [0-2] /.test(data)
        ? plainArguments(type, data)
        : failure('a usage, selector or matching type that DNSControl refuses')
    default:
      return plainArguments(type, data)
  }
}

/** Strings are put between quotes as they are, in both versions: they have to come with their escapes. */
function plainArguments(type: string, data: string): Result<string[]> {
  const texts = rdataFields(data)
  const printed: string[] = []
  const names: string[] = []
  for (const [i, { kind }] of (RDATA_TYPES.get(type)?.fields ?? []).entries()) {
    const text = texts[i] ?? ''
    if (kind === 'name' && type !== 'RP') names.push(text)
    printed.push(/^u\d|^algorithm$/.test(kind) ? String(Number(text)) : literal(text.startsWith('"') ? text.slice(1, -1) : text))
  }
  return named(names, printed)
}

/**
 * Degrees, minutes and seconds; altitude and precisions in metres. DNSControl 5 rounds seconds to hundredths. DNSControl 4 cuts what it
 * computes of the altitude off at the centimetre; where that falls short, a millimetre more mends it, which version 5 rounds away.
 */
function locationArguments(data: string): Result<string[]> {
  if (/\.[0-9]{2}[1-9] /.test(data)) return failure('thousandths of a second, which DNSControl 5 rounds away')
  const [altitude = '', ...precisions] = data.split(' ').slice(8)
  const metres = Number(altitude.slice(0, -1))
  const isCut = Math.trunc((metres + 100_000) * 100) !== Math.round((metres + 100_000) * 100)
  const angles = data
    .split(' ')
    .slice(0, 8)
    .map((text) => (/^[NSEW]$/.test(text) ? literal(text) : String(Number(text))))
  return ok([
    ...angles,
    isCut ? (metres + 0.001).toFixed(3) : String(metres),
    ...precisions.map((text) => String(Number(text.slice(0, -1)))),
  ])
}

/** The service parameters that both versions know by name. */
const SERVICE_KEYS: ReadonlySet<string> = new Set('mandatory alpn no-default-alpn port ipv4hint ech ipv6hint dohpath'.split(' '))

/** DNSControl 5 cuts parameters apart at every space, wants a `=` in each, and replaces the word IGNORE. */
function serviceArguments(data: string): Result<string[]> {
  const [priority = '', target = '', ...params] = rdataFields(data)
  if (priority === '0' && params.length > 0) return failure('service parameters beside priority 0')
  const printed: string[] = []
  for (const param of params) {
    const [name = '', ...value] = param.split('=')
    // Of what has no value the number says as much as the name.
    const key = name === 'ohttp' ? 'key8' : name
    if (!SERVICE_KEYS.has(key) && !/^key\d+$/.test(key)) return failure(`the service parameter ${key}, which DNSControl does not know`)
    if (/[\s\\]|IGNORE/.test(param)) return failure('a service parameter with spaces, escapes or the word IGNORE')
    printed.push(`${key}=${value.join('=')}`)
  }
  if (target.includes('\\')) return failure('a name with escaped characters')
  return ok([priority, literal(target), literal(printed.join(' '))])
}

/** Characters that DNSControl refuses in a name that a record leads to (its pkg/normalize), and escapes, which it does not know. */
const REFUSED = /[\\'" +,|!$%&()=?^*;:<>[\]@]/

/** Whether DNSControl takes a name as the target of a record; a slash is for classless delegation only (RFC 2317). */
export const isTarget = (name: string): boolean => !REFUSED.test(name) && (!name.includes('/') || name.endsWith('.in-addr.arpa.'))

const named = (names: readonly string[], printed: string[]): Result<string[]> =>
  names.every(isTarget) ? ok(printed) : failure('a target with characters that DNSControl refuses')

/** Whether each label `xn--…` of a name is one that DNSControl gets back when it takes the name to Unicode and to ASCII again. */
export const isSoundIdn = (name: string): boolean =>
  !name.includes('xn--') ||
  name
    .split('.')
    .every((label) => !label.startsWith('xn--') || (domainToUnicode(label) !== label && domainToASCII(domainToUnicode(label)) === label))

const textArgument = (data: string): Result<string[]> => {
  const text = textOf(txtRdataToOctets(data))
  return text.ok ? ok([literal(text.value)]) : text
}

/** The tags of CAA that DNSControl knows (its models/t_caa.go). */
const CAA_TAGS: ReadonlySet<string> = new Set('issue issuewild iodef contactemail contactphone issuemail issuevmc'.split(' '))

function certificationArguments(data: string): Result<string[]> {
  const [flags = '', tag = '', value = ''] = rdataFields(data)
  if (flags !== '0' && flags !== '128') return failure(`the flags ${flags} of a CAA record`)
  if (!CAA_TAGS.has(tag)) return failure(`the tag ${tag} of a CAA record`)
  return ok([literal(tag), literal(value.slice(1, -1)), ...(flags === '128' ? ['CAA_CRITICAL'] : [])])
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textOf(octets: Uint8Array): Result<string> {
  try {
    return ok(UTF8.decode(octets))
  } catch {
    return failure('octets that are no text in UTF-8')
  }
}

/**
 * Text as a literal of ECMAScript 5, in printable ASCII but for what lies beyond the Basic Multilingual Plane: of an escaped surrogate
 * pair the interpreter in DNSControl makes two U+FFFD when it writes its JSON, of the character itself it does not.
 */
export function literal(text: string): string {
  const escaped = text.replace(/[\\']|[^ -~\u{10000}-\u{10ffff}]/gu, (c) =>
    c === '\\' || c === "'" ? `\\${c}` : `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `'${escaped}'`
}
