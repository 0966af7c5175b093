/**
 * The server side of transaction signatures (RFC 8945): verifies a signed request and signs the messages of its answer. The clock is an
 * argument. `tsig-client.ts` is the client side.
 */
import type { DomainName } from '../domain-name.ts'
import { HEADER_OCTETS } from './message.ts'
import {
  algorithmName,
  appendSignature,
  computeMac,
  FUDGE_SECONDS,
  macsEqual,
  macWithLength,
  requestMac,
  type Signature,
  splitSignature,
  TSIG_ERROR,
  type TsigKey,
  tsigTimers,
  tsigVariables,
  unsignedSignature,
} from './tsig.ts'

/** Signs the next message of an answer and returns it with its signature. Throws a `RangeError` if it becomes too long. */
export type AnswerSigner = (octets: Buffer, now: number) => Buffer

export interface VerifiedRequest {
  readonly kind: 'verified'
  readonly key: TsigKey
  /** The MAC of the request, which identifies a replay. */
  readonly mac: Uint8Array
  /** The last second since 1970 at which a replay would verify. */
  readonly validUntil: number
  readonly sign: AnswerSigner
  /** Signs the answer to a replay: NOTAUTH with BADTIME. */
  readonly signReplayError: AnswerSigner
}

export type RequestVerdict =
  | { readonly kind: 'unsigned' }
  | VerifiedRequest
  /** The answer is FORMERR, without a signature. */
  | { readonly kind: 'malformed' }
  /** The answer is NOTAUTH, with this error in the TSIG record that `sign` adds. */
  | { readonly kind: 'rejected'; readonly error: keyof typeof TSIG_ERROR; readonly sign: AnswerSigner }

/** The fewest octets of a truncated MAC; half its full length if that is more (RFC 8945 section 5.2.2.1). */
const MIN_MAC_OCTETS = 10

/**
 * Checks key, MAC, time and length of the MAC, in this order (RFC 8945 section 5.2). A truncated MAC is rejected. The answer to a wrong key
 * or MAC has no MAC; the answer to a wrong time or length has one (RFC 8945 section 5.3.2). `now` is in seconds since 1970.
 */
export function verifyRequest(octets: Uint8Array, findKey: (name: DomainName) => TsigKey | undefined, now: number): RequestVerdict {
  const found = splitSignature(octets)
  if (!found.ok) return { kind: 'malformed' }
  const { signature, unsigned } = found.value
  if (signature === null) return { kind: 'unsigned' }
  const key = findKey(signature.keyName)
  if (key === undefined || algorithmName(key.algorithm) !== signature.algorithm)
    return rejected('BADKEY', errorSignerWithoutMac('BADKEY', signature))
  const { mac, time, fudge } = signature
  const expected = requestMac(key, unsigned, signature)
  if (mac.length > expected.length || mac.length < Math.max(MIN_MAC_OCTETS, expected.length / 2)) return { kind: 'malformed' }
  if (!macsEqual(expected.subarray(0, mac.length), mac)) return rejected('BADSIG', errorSignerWithoutMac('BADSIG', signature))
  if (Math.abs(time - now) > fudge) return rejected('BADTIME', errorSigner('BADTIME', key, signature))
  if (mac.length < expected.length) return rejected('BADTRUNC', errorSigner('BADTRUNC', key, signature))
  return {
    kind: 'verified',
    key,
    mac,
    validUntil: time + fudge,
    sign: answerSigner(key, mac),
    signReplayError: errorSigner('BADTIME', key, signature),
  }
}

const rejected = (error: keyof typeof TSIG_ERROR, sign: AnswerSigner): RequestVerdict => ({ kind: 'rejected', error, sign })

/** The MAC of the first message covers that of the request, each later one that of the previous message (RFC 8945 section 5.3.1). */
function answerSigner(key: TsigKey, mac: Uint8Array): AnswerSigner {
  let previous = mac
  let isFirst = true
  return (octets, now) => {
    const signature = unsignedSignature(key, octets, now)
    const signed = computeMac(key, [macWithLength(previous), octets, isFirst ? tsigVariables(key, signature) : tsigTimers(signature)])
    previous = signed
    isFirst = false
    return appendSignature(octets, { ...signature, mac: signed })
  }
}

/** Adds a TSIG record with the error and no MAC, since the two sides share no key (RFC 8945 section 5.3.2). */
const errorSignerWithoutMac =
  (error: 'BADKEY' | 'BADSIG', { keyName, algorithm, originalId }: Signature): AnswerSigner =>
  (octets, now) =>
    appendSignature(octets, {
      keyName,
      algorithm,
      time: now,
      fudge: FUDGE_SECONDS,
      mac: new Uint8Array(),
      originalId,
      error: TSIG_ERROR[error],
      other: new Uint8Array(),
    })

/** A BADTIME answer has the client's time, so the client can verify it, and the server's time as other data (RFC 8945 section 5.2.3). */
const errorSigner =
  (error: 'BADTIME' | 'BADTRUNC', key: TsigKey, { time, mac }: Signature): AnswerSigner =>
  (octets, now) => {
    const plain = unsignedSignature(key, octets, now)
    const signature: Signature =
      error === 'BADTIME' ? { ...plain, time, error: TSIG_ERROR.BADTIME, other: timeOctets(now) } : { ...plain, error: TSIG_ERROR.BADTRUNC }
    return appendSignature(octets, { ...signature, mac: computeMac(key, [macWithLength(mac), octets, tsigVariables(key, signature)]) })
  }

/** Seconds since 1970 in 48 bits. */
function timeOctets(seconds: number): Buffer {
  const octets = Buffer.alloc(6)
  octets.writeUIntBE(seconds, 0, 6)
  return octets
}

/** The octets that a signature with the key adds to a successful answer. */
export function signatureOctets(key: TsigKey): number {
  const message = new Uint8Array(HEADER_OCTETS)
  return answerSigner(key, message)(Buffer.from(message), 0).length - HEADER_OCTETS
}
