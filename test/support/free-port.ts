import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'

const handedOut = new Set<number>()

/** A port on 127.0.0.1 that is free for both TCP and UDP at this moment, and not handed out before by this process. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const port = await tcpPort()
    if (!handedOut.has(port) && (await isFreeForUdp(port))) {
      handedOut.add(port)
      return port
    }
  }
  throw new Error('no port is free for both TCP and UDP')
}

async function tcpPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('a TCP server without a port')
  return address.port
}

async function isFreeForUdp(port: number): Promise<boolean> {
  const socket = createSocket('udp4')
  try {
    socket.bind(port, '127.0.0.1')
    await once(socket, 'listening')
    return true
  } catch {
    return false
  } finally {
    socket.close()
  }
}
