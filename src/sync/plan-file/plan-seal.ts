/**
 * How a saved plan is closed. The checksum notices that a byte was changed; whoever changes the plan on purpose can make the checksum anew.
 * The signature, an HMAC with a key that only those have who plan and apply, cannot be made anew without the key.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { canonicalJson } from './canonical-json.ts'

/** What checksum and signature are over: the canonical JSON of the document without the two. */
export const sealedText = (document: object): string => canonicalJson({ ...document, checksum: undefined, signature: undefined })

/** `sha256:` and 64 hexadecimal digits. */
export const checksumOf = (sealed: string): string => `sha256:${createHash('sha256').update(sealed).digest('hex')}`

/** `hmac-sha256:` and 64 hexadecimal digits (RFC 2104). */
export const signatureOf = (sealed: string, key: string): string => `hmac-sha256:${createHmac('sha256', key).update(sealed).digest('hex')}`

/** Whether two seals are the same, in a time that does not tell how much of them is. */
export const sameSeal = (a: string, b: string): boolean => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
