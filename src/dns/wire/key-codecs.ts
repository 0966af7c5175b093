import type { DomainName } from '../domain-name.ts'
import { IPV4, IPV6 } from './address-codecs.ts'
import type { FieldCodec } from './field-codec.ts'
import { readName, readOctets, readRest, readU8, readU16, remaining, type WireReader } from './reader.ts'
import { wireProblem } from './wire-problem.ts'
import { type WireWriter, writeName, writeOctets, writeU8, writeU16 } from './writer.ts'

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
    return remaining(reader) === 0 ? text : `${text} ${base64(readRest(reader))}`
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
      return wireProblem(`a gateway of type ${type} is not known (RFC 4025 section 2.3)`)
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
    if (hitLength === 0 || keyLength === 0) wireProblem('a HIT or host identity is empty (RFC 8005 section 5)')
    const hit = Buffer.from(readOctets(reader, hitLength)).toString('hex')
    const fields = [String(algorithm), hit, base64(readOctets(reader, keyLength))]
    while (remaining(reader) > 0) fields.push(readName(reader))
    return fields.join(' ')
  },
}
