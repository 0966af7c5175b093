import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { decodeMessage } from '../../../src/formats/wire/decode-message.ts'
import { encodeMessage } from '../../../src/formats/wire/encode-message.ts'
import { createQuery, type Message } from '../../../src/formats/wire/message.ts'
import type { DomainName } from '../../../src/model/domain-name.ts'

/** One question over UDP to 127.0.0.1; throws where no answer comes within two seconds. */
export async function askUdp(port: number, query: Message): Promise<Message> {
  const socket = createSocket('udp4')
  socket.connect(port, '127.0.0.1')
  await once(socket, 'connect')
  try {
    socket.send(encodeMessage(query))
    const [octets] = (await once(socket, 'message', { signal: AbortSignal.timeout(2_000) })) as [Buffer]
    const message = decodeMessage(octets)
    if (!message.ok) throw new Error(message.message)
    return message.value
  } finally {
    socket.close()
  }
}

const FENCE = 0xfefe

/** The datagram that comes back; null if none comes before the answer to another question that is sent after it. */
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
