/**
 * The client side of transaction signatures (RFC 8945): signs a query and verifies the messages of its answer. The clock is an argument.
 * `tsig-server.ts` is the server side.
 */
import { failure, ok, type Result } from '../../base/result.ts'
import {
  algorithmName,
  appendSignature,
  computeMac,
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

/** Consecutive messages without a signature that a verifier accepts (RFC 8945 section 5.3.1). */
const MAX_UNSIGNED = 99

export interface SignedMessage {
  readonly octets: Buffer
  readonly mac: Buffer
}

/** Signs a message. `now` is in seconds since 1970. Throws a `RangeError` if the message becomes too long. */
export function signMessage(octets: Uint8Array, key: TsigKey, now: number): SignedMessage {
  const signature = unsignedSignature(key, octets, now)
  const mac = requestMac(key, octets, signature)
  return { octets: appendSignature(octets, { ...signature, mac }), mac }
}

export interface TsigVerifier {
  /** Checks the next message of an answer. Its contents are proven only after `finish` succeeds. */
  accept(octets: Uint8Array, now: number): Result<void>
  /** Checks that the last message was signed (RFC 8945 section 5.3.1). */
  finish(): Result<void>
}

/** Verifies the answer to a request with this MAC. */
export function createTsigVerifier(key: TsigKey, mac: Uint8Array): TsigVerifier {
  let previous: Uint8Array = mac
  let isFirst = true
  let pending: Uint8Array[] = []

  const accept = (octets: Uint8Array, now: number): Result<void> => {
    const found = splitSignature(octets)
    if (!found.ok) return found
    const { signature, unsigned } = found.value
    pending.push(unsigned)
    if (signature === null) {
      if (isFirst) return failure('the answer is not signed')
      return pending.length > MAX_UNSIGNED ? failure(`more than ${MAX_UNSIGNED} consecutive messages have no signature`) : ok(undefined)
    }
    if (signature.error !== 0) return failure(errorText(signature, now))
    if (signature.keyName !== key.name) return failure(`the answer is signed with another key, ${signature.keyName}`)
    if (signature.algorithm !== algorithmName(key.algorithm))
      return failure(`the answer is signed by ${signature.algorithm}, not by ${key.algorithm}`)
    const expected = computeMac(key, [macWithLength(previous), ...pending, isFirst ? tsigVariables(key, signature) : tsigTimers(signature)])
    if (signature.mac.length < expected.length)
      return failure(
        `the signature of the answer is truncated to ${signature.mac.length} of ${expected.length} octets, which was not agreed`,
      )
    if (!macsEqual(expected, signature.mac)) return failure('the signature of the answer is wrong')
    if (Math.abs(signature.time - now) > signature.fudge)
      return failure(`the answer was not signed just now: ${clockDifference(signature.time, now)}`)
    previous = expected
    pending = []
    isFirst = false
    return ok(undefined)
  }
  return {
    accept,
    finish: () => (pending.length === 0 && !isFirst ? ok(undefined) : failure('the last message of the answer is not signed')),
  }
}

const ERRORS: Readonly<Record<number, string>> = {
  [TSIG_ERROR.BADSIG]: 'BADSIG: the signature does not match, so the server has another secret',
  [TSIG_ERROR.BADKEY]: 'BADKEY: the server does not know the key',
  [TSIG_ERROR.BADTIME]: 'BADTIME: the server has another time',
  [TSIG_ERROR.BADTRUNC]: 'BADTRUNC: the server refuses the length of the signature',
}

function errorText({ error, other }: Signature, now: number): string {
  const text = ERRORS[error] ?? `the server refuses the signature with error ${error}`
  // BADTIME includes the time of the server (RFC 8945 section 5.2.3).
  return error === TSIG_ERROR.BADTIME && other.length === 6 ? `${text}: ${clockDifference(Buffer.from(other).readUIntBE(0, 6), now)}` : text
}

const clockDifference = (server: number, here: number): string =>
  `its clock is ${Math.abs(server - here)} s ${server < here ? 'behind' : 'ahead of'} the local one`
