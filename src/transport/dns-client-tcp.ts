import { connect } from 'node:net'
import { createFrameReader, frame } from '../dns/wire/frames.ts'
import { dnsFailure } from './dns-client-failure.ts'
import { type DnsServer, formatServer } from './dns-client-server.ts'

export interface TcpLimits {
  /** Milliseconds to wait for each message. */
  readonly timeout: number
  /** Milliseconds for all messages together; no bound if absent. */
  readonly total?: number
  /** Octets of all messages together; no bound if absent. */
  readonly octets?: number
}

/**
 * Sends one message over a connection of its own and gives each message that comes back, without its two octets of length, to
 * `onMessage` until that returns false (RFC 7766). Rejects with a `DnsFailure`, or with what `onMessage` throws.
 */
export function exchangeTcp(
  server: DnsServer,
  message: Uint8Array,
  { timeout, total = Number.POSITIVE_INFINITY, octets: most = Number.POSITIVE_INFINITY }: TcpLimits,
  onMessage: (octets: Buffer) => boolean,
): Promise<void> {
  const where = formatServer(server)
  return new Promise((resolve, reject) => {
    // Of several addresses one is tried after another; the 250 ms that each has otherwise are too few for some networks.
    const attempt = Math.max(250, Math.floor(timeout / 4))
    const socket = connect({ host: server.host, port: server.port, noDelay: true, autoSelectFamilyAttemptTimeout: attempt })
    const chunks = createFrameReader()
    const start = performance.now()
    let received = 0
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
      received += chunk.length
      try {
        if (received > most) throw dnsFailure('garbled', `${where} sent more than ${most} octets over TCP`)
        if (performance.now() - start > total)
          throw dnsFailure('timeout', `${where} did not come to an end over TCP within ${total / 1000} s`)
        for (const octets of chunks(chunk)) {
          timer.refresh()
          if (!onMessage(octets)) return finish()
        }
      } catch (error) {
        finish(error)
      }
    })
    socket.on('error', (error) => finish(dnsFailure('unreachable', `${where} cannot be reached over TCP: ${reasonOf(error)}`, error)))
    socket.on('end', () => finish(dnsFailure('unreachable', `${where} closed the connection before its answer was complete`)))
  })
}

/** The error of a host with several addresses says nothing itself. */
const reasonOf = (error: Error): string =>
  error instanceof AggregateError ? error.errors.map(({ message }: Error) => message).join(', ') : error.message
