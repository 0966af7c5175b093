/**
 * Rdata as the API writes it. The server compares each text with the one that it would write itself and refuses a difference ("Not in expected format"), apart
 * from letter case. Types that it does not know have the generic form (RFC 3597).
 */
import { ok, type Result } from '../../base/result.ts'
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import { ipv6Groups } from '../../dns/ip-address.ts'
import { canonicalRdata, isGenericForm, rdataFields } from '../../dns/rdata/canonical.ts'
import { presentationTokens } from '../../dns/rdata/field.ts'
import { parseGenericForm, toGenericForm } from '../../dns/rdata/generic-form.ts'
import { svcParamKey } from '../../dns/rdata/svc-param-forms.ts'
import { parseRecordType, typeCode } from '../../dns/record-type.ts'

/** Types of the registry that version 4.7 does not know, or knows in the generic form only. */
const UNKNOWN_TYPES: ReadonlySet<string> = new Set(
  (
    'MD MF X25 ISDN RT NSAP NSAP-PTR SIG PX GPOS EID NIMLOC HIP NINFO TALINK DSYNC HHIT BRID UINFO UID GID AVC DOA AMTRELAY RESINFO WALLET CLA IPN TA ' +
    'NULL WKS NXT ATMA SINK UNSPEC'
  ).split(' '),
)

/** A record's type and rdata as the API takes them. The data must be canonical. */
export function rdataToApi(type: string, data: string): { readonly type: string; readonly content: string } {
  if (UNKNOWN_TYPES.has(type)) return { type: `TYPE${typeCode(type)}`, content: contentOf('', toGenericForm(type, data)) }
  return { type, content: contentOf(type, data) }
}

/** The name of a type at the API. */
export const typeToApi = (type: string): string => (UNKNOWN_TYPES.has(type) ? `TYPE${typeCode(type)}` : type)

function contentOf(type: string, data: string): string {
  switch (type) {
    case 'AAAA':
      // The server reads no address with an IPv4 part.
      return data.includes('.')
        ? ipv6Groups(data)
            .map((group) => group.toString(16))
            .join(':')
        : data
    case 'LOC':
      // The server writes the equator as south and the prime meridian as west.
      return data.replace(/^0 0 0\.000 N/, '0 0 0.000 S').replace(/ 0 0 0\.000 E/, ' 0 0 0.000 W')
    case 'NID':
    case 'L64':
      return data.replace(/[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){3}$/, (text) =>
        text
          .split(':')
          .map((group) => group.padStart(4, '0'))
          .join(':'),
      )
    case 'IPSECKEY': {
      // Without a gateway the server writes no field for it, instead of the root.
      const fields = rdataFields(data)
      return fields[1] === '0' ? fields.filter((_, index) => index !== 3).join(' ') : data
    }
    case 'SVCB':
    case 'HTTPS': {
      const [priority, target, ...parameters] = rdataFields(data)
      return [priority, target, ...parameters.map(parameterToApi)].join(' ')
    }
    default:
      // The server ends empty rdata with a space.
      return data === '\\# 0' ? `${data} ` : data
  }
}

/** Parameters that the server writes without quotes. */
const BARE_PARAMETERS: ReadonlySet<string> = new Set(['mandatory', 'alpn', 'port', 'ipv4hint', 'ipv6hint'])

/** A parameter of SVCB: the server knows few keys by name, and writes the others as numbers with a quoted value. */
function parameterToApi(parameter: string): string {
  const at = parameter.indexOf('=')
  const name = at === -1 ? parameter : parameter.slice(0, at)
  if (name === 'no-default-alpn') return name
  const value = at === -1 ? '' : parameter.slice(at + 1).replace(/^"(.*)"$/s, '$1')
  if (BARE_PARAMETERS.has(name)) return `${name}=${value}`
  return `${name === 'ech' ? name : `key${svcParamKey(name)}`}="${value}"`
}

/** A type and rdata of the API in canonical form. The rdata of a known type is an error if it is malformed. */
export function rdataFromApi(apiType: string, content: string): { readonly type: string | null; readonly data: Result<string> } {
  const type = parseRecordType(apiType)
  if (!type.ok) return { type: null, data: type }
  const tokens = presentationTokens(content)
  if (!tokens.ok) return { type: type.value, data: tokens }
  const [precedence, gateway, algorithm, ...key] = tokens.value
  const fields =
    type.value === 'IPSECKEY' && gateway?.text === '0' && precedence && algorithm
      ? [precedence, gateway, algorithm, ROOT_TOKEN, ...key]
      : tokens.value
  const generic = isGenericForm(fields) ? parseGenericForm(type.value, fields) : null
  return { type: type.value, data: generic?.ok ? ok(generic.value) : canonicalRdata(type.value, fields, readName) }
}

const ROOT_TOKEN = { text: '.', quoted: false } as const

const readName = (text: string): Result<DomainName> => parseAbsoluteName(text)
