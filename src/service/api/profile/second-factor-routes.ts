import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import EMPTY from '../../../../schemas/service/empty.json' with { type: 'json' }
import TFA_CONFIRM from '../../../../schemas/service/tfa-confirm.json' with { type: 'json' }
import TFA_SCRATCH from '../../../../schemas/service/tfa-scratch.json' with { type: 'json' }
import TFA_SECRET from '../../../../schemas/service/tfa-secret.json' with { type: 'json' }
import type { Secrets } from '../../secrets/secrets.ts'
import { lockUserRow, updateUser } from '../../store/account-store.ts'
import type { Connection } from '../../store/database.ts'
import type { SecondFactorRow } from '../../store/tables/profile.ts'
import {
  contextOfSecondFactor,
  hasAnswers,
  lockSecondFactor,
  removeSecondFactor,
  savePendingSecret,
  updateSecondFactor,
} from '../../store/user-secret-store.ts'
import { formatTimestamp, isPending, millisecondsOf } from '../../timestamp.ts'
import { RateLimited } from '../rate-limit.ts'
import { invalid, type RequestError } from '../request-error.ts'
import { defineRoute } from '../route.ts'

const enable = defineRoute({
  method: 'POST',
  path: '/profile/tfa-enable',
  summary: 'Create a secret for a second factor, to be confirmed before it expires',
  name: 'createProfileSecondFactor',
  scope: 'account:read_write',
  grants: null,
  response: TFA_SECRET,
  handle: async ({ actor }, { database, secrets, clock }) => {
    const secret = (await loadTotp()).makeSecret()
    const expiry = await database.write((connection) => issueSecret(connection, secrets, secret, { userId: actor.userId, now: clock() }))
    return { secret, expiry }
  },
})

const confirm = defineRoute<{ readonly tfa_code: string }>({
  method: 'POST',
  path: '/profile/tfa-enable-confirm',
  summary: 'Confirm the secret with a code of it, and have the second factor from then on',
  name: 'confirmProfileSecondFactor',
  scope: 'account:read_write',
  grants: null,
  body: TFA_CONFIRM,
  response: TFA_SCRATCH,
  handle: async ({ actor, body }, { database, secrets, clock }) => {
    const totp = await loadTotp()
    const scratch = makeScratch()
    // As authenticators show it, in groups.
    const code = body.tfa_code.replace(/\s+/g, '')
    const refusal = await database.write((connection) =>
      confirmSecret(connection, secrets, totp, { userId: actor.userId, now: clock(), code, scratch }),
    )
    if (refusal !== null) throw refusal
    return { scratch }
  },
})

const disable = defineRoute({
  method: 'POST',
  path: '/profile/tfa-disable',
  summary: 'Switch the second factor off, and forget its secret',
  name: 'disableProfileSecondFactor',
  scope: 'account:read_write',
  grants: null,
  response: EMPTY,
  handle: async ({ actor }, { database }) => {
    await database.write((connection) => removeSecondFactor(connection, actor.userId))
    return {}
  },
})

export const SECOND_FACTOR_ROUTES = [enable, confirm, disable] as const

/**
 * The second factor. A secret is issued, and counts once it is confirmed with a code of it; a code is good once, and so is the scratch
 * code that stands in for one. Few wrong codes are let through in a while. What is decided here is decided with the user's row held, so
 * that of several processes one decides at a time.
 */
/** Milliseconds for which a secret waits for its confirmation. */
const VALIDITY = 3_600_000

/** Wrong codes within so many milliseconds, after which none is looked at until those are over. */
const MOST_FAILURES = 5
const FAILURE_WINDOW = 900_000

/** Milliseconds of the service's clock, and whose factor it is. */
interface Moment {
  readonly userId: number
  readonly now: number
}

/** Issues a secret; returns when it expires. A factor that is on stays as it is until the secret is confirmed. Throws 400 before the security questions are answered. */
async function issueSecret(connection: Connection, secrets: Secrets, secret: string, { userId, now }: Moment): Promise<string> {
  if (!(await hasAnswers(connection, userId))) {
    throw invalid({ field: null, reason: 'Answer three security questions before you enable two-factor authentication.' })
  }
  const expiry = formatTimestamp(now + VALIDITY)
  await lockUserRow(connection, userId)
  await savePendingSecret(connection, userId, await secrets.seal(connection, secret, contextOfSecondFactor(userId)), expiry)
  return expiry
}

interface Confirmation extends Moment {
  readonly code: string
  /** The scratch code that the user has afterwards. */
  readonly scratch: string
}

/**
 * Takes a code of the secret that waits for it, and switches the second factor on; without such a secret, a code of the one in use or the
 * scratch code, for a new scratch code. Returns why not: a wrong code counts, and must be committed.
 */
async function confirmSecret(
  connection: Connection,
  secrets: Secrets,
  totp: Totp,
  { userId, now, code, scratch }: Confirmation,
): Promise<RequestError | null> {
  const factor = await lockSecondFactor(connection, userId)
  const pending = factor !== null && factor.pending !== '' && isPending(millisecondsOf(factor.pending_expiry), VALIDITY, now)
  const sealed = pending ? factor.pending : (factor?.secret ?? '')
  if (factor === null || sealed === '')
    return invalid({ field: null, reason: 'There is no secret to confirm, or it has expired. Ask for one.' })
  const windowEnds = factor.failures_since === '' ? 0 : millisecondsOf(factor.failures_since) + FAILURE_WINDOW
  const failures = isPending(windowEnds, FAILURE_WINDOW, now) ? factor.failures : 0
  if (failures >= MOST_FAILURES) return new RateLimited({ limit: MOST_FAILURES, remaining: 0, reset: windowEnds / 1000 }, now)

  const step = totp.stepOf(secrets.open(sealed, contextOfSecondFactor(userId)), code, now)
  if (pending && step !== null) await enableFactor(connection, factor, step, scratch)
  else if (!pending && step !== null && step > factor.last_step) await accept(connection, userId, { last_step: step }, scratch)
  else if (!pending && isScratch(code, factor.scratch_hash)) await accept(connection, userId, {}, scratch)
  else {
    const since = failures === 0 ? formatTimestamp(now) : factor.failures_since
    await updateSecondFactor(connection, userId, { failures: failures + 1, failures_since: since })
    return invalid({ field: 'tfa_code', reason: 'tfa_code is not valid' })
  }
  return null
}

async function enableFactor(connection: Connection, { user_id, pending }: SecondFactorRow, step: number, scratch: string): Promise<void> {
  await accept(connection, user_id, { secret: pending, pending: '', pending_expiry: '', last_step: step }, scratch)
  await updateUser(connection, user_id, { two_factor_auth: 1 })
}

const accept = (connection: Connection, userId: number, changes: Partial<SecondFactorRow>, scratch: string): Promise<void> =>
  updateSecondFactor(connection, userId, { ...changes, scratch_hash: hashScratch(scratch), failures: 0, failures_since: '' })

/** Seconds of a time step, and steps of drift that are borne in either direction (RFC 6238 section 5.2). */
const PERIOD = 30
const DRIFT = 1

/** Octets of a secret: 16 characters of base32, which every authenticator takes. */
const SECRET = 10

interface Totp {
  /** A new secret in base32. */
  makeSecret(): string
  /** The time step that a code of the secret is of, the present one or one beside it; null where it is of none of them. */
  stepOf(secret: string, code: string, now: number): number | null
}

/** Codes of six digits with SHA-1, which is what authenticators take unless told otherwise. */
async function loadTotp(): Promise<Totp> {
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
const makeScratch = (): string => Array.from(randomBytes(20), (octet) => ALPHABET[octet & 31]).join('')

/** What is stored of a scratch code. */
const hashScratch = (code: string): string => createHash('sha256').update(code.toUpperCase()).digest('hex')

/** `hash` is empty where there is none. */
const isScratch = (code: string, hash: string): boolean => hash !== '' && timingSafeEqual(Buffer.from(hashScratch(code)), Buffer.from(hash))
