/** Record types: names, numbers and meta-types. */
import { failure, ok, type Result } from '../base/result.ts'
import { quoted } from '../base/text.ts'
import { GENERIC_ONLY_TYPES, RDATA_TYPES, rdataTypeOfCode } from './rdata/rdata-types.ts'

/** Types that appear only in messages, never in zones: question types and the records in which a message describes itself. */
export const META_TYPE = { OPT: 41, TKEY: 249, TSIG: 250, IXFR: 251, AXFR: 252, MAILB: 253, MAILA: 254, ANY: 255 } as const

const META_CODES: ReadonlyMap<string, number> = new Map(Object.entries(META_TYPE))
const META_NAMES: ReadonlyMap<number, string> = new Map(Object.entries(META_TYPE).map(([name, code]) => [code, name]))

/** NXNAME appears only in type bit maps (RFC 9824 section 2). */
const NXNAME = 128

const GENERIC_ONLY_NAMES: ReadonlyMap<number, string> = new Map([...GENERIC_ONLY_TYPES].map(([type, code]) => [code, type]))

/** The number of a record type, given as a mnemonic or as `TYPE12345` (RFC 3597 section 5); null for a provider's pseudo-type. */
export function typeCode(type: string): number | null {
  const known = RDATA_TYPES.get(type)
  if (known) return known.code
  const genericOnly = GENERIC_ONLY_TYPES.get(type)
  if (genericOnly !== undefined) return genericOnly
  const generic = /^TYPE([0-9]{1,5})$/.exec(type)
  const code = Number(generic?.[1])
  return generic && code <= 65535 ? code : null
}

/** Whether only some providers know the type: it has no number, and it is not `ALIAS`, which many resolve. */
export const isProviderType = (type: string): boolean => type !== 'ALIAS' && typeCode(type) === null

/** The mnemonic of a type number, or `TYPE12345` if it has none (RFC 3597 section 5). */
export const typeName = (code: number): string => rdataTypeOfCode(code)?.type ?? GENERIC_ONLY_NAMES.get(code) ?? `TYPE${code}`

/** The mnemonic of a type in a message, meta-types included; `TYPE12345` if it has none (RFC 3597 section 5). */
export const wireTypeName = (code: number): string => META_NAMES.get(code) ?? typeName(code)

/** The number of a type in a message, meta-types included. Throws a `RangeError` for a provider's pseudo-type such as `ALIAS`. */
export function wireTypeCode(type: string): number {
  const code = META_CODES.get(type) ?? typeCode(type)
  if (code === null) throw new RangeError(`${type} has no number in the registry of types`)
  return code
}

/** Whether no zone can have records of the type: OPT, type 0, and the range reserved for meta-types (RFC 6895 section 3.1). */
export function isMetaType(type: string): boolean {
  const code = META_CODES.get(type) ?? typeCode(type)
  return code !== null && (code === 0 || code === META_TYPE.OPT || (code >= 128 && code <= 255))
}

/** Parses a record type in either case. The generic name of a known type becomes its mnemonic. */
export function parseRecordType(text: string): Result<string> {
  const upper = text.toUpperCase()
  if (RDATA_TYPES.has(upper)) return ok(upper)
  const code = typeCode(upper)
  return code === null ? failure(`${quoted(text)} is not a record type`) : ok(typeName(code))
}

/** Parses a type that appears inside rdata. A meta-type is allowed and becomes its generic name, which every reader knows. */
export function parseReferencedType(text: string): Result<string> {
  const upper = text.toUpperCase()
  const meta = upper === 'NXNAME' ? NXNAME : META_CODES.get(upper)
  return meta === undefined ? parseRecordType(text) : ok(`TYPE${meta}`)
}
