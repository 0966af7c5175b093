import { connect } from 'node:net'
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
      const length = Buffer.alloc(2)
      length.writeUInt16BE(message.length)
      socket.write(Buffer.concat([length, message]))
    })
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const frame of chunks(chunk)) {
          timer.refresh()
          if (!onMessage(frame)) return finish()
        }
      } catch (error) {
        finish(error)
      }
    })
    socket.on('error', (error) => finish(dnsFailure('unreachable', `${where} cannot be reached over TCP: ${error.message}`, error)))
    socket.on('end', () => finish(dnsFailure('unreachable', `${where} closed the connection before its answer was complete`)))
  })
}

/** Cuts a stream into messages by the two octets of length before each (RFC 1035 section 4.2.2). */
export function createFrameReader(): (chunk: Buffer) => Buffer[] {
  let chunks: Buffer[] = []
  let held = 0
  return (chunk) => {
    chunks.push(chunk)
    held += chunk.length
    const first = chunks[0] as Buffer
    // Joined only when a whole message is there, so that many small chunks cost no more than their octets.
    if (first.length >= 2 && held < 2 + first.readUInt16BE(0)) return []
    let joined = chunks.length === 1 ? chunk : Buffer.concat(chunks)
    const frames: Buffer[] = []
    while (joined.length >= 2) {
      const end = 2 + joined.readUInt16BE(0)
      if (joined.length < end) break
      frames.push(joined.subarray(2, end))
      joined = joined.subarray(end)
    }
    chunks = joined.length === 0 ? [] : [joined]
    held = joined.length
    return frames
  }
}
