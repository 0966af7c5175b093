/**
 * Codes by SMS, each of one user and one number. A code is valid for ten minutes of the service's clock and for one use. Few wrong
 * guesses make it void, and few messages are sent in an hour, so that neither can a code be guessed nor a stranger's telephone be
 * flooded. What is decided here is decided with the user held, so that of several processes one decides at a time.
 */
import { timingSafeEqual } from 'node:crypto'
import { clockText } from '../../clock-text.ts'
import type { Secrets } from '../../secrets.ts'
import { findUser, updateUser } from '../../store/account-store.ts'
import type { Connection } from '../../store/database.ts'
import { contextOfPhoneCode, lockPhoneCode, savePhoneCode } from '../../store/user-secret-store.ts'
import { RateLimited } from '../rate-limit.ts'
import { invalid, type RequestError } from '../request-error.ts'
import { makePhoneCode } from './phone-number.ts'
import { isToCome, momentOf } from './time-limit.ts'

/** Milliseconds for which a code is valid. */
const VALIDITY = 600_000

/** Wrong guesses after which a code is void. */
const MOST_GUESSES = 5

/** Messages to one user within so many milliseconds. */
const MOST_MESSAGES = 10
const MESSAGE_WINDOW = 3_600_000

export interface SentCode {
  readonly code: string
  /** Milliseconds of the service's clock. */
  readonly expires: number
}

interface Sending {
  readonly userId: number
  /** E.164. */
  readonly to: string
  readonly now: number
}

/** The code to send: the one that this number has already, while it is valid. Throws 400 beside a verified number, 429 after too many. */
export async function sendingOf(connection: Connection, secrets: Secrets, { userId, to, now }: Sending): Promise<SentCode> {
  const last = await lockPhoneCode(connection, userId)
  const { verified_phone_number } = await findUser(connection, userId)
  if (verified_phone_number !== '') {
    throw invalid({ field: 'phone_number', reason: 'A phone number is verified already. Delete it before you verify another.' })
  }
  const counting = last !== null && isToCome(momentOf(last.sent_since) + MESSAGE_WINDOW, MESSAGE_WINDOW, now)
  const sent = counting ? last.sent : 0
  const since = counting ? last.sent_since : clockText(now)
  if (sent >= MOST_MESSAGES) {
    throw new RateLimited({ limit: MOST_MESSAGES, remaining: 0, reset: (momentOf(since) + MESSAGE_WINDOW) / 1000 }, now)
  }
  const usable = last !== null && last.code !== '' && last.phone_number === to && isValid(last, now)
  const code = usable ? secrets.open(last.code, contextOfPhoneCode(userId)) : makePhoneCode()
  const expiry = usable ? last.expiry : clockText(now + VALIDITY)
  await savePhoneCode(connection, {
    user_id: userId,
    phone_number: to,
    code: usable ? last.code : await secrets.seal(connection, code, contextOfPhoneCode(userId)),
    expiry,
    failures: usable ? last.failures : 0,
    sent: sent + 1,
    sent_since: since,
  })
  return { code, expires: momentOf(expiry) }
}

interface Verification {
  readonly userId: number
  readonly code: string
  readonly now: number
}

/** Makes the number the user's verified one, and the code void. Returns why not: a wrong guess counts, and must be committed. */
export async function verifyPhone(
  connection: Connection,
  secrets: Secrets,
  { userId, code, now }: Verification,
): Promise<RequestError | null> {
  const last = await lockPhoneCode(connection, userId)
  if (last === null || last.code === '' || !isValid(last, now)) {
    return invalid({ field: 'otp_code', reason: 'No code is valid at present. Have one sent.' })
  }
  if (!isSame(code, secrets.open(last.code, contextOfPhoneCode(userId)))) {
    const failures = last.failures + 1
    await savePhoneCode(connection, { ...last, failures, code: failures < MOST_GUESSES ? last.code : '' })
    return invalid({ field: 'otp_code', reason: 'otp_code is not valid' })
  }
  await savePhoneCode(connection, { ...last, code: '' })
  await updateUser(connection, userId, { verified_phone_number: last.phone_number })
  return null
}

/** Forgets the verified number, and a code that was sent. */
export async function forgetPhone(connection: Connection, userId: number, now: number): Promise<void> {
  const last = await lockPhoneCode(connection, userId)
  if (last !== null) await savePhoneCode(connection, { ...last, phone_number: '', code: '', expiry: clockText(now) })
  await updateUser(connection, userId, { verified_phone_number: '' })
}

const isValid = ({ expiry }: { readonly expiry: string }, now: number): boolean => isToCome(momentOf(expiry), VALIDITY, now)

const isSame = (given: string, expected: string): boolean =>
  Buffer.byteLength(given) === Buffer.byteLength(expected) && timingSafeEqual(Buffer.from(given), Buffer.from(expected))
