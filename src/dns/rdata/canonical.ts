import { MAX_RDATA_OCTETS } from '../character-string.ts'
import type { DomainName } from '../domain-name.ts'
import { failure, ok, type Result } from '../result.ts'
import { canonicalField, type NameReader } from './field-kind.ts'
import { takesRest } from './kinds.ts'
import { type RdataProblem, rdataProblem } from './rdata-problem.ts'
import { RDATA_TYPES, type RdataType } from './rdata-types.ts'
import { joinTokens, shown, type Token } from './token.ts'

/** Canonical data, or what is wrong and which token it is about: an index past the last where something is missing. */
export type RdataResult = Result<string> & { readonly token?: number }

/**
 * Rdata in canonical presentation form: fields joined by one space, names absolute and in lower case, numbers without leading
 * zeros, IPv6 as RFC 5952, strings always quoted, hexadecimal in lower case and in one piece; `\# LENGTH HEX` for a type
 * whose form is unknown (RFC 3597). Two records of a type hold the same rdata exactly if these texts are equal.
 */
export function canonicalRdata(type: string, tokens: readonly Token[], readName: NameReader): RdataResult {
  if (tokens[0]?.text === '\\#' && !tokens[0].quoted) return canonicalGeneric(type, tokens)
  const definition = RDATA_TYPES.get(type)
  if (!definition)
    return failure(`data of a type without a known form is written \\# LENGTH HEX (RFC 3597), not ${shown(tokens[0]?.text ?? '')}`)
  const shorthand = DELETION[type]
  if (shorthand?.written === tokens.map(({ text }) => text).join(' ')) return ok(shorthand.canonical)
  const { fields } = definition
  let data = ''
  let next = 0
  for (const field of fields) {
    const taken = takesRest(field.kind) ? tokens.slice(next) : tokens.slice(next, next + 1)
    const part = canonicalField(field.kind, taken, readName)
    if (!part.ok) return { ok: false, token: next, message: fields.length === 1 ? part.message : `${field.key}: ${part.message}` }
    next += taken.length
    if (part.value !== '') data = data === '' ? part.value : `${data} ${part.value}`
  }
  if (next < tokens.length) {
    const extra = tokens.length - next
    return { ok: false, token: next, message: `has ${extra} more field${extra === 1 ? '' : 's'} than a ${type} record` }
  }
  const problem = rdataProblem(type, data)
  return problem === null ? ok(data) : { ok: false, token: problem.field, message: problemText(definition, problem) }
}

/** How RFC 8078 section 4 writes the requests for no DS record at all, before erratum 5049. */
const DELETION: Readonly<Record<string, { readonly written: string; readonly canonical: string }>> = {
  CDS: { written: '0 0 0 0', canonical: '0 0 0 00' },
  CDNSKEY: { written: '0 3 0 0', canonical: '0 3 0 AA==' },
}

/** A problem with the name of its field, where there are several. */
export const problemText = ({ fields }: RdataType, { field, message }: RdataProblem): string =>
  fields.length === 1 ? message : `${fields[field]?.key}: ${message}`

function canonicalGeneric(type: string, tokens: readonly Token[]): Result<string> {
  const length = tokens[1]?.text ?? ''
  const hex = joinTokens(tokens.slice(2)).toLowerCase()
  if (!/^[0-9]{1,5}$/.test(length) || hex.length % 2 !== 0 || /[^0-9a-f]/.test(hex)) return failure('is not \\# LENGTH HEX (RFC 3597)')
  if (hex.length !== 2 * Number(length)) return failure(`says ${length} octets and has ${hex.length / 2} (RFC 3597)`)
  if (Number(length) > MAX_RDATA_OCTETS) return failure(`says ${length} octets; a record holds ${MAX_RDATA_OCTETS}`)
  if (RDATA_TYPES.has(type)) return failure(`the generic form of ${type} is not read here; write its own form`)
  return ok(hex === '' ? '\\# 0' : `\\# ${Number(length)} ${hex}`)
}

/**
 * The tokens of canonical data as they are printed; strings keep their quotes, `key="value"` is one token. A last field of
 * several strings stays in pieces. Empty data has none.
 */
export function rdataFields(data: string): string[] {
  if (!data.includes('"')) return data === '' ? [] : data.split(' ')
  const fields: string[] = []
  let start = 0
  let isQuoted = false
  for (let i = 0; i < data.length; i += 1) {
    const code = data.charCodeAt(i)
    if (code === BACKSLASH) i += 1
    else if (code === QUOTE) isQuoted = !isQuoted
    else if (code === SPACE && !isQuoted) {
      fields.push(data.slice(start, i))
      start = i + 1
    }
  }
  fields.push(data.slice(start))
  return fields
}

const SPACE = 0x20
const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Index of the field that names the host a record leads to, for the types whose target must resolve. */
const TARGET_FIELD: Readonly<Record<string, number>> = { CNAME: 0, DNAME: 0, ALIAS: 0, NS: 0, PTR: 0, MX: 1, SRV: 3 }

/** The name a record of this type and canonical data leads to; null for types without one. */
export function targetName(type: string, data: string): DomainName | null {
  const index = TARGET_FIELD[type]
  return index === undefined ? null : ((rdataFields(data)[index] ?? null) as DomainName | null)
}
