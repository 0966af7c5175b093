/** A record as a call in dnsconfig.js, after DNSControl's documentation (its functions of a domain: A, AAAA, CAA, …). */
import { rdataToText, unescapeString } from '../../model/character-string.ts'
import { rdataFields } from '../../model/rdata/canonical.ts'
import { RDATA_TYPES } from '../../model/rdata/rdata-types.ts'
import { fault, ok, type Result } from '../../model/result.ts'

/** Types that DNSControl has a function for and its zone-file provider can hold. */
export const DNSCONTROL_TYPES: ReadonlySet<string> = new Set(
  'A AAAA CAA CNAME DHCID DNAME DNSKEY DS HTTPS LOC MX NAPTR NS OPENPGPKEY PTR RP SMIMEA SOA SRV SSHFP SVCB TLSA TXT'.split(' '),
)

/** The arguments of the function of a type after the label, and modifiers; a fault says what DNSControl cannot hold. */
export function callArguments(type: string, data: string): Result<string[]> {
  if (data.startsWith('\\#')) return fault('data in the generic form of RFC 3597')
  switch (type) {
    case 'TXT':
      return textArgument(data)
    case 'CAA':
      return certificationArguments(data)
    case 'LOC':
      return ok(data.split(' ').map((text) => (/^[NSEW]$/.test(text) ? literal(text) : String(Number(text.replace(/m$/, ''))))))
    case 'SOA': {
      const [mname = '', rname = '', , ...times] = data.split(' ')
      if (times.includes('0')) return fault('a time of 0 in the SOA record')
      return named([mname, rname], [literal(mname), literal(rname), ...times])
    }
    case 'SVCB':
    case 'HTTPS': {
      const [priority = '', target = '', ...params] = rdataFields(data)
      return target.includes('\\') ? fault('a name with escaped characters') : ok([priority, literal(target), literal(params.join(' '))])
    }
    case 'TLSA':
    case 'SMIMEA':
      return /^[0-3] [01] [0-2] /.test(data)
        ? plainArguments(type, data)
        : fault('a usage, selector or matching type that DNSControl refuses')
    default:
      return plainArguments(type, data)
  }
}

function plainArguments(type: string, data: string): Result<string[]> {
  const texts = rdataFields(data)
  const printed: string[] = []
  const names: string[] = []
  for (const [i, { kind }] of (RDATA_TYPES.get(type)?.fields ?? []).entries()) {
    const text = texts[i] ?? ''
    if (kind === 'name' && type !== 'RP') names.push(text)
    const plain = text.startsWith('"') ? textOf(unescapeString(text.slice(1, -1))) : ok(text)
    if (!plain.ok) return plain
    printed.push(/^u\d|^algorithm$/.test(kind) ? String(Number(text)) : literal(plain.value))
  }
  return named(names, printed)
}

/** Characters that DNSControl refuses in a name that a record leads to (its pkg/normalize), and escapes, which it does not know. */
const REFUSED = /[\\'" +,|!$%&()=?^*;:<>[\]@]/

/** Whether DNSControl takes a name as the target of a record; a slash is for classless delegation only (RFC 2317). */
export const isTarget = (name: string): boolean => !REFUSED.test(name) && (!name.includes('/') || name.endsWith('.in-addr.arpa.'))

const named = (names: readonly string[], printed: string[]): Result<string[]> =>
  names.every(isTarget) ? ok(printed) : fault('a target with characters that DNSControl refuses')

const textArgument = (data: string): Result<string[]> => {
  const text = textOf(ok(rdataToText(data)))
  return text.ok ? ok([literal(text.value)]) : text
}

/** The tags of CAA that DNSControl knows (its models/t_caa.go). */
const CAA_TAGS: ReadonlySet<string> = new Set('issue issuewild iodef contactemail contactphone issuemail issuevmc'.split(' '))

function certificationArguments(data: string): Result<string[]> {
  const [flags = '', tag = '', value = ''] = rdataFields(data)
  const text = textOf(unescapeString(value.slice(1, -1)))
  if (!text.ok) return text
  if (flags !== '0' && flags !== '128') return fault(`the flags ${flags} of a CAA record`)
  if (!CAA_TAGS.has(tag)) return fault(`the tag ${tag} of a CAA record`)
  return ok([literal(tag), literal(text.value), ...(flags === '128' ? ['CAA_CRITICAL'] : [])])
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textOf(octets: Result<Uint8Array>): Result<string> {
  try {
    return octets.ok ? ok(UTF8.decode(octets.value)) : octets
  } catch {
    return fault('octets that are no text in UTF-8')
  }
}

/** Text as a literal of ECMAScript 5, all in printable ASCII. */
export function literal(text: string): string {
  const escaped = text.replace(/[\\']|[^ -~]/g, (c) =>
    c === '\\' || c === "'" ? `\\${c}` : `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `'${escaped}'`
}
