/**
 * The second factor. An issued secret takes effect when it is confirmed with one of its codes. Every code works once, and so does the scratch code
 * that replaces one. The number of wrong codes per window is limited. Every decision locks the user's row, so that processes decide one after
 * another.
 *
 * It needs answers to three security questions.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import ANSWERS_RESPONSE from '../../../../schemas/service/security-answered.json' with { type: 'json' }
import ANSWERS from '../../../../schemas/service/security-answers.json' with { type: 'json' }
import QUESTIONS from '../../../../schemas/service/security-questions.json' with { type: 'json' }
import TFA_CONFIRM from '../../../../schemas/service/tfa-confirm.json' with { type: 'json' }
import TFA_SCRATCH from '../../../../schemas/service/tfa-scratch.json' with { type: 'json' }
import TFA_SECRET from '../../../../schemas/service/tfa-secret.json' with { type: 'json' }
import type { Secrets } from '../../secrets/secrets.ts'
import { lockUserRow, updateUser } from '../../store/account-store.ts'
import type { Connection } from '../../store/database.ts'
import type { SecondFactorRow } from '../../store/tables.ts'
import {
  contextOfSecondFactor,
  findAnswers,
  hasAnswers,
  lockSecondFactor,
  removeSecondFactor,
  replaceAnswers,
  savePendingSecret,
  updateSecondFactor,
} from '../../store/user-secret-store.ts'
import { formatTimestamp, isPending, millisecondsOf } from '../../time.ts'
import { RateLimited } from '../rate-limit.ts'
import { badRequest, type RequestError } from '../request-error.ts'
import type { Route } from '../route.ts'
import { USER_PROFILE } from './profile-routes.ts'

export const SECOND_FACTOR_ROUTES: readonly Route[] = [
  USER_PROFILE.action(
    'POST',
    '/profile/tfa-enable',
    'Create a secret for a second factor, to be confirmed before it expires',
    async ({ actor }, { database, secrets, clock }) => {
      const secret = (await loadTotp()).makeSecret()
      const expiry = await database.write((connection) => issueSecret(connection, secrets, secret, { userId: actor.userId, now: clock() }))
      return { secret, expiry }
    },
    { response: TFA_SECRET, errors: ['400'], name: 'createProfileSecondFactor' },
  ),
  USER_PROFILE.action<{ readonly tfa_code: string }>(
    'POST',
    '/profile/tfa-enable-confirm',
    'Enable the second factor by confirming its secret with a code',
    async ({ actor, body }, { database, secrets, clock }) => {
      const totp = await loadTotp()
      const scratch = makeScratch()
      // Authenticators show codes in groups.
      const code = body.tfa_code.replace(/\s+/g, '')
      const refusal = await database.write((connection) =>
        confirmSecret(connection, secrets, totp, { userId: actor.userId, now: clock(), code, scratch }),
      )
      if (refusal !== null) throw refusal
      return { scratch }
    },
    { body: TFA_CONFIRM, response: TFA_SCRATCH, name: 'confirmProfileSecondFactor' },
  ),
  USER_PROFILE.action(
    'POST',
    '/profile/tfa-disable',
    'Disable the second factor and delete its secret',
    ({ actor }, { database }) => database.write((connection) => removeSecondFactor(connection, actor.userId)),
    { name: 'disableProfileSecondFactor' },
  ),
]

/** Milliseconds for which a secret waits for its confirmation. */
const VALIDITY = 3_600_000

/** Maximum number of wrong codes per window. Then all codes are refused until the window ends. */
const MAX_FAILURES = 5

/** In milliseconds. */
const FAILURE_WINDOW = 900_000

/** A user and the current time, in milliseconds of the service's clock. */
interface UserMoment {
  readonly userId: number
  readonly now: number
}

/** Issues a secret; returns its expiry. An enabled factor stays in use until the secret is confirmed. Throws 400 if the security questions are not answered. */
async function issueSecret(connection: Connection, secrets: Secrets, secret: string, { userId, now }: UserMoment): Promise<string> {
  if (!(await hasAnswers(connection, userId))) {
    throw badRequest({ field: null, reason: 'Answer three security questions before you enable two-factor authentication.' })
  }
  const expiry = formatTimestamp(now + VALIDITY)
  await lockUserRow(connection, userId)
  await savePendingSecret(connection, userId, await secrets.seal(connection, secret, contextOfSecondFactor(userId)), expiry)
  return expiry
}

interface Confirmation extends UserMoment {
  readonly code: string
  /** The user's new scratch code. */
  readonly scratch: string
}

/**
 * Accepts a code of the pending secret and enables the second factor. Without a pending secret it accepts a code of the current one, or the scratch
 * code, and replaces the scratch code. Returns the error instead of throwing it, because a counted wrong code must be committed.
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
    return badRequest({ field: null, reason: 'There is no secret to confirm, or it has expired. Request a new one.' })
  const windowEnds = factor.failures_since === '' ? 0 : millisecondsOf(factor.failures_since) + FAILURE_WINDOW
  const failures = isPending(windowEnds, FAILURE_WINDOW, now) ? factor.failures : 0
  if (failures >= MAX_FAILURES) return new RateLimited({ limit: MAX_FAILURES, remaining: 0, reset: windowEnds / 1000 }, now)

  const step = totp.stepOf(secrets.open(sealed, contextOfSecondFactor(userId)), code, now)
  if (pending && step !== null) await enableFactor(connection, factor, step, scratch)
  else if (!pending && step !== null && step > factor.last_step) await accept(connection, userId, { last_step: step }, scratch)
  else if (!pending && isScratch(code, factor.scratch_hash)) await accept(connection, userId, {}, scratch)
  else {
    const since = failures === 0 ? formatTimestamp(now) : factor.failures_since
    await updateSecondFactor(connection, userId, { failures: failures + 1, failures_since: since })
    return badRequest({ field: 'tfa_code', reason: 'tfa_code is not valid' })
  }
  return null
}

async function enableFactor(connection: Connection, { user_id, pending }: SecondFactorRow, step: number, scratch: string): Promise<void> {
  await accept(connection, user_id, { secret: pending, pending: '', pending_expiry: '', last_step: step }, scratch)
  await updateUser(connection, user_id, { two_factor_auth: 1 })
}

const accept = (connection: Connection, userId: number, changes: Partial<SecondFactorRow>, scratch: string): Promise<void> =>
  updateSecondFactor(connection, userId, { ...changes, scratch_hash: hashScratch(scratch), failures: 0, failures_since: '' })

/** Seconds per time step, and tolerated steps of clock drift in either direction (RFC 6238 section 5.2). */
const PERIOD = 30
const DRIFT = 1

/** Octets of a secret: 160 bits, as RFC 4226 section 4 recommends, and 32 characters of base32. Some clients refuse less than 112 bits. */
const SECRET = 20

interface Totp {
  /** A new secret in base32. */
  makeSecret(): string
  /** The time step of a code, the current or an adjacent one; null if the code is wrong. */
  stepOf(secret: string, code: string, now: number): number | null
}

/** Six-digit codes with SHA-1, the default of authenticators. */
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

/** A random scratch code of 20 base32 characters: long enough that its hash needs no salt. */
const makeScratch = (): string => Array.from(randomBytes(20), (octet) => ALPHABET[octet & 31]).join('')

/** The stored form of a scratch code. */
const hashScratch = (code: string): string => createHash('sha256').update(code.toUpperCase()).digest('hex')

/** Whether a code is the scratch code with this hash; an empty hash means none. */
const isScratch = (code: string, hash: string): boolean => hash !== '' && timingSafeEqual(Buffer.from(hashScratch(code)), Buffer.from(hash))

/** The questions of the hosting service behind this API; the first has the id 1. */
const SECURITY_QUESTIONS: readonly string[] = [
  'What was the name of your first pet?',
  'What is the name of your oldest sibling?',
  'What was the first concert you attended?',
  'What was the make and model of your first car?',
  'In what city or town did your parents meet?',
  'What is the name of a college you applied to but did not attend?',
  'Where did you go on your most memorable school field trip?',
  'What is the name of the teacher who impacted you the most?',
  'Which city did you visit on your first airplane flight?',
  'On what street did your best friend in high school live?',
  'What is the name of your favorite city?',
  'What is your favorite artist of all time?',
  'What is the maiden name of your grandmother?',
  'What is the name of your first roommate?',
  'In what city or town was your first job?',
  'Who is your favorite author?',
  'What is the name of the hospital you were born in?',
  'What sports team do you love to see lose?',
  'On what street is your grocery store?',
]

/** The number of questions to answer together. */
const ANSWER_COUNT = 3

interface AnswersBody {
  readonly security_questions: readonly { readonly question_id: number; readonly response: string }[]
}

/** Returns the answers by question id, in the given order. Throws 400 unless they answer exactly three different questions. */
function readAnswers({ security_questions: given }: AnswersBody): ReadonlyMap<number, string> {
  const answers = new Map(given.map(({ question_id: id, response }) => [id, response]))
  if (given.length !== ANSWER_COUNT || answers.size !== ANSWER_COUNT) {
    throw badRequest({ field: 'security_questions', reason: `Exactly ${ANSWER_COUNT} different questions must be answered.` })
  }
  return answers
}

export const QUESTION_ROUTES: readonly Route[] = [
  USER_PROFILE.action(
    'GET',
    '/profile/security-questions',
    "List the security questions with the user's answers",
    async ({ actor }, { database, secrets }) => {
      const answers = await database.read((connection) => findAnswers(connection, secrets, actor.userId))
      const questions = SECURITY_QUESTIONS.map((question, index) => ({ id: index + 1, question, response: answers.get(index + 1) ?? null }))
      return { security_questions: questions }
    },
    { response: QUESTIONS },
  ),
  USER_PROFILE.action<AnswersBody>(
    'POST',
    '/profile/security-questions',
    'Answer three security questions; this replaces all earlier answers',
    async ({ actor, body }, { database, secrets }) => {
      const answers = readAnswers(body)
      await database.write((connection) => replaceAnswers(connection, secrets, actor.userId, answers))
      const answered = [...answers].map(([id, response]) => ({ question_id: id, response, security_question: SECURITY_QUESTIONS[id - 1] }))
      return { security_questions: answered }
    },
    { body: ANSWERS, response: ANSWERS_RESPONSE, name: 'answerProfileSecurityQuestions' },
  ),
]
