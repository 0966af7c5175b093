import { invalid } from '../request-error.ts'

/** The questions there are, the first of which has the number 1: those of the service that the interface comes from. */
export const SECURITY_QUESTIONS: readonly string[] = [
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

/** Questions that are answered at a time. */
const ANSWERED = 3

export interface AnswersBody {
  readonly security_questions: readonly { readonly question_id: number; readonly response: string }[]
}

/** The answers by the numbers of their questions, in the order given. Throws 400 unless they are to so many different questions. */
export function readAnswers({ security_questions: given }: AnswersBody): ReadonlyMap<number, string> {
  const answers = new Map(given.map(({ question_id: id, response }) => [id, response]))
  if (given.length !== ANSWERED || answers.size !== ANSWERED) {
    throw invalid({ field: 'security_questions', reason: `Exactly ${ANSWERED} different questions must be answered.` })
  }
  return answers
}
