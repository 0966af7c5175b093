import { invalid } from '../request-error.ts'

/** Characters of all preferences together, written as JSON without white space. */
export const MAX_PREFERENCES = 65_535

/** Levels of objects and lists: what is kept must be written and read again without end of the stack. */
const MAX_DEPTH = 100

/** Preferences as they are kept. Throws 400 where they are too long or too deep, or hold a number that JSON cannot write again. */
export function preferencesText(preferences: object): string {
  checkValues(preferences)
  const text = JSON.stringify(preferences)
  if (charactersOf(text) > MAX_PREFERENCES) throw refused(`Preferences can have at most ${MAX_PREFERENCES} characters`)
  return text
}

/** Characters of Unicode, of which some are two units of a string. */
function charactersOf(text: string): number {
  let characters = 0
  for (const _ of text) characters += 1
  return characters
}

function checkValues(preferences: object): void {
  let level: unknown[] = [preferences]
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) throw refused(`Preferences can be nested at most ${MAX_DEPTH} levels deep`)
    const next: unknown[] = []
    for (const value of level) {
      for (const inner of Object.values(value as object)) {
        if (typeof inner === 'object' && inner !== null) next.push(inner)
        else if (typeof inner === 'number' && !Number.isFinite(inner)) throw refused('Preferences hold a number that is too large')
      }
    }
    level = next
  }
}

const refused = (reason: string) => invalid({ field: null, reason })
