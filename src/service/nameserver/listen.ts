/** The sockets of the name server: UDP, and TCP with several queries per connection (RFC 7766), on the same port. */
import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, isIPv6, type Socket } from 'node:net'
import { canonicalAddress, hostNetwork } from '../../dns/ip-address.ts'
import { HEADER_OCTETS } from '../../dns/wire/message.ts'
import type { Client, Transfer } from './answer-transfer.ts'

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

function enlargeReceiveBuffer(socket: UdpSocket): void {
  try {
    socket.setRecvBufferSize(RECEIVE_BUFFER_OCTETS)
  } catch {
    // The default size works too, but loses more queries in a burst.
  }
}

export interface TcpListener {
  readonly port: number
  close(): Promise<void>
}

export interface TcpLimits extends ConnectionLimits {
  /** Concurrent connections. A new one above the limit replaces the one that has been idle longest. */
  readonly connections: number
  /** Concurrent connections of one IPv4 address or IPv6 /64. */
  readonly connectionsOfHost: number
}

/** Answers messages over TCP at the address; port 0 picks a free port. Rejects with the system's error if the address cannot be bound. */
async function listenTcp(
  host: string,
  port: number,
  limits: TcpLimits,
  respond: (query: Buffer, client: Client) => TcpReply,
): Promise<TcpListener> {
  /** The client network of each socket, in the order of their last progress. */
  const sockets = new Map<Socket, string>()
  const drop = (socket: Socket): void => {
    sockets.delete(socket)
    socket.destroy()
  }
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const address = canonicalAddress(socket.remoteAddress ?? '')
    // The client disconnected before the connection was accepted.
    if (address === null) return void socket.destroy()
    const network = hostNetwork(address)
    makeRoom(sockets, network, limits, drop)
    sockets.set(socket, network)
    socket.on('close', () => sockets.delete(socket))
    const client: Client = { transport: 'tcp', address }
    const answer = (query: Buffer): TcpReply => respond(query, client)
    serveConnection(socket, limits, answer, () => {
      if (sockets.delete(socket)) sockets.set(socket, network)
    })
  })
  server.listen(port, host)
  await once(server, 'listening')
  server.on('error', () => {})
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of [...sockets.keys()]) drop(socket)
      }),
  }
}

function makeRoom(sockets: ReadonlyMap<Socket, string>, network: string, limits: TcpLimits, drop: (socket: Socket) => void): void {
  const [oldest] = sockets.keys()
  let [countOfHost, oldestOfHost]: [number, Socket | null] = [0, null]
  for (const [socket, other] of sockets) {
    if (other !== network) continue
    countOfHost += 1
    oldestOfHost ??= socket
  }
  if (oldestOfHost && countOfHost >= limits.connectionsOfHost) drop(oldestOfHost)
  else if (oldest && sockets.size >= limits.connections) drop(oldest)
}

interface ConnectionLimits {
  /** Milliseconds that a connection may take to send its next complete query or to read a response. */
  readonly idle: number
  /** Maximum size of a query in octets. */
  readonly queryOctets: number
}

/** The response to a query; null closes the connection. */
export type TcpReply = Buffer | Promise<Buffer> | Transfer | null

/** Messages that one connection may send before other connections get a turn. */
const MESSAGES_PER_TURN = 32

/**
 * Answers the queries of a connection in order, each message prefixed with a two-octet length (RFC 7766). If the client stops reading, no
 * more is sent than its window and one message, and no more queries are read. Calls `onProgress` for each message sent.
 */
function serveConnection(socket: Socket, limits: ConnectionLimits, answer: (query: Buffer) => TcpReply, onProgress: () => void): void {
  let pending: Buffer = Buffer.alloc(0)
  let transfer: Transfer | null = null
  /** Waiting for a pending answer or for the next turn. */
  let waiting = false
  let hasEnded = false
  // Restarted only by sent messages, so that a slow trickle of octets cannot keep a connection open.
  const deadline = setTimeout(() => socket.destroy(), limits.idle)

  const send = (message: Buffer): void => {
    if (socket.destroyed) return
    deadline.refresh()
    onProgress()
    socket.write(withLength(message))
  }

  const wait = (moment: Promise<unknown>): void => {
    waiting = true
    void moment.then(() => {
      waiting = false
      work()
    })
  }

  const answerNext = (): boolean => {
    if (pending.length < 2) return false
    const length = pending.readUInt16BE(0)
    const isQuery = length >= HEADER_OCTETS && length <= limits.queryOctets
    if (isQuery && pending.length - 2 < length) return false
    const reply = isQuery ? answer(pending.subarray(2, 2 + length)) : null
    pending = pending.subarray(2 + length)
    if (reply === null) socket.destroy()
    else if (Buffer.isBuffer(reply)) send(reply)
    else if (reply instanceof Promise) wait(reply.then(send))
    else transfer = reply
    return true
  }

  /** Makes progress on one message; false if there is nothing to do. */
  const step = (): boolean => {
    if (transfer === null) return answerNext()
    const message = transfer.next()
    if (message === null) transfer = null
    else if (message === 'broken') socket.destroy()
    else send(message)
    return true
  }

  const work = (): void => {
    if (waiting || socket.destroyed) return
    socket.cork()
    let steps = 0
    while (steps < MESSAGES_PER_TURN && !waiting && !socket.destroyed && !socket.writableNeedDrain && step()) steps += 1
    socket.uncork()
    if (steps === MESSAGES_PER_TURN) wait(new Promise((resolve) => setImmediate(resolve)))
    if (waiting || socket.writableNeedDrain) socket.pause()
    else if (hasEnded) socket.end()
    else socket.resume()
  }

  socket.setNoDelay(true)
  socket.on('data', (chunk: Buffer) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    work()
  })
  socket.on('end', () => {
    hasEnded = true
    work()
  })
  // Wait one turn, because `drain` can fire before other connections had theirs.
  socket.on('drain', () => {
    if (!waiting) wait(new Promise((resolve) => setImmediate(resolve)))
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    clearTimeout(deadline)
    transfer?.end()
  })
}

function withLength(message: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(2 + message.length)
  framed.writeUInt16BE(message.length, 0)
  framed.set(message, 2)
  return framed
}
