import { RDATA_TYPES, TYPES_WITHOUT_PRESENTATION, typeOfCode } from './rdata/rdata-types.ts'
import { failure, ok, type Result } from './result.ts'

/** The number of a record type: of the registry, or of its generic name `TYPE12345` (RFC 3597 section 5); null for a pseudo-type of providers. */
export function typeCode(type: string): number | null {
  const known = RDATA_TYPES.get(type)
  if (known) return known.code
  const formless = TYPES_WITHOUT_PRESENTATION.get(type)
  if (formless !== undefined) return formless
  const generic = /^TYPE([0-9]{1,5})$/.exec(type)
  const code = Number(generic?.[1])
  return generic && code <= 65535 ? code : null
}

/** The mnemonic of a type number, `TYPE12345` where it has none (RFC 3597 section 5). */
export const typeName = (code: number): string => typeOfCode(code)?.type ?? FORMLESS_NAMES.get(code) ?? `TYPE${code}`

const FORMLESS_NAMES: ReadonlyMap<number, string> = new Map([...TYPES_WITHOUT_PRESENTATION].map(([type, code]) => [code, type]))

/** Types of questions and of messages (RFC 6895 section 3.1), and of no record but in bit maps: NXNAME (RFC 9824 section 2). */
const META_TYPES: ReadonlyMap<string, number> = new Map([
  ['OPT', 41],
  ['NXNAME', 128],
  ['TKEY', 249],
  ['TSIG', 250],
  ['IXFR', 251],
  ['AXFR', 252],
  ['MAILB', 253],
  ['MAILA', 254],
  ['ANY', 255],
])

/** A type that data speak of: that of records, or one of those of which there are none, by its generic name, which every reader knows. */
export function parseMentionedType(text: string): Result<string> {
  const meta = META_TYPES.get(text.toUpperCase())
  return meta === undefined ? parseRecordType(text) : ok(`TYPE${meta}`)
}

/** A record type from text in either case; generic names of known types become the mnemonic. */
export function parseRecordType(text: string): Result<string> {
  const upper = text.toUpperCase()
  if (RDATA_TYPES.has(upper)) return ok(upper)
  const code = typeCode(upper)
  return code === null ? failure(`${JSON.stringify(text.slice(0, 60))} is not a record type`) : ok(typeName(code))
}
