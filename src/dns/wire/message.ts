/** The types and constants of DNS messages. */
import type { DomainName } from '../domain-name.ts'

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
