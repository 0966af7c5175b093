import { createSocket } from 'node:dgram'
import { expect } from 'vitest'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import { decodeMessage } from '../../../src/dns/wire/decode-message.ts'
import { encodeMessage } from '../../../src/dns/wire/encode-message.ts'
import { createQuery, type Message, rcodeName, type WireRecord } from '../../../src/dns/wire/message.ts'
import type { ServedRecord } from '../../../src/service/nameserver/zone-data.ts'

export interface Asked {
  readonly name: DomainName
  readonly type: string
  /** EDNS size; 0 for a query without EDNS. */
  readonly size: number
}

/** Sends the queries in sequence over one socket; a lost datagram fails the test by a timeout. */
export async function askAll(port: number, questions: readonly Asked[]): Promise<Message[]> {
  const socket = createSocket('udp4')
  socket.connect(port, '127.0.0.1')
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()))
  const answers: Message[] = []
  for (const [id, asked] of questions.entries()) {
    const query = createQuery(id, asked)
    const edns = asked.size === 0 ? null : { udpSize: asked.size, version: 0, dnssecOk: false, options: [] }
    const octets = await new Promise<Buffer>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer to ${asked.name} ${asked.type} ${asked.size}`)), 15_000)
      socket.once('message', (answer) => {
        clearTimeout(timer)
        resolve(answer)
      })
      socket.send(encodeMessage({ ...query, edns }))
    })
    const message = decodeMessage(octets)
    if (!message.ok) throw new Error(`${asked.name} ${asked.type}: ${message.message}`)
    expect(octets.length).toBeLessThanOrEqual(Math.max(512, asked.size))
    answers.push(message.value)
  }
  socket.close()
  return answers
}

const sorted = (section: readonly WireRecord[]): string[] =>
  [...new Set(section.map((record) => `${record.name} ${record.ttl} ${record.type} ${record.data}`))].sort()

export interface Comparable {
  readonly rcode: string
  readonly authoritative: boolean
  readonly truncated: boolean
  readonly answers?: string[]
  readonly authorities?: string[]
  readonly additionals?: string[]
}

export const describeMessage = (message: Message): Comparable => ({
  rcode: rcodeName(message.rcode),
  authoritative: message.authoritative,
  truncated: message.truncated,
  // The records of a truncated response do not matter (RFC 2181 section 9).
  ...(message.truncated
    ? {}
    : { answers: sorted(message.answers), authorities: sorted(message.authorities), additionals: sorted(message.additionals) }),
})

/** Differences: `NAME TYPE SIZE`, our response and theirs; `normalise` removes everything that the RFCs leave open. */
export function differences(
  questions: readonly Asked[],
  ours: readonly Message[],
  theirs: readonly Message[],
  normalise: (comparable: Comparable, asked: Asked) => Comparable,
): Record<string, unknown> {
  const found: Record<string, unknown> = {}
  for (const [i, asked] of questions.entries()) {
    const [mine, their] = [ours[i], theirs[i]]
    if (!mine || !their) throw new Error('an answer is missing')
    const pair = [mine, their].map((message) => normalise(describeMessage(message), asked))
    if (JSON.stringify(pair[0]) !== JSON.stringify(pair[1])) found[`${asked.name} ${asked.type} ${asked.size}`] = pair
  }
  return found
}

/** The zone as a zone file for another server: canonical records are zone-file text. */
export const zoneFile = ({ name, records }: { readonly name: string; readonly records: readonly ServedRecord[] }) => ({
  name: name.slice(0, -1),
  text: records.map((record) => `${record.name} ${record.ttl} IN ${record.type} ${record.data}\n`).join(''),
})
