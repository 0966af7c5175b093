/** The wire form of rdata. */
import type { Result } from '../../base/result.ts'
import { quoteString, unescapeString } from '../character-string.ts'
import type { DomainName } from '../domain-name.ts'
import { typeName, wireTypeCode } from '../record-type.ts'
import {
  createReader,
  decodeToResult,
  readName,
  readRest,
  readString,
  readU8,
  readU16,
  readU32,
  remainingOctets,
  throwWireError,
  type WireReader,
} from '../wire/reader.ts'
import {
  createWriter,
  type WireWriter,
  writeName,
  writeOctets,
  writeString,
  writeU8,
  writeU16,
  writeU32,
  writtenOctets,
} from '../wire/writer.ts'
import { IPV4, IPV6, PREFIXES } from './addresses.ts'
import { formatGeneric, problemText, rdataFields } from './canonical.ts'
import type { FieldCodec } from './field.ts'
import { AMT_RELAY, HOST_IDENTITY, IPSEC_KEY } from './gateway.ts'
import { LOCATION } from './location.ts'
import { formatTimestamp, timestampSeconds } from './numbers.ts'
import { BASE64_OR_DASH, EUI48, EUI64, HASH, LOCATOR64, NSAP, SALT, U64 } from './octets.ts'
import { rdataProblem } from './rdata-problem.ts'
import { type FieldKind, mayBeEmpty, RDATA_TYPES, rdataTypeOfCode, takesRest } from './rdata-types.ts'
import { SVC_PARAMS } from './svc-params.ts'
import { TYPE_BITMAP } from './type-bitmap.ts'

const unsigned = (write: (writer: WireWriter, value: number) => void, read: (reader: WireReader) => number): FieldCodec => ({
  encode: (writer, [text]) => write(writer, Number(text)),
  decode: (reader) => String(read(reader)),
})

const U8 = unsigned(writeU8, readU8)
const U16 = unsigned(writeU16, readU16)
const U32 = unsigned(writeU32, readU32)

const STRINGS: FieldCodec = {
  encode: (writer, tokens) => {
    for (const token of tokens) writeString(writer, tokenOctets(token))
  },
  decode: (reader) => {
    const strings = [quoteString(readString(reader))]
    while (remainingOctets(reader) > 0) strings.push(quoteString(readString(reader)))
    return strings.join(' ')
  },
}

/** The codec of each kind of field. */
const FIELD_CODECS: Readonly<Record<FieldKind, FieldCodec>> = {
  u8: U8,
  u16: U16,
  u32: U32,
  u64: U64,
  seconds: U32,
  time: {
    encode: (writer, [text = '']) => writeU32(writer, timestampSeconds(text)),
    decode: (reader) => formatTimestamp(readU32(reader)),
  },
  algorithm: U8,
  'certificate-type': U16,
  'dsync-scheme': U8,
  type: {
    encode: (writer, [text = '']) => writeU16(writer, wireTypeCode(text)),
    decode: (reader) => typeName(readU16(reader)),
  },
  types: TYPE_BITMAP,
  name: {
    encode: (writer, [text], compress) => writeName(writer, text as DomainName, compress),
    decode: readName,
  },
  ipv4: IPV4,
  ipv6: IPV6,
  string: {
    encode: (writer, [token]) => writeString(writer, tokenOctets(token)),
    decode: (reader) => quoteString(readString(reader)),
  },
  'optional-string': {
    encode: (writer, [token]) => {
      if (token !== undefined) writeString(writer, tokenOctets(token))
    },
    decode: (reader) => (remainingOctets(reader) === 0 ? '' : quoteString(readString(reader))),
  },
  strings: STRINGS,
  script: STRINGS,
  text: {
    encode: (writer, [token]) => writeOctets(writer, tokenOctets(token)),
    decode: (reader) => quoteString(readRest(reader)),
  },
  tag: {
    encode: (writer, [text = '']) => writeString(writer, Buffer.from(text, 'latin1')),
    decode: (reader) => {
      const tag = Buffer.from(readString(reader)).toString('latin1')
      if (/^[a-z0-9]+$/i.test(tag)) return reader.keepsCase ? tag : tag.toLowerCase()
      return throwWireError('a tag is not of letters and digits (RFC 8659 section 4.1)')
    },
  },
  hex: {
    encode: (writer, tokens) => writeOctets(writer, Buffer.from(tokens.join(''), 'hex')),
    decode: (reader) => Buffer.from(readNonEmptyRest(reader)).toString('hex'),
  },
  'optional-base64': {
    encode: (writer, tokens) => writeOctets(writer, Buffer.from(tokens.join(''), 'base64')),
    decode: (reader) => Buffer.from(readRest(reader)).toString('base64'),
  },
  base64: {
    encode: (writer, tokens) => writeOctets(writer, Buffer.from(tokens.join(''), 'base64')),
    decode: (reader) => Buffer.from(readNonEmptyRest(reader)).toString('base64'),
  },
  'base64-or-dash': BASE64_OR_DASH,
  salt: SALT,
  hash: HASH,
  eui48: EUI48,
  eui64: EUI64,
  locator64: LOCATOR64,
  nsap: NSAP,
  prefixes: PREFIXES,
  'svc-params': SVC_PARAMS,
  location: LOCATION,
  'ipsec-key': IPSEC_KEY,
  'amt-relay': AMT_RELAY,
  'host-identity': HOST_IDENTITY,
}

/** The types whose names may be compressed (RFC 3597 section 4) and that appear in zones today. */
const COMPRESSIBLE: ReadonlySet<string> = new Set(['NS', 'CNAME', 'SOA', 'PTR', 'MX'])

/** Whether names in rdata of the type may be compressed, so its octets depend on the message. */
export const isCompressible = (type: string): boolean => COMPRESSIBLE.has(type)

const GENERIC = /^\\# [0-9]+(?: ([0-9a-f]*))?$/

/**
 * Writes rdata from its canonical text, without RDLENGTH. Names are compressed if the writer and the type allow it. Throws a
 * `RangeError` if the text is not canonical.
 */
export function encodeRdata(type: string, data: string, writer: WireWriter): void {
  const generic = data.startsWith('\\#') ? GENERIC.exec(data) : null
  if (generic) {
    writeOctets(writer, Buffer.from(generic[1] ?? '', 'hex'))
    return
  }
  const definition = RDATA_TYPES.get(type)
  if (!definition) throw new RangeError(`${type} data must be \\# LENGTH HEX (RFC 3597): ${data}`)
  const compress = COMPRESSIBLE.has(type)
  const tokens = rdataFields(data)
  let next = 0
  for (const field of definition.fields) {
    const taken = takesRest(field.kind) ? tokens.slice(next) : tokens.slice(next, next + 1)
    if (taken.length === 0 && !mayBeEmpty(field.kind)) throw new RangeError(`not canonical ${type} data: ${data}`)
    FIELD_CODECS[field.kind].encode(writer, taken, compress)
    next += taken.length
  }
}

/** The octets of rdata with uncompressed names. */
export function rdataOctets(type: string, data: string): Buffer {
  const writer = createWriter({ compress: false, size: Math.max(64, data.length) })
  encodeRdata(type, data, writer)
  return writtenOctets(writer)
}

/**
 * The canonical text of `length` octets of rdata at `offset` of a message, into which names may point back. A type without a form of
 * its own has the generic one (RFC 3597 section 5).
 */
export const decodeRdata = (code: number, message: Uint8Array, offset: number, length: number): Result<string> =>
  decodeToResult(() => {
    if (offset + length > message.length) throwWireError('the rdata exceeds the message')
    return readRdata(createReader(message, offset, offset + length), code)
  })

/** The rest of the reader in the generic form (RFC 3597 section 5). */
export function readGenericRdata(reader: WireReader): string {
  return formatGeneric(readRest(reader))
}

/**
 * The octets that have only the generic form though their type has a form of its own. No RFC defines GID, UID and UINFO; relay types of AMTRELAY
 * above 3 have no meaning yet (RFC 8777 section 4.2.3). CDS and CDNSKEY can ask for deletion without an octet of digest or key (RFC 8078 section 4,
 * erratum 5049 added it): NSD, Knot and ldns accept that, BIND does not.
 */
const IS_OPAQUE: ReadonlyMap<string, (octets: Uint8Array) => boolean> = new Map([
  ['UINFO', (octets: Uint8Array) => octets[0] !== octets.length - 1],
  ['UID', (octets: Uint8Array) => octets.length !== 4],
  ['GID', (octets: Uint8Array) => octets.length !== 4],
  ['CDS', (octets: Uint8Array) => isOctets(octets, '00000000')],
  ['CDNSKEY', (octets: Uint8Array) => isOctets(octets, '00000300')],
  ['AMTRELAY', ([, relay = 0]: Uint8Array) => (relay & 0x7f) > 3],
])

const isOctets = (octets: Uint8Array, hex: string): boolean => Buffer.from(octets).toString('hex') === hex

/** Reads rdata up to the reader's end. Throws a `WireFormatError`. */
export function readRdata(reader: WireReader, code: number): string {
  const definition = rdataTypeOfCode(code)
  if (!definition || IS_OPAQUE.get(definition.type)?.(reader.octets.subarray(reader.offset, reader.end))) return readGenericRdata(reader)
  let data = ''
  for (const { kind } of definition.fields) {
    const part = FIELD_CODECS[kind].decode(reader)
    if (part !== '') data = data === '' ? part : `${data} ${part}`
  }
  const problem = rdataProblem(definition.type, data)
  if (problem !== null) throwWireError(`${definition.type} ${problemText(definition, problem)}`)
  const left = remainingOctets(reader)
  if (left > 0) throwWireError(`${definition.type} rdata is longer than its fields (octets left: ${left})`)
  return data
}

function tokenOctets(token = ''): Uint8Array {
  const octets = unescapeString(token.startsWith('"') ? token.slice(1, -1) : token)
  if (!octets.ok) throw new RangeError(`not a canonical string: ${token}`)
  return octets.value
}

function readNonEmptyRest(reader: WireReader): Uint8Array {
  if (remainingOctets(reader) === 0) throwWireError('a field is empty')
  return readRest(reader)
}
