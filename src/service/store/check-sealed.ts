import type { Secrets } from '../secrets.ts'
import type { Database } from './database.ts'
import { contextOfPhoneCode } from './phone-store.ts'
import { contextOfSecondFactor } from './second-factor-store.ts'
import { contextOfAnswer } from './security-answer-store.ts'

/** Throws a `RangeError` where what is stored has been sealed with another key: better at the start than when somebody asks for it. */
export async function checkSealed(database: Database, secrets: Secrets): Promise<void> {
  const [answer, factor, pending, phone] = await database.read(async (connection) => [
    await connection.selectFrom('security_answers').selectAll().where('response', 'like', 'gcm:%').limit(1).executeTakeFirst(),
    await connection.selectFrom('second_factors').selectAll().where('secret', 'like', 'gcm:%').limit(1).executeTakeFirst(),
    await connection.selectFrom('second_factors').selectAll().where('pending', 'like', 'gcm:%').limit(1).executeTakeFirst(),
    await connection.selectFrom('phone_codes').selectAll().where('code', 'like', 'gcm:%').limit(1).executeTakeFirst(),
  ])
  try {
    if (answer) secrets.open(answer.response, contextOfAnswer(answer.user_id, answer.question_id))
    if (factor) secrets.open(factor.secret, contextOfSecondFactor(factor.user_id))
    if (pending) secrets.open(pending.pending, contextOfSecondFactor(pending.user_id))
    if (phone) secrets.open(phone.code, contextOfPhoneCode(phone.user_id))
  } catch (error) {
    throw new RangeError('secrets in the database are sealed with another key than ZONEWRIGHT_SECRETS_KEY', { cause: error })
  }
}
