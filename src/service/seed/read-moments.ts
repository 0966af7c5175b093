import { readMoment } from '../api/moment.ts'
import type { Tell } from './places.ts'

/** Fields of an entry that are moments, as the service keeps them; those that are not there stay away. */
export function readMoments<Field extends string>(
  entry: Readonly<Partial<Record<Field, string | null>>>,
  fields: readonly Field[],
  tell: Tell,
): Partial<Record<Field, string>> {
  const moments: Partial<Record<Field, string>> = {}
  for (const field of fields) {
    const text = entry[field]
    if (text === undefined || text === null) continue
    const moment = readMoment(text)
    if (moment === null) tell([field], 'this is no moment such as 2030-01-31T09:00:00')
    else moments[field] = moment
  }
  return moments
}
