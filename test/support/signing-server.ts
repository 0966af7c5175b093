/**
 * A name server that answers each transfer with given messages and signatures (RFC 8945), independent of the code under test: for what real
 * servers do correctly, and for what they never do.
 */
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** The parts of a signature; missing parts are correct. */
export interface SignatureParts {
  readonly keyName?: string
  /** With the final dot. */
  readonly algorithm?: string
  /** Seconds by which its time is ahead of now. */
  readonly clockOffset?: number
  readonly fudge?: number
  readonly error?: number
  readonly other?: Buffer
  /** Changes the digest before it is written. */
  readonly mac?: (mac: Buffer) => Buffer
  /** Without a digest, as servers write errors that they cannot sign. */
  readonly withoutDigest?: boolean
  /** Records after the signature. */
  readonly recordsAfter?: Buffer
}

export interface CraftedMessage {
  readonly records: readonly Buffer[]
  /** Null for none. */
  readonly signature: SignatureParts | null
  readonly rcode?: number
  /** Changes the message after it was signed. */
  readonly alter?: (message: Buffer) => Buffer
}

const u16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255])
const u32 = (value: number): Buffer => Buffer.concat([u16(value >>> 16), u16(value & 0xffff)])
const u48 = (value: number): Buffer => Buffer.concat([u16(Math.floor(value / 2 ** 32)), u32(value % 2 ** 32)])
const sized = (octets: Buffer): Buffer => Buffer.concat([u16(octets.length), octets])

/** A name without escapes. */
export const wireName = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').flatMap((label) => (label === '' ? [] : [Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.of(0),
  ])

export const wireRecord = (name: string, type: number, data: Buffer, { ttl = 300, class: recordClass = 1 } = {}): Buffer =>
  Buffer.concat([wireName(name), u16(type), u16(recordClass), u32(ttl), sized(data)])

export const wireSoa = (zone: string, serial = 1): Buffer =>
  wireRecord(
    zone,
    6,
    Buffer.concat([wireName('ns1.example.net'), wireName(`hostmaster.${zone}`), u32(serial), ...[3600, 600, 604_800, 300].map(u32)]),
  )

/** Starts a server that answers every query with the messages, and returns its port. `secret` is the HMAC-SHA-256 secret of the key `upd.`. */
export async function signingServer(secret: Buffer, messages: readonly CraftedMessage[]): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('data', (piece: Buffer) => {
      const query = piece.subarray(2)
      const end = endOfQuestion(query)
      const sign = signer(secret, macOf(query))
      for (const { records, signature, rcode = 0, alter = (message: Buffer) => message } of messages) {
        const header = Buffer.concat([query.subarray(0, 2), u16(0x8400 | rcode), u16(1), u16(records.length), u16(0), u16(0)])
        const message = Buffer.concat([header, query.subarray(12, end), ...records])
        socket.write(sized(alter(sign(message, signature))))
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

function endOfQuestion(query: Buffer): number {
  let at = 12
  while (query[at] !== 0) at += 1 + (query[at] as number)
  return at + 5
}

/** The digest of a signed query. Six octets follow it: identifier, error and the length of other data. */
function macOf(query: Buffer): Buffer {
  if (query.readUInt16BE(10) === 0) return Buffer.alloc(0)
  return query.subarray(query.length - 6 - 32, query.length - 6)
}

/** Signs one message after another (RFC 8945 sections 4.3.3 and 5.3.1). */
function signer(secret: Buffer, requestMac: Buffer): (message: Buffer, signature: SignatureParts | null) => Buffer {
  let previous = requestMac
  let isFirst = true
  let pending: Buffer[] = []
  return (message, signature) => {
    pending.push(message)
    if (signature === null) return message
    const { keyName = 'upd', algorithm = 'hmac-sha256.', clockOffset = 0, fudge = 300, error = 0, other = Buffer.alloc(0) } = signature
    const timers = Buffer.concat([u48(Math.floor(Date.now() / 1000) + clockOffset), u16(fudge)])
    const variables = [wireName(keyName), u16(255), u32(0), wireName(algorithm), timers, u16(error), sized(other)]
    const digested = Buffer.concat([sized(previous), ...pending, ...(isFirst ? variables : [timers])])
    const whole = createHmac('sha256', secret).update(digested).digest()
    const mac = signature.withoutDigest === true ? Buffer.alloc(0) : (signature.mac ?? ((same) => same))(whole)
    previous = mac
    pending = []
    isFirst = false
    const data = Buffer.concat([wireName(algorithm), timers, sized(mac), message.subarray(0, 2), u16(error), sized(other)])
    const tsig = wireRecord(keyName, 250, data, { ttl: 0, class: 255 })
    const { recordsAfter } = signature
    const signed = Buffer.concat([message, tsig, recordsAfter ?? Buffer.alloc(0)])
    signed.writeUInt16BE(recordsAfter === undefined ? 1 : 2, 10)
    return signed
  }
}
