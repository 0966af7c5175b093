import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { decodeMessage } from '../../../src/formats/wire/decode-message.ts'
import { encodeMessage } from '../../../src/formats/wire/encode-message.ts'
import type { Message } from '../../../src/formats/wire/message.ts'

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
