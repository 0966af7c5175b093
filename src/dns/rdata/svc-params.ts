/** Parameters of SVCB and HTTPS records (RFC 9460). */
import { failure, ok, type Result } from '../../base/result.ts'
import { quoted } from '../../base/text.ts'
import { quoteString, unescapeString } from '../character-string.ts'
import { readOctets, readU16, remainingOctets, throwWireError } from '../wire/reader.ts'
import { writeOctets, writeSized, writeU16 } from '../wire/writer.ts'
import type { FieldCodec, Token } from './field.ts'
import { SVC_PARAM_FORMS, svcParamKey, svcParamName } from './svc-param-forms.ts'

/** A parameter of SVCB or HTTPS: the number of its key and the octets of its value (RFC 9460 section 2.2). */
export interface SvcParam {
  readonly key: number
  readonly value: Uint8Array
}

const MANDATORY = 0
const ALPN = 1
const NO_DEFAULT_ALPN = 2

/** Canonical parameters: in the order of their keys, values quoted only if necessary. */
export function canonicalSvcParams(tokens: readonly Token[]): Result<string> {
  const params = parseSvcParams(tokens.map(({ text }) => text))
  return params.ok ? formatSvcParams(params.value) : params
}

/** An unescaped quote. */
const BARE_QUOTE = /(?:^|[^\\])(?:\\\\)*"/

/** Parses `key`, `key=value` and `key="value"` (RFC 9460 section 2.1) and returns the parameters in the order of their keys. */
export function parseSvcParams(tokens: readonly string[]): Result<SvcParam[]> {
  const params = new Map<number, Uint8Array>()
  for (const token of tokens) {
    const cut = token.indexOf('=')
    const name = cut === -1 ? token : token.slice(0, cut)
    const key = svcParamKey(name)
    if (key === null) return failure(`${quoted(name)} is not a key of a service parameter`)
    if (params.has(key)) return failure(`${name} is given twice`)
    const text = cut === -1 ? '' : token.slice(cut + 1)
    const value = /^".*"$/s.test(text) ? text.slice(1, -1) : text
    if (BARE_QUOTE.test(value)) return failure(`${name}: a quote within a value is written \\"`)
    const octets = unescapeString(value)
    if (!octets.ok) return octets
    const isGeneric = /^key/.test(name)
    const parsed = isGeneric ? octets : (SVC_PARAM_FORMS.get(key)?.parse(octets.value) ?? octets)
    if (!parsed.ok) return failure(`${name}: ${parsed.message}`)
    params.set(key, parsed.value)
  }
  return ok([...params].map(([key, value]) => ({ key, value })).sort((a, b) => a.key - b.key))
}

/** A missing parameter that another one requires (RFC 9460 sections 7.1.1 and 8); null if there is none. */
function inconsistency(params: ReadonlyMap<number, Uint8Array>): string | null {
  if (params.has(NO_DEFAULT_ALPN) && !params.has(ALPN)) return 'no-default-alpn needs alpn'
  const mandatory = params.get(MANDATORY) ?? new Uint8Array()
  for (let i = 0; i + 1 < mandatory.length; i += 2) {
    const key = ((mandatory[i] as number) << 8) | (mandatory[i + 1] as number)
    if (!params.has(key)) return `${svcParamName(key)} is mandatory and not given`
  }
  return null
}

/** Canonical text of parameters in the order of their keys. Fails if a value is invalid or a required parameter is missing. */
function formatSvcParams(params: readonly SvcParam[]): Result<string> {
  const texts: string[] = []
  for (const { key, value } of params) {
    const name = svcParamName(key)
    const octets = SVC_PARAM_FORMS.get(key)?.format(value) ?? ok(value)
    if (!octets.ok) return failure(`${name}: ${octets.message}`)
    texts.push(octets.value.length === 0 ? name : `${name}=${valueText(octets.value)}`)
  }
  const problem = inconsistency(new Map(params.map(({ key, value }) => [key, value])))
  if (problem !== null) return failure(problem)
  return ok(texts.join(' '))
}

/** Printable characters that have no meaning of their own in a token. */
const UNQUOTED = /^[!#-'*-:<-[\]-~]+$/

function valueText(octets: Uint8Array): string {
  const text = Buffer.from(octets).toString('latin1')
  return UNQUOTED.test(text) ? text : quoteString(octets)
}

/** Service parameters: key, length and value of each, in the order of their keys (RFC 9460 section 2.2). */
export const SVC_PARAMS: FieldCodec = {
  encode: (writer, tokens) => {
    const params = parseSvcParams(tokens)
    if (!params.ok) throw new RangeError(`not canonical service parameters: ${tokens.join(' ')}`)
    for (const { key, value } of params.value) {
      writeU16(writer, key)
      writeSized(writer, () => writeOctets(writer, value))
    }
  },
  decode: (reader) => {
    const params: SvcParam[] = []
    while (remainingOctets(reader) > 0) {
      const key = readU16(reader)
      const last = params.at(-1)
      if (last && key <= last.key) throwWireError('service parameters are not in the order of their keys (RFC 9460 section 2.2)')
      params.push({ key, value: readOctets(reader, readU16(reader)) })
    }
    const text = formatSvcParams(params)
    return text.ok ? text.value : throwWireError(`${text.message} (RFC 9460)`)
  },
}
