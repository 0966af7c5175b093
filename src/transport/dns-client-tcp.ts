import { connect } from 'node:net'
import { createFrameReader, frame } from '../formats/wire/frames.ts'
import { dnsFailure } from './dns-client-failure.ts'
import { type DnsServer, formatServer } from './dns-client-server.ts'

/**
 * Sends one message over a connection of its own and gives each message that comes back, without its two octets of length, to
 * `onMessage` until that returns false (RFC 7766). `timeout` is in milliseconds and counts anew with every message. Rejects with a
 * `DnsFailure`, or with what `onMessage` throws.
 */
export function exchangeTcp(
  server: DnsServer,
  message: Uint8Array,
  timeout: number,
  onMessage: (octets: Buffer) => boolean,
): Promise<void> {
  const where = formatServer(server)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: server.host, port: server.port, noDelay: true })
    const chunks = createFrameReader()
    const finish = (error?: unknown): void => {
      clearTimeout(timer)
      socket.destroy()
      if (error === undefined) resolve()
      else reject(error)
    }
    const timer = setTimeout(() => finish(dnsFailure('timeout', `${where} did not answer over TCP within ${timeout} ms`)), timeout)
    socket.on('connect', () => {
      socket.write(frame(message))
    })
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const octets of chunks(chunk)) {
          timer.refresh()
          if (!onMessage(octets)) return finish()
        }
      } catch (error) {
        finish(error)
      }
    })
    socket.on('error', (error) => finish(dnsFailure('unreachable', `${where} cannot be reached over TCP: ${error.message}`, error)))
    socket.on('end', () => finish(dnsFailure('unreachable', `${where} closed the connection before its answer was complete`)))
  })
}
