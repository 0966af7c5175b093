/**
 * Tells secondaries that a zone has changed (RFC 1996): one errand for each zone and address, which sends over UDP, and again after
 * longer and longer waits, until the secondary answers or the tries are used up. A change during an errand is taken up by it. One errand
 * sends at most every `GAP`, so that a burst of changes is a NOTIFY at its beginning and one after its end.
 *
 * Messages come from the address the name server listens at, which is the one secondaries know their primary by, and from a port
 * that the system picks, another one each time that nothing was under way. An answer counts if it comes from the address and port it
 * went to, with the errand's identifier and question; an attacker off the path has to guess port and identifier, and wins only that one
 * NOTIFY is not repeated. Where the zone has a transfer key the message is signed with it (RFC 8945), and only a signed answer counts.
 */
import { randomInt } from 'node:crypto'
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import type { DomainName } from '../../dns/domain-name.ts'
import { ok, type Result } from '../../dns/result.ts'
import { decodeMessage } from '../../dns/wire/decode-message.ts'
import { encodeMessage } from '../../dns/wire/encode-message.ts'
import { CLASS, createQuery, OPCODE, rcodeName } from '../../dns/wire/message.ts'
import type { TsigKey } from '../../dns/wire/tsig.ts'
import { createTsigVerifier, signMessage } from '../../dns/wire/tsig-client.ts'
import { canonicalAddress } from './canonical-address.ts'

export interface NotifierOptions {
  /** The address to send from; one that stands for all addresses leaves it to the system. */
  readonly host: string
  /** The port secondaries listen at. */
  readonly port: number
  /** Milliseconds to wait for an answer to each try; as many tries. */
  readonly waits?: readonly number[]
  /** The key that signs what goes to an address about a zone; none unless given. */
  readonly keyFor?: (zone: DomainName, address: string) => TsigKey | 'none' | 'missing'
  /** Real time in milliseconds since 1970, for signatures. */
  readonly clock?: () => number
  /** Told of the end of each errand. */
  readonly onEnd?: (outcome: NotifyOutcome) => void
}

export interface NotifyOutcome {
  readonly zone: DomainName
  readonly address: string
  readonly serial: number
  /** The code of the answer; null where none came. */
  readonly rcode: string | null
  /** Why nothing was sent, or no answer counted, if there is more to say than silence. */
  readonly problem?: string
}

/** What a secondary is told: a zone and its SOA. */
export interface ZoneChange {
  readonly zone: DomainName
  readonly serial: number
  readonly soa: { readonly ttl: number; readonly data: string }
}

export interface Notifier {
  /** Addresses in their canonical form. */
  notify(news: ZoneChange, addresses: Iterable<string>): void
  /** Ends all errands of a zone but those to the addresses given. */
  forget(zone: DomainName, except?: ReadonlySet<string>): void
  close(): void
}

/** A minute in all: a secondary that is restarted hears of it; one that is away longer asks for itself when it is back. */
const WAITS = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000]

/** Milliseconds between the messages of one errand at least. */
const GAP = 500

/** Messages in one go, and milliseconds between: thousands of zones are not told in one burst that no network would carry. */
const BURST = 50
const PACE = 10

interface Delivery {
  readonly address: string
  news: ZoneChange
  id: number
  /** The message about the news, made when it is first sent. */
  message: Message | null
  problem: string | null
  tries: number
  /** When it sent last, in milliseconds of the process; null before. */
  sentAt: number | null
  /** Done, and kept only so that the next one does not come too soon. */
  done: boolean
  timer: NodeJS.Timeout | null
}

/** A message and the check of answers to it. */
interface Message {
  readonly octets: Buffer
  readonly check: (octets: Buffer) => Result<void>
}

export function createNotifier(options: NotifierOptions): Notifier {
  const { host, port, waits = WAITS, keyFor = () => 'none', clock = Date.now, onEnd } = options
  const errands = new Map<DomainName, Map<string, Delivery>>()
  const outbox = new Set<Delivery>()
  let pacing: NodeJS.Timeout | null = null
  const sockets = createSockets(host, (octets, peer) => take(octets, peer))

  const at = (errand: Delivery, afterMs: number, work: (errand: Delivery) => void): void => {
    if (errand.timer !== null) clearTimeout(errand.timer)
    errand.timer = setTimeout(work, Math.max(0, afterMs), errand)
  }

  const queue = (errand: Delivery): void => {
    outbox.add(errand)
    pacing ??= setTimeout(sendSome, 0)
  }

  const sendSome = (): void => {
    pacing = null
    let sent = 0
    for (const errand of outbox) {
      if (sent === BURST) break
      sent += 1
      outbox.delete(errand)
      send(errand)
    }
    if (outbox.size > 0) pacing = setTimeout(sendSome, PACE)
  }

  const send = (errand: Delivery): void => {
    const wait = waits[errand.tries]
    if (wait === undefined) {
      end(errand, null)
      return
    }
    errand.message ??= compose(errand)
    if (errand.message === null) {
      errand.problem = 'the zone has a transfer key, but none for this address'
      end(errand, null)
      return
    }
    errand.tries += 1
    errand.sentAt = performance.now()
    at(errand, wait, queue)
    sockets.send(errand.message.octets, errand.address, port)
  }

  /** Null if the zone has keys, but none for the address. */
  const compose = (errand: Delivery): Message | null => {
    const now = (): number => Math.floor(clock() / 1000)
    const key = keyFor(errand.news.zone, errand.address)
    if (key === 'missing') return null
    const plain = writeNotify(errand)
    if (key === 'none') return { octets: plain, check: () => ok(undefined) }
    const { octets, mac } = signMessage(plain, key, now())
    return { octets, check: (answer) => createTsigVerifier(key, mac).accept(answer, now()) }
  }

  const end = (errand: Delivery, rcode: string | null): void => {
    const { news, address, problem } = errand
    errand.done = true
    at(errand, remainingGap(errand), remove)
    onEnd?.({ zone: news.zone, address, serial: news.serial, rcode, ...(problem !== null && rcode === null && { problem }) })
  }

  const remove = (errand: Delivery): void => {
    const { news, address, timer } = errand
    if (timer !== null) clearTimeout(timer)
    outbox.delete(errand)
    const ofZone = errands.get(news.zone)
    ofZone?.delete(address)
    if (ofZone?.size === 0) errands.delete(news.zone)
    if (errands.size === 0) sockets.close()
  }

  const take = (octets: Buffer, peer: RemoteInfo): void => {
    const message = decodeMessage(octets)
    if (!message.ok || peer.port !== port) return
    const { id, response, opcode, questions, rcode } = message.value
    const [question] = questions
    if (!response || opcode !== OPCODE.NOTIFY || questions.length !== 1 || question?.type !== 'SOA' || question.class !== CLASS.IN) return
    const errand = errands.get(question.name)?.get(canonicalAddress(peer.address) ?? '')
    if (!errand || errand.done || errand.tries === 0 || errand.id !== id) return
    const verdict = errand.message?.check(octets)
    if (verdict && !verdict.ok) {
      // It may be forged: a good answer can still come.
      errand.problem = verdict.message
      return
    }
    outbox.delete(errand)
    end(errand, rcodeName(rcode))
  }

  return {
    notify: (news, addresses) => {
      for (const address of addresses) {
        const ofZone = errands.get(news.zone) ?? new Map<string, Delivery>()
        errands.set(news.zone, ofZone)
        const errand = ofZone.get(address) ?? newDelivery(address, news)
        ofZone.set(address, errand)
        // An answer to what was sent before says nothing of what is new.
        Object.assign(errand, { news, id: randomInt(0x10000), message: null, problem: null, tries: 0, done: false })
        at(errand, remainingGap(errand), queue)
      }
    },
    forget: (zone, except) => {
      for (const errand of [...(errands.get(zone)?.values() ?? [])]) if (!except?.has(errand.address)) remove(errand)
    },
    close: () => {
      for (const zone of [...errands.keys()]) for (const errand of [...(errands.get(zone)?.values() ?? [])]) remove(errand)
      if (pacing !== null) clearTimeout(pacing)
    },
  }
}

const newDelivery = (address: string, news: ZoneChange): Delivery => ({
  address,
  news,
  id: 0,
  message: null,
  problem: null,
  tries: 0,
  sentAt: null,
  done: false,
  timer: null,
})

const remainingGap = ({ sentAt }: Delivery): number => (sentAt === null ? 0 : sentAt + GAP - performance.now())

/** With the SOA as a hint (RFC 1996 section 3.7). */
function writeNotify({ id, news: { zone, soa } }: Delivery): Buffer {
  const answer = { name: zone, type: 'SOA', class: CLASS.IN, ttl: soa.ttl, data: soa.data }
  const query = createQuery(id, { name: zone, type: 'SOA' })
  return encodeMessage({ ...query, opcode: OPCODE.NOTIFY, authoritative: true, answers: [answer], edns: null })
}

/** A socket of each family, opened when there is something to send. */
function createSockets(host: string, onMessage: (octets: Buffer, peer: RemoteInfo) => void) {
  const open = new Map<'udp4' | 'udp6', Socket>()
  const socketOf = (type: 'udp4' | 'udp6'): Socket => {
    const existing = open.get(type)
    if (existing) return existing
    const socket = createSocket({ type, ipv6Only: type === 'udp6' })
    open.set(type, socket)
    socket.on('message', onMessage)
    // What is not sent is not answered, and is tried again with a new socket.
    socket.on('error', () => {
      if (open.get(type) === socket) open.delete(type)
      socket.close()
    })
    const isOfHost = (type === 'udp6') === isIPv6(host)
    socket.bind({ port: 0, ...(isOfHost ? { address: host } : {}) })
    return socket
  }
  return {
    send: (octets: Buffer, address: string, port: number): void => {
      // An address that cannot be reached is like one that does not answer.
      socketOf(isIPv6(address) ? 'udp6' : 'udp4').send(octets, port, address, () => {})
    },
    close: (): void => {
      for (const socket of open.values()) socket.close()
      open.clear()
    },
  }
}
