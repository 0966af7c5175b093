import { typeCode, typeName } from '../record-type.ts'

/** Types that stand only in messages, never in zones: question types and the records that messages carry about themselves. */
export const META_TYPE = { OPT: 41, TKEY: 249, TSIG: 250, IXFR: 251, AXFR: 252, MAILB: 253, MAILA: 254, ANY: 255 } as const

/**
 * Whether a type in a message is of no record that a zone can have: those of questions and of what messages carry about themselves, the
 * numbers that are kept for more of them, and 0 (RFC 6895 section 3.1).
 */
export function isMetaType(type: string): boolean {
  const code = wireTypeCode(type)
  return code === 0 || code === META_TYPE.OPT || (code >= 128 && code <= 255)
}

const CODES: ReadonlyMap<string, number> = new Map(Object.entries(META_TYPE))
const NAMES: ReadonlyMap<number, string> = new Map(Object.entries(META_TYPE).map(([name, code]) => [code, name]))

/** The mnemonic of a type in a message, question types included; `TYPE12345` without one (RFC 3597 section 5). */
export const wireTypeName = (code: number): string => NAMES.get(code) ?? typeName(code)

/** The number of a type in a message. Throws a `RangeError` for one that has none, such as `ALIAS`. */
export function wireTypeCode(type: string): number {
  const code = CODES.get(type) ?? typeCode(type)
  if (code === null) throw new RangeError(`${type} has no number in the registry of types`)
  return code
}
