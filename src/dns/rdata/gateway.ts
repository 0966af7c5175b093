/** Rdata with a gateway or host identity: IPSECKEY, AMTRELAY and HIP. */
import { failure, ok, type Result } from '../../base/result.ts'
import { quoted } from '../../base/text.ts'
import type { DomainName } from '../domain-name.ts'
import { parseIpv4, parseIpv6 } from '../ip-address.ts'
import { readName, readOctets, readRest, readU8, readU16, remainingOctets, throwWireError, type WireReader } from '../wire/reader.ts'
import { type WireWriter, writeName, writeOctets, writeU8, writeU16 } from '../wire/writer.ts'
import { IPV4, IPV6 } from './addresses.ts'
import { type FieldCodec, joinFields, type NameReader, type Token } from './field.ts'
import { canonicalUnsigned } from './numbers.ts'
import { canonicalBase64, canonicalHex } from './octets.ts'

/** `PRECEDENCE GATEWAY-TYPE ALGORITHM GATEWAY [KEY]` (RFC 4025 section 3.1). */
export function canonicalIpsecKey(tokens: readonly Token[], readName: NameReader): Result<string> {
  const [precedence, type, algorithm, gateway, ...key] = tokens
  if (!precedence || !type || !algorithm || !gateway) return failure('is PRECEDENCE GATEWAY-TYPE ALGORITHM GATEWAY [KEY]')
  const head = joinFields(
    canonicalUnsigned(precedence.text, 'u8'),
    canonicalUnsigned(type.text, 'u8'),
    canonicalUnsigned(algorithm.text, 'u8'),
    canonicalGateway(type.text, gateway.text, readName),
  )
  return key.length === 0 ? head : joinFields(head, canonicalBase64(key))
}

/** `PRECEDENCE D-BIT RELAY-TYPE RELAY` (RFC 8777 section 4.3). */
export function canonicalAmtRelay(tokens: readonly Token[], readName: NameReader): Result<string> {
  const [precedence, discovery, type, relay] = tokens
  if (!precedence || !discovery || !type || !relay || tokens.length > 4) return failure('is PRECEDENCE D-BIT RELAY-TYPE RELAY')
  return joinFields(
    canonicalUnsigned(precedence.text, 'u8'),
    /^0*[01]$/.test(discovery.text) ? ok(discovery.text.slice(-1)) : failure(`${quoted(discovery.text)} is not 0 or 1`),
    canonicalUnsigned(type.text, 'u8'),
    canonicalGateway(type.text, relay.text, readName),
  )
}

/** A gateway in the form of its type: none, IPv4, IPv6 or a name. */
function canonicalGateway(type: string, text: string, readName: NameReader): Result<string> {
  switch (Number(type)) {
    case 0:
      return text === '.' ? ok(text) : failure(`${quoted(text)} is not the dot that type 0 requires`)
    case 1:
      return parseIpv4(text)
    case 2:
      return parseIpv6(text)
    case 3:
      return readName(text)
    default:
      return failure(`${quoted(type)} is not a type of gateway: 0 none, 1 IPv4, 2 IPv6, 3 a name`)
  }
}

const base64 = (octets: Uint8Array): string => Buffer.from(octets).toString('base64')

/** IPSECKEY rdata (RFC 4025 section 2). */
export const IPSEC_KEY: FieldCodec = {
  encode: (writer, [precedence, type = '', algorithm, gateway = '', key = '']) => {
    for (const octet of [precedence, type, algorithm]) writeU8(writer, Number(octet))
    writeGateway(writer, type, gateway)
    writeOctets(writer, Buffer.from(key, 'base64'))
  },
  decode: (reader) => {
    const [precedence, type, algorithm] = [readU8(reader), readU8(reader), readU8(reader)]
    const text = `${precedence} ${type} ${algorithm} ${readGateway(reader, type)}`
    return remainingOctets(reader) === 0 ? text : `${text} ${base64(readRest(reader))}`
  },
}

/** AMTRELAY rdata: the D bit shares an octet with the type (RFC 8777 section 4.2). */
export const AMT_RELAY: FieldCodec = {
  encode: (writer, [precedence, discovery, type = '', relay = '']) => {
    writeU8(writer, Number(precedence))
    writeU8(writer, (discovery === '1' ? 0x80 : 0) | Number(type))
    writeGateway(writer, type, relay)
  },
  decode: (reader) => {
    const precedence = readU8(reader)
    const octet = readU8(reader)
    return `${precedence} ${octet >> 7} ${octet & 0x7f} ${readGateway(reader, octet & 0x7f)}`
  },
}

function writeGateway(writer: WireWriter, type: string, gateway: string): void {
  if (type === '1') IPV4.encode(writer, [gateway], false)
  else if (type === '2') IPV6.encode(writer, [gateway], false)
  else if (type === '3') writeName(writer, gateway as DomainName, false)
}

function readGateway(reader: WireReader, type: number): string {
  switch (type) {
    case 0:
      return '.'
    case 1:
      return IPV4.decode(reader)
    case 2:
      return IPV6.decode(reader)
    case 3:
      return readName(reader)
    default:
      return throwWireError(`a gateway of type ${type} is not known (RFC 4025 section 2.3)`)
  }
}

/** HIP rdata: lengths of HIT and key stand before both (RFC 8005 section 5). */
export const HOST_IDENTITY: FieldCodec = {
  encode: (writer, [algorithm, hit = '', key = '', ...servers]) => {
    const octets = Buffer.from(key, 'base64')
    writeU8(writer, hit.length / 2)
    writeU8(writer, Number(algorithm))
    writeU16(writer, octets.length)
    writeOctets(writer, Buffer.from(hit, 'hex'))
    writeOctets(writer, octets)
    for (const server of servers) writeName(writer, server as DomainName, false)
  },
  decode: (reader) => {
    const hitLength = readU8(reader)
    const algorithm = readU8(reader)
    const keyLength = readU16(reader)
    if (hitLength === 0 || keyLength === 0) throwWireError('a HIT or host identity is empty (RFC 8005 section 5)')
    const hit = Buffer.from(readOctets(reader, hitLength)).toString('hex')
    const fields = [String(algorithm), hit, base64(readOctets(reader, keyLength))]
    while (remainingOctets(reader) > 0) fields.push(readName(reader))
    return fields.join(' ')
  },
}

/** `ALGORITHM HIT KEY [RENDEZVOUS-SERVER…]` (RFC 8005 section 6). The key is one token, because names follow it. */
export function canonicalHostIdentity(tokens: readonly Token[], readName: NameReader): Result<string> {
  const [algorithm, hit, key, ...servers] = tokens
  if (!algorithm || !hit || !key) return failure('is ALGORITHM HIT KEY [RENDEZVOUS-SERVER…]')
  if (hit.text.length > 510) return failure('a HIT has at most 255 octets')
  return joinFields(
    canonicalUnsigned(algorithm.text, 'u8'),
    canonicalHex([hit]),
    canonicalBase64([key]),
    ...servers.map(({ text }) => readName(text)),
  )
}
