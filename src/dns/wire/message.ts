/** The types and constants of DNS messages. */
import type { DomainName } from '../domain-name.ts'
import type { ResourceRecord } from '../record.ts'

/** A DNS message (RFC 1035 section 4.1, RFC 6891). The sections of an UPDATE are zone, prerequisites, updates and additional data. */
export interface Message {
  readonly id: number
  readonly opcode: number
  /** QR: whether the message is a response. */
  readonly response: boolean
  readonly authoritative: boolean
  readonly truncated: boolean
  readonly recursionDesired: boolean
  readonly recursionAvailable: boolean
  readonly authenticData: boolean
  readonly checkingDisabled: boolean
  /** Twelve bits, of which the OPT record has the upper eight. */
  readonly rcode: number
  readonly questions: readonly Question[]
  readonly answers: readonly WireRecord[]
  readonly authorities: readonly WireRecord[]
  /** Without the OPT record, which is in `edns`. */
  readonly additionals: readonly WireRecord[]
  readonly edns: Edns | null
}

export interface Question {
  readonly name: DomainName
  /** `A`, …, and types that only questions have: `ANY`, `AXFR`, … */
  readonly type: string
  readonly class: number
}

/** A record of a message. `data` is canonical rdata; null for RDLENGTH 0 in class ANY or NONE, as in RFC 2136. */
export interface WireRecord {
  readonly name: DomainName
  readonly type: string
  readonly class: number
  /** Seconds. */
  readonly ttl: number
  readonly data: string | null
  /** The owner as it is in the message, if it has capital letters and the decoder was told to keep them. `data` has them then, too. */
  readonly writtenOwner?: string | undefined
  /** Why the rdata does not fit the type. `data` is then in the generic form (RFC 3597 section 5). */
  readonly malformed?: string
}

/** The contents of an OPT record (RFC 6891 section 6.1). */
export interface Edns {
  /** Octets of the largest UDP datagram that the sender accepts. */
  readonly udpSize: number
  readonly version: number
  readonly dnssecOk: boolean
  readonly options: readonly EdnsOption[]
}

export interface EdnsOption {
  readonly code: number
  readonly data: Uint8Array
}

/** Octets of the header (RFC 1035 section 4.1.1). */
export const HEADER_OCTETS = 12

/** Maximum size in octets of a message over UDP without EDNS (RFC 1035 section 2.3.4), and of any message (RFC 1035 section 4.2.2). */
export const PLAIN_UDP_OCTETS = 512
export const MAX_MESSAGE_OCTETS = 65535

/** Octets of a UDP message that no path fragments (RFC 9715 section 3.1). */
export const SAFE_UDP_OCTETS = 1232

/** Flags in the second 16 bits of the header. */
export const FLAG = { QR: 0x8000, AA: 0x0400, TC: 0x0200, RD: 0x0100, RA: 0x0080, AD: 0x0020, CD: 0x0010 } as const

/** The DO bit of the OPT record's TTL (RFC 3225). */
export const FLAG_DO = 0x8000

export const OPCODE = { QUERY: 0, NOTIFY: 4, UPDATE: 5 } as const

export const CLASS = { IN: 1, CH: 3, NONE: 254, ANY: 255 } as const

export const RCODE = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  YXDOMAIN: 6,
  YXRRSET: 7,
  NXRRSET: 8,
  NOTAUTH: 9,
  NOTZONE: 10,
  BADVERS: 16,
} as const

const RCODE_NAMES: ReadonlyMap<number, string> = new Map(Object.entries(RCODE).map(([name, code]) => [code, name]))

/** The mnemonic of an RCODE, or `RCODE23` if it is not in the table. */
export const rcodeName = (rcode: number): string => RCODE_NAMES.get(rcode) ?? `RCODE${rcode}`

/** A standard query with EDNS (RFC 6891) that does not ask for recursion. */
export const createQuery = (id: number, question: { readonly name: DomainName; readonly type: string }): Message => ({
  id,
  opcode: OPCODE.QUERY,
  response: false,
  authoritative: false,
  truncated: false,
  recursionDesired: false,
  recursionAvailable: false,
  authenticData: false,
  checkingDisabled: false,
  rcode: RCODE.NOERROR,
  questions: [{ name: question.name, type: question.type, class: CLASS.IN }],
  answers: [],
  authorities: [],
  additionals: [],
  edns: { udpSize: SAFE_UDP_OCTETS, version: 0, dnssecOk: false, options: [] },
})

// UPDATE messages (RFC 2136).

/** One part of the update section (RFC 2136 section 2.5). */
export type UpdatePart =
  | { readonly action: 'delete-rrset'; readonly name: DomainName; readonly type: string }
  | { readonly action: 'delete' | 'add'; readonly record: ResourceRecord }

/** An RRset that must hold exactly these data or, without data, must not exist (RFC 2136 sections 2.4.2 and 2.4.3). */
export interface Prerequisite {
  readonly name: DomainName
  readonly type: string
  readonly data: readonly string[]
}

export interface UpdateContent {
  /** Unless all are met, the server does nothing. */
  readonly prerequisites: readonly Prerequisite[]
  /** In the order of the message, in which the server applies them. */
  readonly updates: readonly UpdatePart[]
}

/** A message that updates a zone. Added records need a TTL. */
export const createUpdate = (id: number, zone: DomainName, { prerequisites, updates }: UpdateContent): Message => ({
  ...createQuery(id, { name: zone, type: 'SOA' }),
  opcode: OPCODE.UPDATE,
  answers: prerequisites.flatMap(prerequisiteRecords),
  authorities: updates.map(updateRecord),
  edns: null,
})

function prerequisiteRecords({ name, type, data }: Prerequisite): WireRecord[] {
  if (data.length === 0) return [{ name, type, class: CLASS.NONE, ttl: 0, data: null }]
  return data.map((one) => ({ name, type, class: CLASS.IN, ttl: 0, data: one }))
}

function updateRecord(part: UpdatePart): WireRecord {
  if (part.action === 'delete-rrset') return { name: part.name, type: part.type, class: CLASS.ANY, ttl: 0, data: null }
  const { name, type, ttl, data } = part.record
  if (part.action === 'delete') return { name, type, class: CLASS.NONE, ttl: 0, data }
  if (ttl === null) throw new Error(`${name} ${type} has no TTL`)
  return { name, type, class: CLASS.IN, ttl, data }
}

// Framing of DNS messages over TCP: a length of two octets precedes each (RFC 1035 section 4.2.2).

/** The message with its length. */
export function frameMessage(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(2 + message.length)
  framed.writeUInt16BE(message.length, 0)
  framed.set(message, 2)
  return framed
}

/** Returns a function that takes the chunks of a stream and returns the messages they complete. */
export function createFrameReader(): (chunk: Buffer) => Buffer[] {
  let chunks: Buffer[] = []
  let held = 0
  return (chunk) => {
    chunks.push(chunk)
    held += chunk.length
    const first = chunks[0] as Buffer
    // Join the chunks only when a message is complete, so many small chunks take linear time.
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
