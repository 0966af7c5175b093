/**
 * How a saved plan is closed. The checksum notices that a byte was changed; whoever changes the plan on purpose can make the checksum anew.
 * The signature, an HMAC with a key that only those have who plan and apply, cannot be made anew without the key.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { canonicalJson } from './canonical-json.ts'

/** Over the canonical JSON of the document but for the checksum itself: `sha256:` and 64 hexadecimal digits. */
export const checksumOf = (document: object): string =>
  `sha256:${createHash('sha256')
    .update(canonicalJson({ ...document, checksum: undefined }))
    .digest('hex')}`

/** Over the canonical JSON of the document but for checksum and signature: `hmac-sha256:` and 64 hexadecimal digits (RFC 2104). */
export const signatureOf = (document: object, key: string): string =>
  `hmac-sha256:${createHmac('sha256', key)
    .update(canonicalJson({ ...document, checksum: undefined, signature: undefined }))
    .digest('hex')}`

/** Whether two seals are the same, in a time that does not tell how much of them is. */
export function sameSeal(a: string, b: string): boolean {
  const [octets, others] = [Buffer.from(a), Buffer.from(b)]
  return octets.length === others.length && timingSafeEqual(octets, others)
}
