/**
 * Sends NOTIFY to secondaries (RFC 1996) over UDP. There is one delivery per zone and address. It retries with growing waits until the
 * secondary responds or no attempt is left. A new change of the zone restarts its delivery. A delivery sends at most every `GAP`, so a burst
 * of changes causes one NOTIFY at its start and one at its end.
 *
 * Messages are sent from the address of the name server, because secondaries know their primary by it, and from a port that the system picks
 * again whenever all deliveries have ended. A response is accepted only from the peer's address and port, with the identifier and question
 * of the delivery. An off-path attacker has to guess port and identifier, and can only stop one NOTIFY from being repeated. If the zone has a
 * transfer key, the message is signed with it (RFC 8945), and only a signed response is accepted.
 */
import { randomInt } from 'node:crypto'
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import { ok, type Result } from '../../base/result.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { canonicalAddress } from '../../dns/ip-address.ts'
import { decodeMessage } from '../../dns/wire/decode-message.ts'
import { encodeMessage } from '../../dns/wire/encode-message.ts'
import { CLASS, createQuery, OPCODE, rcodeName } from '../../dns/wire/message.ts'
import type { TsigKey } from '../../dns/wire/tsig.ts'
import { createTsigVerifier, signMessage } from '../../dns/wire/tsig-client.ts'

export interface NotifierOptions {
  /** The address to send from; with a wildcard address the system chooses. */
  readonly host: string
  /** The port on which secondaries listen. */
  readonly port: number
  /** Milliseconds to wait for the response to each attempt. Its length is the number of attempts. */
  readonly waits?: readonly number[]
  /** The key for messages to an address about a zone; none by default. */
  readonly keyFor?: (zone: DomainName, address: string) => TsigKey | 'none' | 'missing'
  /** Real time in milliseconds since 1970, for signatures. */
  readonly clock?: () => number
  /** Called with the outcome of each delivery. */
  readonly onEnd?: (outcome: NotifyOutcome) => void
}

export interface NotifyOutcome {
  readonly zone: DomainName
  readonly address: string
  readonly serial: number
  /** The response code; null without a response. */
  readonly rcode: string | null
  /** Why nothing was sent, or why a response was rejected. */
  readonly problem?: string
}

/** The content of a NOTIFY: a zone and its SOA. */
export interface ZoneChange {
  readonly zone: DomainName
  readonly serial: number
  readonly soa: { readonly ttl: number; readonly data: string }
}

export interface Notifier {
  /** Addresses in their canonical form. */
  notify(change: ZoneChange, addresses: Iterable<string>): void
  /** Cancels the deliveries of a zone, except those to the given addresses. */
  forget(zone: DomainName, except?: ReadonlySet<string>): void
  close(): void
}

/** A minute in total, enough for a restart of the secondary. A secondary that is down longer checks the serial when it starts. */
const WAITS = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000]

/** Minimum milliseconds between two messages of one delivery. */
const GAP = 500

/** Messages per burst, and milliseconds between bursts, so that changes of thousands of zones do not flood the network. */
const BURST_SIZE = 50
const BURST_INTERVAL = 10

interface Delivery {
  readonly address: string
  change: ZoneChange
  id: number
  /** Built when it is first sent. */
  message: Message | null
  problem: string | null
  tries: number
  /** When the last message was sent, in milliseconds of `performance.now()`; null before the first. */
  sentAt: number | null
  /** Finished, and kept only to enforce the gap to the next one. */
  done: boolean
  timer: NodeJS.Timeout | null
}

/** A message and the check of its responses. */
interface Message {
  readonly octets: Buffer
  readonly check: (octets: Buffer) => Result<void>
}

export function createNotifier(options: NotifierOptions): Notifier {
  const { host, port, waits = WAITS, keyFor = () => 'none', clock = Date.now, onEnd } = options
  const deliveries = new Map<DomainName, Map<string, Delivery>>()
  const outbox = new Set<Delivery>()
  let paceTimer: NodeJS.Timeout | null = null
  const sockets = createSockets(host, (octets, peer) => receive(octets, peer))

  const schedule = (delivery: Delivery, afterMs: number, work: (delivery: Delivery) => void): void => {
    if (delivery.timer !== null) clearTimeout(delivery.timer)
    delivery.timer = setTimeout(work, Math.max(0, afterMs), delivery)
  }

  const queue = (delivery: Delivery): void => {
    outbox.add(delivery)
    paceTimer ??= setTimeout(sendBurst, 0)
  }

  const sendBurst = (): void => {
    paceTimer = null
    let sent = 0
    for (const delivery of outbox) {
      if (sent === BURST_SIZE) break
      sent += 1
      outbox.delete(delivery)
      send(delivery)
    }
    if (outbox.size > 0) paceTimer = setTimeout(sendBurst, BURST_INTERVAL)
  }

  const send = (delivery: Delivery): void => {
    const wait = waits[delivery.tries]
    if (wait === undefined) {
      end(delivery, null)
      return
    }
    delivery.message ??= composeMessage(delivery)
    if (delivery.message === null) {
      delivery.problem = 'the zone has transfer keys, but none for this address'
      end(delivery, null)
      return
    }
    delivery.tries += 1
    delivery.sentAt = performance.now()
    schedule(delivery, wait, queue)
    sockets.send(delivery.message.octets, delivery.address, port)
  }

  /** Null if the zone has keys, but none for this address. */
  const composeMessage = (delivery: Delivery): Message | null => {
    const now = (): number => Math.floor(clock() / 1000)
    const key = keyFor(delivery.change.zone, delivery.address)
    if (key === 'missing') return null
    const plain = writeNotify(delivery)
    if (key === 'none') return { octets: plain, check: () => ok(undefined) }
    const { octets, mac } = signMessage(plain, key, now())
    return { octets, check: (answer) => createTsigVerifier(key, mac).accept(answer, now()) }
  }

  const end = (delivery: Delivery, rcode: string | null): void => {
    const { change, address, problem } = delivery
    delivery.done = true
    schedule(delivery, remainingGap(delivery), remove)
    onEnd?.({ zone: change.zone, address, serial: change.serial, rcode, ...(problem !== null && rcode === null && { problem }) })
  }

  const remove = (delivery: Delivery): void => {
    const { change, address, timer } = delivery
    if (timer !== null) clearTimeout(timer)
    outbox.delete(delivery)
    const byAddress = deliveries.get(change.zone)
    byAddress?.delete(address)
    if (byAddress?.size === 0) deliveries.delete(change.zone)
    if (deliveries.size === 0) sockets.close()
  }

  const receive = (octets: Buffer, peer: RemoteInfo): void => {
    const message = decodeMessage(octets)
    if (!message.ok || peer.port !== port) return
    const { id, response, opcode, questions, rcode } = message.value
    const [question] = questions
    if (!response || opcode !== OPCODE.NOTIFY || questions.length !== 1 || question?.type !== 'SOA' || question.class !== CLASS.IN) return
    const delivery = deliveries.get(question.name)?.get(canonicalAddress(peer.address) ?? '')
    if (!delivery || delivery.done || delivery.tries === 0 || delivery.id !== id) return
    const verdict = delivery.message?.check(octets)
    if (verdict && !verdict.ok) {
      // It may be forged: a valid response can still arrive.
      delivery.problem = verdict.message
      return
    }
    outbox.delete(delivery)
    end(delivery, rcodeName(rcode))
  }

  return {
    notify: (change, addresses) => {
      for (const address of addresses) {
        const byAddress = deliveries.get(change.zone) ?? new Map<string, Delivery>()
        deliveries.set(change.zone, byAddress)
        const delivery = byAddress.get(address) ?? newDelivery(address, change)
        byAddress.set(address, delivery)
        // A response to an earlier message does not confirm this change.
        Object.assign(delivery, { change, id: randomInt(0x10000), message: null, problem: null, tries: 0, done: false })
        schedule(delivery, remainingGap(delivery), queue)
      }
    },
    forget: (zone, except) => {
      for (const delivery of [...(deliveries.get(zone)?.values() ?? [])]) if (!except?.has(delivery.address)) remove(delivery)
    },
    close: () => {
      for (const zone of [...deliveries.keys()]) for (const delivery of [...(deliveries.get(zone)?.values() ?? [])]) remove(delivery)
      if (paceTimer !== null) clearTimeout(paceTimer)
    },
  }
}

const newDelivery = (address: string, change: ZoneChange): Delivery => ({
  address,
  change,
  id: 0,
  message: null,
  problem: null,
  tries: 0,
  sentAt: null,
  done: false,
  timer: null,
})

const remainingGap = ({ sentAt }: Delivery): number => (sentAt === null ? 0 : sentAt + GAP - performance.now())

/** A NOTIFY with the SOA as a hint (RFC 1996 section 3.7). */
function writeNotify({ id, change: { zone, soa } }: Delivery): Buffer {
  const answer = { name: zone, type: 'SOA', class: CLASS.IN, ttl: soa.ttl, data: soa.data }
  const query = createQuery(id, { name: zone, type: 'SOA' })
  return encodeMessage({ ...query, opcode: OPCODE.NOTIFY, authoritative: true, answers: [answer], edns: null })
}

/** One socket per address family, opened when needed. */
function createSockets(host: string, onMessage: (octets: Buffer, peer: RemoteInfo) => void) {
  const open = new Map<'udp4' | 'udp6', Socket>()
  const socketOf = (type: 'udp4' | 'udp6'): Socket => {
    const existing = open.get(type)
    if (existing) return existing
    const socket = createSocket({ type, ipv6Only: type === 'udp6' })
    open.set(type, socket)
    socket.on('message', onMessage)
    // An unsent message gets no response and is retried on a new socket.
    socket.on('error', () => {
      if (open.get(type) === socket) open.delete(type)
      socket.close()
    })
    const matchesHost = (type === 'udp6') === isIPv6(host)
    socket.bind({ port: 0, ...(matchesHost ? { address: host } : {}) })
    return socket
  }
  return {
    send: (octets: Buffer, address: string, port: number): void => {
      // An unreachable address is treated like one that does not respond.
      socketOf(isIPv6(address) ? 'udp6' : 'udp4').send(octets, port, address, () => {})
    },
    close: (): void => {
      for (const socket of open.values()) socket.close()
      open.clear()
    },
  }
}
