import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import { decodeMessage } from '../../../src/dns/wire/decode-message.ts'
import { encodeMessage } from '../../../src/dns/wire/encode-message.ts'
import { CLASS, createFrameReader, frameMessage, type Message, type WireRecord } from '../../../src/dns/wire/message.ts'
import { afterEveryFile } from '../../support/after-file.ts'

/** Handles one TCP message at the master; `octets` are the message as it arrived. */
export type Script = (query: Message, socket: Socket, octets?: Buffer) => void
const kept: (() => void)[] = []
afterEveryFile(() => {
  for (const close of kept.splice(0)) close()
})

/** Starts a scripted name server and stops it after the test, or with `keep` after the file or with the worker, for a module of several files; returns its port. */
export async function scriptedMaster(
  script: Script,
  { keep = false, address = '127.0.0.1' }: { readonly keep?: boolean | 'worker'; readonly address?: string } = {},
): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    const framesOf = createFrameReader()
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (chunk: Buffer) => {
      for (const octets of framesOf(chunk)) {
        const query = decodeMessage(octets)
        if (!query.ok) throw new Error(query.message)
        script(query.value, socket, Buffer.from(octets))
      }
    })
  })
  server.listen(0, address)
  await once(server, 'listening')
  const close = (): void => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  if (keep === 'worker') server.unref()
  else if (keep) kept.push(close)
  else onTestFinished(close)
  return (server.address() as AddressInfo).port
}

export const record = (name: string, type: string, data: string, ttl = 300): WireRecord => {
  return { name: name as DomainName, type, class: CLASS.IN, ttl, data }
}

export const soa = (serial = 1, times = '3600 600 604800 300', zone = 'example.test.'): WireRecord =>
  record(zone, 'SOA', `ns1.example.test. hostmaster.example.test. ${serial} ${times}`)

/** The framed octets of a response to the query. */
export const answerOf = (query: Message, answers: readonly WireRecord[], changes: Partial<Message> = {}): Buffer =>
  frameMessage(encodeMessage({ ...query, response: true, authoritative: true, answers, authorities: [], edns: null, ...changes }))

/** Records per message: few enough for its size. */
const CHUNK = 1000

/** Responds to an SOA query with the first record, to AXFR and IXFR with the records and the SOA again. */
export const serving =
  (records: readonly [WireRecord, ...WireRecord[]]): Script =>
  (query, socket) => {
    const isTransfer = query.questions[0]?.type !== 'SOA'
    const answers = isTransfer ? [...records, records[0]] : [records[0]]
    for (let from = 0; from < answers.length; from += CHUNK) socket.write(answerOf(query, answers.slice(from, from + CHUNK)))
  }
