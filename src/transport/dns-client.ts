/** A DNS client: queries one server over UDP and TCP. */
import { getServers } from 'node:dns'
import pLimit from 'p-limit'
import type { DomainName } from '../dns/domain-name.ts'
import type { ResourceRecord } from '../dns/record.ts'
import { parseServerAddress } from '../dns/server-address.ts'
import type { Ttl } from '../dns/ttl.ts'
import { decodeMessage } from '../dns/wire/decode-message.ts'
import { encodeMessage } from '../dns/wire/encode-message.ts'
import { CLASS, createQuery, FLAG, type Message, RCODE, rcodeName, type WireRecord } from '../dns/wire/message.ts'
import { createUdpExchange, type DnsFailure, type DnsServer, dnsFailure, exchangeTcp, formatServer, isDnsFailure } from './dns-exchange.ts'

export type { DnsServer } from './dns-exchange.ts'

/** The resolvers of this machine. */
export const systemResolvers = (): readonly DnsServer[] => getServers().map(parseServerAddress)

export interface DnsQuestion {
  readonly name: DomainName
  /** A mnemonic such as `A` or `ANY`, or `TYPE12345`. */
  readonly type: string
  /** Asks a resolver to resolve the name (RD). */
  readonly recursion?: boolean
  /** Asks a resolver not to validate (CD, RFC 4035 section 3.2.2). */
  readonly unchecked?: boolean
}

export interface DnsClientOptions {
  /** Milliseconds per attempt; 2000 if absent. */
  readonly timeout?: number
  /** Attempts; 3 if absent. The last of several goes over TCP. */
  readonly tries?: number
  /** Maximum concurrent queries; 100 if absent. */
  readonly concurrency?: number
}

export interface DnsAnswer {
  /** `NOERROR`, `NXDOMAIN`, `REFUSED`, … */
  readonly rcode: string
  /** Whether the server is authoritative for the name (AA). */
  readonly authoritative: boolean
  /** Whether the resolver has validated the answer (AD). */
  readonly authentic: boolean
  readonly transport: 'udp' | 'tcp'
  /** In the order of the message. */
  readonly answers: readonly ResourceRecord[]
  readonly authorities: readonly ResourceRecord[]
}

export interface DnsClient {
  /** Sends one query. Any number may be pending; those above the maximum wait. Rejects with a `DnsFailure`. An error RCODE is an answer, not a failure. */
  query(question: DnsQuestion): Promise<DnsAnswer>
  /** Closes the UDP sockets. Queries that wait on them or have not started fail with `closed`; a query over TCP ends normally. */
  close(): void
}

interface Response {
  readonly message: Message
  readonly transport: DnsAnswer['transport']
}

/** Concurrent TCP connections of a client: servers close those of a host that has many. */
const TCP_CONNECTIONS = 4

/**
 * Creates a client of one server. It queries over UDP with EDNS, from random ports and with retries. It repeats the query over TCP if the answer is truncated
 * (RFC 7766), and also if none came: a server that limits its rate drops answers over UDP only. It accepts a UDP answer only from the server's address, with
 * the message ID of the query and an equal question section (RFC 5452 section 9).
 */
export function createDnsClient(server: DnsServer, options: DnsClientOptions = {}): DnsClient {
  const { timeout = 2000, tries = 3, concurrency = 100 } = options
  const udp = createUdpExchange(server)
  const limit = pLimit(concurrency)
  const limitTcp = pLimit(TCP_CONNECTIONS)
  let closed = false

  const overTcp = (question: DnsQuestion, withEdns: boolean): Promise<Response> =>
    limitTcp(async () => {
      if (closed) throw clientClosed()
      return { message: await queryTcp(server, question, timeout, withEdns), transport: 'tcp' }
    })

  const exchange = async (question: DnsQuestion, withEdns: boolean): Promise<Response> => {
    const received: { message: Message | null; problem: string | null } = { message: null, problem: null }
    const accept = (octets: Buffer): boolean => {
      // An invalid answer may be forged, so it does not end the wait: the server's own may still arrive.
      const response = readResponse(octets, question)
      if (response.message) received.message = response.message
      else received.problem ??= response.problem
      return response.message !== null
    }
    const encode = (id: number): Buffer => encodeMessage(queryOf(id, question, withEdns))
    for (let attempt = 1; ; attempt += 1) {
      try {
        await udp.send(encode, accept, timeout)
        return { message: received.message as Message, transport: 'udp' }
      } catch (error) {
        const isLast = tries === 1 || !isDnsFailure(error) || !error.retryable || closed
        if (attempt < tries - 1 && !isLast) continue
        const failure = received.problem === null ? error : invalidAnswer(server, question, received.problem)
        if (isLast) throw failure
        return overTcp(question, withEdns).catch(() => Promise.reject(failure))
      }
    }
  }

  const query = async (question: DnsQuestion): Promise<DnsAnswer> => {
    if (closed) throw clientClosed()
    const first = await exchange(question, true)
    const { edns, truncated, rcode } = first.message
    // A server from before EDNS refuses the OPT record (RFC 6891 section 7).
    const isBeforeEdns = !edns && !truncated && (rcode === RCODE.FORMERR || rcode === RCODE.NOTIMP)
    const response = isBeforeEdns ? await exchange(question, false) : first
    return answerOf(response.message.truncated ? await overTcp(question, !isBeforeEdns) : response)
  }

  return {
    query: (question) => limit(() => query(question)),
    close: () => {
      closed = true
      udp.close()
    },
  }
}

/** Sends one query with a new client. Rejects with a `DnsFailure`. */
export async function queryDns(server: DnsServer, question: DnsQuestion, options: DnsClientOptions = {}): Promise<DnsAnswer> {
  const client = createDnsClient(server, options)
  try {
    return await client.query(question)
  } finally {
    client.close()
  }
}

function queryOf(id: number, question: DnsQuestion, withEdns: boolean): Message {
  const { recursion = false, unchecked = false } = question
  // With AD, a resolver says whether it has validated the answer (RFC 6840 section 5.7).
  const query = { ...createQuery(id, question), recursionDesired: recursion, authenticData: recursion, checkingDisabled: unchecked }
  return withEdns ? query : { ...query, edns: null }
}

async function queryTcp(server: DnsServer, question: DnsQuestion, timeout: number, withEdns: boolean): Promise<Message> {
  // The connection proves the origin, so the identifier need not be random.
  const id = 1
  let message: Message | null = null
  await exchangeTcp(server, encodeMessage(queryOf(id, question, withEdns)), { timeout, total: timeout }, (octets) => {
    const response =
      octets.length >= 2 && octets.readUInt16BE(0) === id
        ? readResponse(octets, question)
        : { message: null, problem: 'it has another identifier' }
    if (response.message === null) throw invalidAnswer(server, question, response.problem)
    message = response.message
    return false
  })
  return message as unknown as Message
}

/** The response to the question, or the problem with the octets. */
function readResponse(octets: Buffer, question: DnsQuestion): { message: Message; problem: null } | { message: null; problem: string } {
  const decoded = decodeMessage(octets)
  if (!decoded.ok) return truncatedResponse(octets, question) ?? { message: null, problem: decoded.message }
  const message = decoded.value
  if (!message.response) return { message: null, problem: 'it is not a response' }
  const [asked, ...more] = message.questions
  // A server that cannot read a query returns only its header.
  const isBareError = asked === undefined && message.rcode !== RCODE.NOERROR
  const isSame = asked?.name === question.name && asked.type === question.type && asked.class === CLASS.IN && more.length === 0
  return isSame || isBareError ? { message, problem: null } : { message: null, problem: 'it answers another question' }
}

/**
 * A truncated response without records, if the octets begin like one to the question; otherwise null. Some servers cut an answer within a record.
 */
function truncatedResponse(octets: Buffer, question: DnsQuestion): { message: Message; problem: null } | null {
  const flags = octets.length >= 12 ? octets.readUInt16BE(2) : 0
  if ((flags & FLAG.QR) === 0 || (flags & FLAG.TC) === 0) return null
  const query = encodeMessage(queryOf(0, question, false))
  const nameIn = (message: Buffer): string =>
    message.toString('latin1', 12, query.length - 4).replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  const hasQuestion =
    octets.readUInt16BE(4) === 1 &&
    nameIn(octets) === nameIn(query) &&
    octets.subarray(query.length - 4, query.length).equals(query.subarray(-4))
  return hasQuestion ? { message: { ...queryOf(0, question, false), response: true, truncated: true }, problem: null } : null
}

const invalidAnswer = (server: DnsServer, question: DnsQuestion, problem: string): DnsFailure =>
  dnsFailure('garbled', `the answer of ${formatServer(server)} to ${question.name} ${question.type} is invalid: ${problem}`)

const clientClosed = (): DnsFailure => dnsFailure('closed', 'the DNS client was closed')

const answerOf = ({ message, transport }: Response): DnsAnswer => ({
  rcode: rcodeName(message.rcode),
  authoritative: message.authoritative,
  authentic: message.authenticData,
  transport,
  answers: toRecords(message.answers),
  authorities: toRecords(message.authorities),
})

/** The records of class IN that have rdata. */
function toRecords(section: readonly WireRecord[]): ResourceRecord[] {
  const records: ResourceRecord[] = []
  for (const { name, type, class: recordClass, ttl, data } of section) {
    if (recordClass === CLASS.IN && data !== null) records.push({ name, type, ttl: ttl as Ttl, data })
  }
  return records
}
