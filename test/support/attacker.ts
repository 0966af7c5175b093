import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { freePort } from './free-port.ts'

/** An attacker's host, which records every octet that it receives over TCP and UDP. */
export interface Attacker {
  /** `127.0.0.1:PORT`. */
  readonly host: string
  /** Everything received, as text; empty if there was not even a connection. */
  received(): string
}

/** Listens on TCP and UDP until the end of the test. Over TCP it answers like an API without objects, so that a client continues. */
export async function startAttacker({ address = '127.0.0.1', port }: { address?: string; port?: number } = {}): Promise<Attacker> {
  const used = port ?? (await freePort())
  const received: string[] = []
  const connections = new Set<Socket>()
  const tcp = createServer((socket) => {
    received.push('(connection)')
    connections.add(socket)
    socket.on('error', () => undefined)
    socket.on('data', (octets) => {
      received.push(octets.toString('latin1'))
      const body = '{"data":[],"page":1,"pages":1,"results":0}'
      socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
    })
  })
  const udp = createSocket('udp4')
  udp.on('message', (octets) => void received.push(`(datagram) ${octets.toString('latin1')}`))
  tcp.listen(used, address)
  await once(tcp, 'listening')
  udp.bind(used, address)
  await once(udp, 'listening')
  onTestFinished(() => {
    for (const socket of connections) socket.destroy()
    tcp.close()
    udp.close()
  })
  return { host: `${address}:${used}`, received: () => received.join('\n') }
}
