import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { decodeMessage } from '../../../src/dns/wire/decode-message.ts'
import { encodeMessage } from '../../../src/dns/wire/encode-message.ts'
import type { Message } from '../../../src/dns/wire/message.ts'

export interface TcpClient {
  readonly socket: Socket
  send(...queries: Message[]): void
  /** Waits for the next message; null at the end of the connection. */
  next(): Promise<Buffer | null>
  /** Like `next`, decoded; throws at the end of the connection. */
  message(): Promise<Message>
  readonly closed: Promise<unknown>
}

export const framed = (octets: Uint8Array): Buffer => Buffer.concat([Buffer.from([octets.length >> 8, octets.length & 255]), octets])

/** A connection that reads messages only on request. */
export async function openTcp(port: number, host = '127.0.0.1'): Promise<TcpClient> {
  const socket = connect(port, host)
  // `once` of node:events would reject at a reset connection.
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', () => {})
  await once(socket, 'connect')
  const chunks = socket[Symbol.asyncIterator]()
  let pending = Buffer.alloc(0)
  const next = async (): Promise<Buffer | null> => {
    for (;;) {
      if (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
        const end = 2 + pending.readUInt16BE(0)
        const message = pending.subarray(2, end)
        pending = pending.subarray(end)
        return message
      }
      const chunk = await chunks.next().catch(() => ({ done: true as const, value: undefined }))
      if (chunk.done) return null
      pending = Buffer.concat([pending, chunk.value])
    }
  }
  return {
    socket,
    closed,
    send: (...queries) => void socket.write(Buffer.concat(queries.map((query) => framed(encodeMessage(query))))),
    next,
    message: async () => {
      const octets = await next()
      const message = octets && decodeMessage(octets)
      if (!message?.ok) throw new Error(message === null ? 'the connection ended' : message.message)
      return message.value
    },
  }
}
