/** A DNS server on 127.0.0.1 whose responses a test decides. */
import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { onTestFinished } from 'vitest'
import { decodeMessage } from '../../src/dns/wire/decode-message.ts'
import { encodeMessage } from '../../src/dns/wire/encode-message.ts'
import type { Message, WireRecord } from '../../src/dns/wire/message.ts'

const HOST = '127.0.0.1'

type Reply = (query: Message, octets: Buffer) => readonly Uint8Array[] | Promise<readonly Uint8Array[]>

/** Starts a server for the duration of a test. The functions return the datagrams and the TCP messages of its response to a query. */
export async function startScriptedDns(udp: Reply, tcp: Reply = () => []): Promise<{ host: string; port: number }> {
  const read = (octets: Buffer): Message => {
    const message = decodeMessage(octets)
    if (!message.ok) throw new Error(message.message)
    return message.value
  }
  const server = createServer((stream) => {
    stream.on('error', () => {})
    stream.on('data', async (chunk: Buffer) => {
      for (const reply of await tcp(read(chunk.subarray(2)), chunk.subarray(2)))
        stream.write(Buffer.concat([Buffer.from([reply.length >> 8, reply.length & 255]), reply]))
    })
  }).listen(0, HOST)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const socket = createSocket('udp4')
  socket.on('message', async (octets: Buffer, peer: RemoteInfo) => {
    for (const reply of await udp(read(octets), octets)) socket.send(reply, peer.port, peer.address)
  })
  socket.bind(port, HOST)
  await once(socket, 'listening')
  onTestFinished(() => {
    socket.close()
    server.close()
  })
  return { host: HOST, port }
}

/** An authoritative response with these records. */
export const response = (query: Message, answers: readonly WireRecord[], changes: Partial<Message> = {}): Uint8Array =>
  encodeMessage({ ...query, response: true, authoritative: true, answers, ...changes })
