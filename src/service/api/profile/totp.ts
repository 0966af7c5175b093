import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Seconds of a time step, and steps of drift that are borne in either direction (RFC 6238 section 5.2). */
const PERIOD = 30
const DRIFT = 1

/** Octets of a secret: 16 characters of base32, which every authenticator takes. */
const SECRET = 10

export interface Totp {
  /** A new secret in base32. */
  makeSecret(): string
  /** The time step that a code of the secret is of, the present one or one beside it; null where it is of none of them. */
  stepOf(secret: string, code: string, now: number): number | null
}

/** Codes of six digits with SHA-1, which is what authenticators take unless told otherwise. */
export async function loadTotp(): Promise<Totp> {
  const { Secret, TOTP } = await import('otpauth')
  return {
    makeSecret: () => new Secret({ size: SECRET }).base32,
    stepOf: (secret, code, now) => {
      if (!/^\d{6}$/.test(code)) return null
      const totp = new TOTP({ secret: Secret.fromBase32(secret), period: PERIOD })
      const drift = totp.validate({ token: code, timestamp: now, window: DRIFT })
      return drift === null ? null : Math.floor(now / 1000 / PERIOD) + drift
    },
  }
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** A scratch code: 20 characters of base32 that cannot be guessed, so that its hash needs no salt. */
export const makeScratch = (): string => Array.from(randomBytes(20), (octet) => ALPHABET[octet & 31]).join('')

/** What is stored of a scratch code. */
export const hashScratch = (code: string): string => createHash('sha256').update(code.toUpperCase()).digest('hex')

/** `hash` is empty where there is none. */
export const isScratch = (code: string, hash: string): boolean =>
  hash !== '' && timingSafeEqual(Buffer.from(hashScratch(code)), Buffer.from(hash))
