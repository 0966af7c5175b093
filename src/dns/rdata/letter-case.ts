/** The letter case of names in rdata. It has no meaning (RFC 4343), but some signatures cover it. */
import { rdataFields } from './canonical.ts'
import { RDATA_TYPES, type RdataType } from './rdata-types.ts'

/** Whether a field, by its index in the canonical text, is a name. */
type IsName = (index: number) => boolean

const NAMES: ReadonlyMap<string, IsName> = new Map([...RDATA_TYPES].flatMap(([type, { fields }]) => namesOf(type, fields)))

function namesOf(type: string, fields: RdataType['fields']): [string, IsName][] {
  switch (fields[0]?.kind) {
    case 'ipsec-key':
    case 'amt-relay':
      return [[type, (index) => index === 3]]
    case 'host-identity':
      return [[type, (index) => index >= 3]]
    default:
      return fields.some(({ kind }) => kind === 'name') ? [[type, (index) => fields[index]?.kind === 'name']] : []
  }
}

/** Canonical rdata with its names in lower case: two records have the same data exactly if these texts are equal. */
export function lowerCaseNames(type: string, data: string): string {
  const isName = NAMES.get(type)
  if (isName === undefined || !/[A-Z]/.test(data)) return data
  return rdataFields(data)
    .map((field, index) => (isName(index) ? field.toLowerCase() : field))
    .join(' ')
}

/** The types whose names are in lower case when they are signed: those of RFC 4034 section 6.2 but NSEC (RFC 6840 section 5.1). */
const SIGNED_IN_LOWER_CASE: ReadonlySet<string> = new Set(
  'NS MD MF CNAME SOA MB MG MR PTR MINFO MX RP AFSDB RT SIG PX NAPTR KX SRV DNAME RRSIG'.split(' '),
)

/** Whether a signature covers the case of the letters in a field that is canonical in lower case: a name, or the tag of CAA. */
export const signsLetterCase = (type: string, index: number): boolean =>
  type === 'CAA' ? index === 1 : !SIGNED_IN_LOWER_CASE.has(type) && NAMES.get(type)?.(index) === true
