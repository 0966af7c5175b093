import type { DomainName } from '../domain-name.ts'

/** A DNS message (RFC 1035 section 4.1, RFC 6891). In an UPDATE the sections are zone, prerequisites, updates, additional data. */
export interface Message {
  readonly id: number
  readonly opcode: number
  /** QR: a response rather than a query. */
  readonly response: boolean
  readonly authoritative: boolean
  readonly truncated: boolean
  readonly recursionDesired: boolean
  readonly recursionAvailable: boolean
  readonly authenticData: boolean
  readonly checkingDisabled: boolean
  /** Twelve bits: those of the header, and the upper ones of the OPT record where there is one. */
  readonly rcode: number
  readonly questions: readonly Question[]
  readonly answers: readonly WireRecord[]
  readonly authorities: readonly WireRecord[]
  /** Without the OPT record, which is `edns`. */
  readonly additionals: readonly WireRecord[]
  readonly edns: Edns | null
}

export interface Question {
  readonly name: DomainName
  /** `A`, …; `ANY`, `AXFR`, … for types that only questions have. */
  readonly type: string
  readonly class: number
}

/** A record as messages hold it. `data` is canonical rdata; null where RFC 2136 has none (RDLENGTH 0 in class ANY or NONE). */
export interface WireRecord {
  readonly name: DomainName
  readonly type: string
  readonly class: number
  /** Seconds. */
  readonly ttl: number
  readonly data: string | null
  /** Why the rdata is none of its type. `data` is then the octets as they came (RFC 3597 section 5). */
  readonly malformed?: string
}

/** What an OPT record says (RFC 6891 section 6.1). */
export interface Edns {
  /** Octets of a UDP datagram that the sender can take. */
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

/** The most octets of a message over UDP without EDNS (RFC 1035 section 2.3.4), and of any message (RFC 1035 section 4.2.2). */
export const PLAIN_UDP_OCTETS = 512
export const MAX_MESSAGE_OCTETS = 65535

/** Octets that pass every path without fragments: the size to offer and to keep to over UDP (RFC 9715 section 3.1). */
export const SAFE_UDP_OCTETS = 1232

/** Bits of the second 16 bits of the header. */
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

/** The mnemonic of an RCODE, `RCODE23` where it has none here. */
export const rcodeName = (rcode: number): string => RCODE_NAMES.get(rcode) ?? `RCODE${rcode}`

/** A standard query with one question and EDNS (RFC 6891), not asking for recursion. */
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
