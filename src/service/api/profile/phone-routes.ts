/**
 * The operations on the user's phone number, which is verified with a code sent by SMS. A code belongs to one user and one number, and is valid for
 * ten minutes and for one use. Limits on wrong guesses and on messages per hour prevent guessing a code and flooding a stranger's phone. Every
 * operation locks the user's row, so concurrent requests, even in several processes, run one after another.
 */
import { randomInt, timingSafeEqual } from 'node:crypto'
import type { NumberType } from 'libphonenumber-js'
import PHONE_NUMBER from '../../../../schemas/service/phone-number.json' with { type: 'json' }
import PHONE_VERIFY from '../../../../schemas/service/phone-verify.json' with { type: 'json' }
import { counted } from '../../../base/english.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import { findUser, updateUser } from '../../store/account-store.ts'
import type { Connection } from '../../store/database.ts'
import type { PhoneCodeRow } from '../../store/tables.ts'
import { contextOfPhoneCode, lockPhoneCode, savePhoneCode } from '../../store/user-secret-store.ts'
import { formatTimestamp, isPending, millisecondsOf } from '../../time.ts'
import { RateLimited } from '../rate-limit.ts'
import { badRequest, RequestError } from '../request-error.ts'
import type { Route } from '../route.ts'
import { USER_PROFILE } from './profile-routes.ts'

/** Types of numbers that receive no messages, or only at a charge. */
const UNSUPPORTED_TYPES: readonly NumberType[] = ['PREMIUM_RATE', 'SHARED_COST', 'TOLL_FREE', 'UAN', 'PAGER', 'VOICEMAIL']

interface PhoneBody {
  readonly iso_code: string
  readonly phone_number: string
}

/**
 * Parses a number to E.164: `phone_number` in the national format of `iso_code`, or with its calling code. Throws 400 if the country or number is
 * not valid. The first call loads the numbering plans of all countries.
 */
export async function parsePhoneNumber({ iso_code, phone_number }: PhoneBody): Promise<string> {
  const { getCountryCallingCode, isSupportedCountry, parsePhoneNumberFromString } = await import('libphonenumber-js/max')
  const country = iso_code.toUpperCase()
  if (!isSupportedCountry(country)) throw badRequest({ field: 'iso_code', reason: 'iso_code is not valid' })
  // Only a number, not one inside other text, and without an extension, which cannot receive messages.
  const number = parsePhoneNumberFromString(phone_number, { defaultCountry: country, extract: false })
  if (!number?.isValid() || number.ext !== undefined || number.countryCallingCode !== getCountryCallingCode(country)) {
    throw badRequest({ field: 'phone_number', reason: 'phone_number is not valid' })
  }
  if (UNSUPPORTED_TYPES.includes(number.getType()))
    throw badRequest({ field: 'phone_number', reason: 'This number cannot receive messages.' })
  return number.number
}

/** A random code of six digits. */
const makePhoneCode = (): string => String(randomInt(1_000_000)).padStart(6, '0')

export const PHONE_ROUTES: readonly Route[] = [
  USER_PROFILE.action<PhoneBody>(
    'POST',
    '/profile/phone-number',
    'Send a verification code by SMS; the same code while it is valid',
    async ({ actor, body }, { database, secrets, clock, sms }) => {
      const to = await parsePhoneNumber(body)
      const now = clock()
      const sent: SentCode = await database.write((connection) => prepareCode(connection, secrets, { userId: actor.userId, to, now }))
      try {
        await sms({ to, text: `Your Zonewright verification code is ${sent.code}. It is valid for ${minutes(sent.expires - now)}.` })
      } catch {
        // The sink has logged the cause.
        throw new RequestError(502, [{ field: null, reason: 'The message could not be sent. Repeat the request to send it again.' }])
      }
    },
    { body: PHONE_NUMBER, errors: ['502'], name: 'sendProfilePhoneNumberCode' },
  ),
  USER_PROFILE.action<{ readonly otp_code: string }>(
    'POST',
    '/profile/phone-number/verify',
    'Verify the number that a code was sent to',
    async ({ actor, body }, { database, secrets, clock }) => {
      const code = body.otp_code.trim()
      const refusal = await database.write((connection) => verifyPhone(connection, secrets, { userId: actor.userId, code, now: clock() }))
      if (refusal !== null) throw refusal
    },
    { body: PHONE_VERIFY },
  ),
  USER_PROFILE.action('DELETE', '/profile/phone-number', 'Delete the verified phone number', ({ actor }, { database, clock }) =>
    database.write((connection) => deletePhone(connection, actor.userId, clock())),
  ),
]

const minutes = (milliseconds: number): string => counted(Math.max(1, Math.floor(milliseconds / 60_000)), 'minute')

/** Milliseconds until a code expires. */
const CODE_VALIDITY = 600_000

/** Wrong guesses after which a code becomes invalid. */
const MAX_GUESSES = 5

/** Maximum number of messages to one user per window. */
const MAX_MESSAGES = 10

/** In milliseconds. */
const MESSAGE_WINDOW = 3_600_000

interface SentCode {
  readonly code: string
  /** Milliseconds of the service's clock. */
  readonly expires: number
}

interface CodeRequest {
  readonly userId: number
  /** E.164. */
  readonly to: string
  readonly now: number
}

/** Returns the code to send: the current one while it is valid, otherwise a new one. Throws 400 if a number is already verified, 429 after too many messages. */
async function prepareCode(connection: Connection, secrets: Secrets, { userId, to, now }: CodeRequest): Promise<SentCode> {
  const stored = await lockPhoneCode(connection, userId)
  const { verified_phone_number } = await findUser(connection, userId)
  if (verified_phone_number !== '') {
    throw badRequest({ field: 'phone_number', reason: 'A phone number is already verified. Delete it before you verify another.' })
  }
  // The window begins with the first message.
  const isWindowOpen = stored !== null && isPending(millisecondsOf(stored.sent_since) + MESSAGE_WINDOW, MESSAGE_WINDOW, now)
  const sent = isWindowOpen ? stored.sent : 0
  const since = isWindowOpen ? stored.sent_since : formatTimestamp(now)
  if (sent >= MAX_MESSAGES) {
    throw new RateLimited({ limit: MAX_MESSAGES, remaining: 0, reset: (millisecondsOf(since) + MESSAGE_WINDOW) / 1000 }, now)
  }
  const canResend = isUsable(stored, now) && stored.phone_number === to
  const code = canResend ? secrets.open(stored.code, contextOfPhoneCode(userId)) : makePhoneCode()
  const expiry = canResend ? stored.expiry : formatTimestamp(now + CODE_VALIDITY)
  await savePhoneCode(connection, {
    user_id: userId,
    phone_number: to,
    code: canResend ? stored.code : await secrets.seal(connection, code, contextOfPhoneCode(userId)),
    expiry,
    failures: canResend ? stored.failures : 0,
    sent: sent + 1,
    sent_since: since,
  })
  return { code, expires: millisecondsOf(expiry) }
}

interface Verification {
  readonly userId: number
  readonly code: string
  readonly now: number
}

/**
 * Verifies the number and invalidates the code. Returns the error instead of throwing it, because a counted wrong guess must be
 * committed.
 */
async function verifyPhone(connection: Connection, secrets: Secrets, { userId, code, now }: Verification): Promise<RequestError | null> {
  const stored = await lockPhoneCode(connection, userId)
  if (!isUsable(stored, now)) {
    return badRequest({ field: 'otp_code', reason: 'There is no valid code. Request a new one.' })
  }
  if (!equalsInConstantTime(code, secrets.open(stored.code, contextOfPhoneCode(userId)))) {
    const failures = stored.failures + 1
    await savePhoneCode(connection, { ...stored, failures, code: failures < MAX_GUESSES ? stored.code : '' })
    return badRequest({ field: 'otp_code', reason: 'otp_code is not valid' })
  }
  await savePhoneCode(connection, { ...stored, code: '' })
  await updateUser(connection, userId, { verified_phone_number: stored.phone_number })
  return null
}

/** Deletes the verified number and a code that was sent. */
async function deletePhone(connection: Connection, userId: number, now: number): Promise<void> {
  const stored = await lockPhoneCode(connection, userId)
  if (stored !== null) await savePhoneCode(connection, { ...stored, phone_number: '', code: '', expiry: formatTimestamp(now) })
  await updateUser(connection, userId, { verified_phone_number: '' })
}

/** Whether a stored code can still be used: it is neither used up nor expired. */
const isUsable = (stored: PhoneCodeRow | null, now: number): stored is PhoneCodeRow =>
  stored !== null && stored.code !== '' && isPending(millisecondsOf(stored.expiry), CODE_VALIDITY, now)

const equalsInConstantTime = (given: string, expected: string): boolean =>
  Buffer.byteLength(given) === Buffer.byteLength(expected) && timingSafeEqual(Buffer.from(given), Buffer.from(expected))
