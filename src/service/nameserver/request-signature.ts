/** Checks the signatures of requests (TSIG, RFC 8945) and remembers the requests, so that a replay has no effect. */
import { RCODE } from '../../dns/wire/message.ts'
import type { TsigKey } from '../../dns/wire/tsig.ts'
import { type AnswerSigner, signatureOctets, type VerifiedRequest, verifyRequest } from '../../dns/wire/tsig-server.ts'
import type { TransferKeys } from '../transfers/transfer-keys.ts'
import type { Client } from './answer-transfer.ts'

/** The result of checking a request's signature, and how to sign the response. */
export interface RequestSignature {
  /** Null if the request is unsigned or its signature is invalid. */
  readonly key: TsigKey | null
  /** The error RCODE to respond with; null if the request is accepted. */
  readonly rcode: number | null
  /** Signs the next message of the response. */
  readonly sign: (octets: Buffer) => Buffer
  /** Size of a signature in octets. */
  readonly octets: number
  /** The earlier UDP request that this one repeats; null if it is new. */
  readonly earlier: RememberedRequest | null
  /** Where to store the RCODE of the response, for repeated requests. Null without a valid signature. */
  readonly own: RememberedRequest | null
}

export interface RememberedRequest {
  /** The RCODE of the response; null while it is pending. */
  rcode: number | null
}

export const UNSIGNED: RequestSignature = {
  key: null,
  rcode: null,
  sign: (octets) => octets,
  octets: 0,
  earlier: null,
  own: null,
}

/** Maximum number of remembered requests. The oldest are dropped first. */
const MAX_REMEMBERED = 20_000

/**
 * Creates the signature check. A repeated request over TCP is refused with BADTIME, because no client sends one twice. Over UDP, clients repeat
 * a request when the response is late. `clock` returns real time in milliseconds.
 */
export function createSignatureCheck(keys: TransferKeys, clock: () => number): (octets: Uint8Array, client: Client) => RequestSignature {
  const remembered = new Map<string, RememberedRequest & { readonly validUntil: number }>()

  const remember = (
    { key, mac, validUntil }: VerifiedRequest,
    now: number,
  ): { earlier: RememberedRequest | null; own: RememberedRequest } => {
    for (const [id, { validUntil: until }] of remembered) {
      if (until >= now && remembered.size < MAX_REMEMBERED) break
      remembered.delete(id)
    }
    const id = `${key.name} ${Buffer.from(mac).toString('latin1')}`
    const earlier = remembered.get(id) ?? null
    if (earlier !== null) return { earlier, own: earlier }
    const own = { rcode: null, validUntil }
    remembered.set(id, own)
    return { earlier: null, own }
  }

  return (octets, client) => {
    const now = (): number => Math.floor(clock() / 1000)
    const signing = (sign: AnswerSigner) => (message: Buffer) => sign(message, now())
    const verdict = verifyRequest(octets, keys.find, now())
    switch (verdict.kind) {
      case 'unsigned':
        return UNSIGNED
      case 'malformed':
        return { ...UNSIGNED, rcode: RCODE.FORMERR }
      case 'rejected':
        return { ...UNSIGNED, rcode: RCODE.NOTAUTH, sign: signing(verdict.sign) }
      case 'verified': {
        const { earlier, own } = remember(verdict, now())
        if (earlier !== null && client.transport === 'tcp') {
          return { ...UNSIGNED, rcode: RCODE.NOTAUTH, sign: signing(verdict.signReplayError) }
        }
        const { key } = verdict
        return { key, rcode: null, sign: signing(verdict.sign), octets: signatureOctets(key), earlier: earlier, own: own }
      }
    }
  }
}
