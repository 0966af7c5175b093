import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Client } from './answer-transfer.ts'
import { canonicalAddress, hostNetwork } from './client-address.ts'
import { type ConnectionLimits, serveConnection, type TcpReply } from './tcp-connection.ts'

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
