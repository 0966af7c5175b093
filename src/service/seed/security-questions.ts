import SECURITY_QUESTION from '../../../schemas/service/seed-security-questions.json' with { type: 'json' }
import { insertAnswer } from '../store/user-secret-store.ts'
import { defineSeedPart } from './seed-part.ts'

interface Entry {
  readonly question_id: number
  readonly response: string
}

/** The security questions that a user has answered. */
export const SECURITY_QUESTIONS = defineSeedPart<Entry, Entry>({
  key: 'security_questions',
  schema: SECURITY_QUESTION,
  unique: { owner: ['question_id'] },
  read: (entry) => entry,
  make: (connection, { userId }, { question_id, response }, _now, secrets) =>
    insertAnswer(connection, secrets, userId, question_id, response),
})
