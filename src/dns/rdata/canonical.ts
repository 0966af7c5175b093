/** The canonical presentation form of rdata. */
import { failure, ok, type Result } from '../../base/result.ts'
import { quoted } from '../../base/text.ts'
import { MAX_RDATA_OCTETS } from '../character-string.ts'
import { type DomainName, parseAbsoluteName } from '../domain-name.ts'
import { parseIpv4, parseIpv6 } from '../ip-address.ts'
import { parseReferencedType } from '../record-type.ts'
import { canonicalPrefixes } from './addresses.ts'
import { joinTokens, type NameReader, presentationTokens, type Token } from './field.ts'
import { canonicalAmtRelay, canonicalHostIdentity, canonicalIpsecKey } from './gateway.ts'
import { canonicalLocation } from './location.ts'
import { canonicalMnemonic, canonicalSeconds, canonicalTimestamp, canonicalUnsigned, type MnemonicKind } from './numbers.ts'
import {
  canonicalBase64,
  canonicalEui,
  canonicalHash,
  canonicalHex,
  canonicalLocator64,
  canonicalNsap,
  canonicalSalt,
  canonicalScript,
  canonicalString,
  canonicalStrings,
  canonicalText,
} from './octets.ts'
import { type RdataProblem, rdataProblem } from './rdata-problem.ts'
import { type FieldKind, mayBeEmpty, RDATA_TYPES, type RdataType, takesRest } from './rdata-types.ts'
import { canonicalSvcParams } from './svc-params.ts'
import { canonicalTypes } from './type-bitmap.ts'

/** Canonical data, or what is wrong with which token. The index is past the last token if one is missing. */
export type RdataResult = Result<string> & { readonly token?: number }

/**
 * Rdata in canonical presentation form: fields joined by one space, names absolute and in lower case, numbers without leading
 * zeros, IPv6 as in RFC 5952, strings quoted, hexadecimal in lower case and in one piece. A type without a form of its own has
 * `\# LENGTH HEX` (RFC 3597). Two records of a type have the same rdata exactly if these texts are equal.
 */
export function canonicalRdata(type: string, tokens: readonly Token[], readName: NameReader): RdataResult {
  if (isGenericForm(tokens)) return canonicalGeneric(type, tokens)
  const definition = RDATA_TYPES.get(type)
  if (!definition)
    return failure(`data of this type is written in the generic form \\# LENGTH HEX (RFC 3597), not as ${quoted(tokens[0]?.text ?? '')}`)
  const shorthand = DELETION[type]
  if (shorthand !== undefined && shorthand.written === tokens.map(({ text }) => text).join(' ')) return ok(shorthand.canonical)
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
    return { ok: false, token: next, message: `has ${tokens.length} fields, more than the type ${type} has` }
  }
  const problem = rdataProblem(type, data)
  return problem === null ? ok(data) : { ok: false, token: problem.field, message: problemText(definition, problem) }
}

/** Canonical rdata of text in presentation form. */
export function parseRdata(type: string, text: string, readName: NameReader = parseAbsoluteName): Result<string> {
  const tokens = presentationTokens(text)
  return tokens.ok ? canonicalRdata(type, tokens.value, readName) : tokens
}

/** The requests to delete all DS records, as RFC 8078 section 4 writes them before erratum 5049. */
const DELETION: Readonly<Record<string, { readonly written: string; readonly canonical: string }>> = {
  CDS: { written: '0 0 0 0', canonical: '0 0 0 00' },
  CDNSKEY: { written: '0 3 0 0', canonical: '0 3 0 AA==' },
}

/** The problem's message, with the name of the field if the type has several. */
export const problemText = ({ fields }: RdataType, { field, message }: RdataProblem): string =>
  fields.length === 1 ? message : `${fields[field]?.key}: ${message}`

/** Whether the data is in the generic form of RFC 3597. */
export const isGenericForm = ([first]: readonly Token[]): boolean => first?.text === '\\#' && !first.quoted

function canonicalGeneric(type: string, tokens: readonly Token[]): Result<string> {
  const octets = parseGenericOctets(tokens)
  if (!octets.ok) return octets
  if (RDATA_TYPES.has(type)) return failure(`the generic form of ${type} is not allowed here; write its own form`)
  return ok(formatGeneric(octets.value))
}

/** The octets of `\# LENGTH HEX` (RFC 3597 section 5). The hexadecimal may be in several pieces. */
export function parseGenericOctets(tokens: readonly Token[]): Result<Buffer> {
  const length = tokens[1]?.text ?? ''
  const hex = joinTokens(tokens.slice(2))
  if (!/^[0-9]{1,5}$/.test(length) || hex.length % 2 !== 0 || /[^0-9a-f]/i.test(hex)) return failure('is not \\# LENGTH HEX (RFC 3597)')
  if (hex.length !== 2 * Number(length)) return failure(`says ${length} octets and has ${hex.length / 2} (RFC 3597)`)
  if (Number(length) > MAX_RDATA_OCTETS) return failure(`says ${length} octets; a record holds ${MAX_RDATA_OCTETS}`)
  return ok(Buffer.from(hex, 'hex'))
}

/** Octets as `\# LENGTH HEX`, in lower case (RFC 3597 section 5). */
export const formatGeneric = (octets: Uint8Array): string =>
  octets.length === 0 ? '\\# 0' : `\\# ${octets.length} ${Buffer.from(octets).toString('hex')}`

/**
 * The tokens of canonical data. Strings keep their quotes; `key="value"` is one token, and each string of a last field of several is
 * one. Empty data has none.
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

/** The types whose target must resolve: it is their last field, and names have no spaces. */
const WITH_TARGET: ReadonlySet<string> = new Set(['CNAME', 'DNAME', 'ALIAS', 'NS', 'PTR', 'MX', 'SRV'])

/** The target name of a record's data, in lower case; null for types without a target. */
export const targetName = (type: string, data: string): DomainName | null =>
  WITH_TARGET.has(type) && data !== '' ? (data.slice(data.lastIndexOf(' ') + 1).toLowerCase() as DomainName) : null

/** The canonical text of one field, or what is wrong with it. There is one token, unless the kind takes the rest. */
export function canonicalField(kind: FieldKind, tokens: readonly Token[], readName: NameReader): Result<string> {
  const token = tokens[0]
  if (token === undefined) return mayBeEmpty(kind) ? ok('') : failure('is missing')
  const { text } = token
  switch (kind) {
    case 'u8':
    case 'u16':
    case 'u32':
    case 'u64':
      return canonicalUnsigned(text, kind)
    case 'seconds':
      return canonicalSeconds(text)
    case 'time':
      return canonicalTimestamp(text)
    case 'name':
      return readName(text)
    case 'ipv4':
      return parseIpv4(text)
    case 'ipv6':
      return parseIpv6(text)
    case 'string':
      return canonicalString(token)
    case 'optional-string':
      return tokens.length === 1 ? canonicalString(token) : failure(`has ${tokens.length} strings, at most one is allowed`)
    case 'strings':
      return canonicalStrings(tokens)
    case 'script':
      return canonicalScript(tokens)
    case 'text':
      return canonicalText(token)
    case 'tag':
      return /^[a-z0-9]{1,255}$/i.test(text) ? ok(text.toLowerCase()) : failure(`${quoted(text)} is not a tag of letters and digits`)
    case 'hex':
      return canonicalHex(tokens)
    case 'base64':
    case 'optional-base64':
      return canonicalBase64(tokens)
    case 'base64-or-dash':
      return text === '-' && tokens.length === 1 ? ok(text) : canonicalBase64(tokens)
    case 'salt':
      return canonicalSalt(text)
    case 'hash':
      return canonicalHash(text)
    case 'eui48':
      return canonicalEui(text, 6)
    case 'eui64':
      return canonicalEui(text, 8)
    case 'locator64':
      return canonicalLocator64(text)
    case 'nsap':
      return canonicalNsap(text)
    case 'algorithm':
    case 'certificate-type':
    case 'dsync-scheme':
      return canonicalMnemonic(text, kind satisfies MnemonicKind)
    case 'type':
      // BIND writes only the number of a type that it does not know.
      return parseReferencedType(/^[0-9]{1,5}$/.test(text) ? `TYPE${text}` : text)
    case 'types':
      return canonicalTypes(tokens)
    case 'prefixes':
      return canonicalPrefixes(tokens)
    case 'svc-params':
      return canonicalSvcParams(tokens)
    case 'location':
      return canonicalLocation(tokens)
    case 'ipsec-key':
      return canonicalIpsecKey(tokens, readName)
    case 'amt-relay':
      return canonicalAmtRelay(tokens, readName)
    case 'host-identity':
      return canonicalHostIdentity(tokens, readName)
  }
}
