import type { Secrets } from '../secrets.ts'
import type { Connection } from './database.ts'
import { lockUserRow } from './lock-rows.ts'

/** What a user answered, by the numbers of the questions. */
export async function findAnswers(connection: Connection, secrets: Secrets, userId: number): Promise<ReadonlyMap<number, string>> {
  const rows = await connection.selectFrom('security_answers').selectAll().where('user_id', '=', userId).orderBy('question_id').execute()
  return new Map(rows.map(({ question_id: id, response }) => [id, secrets.open(response, contextOfAnswer(userId, id))]))
}

export async function hasAnswers(connection: Connection, userId: number): Promise<boolean> {
  const row = await connection.selectFrom('security_answers').select('user_id').where('user_id', '=', userId).limit(1).executeTakeFirst()
  return row !== undefined
}

/** Keeps these answers, and forgets those to all other questions. */
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

/** Keeps an answer beside the others. */
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

/** What an answer is sealed for. */
export const contextOfAnswer = (userId: number, questionId: number): string => `answer ${userId} ${questionId}`
