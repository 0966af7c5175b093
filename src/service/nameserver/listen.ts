import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import type { Client } from './answer-transfer.ts'
import type { TcpReply } from './tcp-listener.ts'
import { listenTcp, type TcpLimits, type TcpListener } from './tcp-listener.ts'

export interface Answers {
  readonly udp: (query: Buffer, client: Client) => Buffer | Promise<Buffer> | null
  readonly tcp: (query: Buffer, client: Client) => TcpReply
}

/** Attempts to find a TCP port that is also free for UDP. */
const PORT_TRIES = 16

/** Listens on one port over UDP and TCP; 0 picks a port that is free for both. Rejects with the system's error. */
export async function listen(
  host: string,
  port: number,
  limits: TcpLimits,
  answers: Answers,
): Promise<{ readonly udp: UdpListener; readonly tcp: TcpListener }> {
  for (let tries = 1; ; tries += 1) {
    const tcp = await listenTcp(host, port, limits, answers.tcp)
    try {
      return { tcp, udp: await listenUdp(host, tcp.port, answers.udp) }
    } catch (error) {
      await tcp.close()
      const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
      if (port !== 0 || !isTaken || tries === PORT_TRIES) throw error
    }
  }
}

interface UdpListener {
  close(): Promise<void>
}

/** Requested size in octets of the kernel's receive buffer, for bursts of queries. The kernel may grant less. */
const RECEIVE_BUFFER_OCTETS = 4 * 1024 * 1024

/** Answers datagrams at the address. Rejects with the system's error if the address cannot be bound. */
async function listenUdp(
  host: string,
  port: number,
  respond: (octets: Buffer, client: Client) => Buffer | Promise<Buffer> | null,
): Promise<UdpListener> {
  const isV6 = isIPv6(host)
  const socket = createSocket({
    type: isV6 ? 'udp6' : 'udp4',
    // Responses are sent to IP addresses. The default lookup would delay each one by a tick.
    lookup: (address, _options, found) => found(null, address, isV6 ? 6 : 4),
  })
  let isOpen = true
  const send = (response: Buffer, peer: { readonly port: number; readonly address: string }): void => {
    // No callback: the client retries if the response is lost for any reason.
    if (isOpen) socket.send(response, 0, response.length, peer.port, peer.address)
  }
  socket.on('message', (octets, peer) => {
    // Sending to port 0 throws.
    if (peer.port === 0) return
    const response = respond(octets, { transport: 'udp', address: peer.address })
    if (response === null) return
    if (response instanceof Promise) void response.then((later) => send(later, peer))
    else send(response, peer)
  })
  try {
    // Subscribe first: with the synchronous lookup above, `bind` can emit the event immediately.
    const listening = once(socket, 'listening')
    socket.bind(port, host)
    await listening
  } catch (error) {
    socket.close()
    throw error
  }
  socket.on('error', () => {})
  enlargeReceiveBuffer(socket)
  return {
    close: async () => {
      if (!isOpen) return
      isOpen = false
      await new Promise<void>((resolve) => socket.close(() => resolve()))
    },
  }
}

function enlargeReceiveBuffer(socket: Socket): void {
  try {
    socket.setRecvBufferSize(RECEIVE_BUFFER_OCTETS)
  } catch {
    // The default size works too, but loses more queries in a burst.
  }
}
