import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import { decodeMessage } from '../../../src/dns/wire/decode-message.ts'
import { encodeMessage } from '../../../src/dns/wire/encode-message.ts'
import { createQuery, type Message } from '../../../src/dns/wire/message.ts'

/** Sends octets over UDP to 127.0.0.1; returns the response. Throws without one within `within` milliseconds. */
export async function askOctets(port: number, octets: Uint8Array, { from = '127.0.0.1', within = 10_000 } = {}): Promise<Buffer> {
  const socket = createSocket('udp4')
  try {
    socket.bind(0, from)
    await once(socket, 'listening')
    socket.connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.send(octets)
    const [answer] = (await once(socket, 'message', { signal: AbortSignal.timeout(within) })) as [Buffer]
    return answer
  } finally {
    socket.close()
  }
}

/** Sends one query over UDP to 127.0.0.1, like `askOctets`. */
export async function askUdp(port: number, query: Message, within = 10_000): Promise<Message> {
  const message = decodeMessage(await askOctets(port, encodeMessage(query), { within }))
  if (!message.ok) throw new Error(message.message)
  return message.value
}

let networks = 0

/**
 * Waits until the server has handled all datagrams sent to its port before, and its responses over the loopback interface have arrived. Each
 * query is from another network, so the rate limit does not apply.
 */
export async function handledAll(port: number): Promise<void> {
  const socket = createSocket('udp4')
  networks += 1
  socket.bind(0, `127.99.${networks & 0xff}.1`)
  await once(socket, 'listening')
  const send = (): void =>
    socket.send(encodeMessage(createQuery(FENCE, { name: `${FENCE_LABEL}.test.` as DomainName, type: 'A' })), port, '127.0.0.1')
  // It may be lost if the buffer is full.
  const again = setInterval(send, 500)
  send()
  await once(socket, 'message')
  clearInterval(again)
  socket.close()
  // A socket is read a few dozen messages at a time.
  for (let i = 0; i < 50; i += 1) await new Promise((resolve) => setImmediate(resolve))
}

const FENCE = 0xfefe

/** The response; null if the response to a later query arrives first. */
export async function exchangeUdp(port: number, octets: Uint8Array): Promise<Buffer | null> {
  const socket = createSocket('udp4')
  socket.connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const received: Buffer[] = []
  await new Promise<void>((resolve) => {
    socket.on('message', (answer: Buffer) => {
      const isFence = answer.readUInt16BE(0) === FENCE && answer.toString('latin1').includes(FENCE_LABEL)
      if (isFence) resolve()
      else received.push(answer)
    })
    socket.send(octets)
    socket.send(encodeMessage(createQuery(FENCE, { name: `${FENCE_LABEL}.test.` as DomainName, type: 'A' })))
  })
  socket.close()
  return received[0] ?? null
}

const FENCE_LABEL = 'fence-of-the-exchange'
