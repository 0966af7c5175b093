/** Sends DNS messages over UDP and TCP and matches the responses. Also the errors of DNS exchanges. */
import { randomInt } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { connect, isIPv6 } from 'node:net'
import { decodeMessage } from '../dns/wire/decode-message.ts'
import { encodeMessage } from '../dns/wire/encode-message.ts'
import { createFrameReader, frameMessage, type Message, RCODE } from '../dns/wire/message.ts'
import type { TsigKey } from '../dns/wire/tsig.ts'
import { createTsigVerifier, signMessage } from '../dns/wire/tsig-client.ts'

export interface TcpLimits {
  /** Milliseconds to wait for each message. */
  readonly timeout: number
  /** Milliseconds for all messages together; no bound if absent. */
  readonly total?: number
  /** Octets of all messages together; no bound if absent. */
  readonly octets?: number
}

/**
 * Sends one message over a new TCP connection and calls `onMessage` with each response, without its length, until that returns false (RFC 7766). Rejects with
 * a `DnsFailure` or an error of `onMessage`.
 */
export function exchangeTcp(
  server: DnsServer,
  message: Uint8Array,
  { timeout, total = Number.POSITIVE_INFINITY, octets: maximum = Number.POSITIVE_INFINITY }: TcpLimits,
  onMessage: (octets: Buffer) => boolean,
): Promise<void> {
  const name = formatServer(server)
  return new Promise((resolve, reject) => {
    // Several addresses are tried one after another. Node's 250 ms for each are too few for some networks.
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
    const timer = setTimeout(() => finish(dnsFailure('timeout', `${name} did not answer over TCP within ${timeout} ms`)), timeout)
    socket.on('connect', () => {
      socket.write(frameMessage(message))
    })
    socket.on('data', (chunk: Buffer) => {
      received += chunk.length
      try {
        if (received > maximum) throw dnsFailure('garbled', `${name} sent more than ${maximum} octets over TCP`)
        if (performance.now() - start > total)
          throw dnsFailure('timeout', `${name} did not finish its answer over TCP within ${total / 1000} s`)
        for (const octets of chunks(chunk)) {
          timer.refresh()
          if (!onMessage(octets)) return finish()
        }
      } catch (error) {
        finish(error)
      }
    })
    socket.on('error', (error) => finish(dnsFailure('unreachable', `${name} cannot be reached over TCP: ${reasonOf(error)}`, error)))
    socket.on('end', () => finish(dnsFailure('unreachable', `${name} closed the connection before its answer was complete`)))
  })
}

/** The error of a host with several addresses has no message itself. */
const reasonOf = (error: Error): string =>
  error instanceof AggregateError ? error.errors.map(({ message }: Error) => message).join(', ') : error.message

/**
 * Why a DNS server returned no usable answer. `timeout`: no answer in time; `unreachable`: no connection, or a broken one; `garbled`: a violation of the
 * message format or the protocol; `rejected`: the server refuses a zone transfer; `failed`: the server cannot
 * carry it out at the moment (SERVFAIL); `closed`: the client was closed.
 */
type DnsFailureReason = 'timeout' | 'unreachable' | 'garbled' | 'rejected' | 'failed' | 'closed'

export interface DnsFailure extends Error {
  readonly code: 'DNS_FAILURE'
  readonly reason: DnsFailureReason
  /** Whether the same query may succeed later. */
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

/** The name of a server in messages. */
export const formatServer = (server: DnsServer): string => `${server.host} port ${server.port}`

/** Returns whether a datagram is the expected answer. */
type Accept = (octets: Buffer) => boolean

interface UdpExchange {
  /** Sends a message with a random identifier and waits until `accept` returns true. `timeout` is in milliseconds. Rejects with a `DnsFailure`. */
  send(encode: (id: number) => Uint8Array, accept: Accept, timeout: number): Promise<void>
  close(): void
}

interface Waiting {
  readonly accept: Accept
  readonly finish: (error?: Error) => void
}

/** A socket on a random port, with the queries that wait for answers on it. */
interface Port {
  readonly socket: Socket
  /** Resolves when the socket is connected. From then on the system accepts only datagrams from the server. */
  readonly ready: Promise<void>
  readonly waiting: Map<number, Waiting>
  /** Queries sent. The port changes after many, because an attacker who knows it can forge answers more easily (RFC 5452). */
  sent: number
}

const QUERIES_PER_PORT = 512

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
      if (waiter?.accept(octets)) waiter.finish()
    })
    // On a connected socket, an ICMP message that the port is closed.
    socket.on('error', (error) => {
      abandon(port)
      for (const waiter of waiting.values()) waiter.finish(unreachable(server, error))
    })
    return port
  }

  const abandon = (port: Port): void => {
    if (current === port) current = null
    if (ports.delete(port)) port.socket.close()
  }

  const nextPort = (): Port => {
    if (!current || current.sent >= QUERIES_PER_PORT) {
      const last = current
      current = open()
      if (last?.waiting.size === 0) abandon(last)
    }
    current.sent += 1
    return current
  }

  const send: UdpExchange['send'] = async (encode, accept, timeout) => {
    const port = nextPort()
    const id = freeId(port.waiting)
    const query = encode(id)
    await new Promise<void>((resolve, reject) => {
      const finish = (error?: Error): void => {
        clearTimeout(timer)
        port.waiting.delete(id)
        if (port !== current && port.waiting.size === 0) abandon(port)
        if (error) reject(error)
        else resolve()
      }
      const timer = setTimeout(() => finish(dnsFailure('timeout', `${formatServer(server)} did not answer within ${timeout} ms`)), timeout)
      port.waiting.set(id, { accept, finish })
      port.ready.then(
        () => {
          if (!port.waiting.has(id)) return
          port.socket.send(query, (error) => {
            if (error) finish(unreachable(server, error))
          })
        },
        (error: unknown) => {
          abandon(port)
          finish(unreachable(server, error))
        },
      )
    })
  }

  const close = (): void => {
    for (const port of [...ports]) {
      abandon(port)
      for (const waiter of port.waiting.values()) waiter.finish(dnsFailure('closed', 'the DNS client was closed'))
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
    // With a callback, a failed name lookup would not emit the event.
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

// Sends one signed DNS message over TCP and returns the verified response. For everything that must not be truncated or forged.

interface DnsRequestOptions {
  /** Milliseconds to wait for the response. */
  readonly timeout: number
  /** Signs the message and verifies the response (RFC 8945). */
  readonly key?: TsigKey | undefined
}

/**
 * Sends a message and returns the response, whatever its RCODE. A response that reports success must be signed if there is a key; a refusal may be unsigned,
 * since a forged one does no more harm than a lost message. Rejects with a `DnsFailure`; throws a `RangeError` if the message has more than 65,535 octets.
 */
export async function requestTcp(server: DnsServer, message: Omit<Message, 'id'>, { timeout, key }: DnsRequestOptions): Promise<Message> {
  const id = randomInt(0x10000)
  const octets = encodeMessage({ ...message, id })
  const signed = key && signMessage(octets, key, secondsNow())
  const verifier = key && signed && createTsigVerifier(key, signed.mac)
  let response: Message | null = null
  await exchangeTcp(server, signed?.octets ?? octets, { timeout }, (received) => {
    const decoded = decodeMessage(received, { lenient: true })
    if (!decoded.ok) throw dnsFailure('garbled', `${formatServer(server)}: ${decoded.message}`)
    const { value } = decoded
    if (!value.response || value.id !== id || value.opcode !== message.opcode)
      throw dnsFailure('garbled', `${formatServer(server)} sent a response to another request`)
    const verdict = verifier && (value.rcode === RCODE.NOERROR || hasSignature(value)) ? verifier.accept(received, secondsNow()) : undefined
    if (verdict && !verdict.ok) throw dnsFailure('rejected', `${formatServer(server)}: ${verdict.message}`)
    response = value
    return false
  })
  if (response === null) throw dnsFailure('garbled', `${formatServer(server)} sent no response`)
  return response
}

/** The time in seconds since 1970, as signatures have it. */
export const secondsNow = (): number => Math.floor(Date.now() / 1000)

/** Whether a message has a transaction signature. */
export const hasSignature = ({ additionals }: Message): boolean => additionals.some(({ type }) => type === 'TSIG')
