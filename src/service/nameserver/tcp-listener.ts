import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

export interface TcpListener {
  readonly port: number
  close(): Promise<void>
}

export interface TcpLimits {
  /** Connections at one time; one more pushes out the one that has waited longest. */
  readonly connections: number
  /** Milliseconds a connection may take for its next whole query, or leave answers unread. */
  readonly idle: number
  /** Octets of one query. */
  readonly queryOctets: number
}

/**
 * Answers messages over TCP at the address: each after two octets of length, several on one connection (RFC 7766). Port 0 takes a
 * free one. Rejects with the error of the system if it cannot be bound.
 */
export async function listenTcp(
  host: string,
  port: number,
  limits: TcpLimits,
  respond: (octets: Uint8Array) => Buffer | null,
): Promise<TcpListener> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const [oldest] = sockets
    if (oldest && sockets.size >= limits.connections) drop(sockets, oldest)
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    serve(socket, limits, respond, () => {
      // The set is in order of insertion: an active connection goes to its end.
      if (sockets.delete(socket)) sockets.add(socket)
    })
  })
  server.listen(port, host)
  await once(server, 'listening')
  server.on('error', ignore)
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) drop(sockets, socket)
      }),
  }
}

function drop(sockets: Set<Socket>, socket: Socket): void {
  sockets.delete(socket)
  socket.destroy()
}

function serve(socket: Socket, limits: TcpLimits, respond: (octets: Uint8Array) => Buffer | null, onQuery: () => void): void {
  let pending: Buffer = Buffer.alloc(0)
  // Counts from the last whole query, so that sending octet by octet does not hold a connection.
  const deadline = setTimeout(() => socket.destroy(), limits.idle)
  const answerPending = (): void => {
    let at = 0
    // An asker who does not read gets no more answers than its window and one buffer hold.
    while (pending.length - at >= 2 && !socket.writableNeedDrain) {
      const length = pending.readUInt16BE(at)
      if (length > limits.queryOctets) {
        socket.destroy()
        return
      }
      if (pending.length - at - 2 < length) break
      const response = respond(pending.subarray(at + 2, at + 2 + length))
      at += 2 + length
      if (response === null) {
        socket.destroy()
        return
      }
      deadline.refresh()
      onQuery()
      socket.write(withLength(response))
    }
    pending = pending.subarray(at)
    if (socket.writableNeedDrain) socket.pause()
  }
  socket.setNoDelay(true)
  socket.on('data', (chunk: Buffer) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    answerPending()
  })
  socket.on('drain', () => {
    answerPending()
    if (!socket.writableNeedDrain) socket.resume()
  })
  socket.on('error', ignore)
  socket.on('close', () => clearTimeout(deadline))
}

function withLength(message: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(2 + message.length)
  framed.writeUInt16BE(message.length, 0)
  framed.set(message, 2)
  return framed
}

function ignore(): void {}
