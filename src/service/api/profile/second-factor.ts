/**
 * The second factor. A secret is issued, and counts once it is confirmed with a code of it; a code is good once, and so is the scratch
 * code that stands in for one. Few wrong codes are let through in a while. What is decided here is decided with the user's row held, so
 * that of several processes one decides at a time.
 */
import { clockText } from '../../clock-text.ts'
import type { Secrets } from '../../secrets.ts'
import { lockUserRow, updateUser } from '../../store/account-store.ts'
import type { Connection } from '../../store/database.ts'
import type { SecondFactorRow } from '../../store/tables/profile.ts'
import {
  contextOfSecondFactor,
  hasAnswers,
  lockSecondFactor,
  savePendingSecret,
  updateSecondFactor,
} from '../../store/user-secret-store.ts'
import { RateLimited } from '../rate-limit.ts'
import { invalid, type RequestError } from '../request-error.ts'
import { isToCome, momentOf } from './time-limit.ts'
import { hashScratch, isScratch, type Totp } from './totp.ts'

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
export async function issueSecret(connection: Connection, secrets: Secrets, secret: string, { userId, now }: Moment): Promise<string> {
  if (!(await hasAnswers(connection, userId))) {
    throw invalid({ field: null, reason: 'Answer three security questions before you enable two-factor authentication.' })
  }
  const expiry = clockText(now + VALIDITY)
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
export async function confirmSecret(
  connection: Connection,
  secrets: Secrets,
  totp: Totp,
  { userId, now, code, scratch }: Confirmation,
): Promise<RequestError | null> {
  const factor = await lockSecondFactor(connection, userId)
  const pending = factor !== null && factor.pending !== '' && isToCome(momentOf(factor.pending_expiry), VALIDITY, now)
  const sealed = pending ? factor.pending : (factor?.secret ?? '')
  if (factor === null || sealed === '')
    return invalid({ field: null, reason: 'There is no secret to confirm, or it has expired. Ask for one.' })
  const windowEnds = factor.failures_since === '' ? 0 : momentOf(factor.failures_since) + FAILURE_WINDOW
  const failures = isToCome(windowEnds, FAILURE_WINDOW, now) ? factor.failures : 0
  if (failures >= MOST_FAILURES) return new RateLimited({ limit: MOST_FAILURES, remaining: 0, reset: windowEnds / 1000 }, now)

  const step = totp.stepOf(secrets.open(sealed, contextOfSecondFactor(userId)), code, now)
  if (pending && step !== null) await enable(connection, factor, step, scratch)
  else if (!pending && step !== null && step > factor.last_step) await accept(connection, userId, { last_step: step }, scratch)
  else if (!pending && isScratch(code, factor.scratch_hash)) await accept(connection, userId, {}, scratch)
  else {
    const since = failures === 0 ? clockText(now) : factor.failures_since
    await updateSecondFactor(connection, userId, { failures: failures + 1, failures_since: since })
    return invalid({ field: 'tfa_code', reason: 'tfa_code is not valid' })
  }
  return null
}

async function enable(connection: Connection, { user_id, pending }: SecondFactorRow, step: number, scratch: string): Promise<void> {
  await accept(connection, user_id, { secret: pending, pending: '', pending_expiry: '', last_step: step }, scratch)
  await updateUser(connection, user_id, { two_factor_auth: 1 })
}

const accept = (connection: Connection, userId: number, changes: Partial<SecondFactorRow>, scratch: string): Promise<void> =>
  updateSecondFactor(connection, userId, { ...changes, scratch_hash: hashScratch(scratch), failures: 0, failures_since: '' })
