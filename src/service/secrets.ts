/**
 * Sealing of what is kept as text that must be read again and is nobody else's to know: answers to security questions, secrets of second
 * factors, codes sent by SMS. With a key it is encrypted with AES-256-GCM (NIST SP 800-38D), bound to what it is and whose it is, so
 * that it opens nowhere else. Without a key it is kept as it is. Either is told by its first characters, so that a key may be given
 * later: what was written before stays readable, and is sealed when it is written next.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

export interface Secrets {
  /** `context` says what the text is and whose: the same is needed to open it. */
  seal(text: string, context: string): string
  /** Throws where it was sealed with another key, or for another context. */
  open(sealed: string, context: string): string
}

/** The fewest characters of a key: 32 random octets in base64 have 44. */
const MIN_KEY = 32

const IV = 12
const TAG = 16

/** `key` is a text that cannot be guessed; null to keep everything as it is. Throws a `RangeError` where the key is too short. */
export function createSecrets(key: string | null): Secrets {
  if (key !== null && key.length < MIN_KEY) throw new RangeError(`the key that secrets are sealed with has ${MIN_KEY} characters at least`)
  const octets = key === null ? null : Buffer.from(hkdfSync('sha256', key, '', 'zonewright secrets 1', 32))
  return {
    seal: (text, context) => {
      if (octets === null) return `plain:${text}`
      const iv = randomBytes(IV)
      const cipher = createCipheriv('aes-256-gcm', octets, iv).setAAD(Buffer.from(context))
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return `gcm:${Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64')}`
    },
    open: (sealed, context) => {
      if (sealed.startsWith('plain:')) return sealed.slice('plain:'.length)
      if (octets === null) throw new Error('what is sealed cannot be read without its key')
      const bytes = Buffer.from(sealed.slice('gcm:'.length), 'base64')
      const decipher = createDecipheriv('aes-256-gcm', octets, bytes.subarray(0, IV), { authTagLength: TAG })
      decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(IV, IV + TAG))
      return Buffer.concat([decipher.update(bytes.subarray(IV + TAG)), decipher.final()]).toString('utf8')
    },
  }
}
