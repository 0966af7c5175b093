/** The encrypted data of users: second factors, phone codes and answers to security questions. */
import type { Updateable } from 'kysely'
import type { Secrets } from '../secrets/secrets.ts'
import { lockUserRow } from './account-store.ts'
import type { Connection } from './database.ts'
import type { PhoneCodeRow, SecondFactorRow, SecondFactorsTable } from './tables.ts'

/** The encryption context of a user's second factor. */
export const contextOfSecondFactor = (userId: number): string => `second factor ${userId}`

/** The user's second factor, with the user locked until the transaction ends; null if there never was one. */
export async function lockSecondFactor(connection: Connection, userId: number): Promise<SecondFactorRow | null> {
  await lockUserRow(connection, userId)
  return (await connection.selectFrom('second_factors').selectAll().where('user_id', '=', userId).executeTakeFirst()) ?? null
}

/** Stores a secret until the user confirms it, replacing another unconfirmed one. Keeps the confirmed secret and the failure count. The user must be locked. */
export async function savePendingSecret(connection: Connection, userId: number, sealed: string, expiry: string): Promise<void> {
  const pending = { pending: sealed, pending_expiry: expiry }
  await connection
    .insertInto('second_factors')
    .values({ user_id: userId, ...pending })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(pending))
    .execute()
}

export async function updateSecondFactor(connection: Connection, userId: number, changes: Updateable<SecondFactorsTable>): Promise<void> {
  await connection.updateTable('second_factors').set(changes).where('user_id', '=', userId).execute()
}

/** Disables the second factor and deletes its secrets. Keeps the failure count. */
export async function removeSecondFactor(connection: Connection, userId: number): Promise<void> {
  await connection.updateTable('users').set({ two_factor_auth: 0 }).where('id', '=', userId).execute()
  await updateSecondFactor(connection, userId, { secret: '', pending: '', pending_expiry: '', last_step: 0, scratch_hash: '' })
}

/** Deletes secrets that were not confirmed in time. */
export async function deleteExpiredPendingSecrets(connection: Connection, now: string): Promise<void> {
  await connection
    .updateTable('second_factors')
    .set({ pending: '', pending_expiry: '' })
    .where('pending', '!=', '')
    .where('pending_expiry', '<=', now)
    .execute()
}

/** The encryption context of a user's phone code. */
export const contextOfPhoneCode = (userId: number): string => `phone ${userId}`

/** The last code sent to a user, with the user locked until the transaction ends; null if there is none. */
export async function lockPhoneCode(connection: Connection, userId: number): Promise<PhoneCodeRow | null> {
  await lockUserRow(connection, userId)
  return (await connection.selectFrom('phone_codes').selectAll().where('user_id', '=', userId).executeTakeFirst()) ?? null
}

export async function savePhoneCode(connection: Connection, { user_id, ...code }: PhoneCodeRow): Promise<void> {
  await connection
    .insertInto('phone_codes')
    .values({ user_id, ...code })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(code))
    .execute()
}

/** Deletes expired codes whose messages no longer count for the rate limit. */
export async function deleteExpiredPhoneCodes(connection: Connection, now: string, sentBefore: string): Promise<void> {
  await connection.deleteFrom('phone_codes').where('expiry', '<=', now).where('sent_since', '<=', sentBefore).execute()
}

/** A user's answers by question id. */
export async function findAnswers(connection: Connection, secrets: Secrets, userId: number): Promise<ReadonlyMap<number, string>> {
  const rows = await connection.selectFrom('security_answers').selectAll().where('user_id', '=', userId).orderBy('question_id').execute()
  return new Map(rows.map(({ question_id: id, response }) => [id, secrets.open(response, contextOfAnswer(userId, id))]))
}

export async function hasAnswers(connection: Connection, userId: number): Promise<boolean> {
  const row = await connection.selectFrom('security_answers').select('user_id').where('user_id', '=', userId).limit(1).executeTakeFirst()
  return row !== undefined
}

/** Replaces all answers of a user. */
export async function replaceAnswers(
  connection: Connection,
  secrets: Secrets,
  userId: number,
  answers: ReadonlyMap<number, string>,
): Promise<void> {
  await lockUserRow(connection, userId)
  await connection.deleteFrom('security_answers').where('user_id', '=', userId).execute()
  for (const [id, response] of answers) await insertAnswer(connection, secrets, userId, id, response)
}

/** Adds an answer. */
export async function insertAnswer(
  connection: Connection,
  secrets: Secrets,
  userId: number,
  questionId: number,
  response: string,
): Promise<void> {
  const sealed = await secrets.seal(connection, response, contextOfAnswer(userId, questionId))
  await connection.insertInto('security_answers').values({ user_id: userId, question_id: questionId, response: sealed }).execute()
}

/** The encryption context of an answer. */
export const contextOfAnswer = (userId: number, questionId: number): string => `answer ${userId} ${questionId}`
