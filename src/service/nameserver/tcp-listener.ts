import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { HEADER_OCTETS } from '../../dns/wire/message.ts'
import type { Client, Transfer } from './answer-transfer.ts'
import { canonicalAddress, hostNetwork } from './canonical-address.ts'

export interface TcpListener {
  readonly port: number
  close(): Promise<void>
}

export interface TcpLimits extends ConnectionLimits {
  /** Connections at one time; one more pushes out the one that has been without progress longest. */
  readonly connections: number
  /** The same of one address, or with IPv6 of one network of 64 bits. */
  readonly connectionsOfHost: number
}

/**
 * Answers messages over TCP at the address. Port 0 takes a free one. Rejects with the error of the system if it cannot be bound.
 */
export async function listenTcp(
  host: string,
  port: number,
  limits: TcpLimits,
  respond: (query: Buffer, client: Client) => TcpReply,
): Promise<TcpListener> {
  /** By the network of the asker, in order of their last progress. */
  const sockets = new Map<Socket, string>()
  const drop = (socket: Socket): void => {
    sockets.delete(socket)
    socket.destroy()
  }
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const address = canonicalAddress(socket.remoteAddress ?? '')
    // It was gone before it was taken.
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
  const [longest] = sockets.keys()
  let [ofHost, longestOfHost]: [number, Socket | null] = [0, null]
  for (const [socket, other] of sockets) {
    if (other !== network) continue
    ofHost += 1
    longestOfHost ??= socket
  }
  if (longestOfHost && ofHost >= limits.connectionsOfHost) drop(longestOfHost)
  else if (longest && sockets.size >= limits.connections) drop(longest)
}

interface ConnectionLimits {
  /** Milliseconds a connection may take for its next whole query, or leave a message unread. */
  readonly idle: number
  /** Octets of one query. */
  readonly queryOctets: number
}

/** What a query gets; null ends the connection. */
export type TcpReply = Buffer | Promise<Buffer> | Transfer | null

/** Messages of one connection sent without giving others a turn. */
const MESSAGES_PER_TURN = 32

/**
 * Answers queries on a connection, each message after two octets of length, in the order they come (RFC 7766). An asker that does
 * not read gets no more than its window and one message hold, and its further queries are not read. `onProgress` is called with each
 * message that goes out.
 */
function serveConnection(socket: Socket, limits: ConnectionLimits, answer: (query: Buffer) => TcpReply, onProgress: () => void): void {
  let pending: Buffer = Buffer.alloc(0)
  let transfer: Transfer | null = null
  /** For an answer that is being made, or for the next turn. */
  let waiting = false
  let isAskedOut = false
  // Counts from the last message that went out, so that octets now and then do not hold a connection.
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

  /** Sends one message, or gets nearer to that; false where there is nothing to do. */
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
    else if (isAskedOut) socket.end()
    else socket.resume()
  }

  socket.setNoDelay(true)
  socket.on('data', (chunk: Buffer) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    work()
  })
  socket.on('end', () => {
    isAskedOut = true
    work()
  })
  // A drain can come before others had a turn.
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
