/** Names and rdata as the API writes them: presentation form with octal escapes (`\052`) instead of decimal ones. */
import type { Result } from '../../base/result.ts'
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import { parseRdata, rdataFields } from '../../dns/rdata/canonical.ts'

const octal = (code: number): string => `\\${code.toString(8).padStart(3, '0')}`

/** Decimal escapes as octal ones. */
const toOctal = (text: string): string =>
  text.includes('\\')
    ? text.replace(/\\(?:([0-9]{3})|(.))/gs, (whole, digits: string | undefined) => (digits === undefined ? whole : octal(Number(digits))))
    : text

/** Octal escapes as decimal ones. */
const toDecimal = (text: string): string =>
  text.includes('\\')
    ? text.replace(/\\(?:([0-3][0-7]{2})|(.))/gs, (whole, digits: string | undefined) =>
        digits === undefined ? whole : `\\${String(Number.parseInt(digits, 8)).padStart(3, '0')}`,
      )
    : text

/** A name for a request: characters other than letters, digits, `-` and `_` are escaped, apart from the asterisk of a wildcard. */
export function nameToApi(name: DomainName): string {
  if (/^(?:\*\.)?[a-z0-9_.-]+$/.test(name)) return name
  return name.replace(/\\(?:([0-9]{3})|(.))|[^a-z0-9_.-]/gs, (character, digits: string | undefined, escaped: string | undefined) =>
    octal(digits === undefined ? (escaped ?? character).charCodeAt(0) : Number(digits)),
  )
}

export const nameFromApi = (text: string): Result<DomainName> => parseAbsoluteName(toDecimal(text))

/** A value for a request. The data must be canonical. Parameters of SVCB and HTTPS are quoted, as the clients of others send them. */
export function rdataToApi(type: string, data: string): string {
  if (type !== 'SVCB' && type !== 'HTTPS') return toOctal(data)
  return toOctal(
    rdataFields(data)
      .map((field) => field.replace(/^([a-z0-9-]+)=([^"].*)$/s, '$1="$2"'))
      .join(' '),
  )
}

/** Canonical rdata of a value, or an error if it is malformed. */
export const rdataFromApi = (type: string, value: string): Result<string> => parseRdata(type, toDecimal(value))
