import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'

export interface UdpListener {
  close(): Promise<void>
}

/** Octets the kernel keeps for queries that come in a burst; it may grant less. */
const RECEIVE_BUFFER_OCTETS = 4 * 1024 * 1024

/** Answers datagrams at the address. Rejects with the error of the system if it cannot be bound. */
export async function listenUdp(host: string, port: number, respond: (octets: Uint8Array) => Buffer | null): Promise<UdpListener> {
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
  socket.on('message', (octets, peer) => {
    // Nobody can be reached at port 0, and asking for it throws.
    if (peer.port === 0) return
    const response = respond(octets)
    // The asker asks again if this one is lost, whatever lost it.
    if (response) socket.send(response, peer.port, peer.address, ignore)
  })
  try {
    socket.bind(port, host)
    await once(socket, 'listening')
  } catch (error) {
    socket.close()
    throw error
  }
  socket.on('error', ignore)
  enlargeReceiveBuffer(socket)
  return { close: () => new Promise((resolve) => socket.close(() => resolve())) }
}

function enlargeReceiveBuffer(socket: Socket): void {
  try {
    socket.setRecvBufferSize(RECEIVE_BUFFER_OCTETS)
  } catch {
    // The default serves too, with more loss under a burst.
  }
}

function ignore(): void {}
