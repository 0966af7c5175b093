/** Prints records as calls in dnsconfig.js that DNSControl 4 and 5 read alike (their pkg/js/helpers.js, pkg/normalize and models). */
import { domainToASCII, domainToUnicode } from 'node:url'
import { failure, ok, type Result } from '../../base/result.ts'
import { txtRdataToOctets } from '../../dns/character-string.ts'
import { rdataFields } from '../../dns/rdata/canonical.ts'
import { RDATA_TYPES } from '../../dns/rdata/rdata-types.ts'

/** Types with a function in DNSControl that its zone file provider supports. */
export const DNSCONTROL_TYPES: ReadonlySet<string> = new Set(
  'A AAAA CAA CNAME DHCID DNAME DNSKEY DS HTTPS LOC MX NAPTR NS OPENPGPKEY PTR RP SMIMEA SOA SRV SSHFP SVCB TLSA TXT'.split(' '),
)

/** Returns the arguments of a type's function after the label. A failure names what DNSControl cannot express. */
export function callArguments(type: string, data: string): Result<string[]> {
  if (data.startsWith('\\#')) return failure('data in the generic form of RFC 3597')
  switch (type) {
    case 'TXT':
      return txtArgument(data)
    case 'CAA':
      return caaArguments(data)
    case 'LOC':
      return locArguments(data)
    case 'SOA': {
      const [mname = '', rname = '', , ...times] = data.split(' ')
      if (times.includes('0')) return failure('a time of 0 in the SOA record')
      // Of the mailbox, DNSControl checks only whether it has an @.
      return withTargets(rname.includes('@') ? [mname, rname] : [mname], [jsString(mname), jsString(rname), ...times])
    }
    case 'SVCB':
    case 'HTTPS':
      return svcbArguments(data)
    case 'OPENPGPKEY':
      // DNSControl takes ambiguous data for hexadecimal.
      return ok([jsString(/^[0-9A-Fa-f]+$/.test(data) ? Buffer.from(data, 'base64').toString('hex') : data)])
    case 'TLSA':
    case 'SMIMEA':
      return /^[0-3] [01] [0-2] /.test(data)
        ? fieldArguments(type, data)
        : failure('a usage, selector or matching type that DNSControl refuses')
    default:
      return fieldArguments(type, data)
  }
}

/** Both versions put strings between quotes unchanged, so their escapes are kept. */
function fieldArguments(type: string, data: string): Result<string[]> {
  const texts = rdataFields(data)
  const printed: string[] = []
  const names: string[] = []
  for (const [i, { kind }] of (RDATA_TYPES.get(type)?.fields ?? []).entries()) {
    const text = texts[i] ?? ''
    if (kind === 'name' && type !== 'RP') names.push(text)
    printed.push(/^u\d|^algorithm$/.test(kind) ? String(Number(text)) : jsString(text.startsWith('"') ? text.slice(1, -1) : text))
  }
  return withTargets(names, printed)
}

/**
 * Prints degrees, minutes and seconds; altitude and precisions are in metres. DNSControl 5 rounds seconds to hundredths. DNSControl 4
 * truncates the computed altitude to centimetres; if that is one too low, an added millimetre corrects it, and version 5 rounds it away.
 */
function locArguments(data: string): Result<string[]> {
  if (/\.[0-9]{2}[1-9] /.test(data)) return failure('thousandths of a second, which DNSControl 5 rounds away')
  const [altitude = '', ...precisions] = data.split(' ').slice(8)
  const metres = Number(altitude.slice(0, -1))
  const isTruncated = Math.trunc((metres + 100_000) * 100) !== Math.round((metres + 100_000) * 100)
  const angles = data
    .split(' ')
    .slice(0, 8)
    .map((text) => (/^[NSEW]$/.test(text) ? jsString(text) : String(Number(text))))
  return ok([
    ...angles,
    isTruncated ? (metres + 0.001).toFixed(3) : String(metres),
    ...precisions.map((text) => String(Number(text.slice(0, -1)))),
  ])
}

/** Service parameters that both versions know by name. */
const SERVICE_KEYS: ReadonlySet<string> = new Set('mandatory alpn no-default-alpn port ipv4hint ech ipv6hint dohpath'.split(' '))

/** DNSControl 5 splits parameters at every space, requires `=` in each, and replaces the word IGNORE. */
function svcbArguments(data: string): Result<string[]> {
  const [priority = '', target = '', ...params] = rdataFields(data)
  if (priority === '0' && params.length > 0) return failure('service parameters with priority 0')
  const printed: string[] = []
  for (const param of params) {
    const [name = '', ...value] = param.split('=')
    // For a parameter without a value, the number is equivalent to the name.
    const key = name === 'ohttp' ? 'key8' : name
    if (!SERVICE_KEYS.has(key) && !/^key\d+$/.test(key)) return failure(`the service parameter ${key}, which DNSControl does not know`)
    if (/[\s\\]|IGNORE/.test(param)) return failure('a service parameter with spaces, escapes or the word IGNORE')
    printed.push(`${key}=${value.join('=')}`)
  }
  if (target.includes('\\')) return failure('a name with escaped characters')
  // `dnscontrol check` of 4.3x says "bad SVCB key".
  if (printed.length > 1 && printed.some((param) => param.endsWith('='))) return failure('a service parameter without a value among others')
  return ok([priority, jsString(target), jsString(printed.join(' '))])
}

/** Characters that DNSControl refuses in a target (its pkg/normalize), and the backslash of escapes, which it does not know. */
const REFUSED = /[\\'" +,|!$%&()=?^*;:<>[\]@]/

/** Whether DNSControl accepts a name as a target; slashes are only for classless delegation (RFC 2317). */
export const isAcceptedTarget = (name: string): boolean => !REFUSED.test(name) && (!name.includes('/') || name.endsWith('.in-addr.arpa.'))

const withTargets = (names: readonly string[], printed: string[]): Result<string[]> =>
  names.every(isAcceptedTarget) ? ok(printed) : failure('a target with characters that DNSControl refuses')

/** Whether DNSControl gets every label `xn--…` back when it converts the name to Unicode and back to ASCII. */
export const survivesIdnRoundTrip = (name: string): boolean =>
  !name.includes('xn--') ||
  name
    .split('.')
    .every((label) => !label.startsWith('xn--') || (domainToUnicode(label) !== label && domainToASCII(domainToUnicode(label)) === label))

const txtArgument = (data: string): Result<string[]> => {
  const text = textOf(txtRdataToOctets(data))
  return text.ok ? ok([jsString(text.value)]) : text
}

/** CAA tags that DNSControl knows (its models/t_caa.go). */
const CAA_TAGS: ReadonlySet<string> = new Set('issue issuewild iodef contactemail contactphone issuemail issuevmc'.split(' '))

function caaArguments(data: string): Result<string[]> {
  const [flags = '', tag = '', value = ''] = rdataFields(data)
  if (flags !== '0' && flags !== '128') return failure(`the flags ${flags} of a CAA record`)
  if (!CAA_TAGS.has(tag)) return failure(`the tag ${tag} of a CAA record`)
  return ok([jsString(tag), jsString(value.slice(1, -1)), ...(flags === '128' ? ['CAA_CRITICAL'] : [])])
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textOf(octets: Uint8Array): Result<string> {
  try {
    return ok(UTF8.decode(octets))
  } catch {
    return failure('octets that are not valid UTF-8')
  }
}

/**
 * Prints text as an ECMAScript 5 string literal, in printable ASCII except for characters beyond the Basic Multilingual Plane: DNSControl's
 * interpreter turns an escaped surrogate pair into two U+FFFD when it writes JSON, but keeps the character itself.
 */
export function jsString(text: string): string {
  const escaped = text.replace(/[\\']|[^ -~\u{10000}-\u{10ffff}]/gu, (c) =>
    c === '\\' || c === "'" ? `\\${c}` : `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `'${escaped}'`
}
