import { join } from 'node:path'
import type { Client, Store } from './harness.ts'

/** The file with the key that encrypts the answers. */
export const keyFile = (store: Store): string => join(store.dataFolder as string, 'secrets.key')

/** The body of a request that answers the first questions. */
export const answered = (...responses: readonly string[]) => ({
  security_questions: responses.map((response, index) => ({ question_id: index + 1, response })),
})

export const responsesOf = async (client: Client): Promise<string[]> =>
  (await client.ok('GET', '/profile/security-questions')).security_questions.flatMap(
    ({ response }: { response: string | null }) => response ?? [],
  )
