/** The operations on the user's answers to security questions. */
import ANSWERS_RESPONSE from '../../../../schemas/service/security-answered.json' with { type: 'json' }
import ANSWERS from '../../../../schemas/service/security-answers.json' with { type: 'json' }
import QUESTIONS from '../../../../schemas/service/security-questions.json' with { type: 'json' }
import { findAnswers, replaceAnswers } from '../../store/user-secret-store.ts'
import { badRequest } from '../request-error.ts'
import type { Route } from '../route.ts'
import { USER_PROFILE } from './profile-routes.ts'

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
