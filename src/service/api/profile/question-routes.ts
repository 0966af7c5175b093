import ANSWERED from '../../../../schemas/service/security-answered.json' with { type: 'json' }
import ANSWERS from '../../../../schemas/service/security-answers.json' with { type: 'json' }
import QUESTIONS from '../../../../schemas/service/security-questions.json' with { type: 'json' }
import { findAnswers, replaceAnswers } from '../../store/user-secret-store.ts'
import { defineRoute } from '../route.ts'
import { type AnswersBody, readAnswers, SECURITY_QUESTIONS } from './security-questions.ts'

const list = defineRoute({
  method: 'GET',
  path: '/profile/security-questions',
  summary: 'Read the security questions, with what the user has answered',
  scope: 'account:read_only',
  needs: null,
  response: QUESTIONS,
  handle: async ({ actor }, { database, secrets }) => {
    const answers = await database.read((connection) => findAnswers(connection, secrets, actor.userId))
    return {
      security_questions: SECURITY_QUESTIONS.map((question, index) => ({
        id: index + 1,
        question,
        response: answers.get(index + 1) ?? null,
      })),
    }
  },
})

const answer = defineRoute<AnswersBody>({
  method: 'POST',
  path: '/profile/security-questions',
  summary: 'Answer three security questions; answers to others are forgotten',
  name: 'answerProfileSecurityQuestions',
  scope: 'account:read_write',
  needs: null,
  body: ANSWERS,
  response: ANSWERED,
  handle: async ({ actor, body }, { database, secrets }) => {
    const answers = readAnswers(body)
    await database.write((connection) => replaceAnswers(connection, secrets, actor.userId, answers))
    return {
      security_questions: [...answers].map(([id, response]) => ({
        question_id: id,
        response,
        security_question: SECURITY_QUESTIONS[id - 1],
      })),
    }
  },
})

export const QUESTION_ROUTES = [list, answer] as const
