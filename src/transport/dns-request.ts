/** Sends one signed DNS message over TCP and returns the verified response. For everything that must not be truncated or forged. */
import { randomInt } from 'node:crypto'
import { decodeMessage } from '../dns/wire/decode-message.ts'
import { encodeMessage } from '../dns/wire/encode-message.ts'
import { type Message, RCODE } from '../dns/wire/message.ts'
import type { TsigKey } from '../dns/wire/tsig.ts'
import { createTsigVerifier, signMessage } from '../dns/wire/tsig-client.ts'
import { type DnsServer, dnsFailure, exchangeTcp, formatServer } from './dns-exchange.ts'

export interface DnsRequestOptions {
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
