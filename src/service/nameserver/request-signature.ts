/** Checks the signatures of requests (TSIG, RFC 8945), and remembers requests so that none is acted on twice. */
import { RCODE } from '../../dns/wire/message.ts'
import type { TsigKey } from '../../dns/wire/tsig.ts'
import { type AnswerSigner, signatureOctets, type VerifiedRequest, verifyRequest } from '../../dns/wire/tsig-server.ts'
import type { TransferKeys } from '../transfers/transfer-keys.ts'
import type { Client } from './answer-transfer.ts'

/** How the answer to a message is signed. */
export interface RequestSignature {
  /** Null if the message is not signed, or its signature is not good. */
  readonly key: TsigKey | null
  /** The RCODE to answer with instead of an answer; null if there is nothing to refuse. */
  readonly rcode: number | null
  /** Adds the signature to the next message of the answer. */
  readonly sign: (octets: Buffer) => Buffer
  /** Octets that a signature adds. */
  readonly octets: number
  /** The earlier request that this one repeats over UDP; null for none. */
  readonly repeats: RememberedRequest | null
  /** Where the answer to this request is noted for repeated ones; null without a good signature. */
  readonly remembered: RememberedRequest | null
}

export interface RememberedRequest {
  /** The RCODE it was answered with; null until then. */
  rcode: number | null
}

export const UNSIGNED: RequestSignature = {
  key: null,
  rcode: null,
  sign: (octets) => octets,
  octets: 0,
  repeats: null,
  remembered: null,
}

/** Signed requests remembered at one time; the oldest are forgotten first. */
const MAX_REMEMBERED = 20_000

/**
 * Returns the check of a signed message. A request over TCP that has come before is refused with BADTIME: no client sends one twice.
 * Over UDP clients do, when an answer is late. `clock` is real time in milliseconds.
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
        return { key, rcode: null, sign: signing(verdict.sign), octets: signatureOctets(key), repeats: earlier, remembered: own }
      }
    }
  }
}
