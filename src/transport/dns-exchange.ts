import { randomInt } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { connect, isIPv6 } from 'node:net'
import { createFrameReader, frameMessage } from '../dns/wire/frames.ts'

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
      socket.write(frameMessage(message))
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

/**
 * Why a DNS server gave no usable answer. `timeout`: nothing came in time; `unreachable`: the system says that nobody is there, or
 * the connection broke; `garbled`: what came breaks the message format or the protocol; `rejected`: a zone transfer was answered with
 * an error; `closed`: the client was closed meanwhile.
 */
type DnsFailureReason = 'timeout' | 'unreachable' | 'garbled' | 'rejected' | 'closed'

export interface DnsFailure extends Error {
  readonly code: 'DNS_FAILURE'
  readonly reason: DnsFailureReason
  /** The same question may get an answer later. */
  readonly retryable: boolean
}

export function dnsFailure(reason: DnsFailureReason, message: string, cause?: unknown): DnsFailure {
  const retryable = reason === 'timeout' || reason === 'unreachable'
  return Object.assign(new Error(message, { cause }), { code: 'DNS_FAILURE' as const, reason, retryable })
}

export const isDnsFailure = (error: unknown): error is DnsFailure => (error as Partial<DnsFailure> | null)?.code === 'DNS_FAILURE'

export interface DnsServer {
  /** An address, or a name for the system to resolve. */
  readonly host: string
  readonly port: number
}

/** The server as messages name it. */
export const formatServer = (server: DnsServer): string => `${server.host} port ${server.port}`

/** Takes a datagram; says whether it is the answer that was waited for. */
type Accept = (octets: Buffer) => boolean

interface UdpExchange {
  /**
   * Sends what `encode` makes of a free random identifier and waits until `accept` takes a datagram. `timeout` is in milliseconds.
   * Rejects with a `DnsFailure`.
   */
  send(encode: (id: number) => Uint8Array, accept: Accept, timeout: number): Promise<void>
  close(): void
}

interface Waiting {
  readonly accept: Accept
  readonly settle: (error?: Error) => void
}

/** A socket with a random port of its own, and what waits for answers on it. */
interface Port {
  readonly socket: Socket
  /** Resolves when the socket is connected: from then on the system lets in only datagrams of the server. */
  readonly ready: Promise<void>
  readonly waiting: Map<number, Waiting>
  /** Questions sent; a port that had many is left for another, for a known port is half of a forged answer (RFC 5452). */
  sent: number
}

const QUESTIONS_OF_A_PORT = 512

export function createUdpExchange(server: DnsServer): UdpExchange {
  const ports = new Set<Port>()
  let current: Port | null = null

  const open = (): Port => {
    const socket = createSocket(isIPv6(server.host) ? 'udp6' : 'udp4')
    const waiting = new Map<number, Waiting>()
    const port: Port = { socket, waiting, sent: 0, ready: connected(socket, server) }
    ports.add(port)
    socket.on('message', (octets: Buffer) => {
      const id = octets.length >= 2 ? octets.readUInt16BE(0) : -1
      const waiter = waiting.get(id)
      if (waiter?.accept(octets)) waiter.settle()
    })
    // On a connected socket, an ICMP message that nobody listens there.
    socket.on('error', (error) => {
      abandon(port)
      for (const waiter of waiting.values()) waiter.settle(unreachable(server, error))
    })
    return port
  }

  const abandon = (port: Port): void => {
    if (current === port) current = null
    if (ports.delete(port)) port.socket.close()
  }

  const take = (): Port => {
    if (!current || current.sent >= QUESTIONS_OF_A_PORT) {
      const last = current
      current = open()
      if (last?.waiting.size === 0) abandon(last)
    }
    current.sent += 1
    return current
  }

  const send: UdpExchange['send'] = async (encode, accept, timeout) => {
    const port = take()
    const id = freeId(port.waiting)
    const query = encode(id)
    await new Promise<void>((resolve, reject) => {
      const settle = (error?: Error): void => {
        clearTimeout(timer)
        port.waiting.delete(id)
        if (port !== current && port.waiting.size === 0) abandon(port)
        if (error) reject(error)
        else resolve()
      }
      const timer = setTimeout(() => settle(dnsFailure('timeout', `${formatServer(server)} did not answer within ${timeout} ms`)), timeout)
      port.waiting.set(id, { accept, settle })
      port.ready.then(
        () => {
          if (!port.waiting.has(id)) return
          port.socket.send(query, (error) => {
            if (error) settle(unreachable(server, error))
          })
        },
        (error: unknown) => {
          abandon(port)
          settle(unreachable(server, error))
        },
      )
    })
  }

  const close = (): void => {
    for (const port of [...ports]) {
      abandon(port)
      for (const waiter of port.waiting.values()) waiter.settle(dnsFailure('closed', 'the DNS client was closed'))
    }
  }
  return { send, close }
}

function connected(socket: Socket, server: DnsServer): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve()
    })
    // A callback would be called of a name that is not found too, in place of the event.
    socket.connect(server.port, server.host)
  })
}

function freeId(waiting: ReadonlyMap<number, unknown>): number {
  for (;;) {
    const id = randomInt(0x10000)
    if (!waiting.has(id)) return id
  }
}

const unreachable = (server: DnsServer, error: unknown): Error =>
  dnsFailure('unreachable', `${formatServer(server)} cannot be reached: ${error instanceof Error ? error.message : String(error)}`, error)
