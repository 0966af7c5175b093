/**
 * Which zones a dynamic entry of octoDNS's configuration takes (its manager.py): by a glob as Python's fnmatch understands it, or by a regular
 * expression that Python searches for. Names are as the source lists them, with the final dot.
 */
export type ZonePattern = (listed: string) => boolean

type Step = 'any' | ((character: string) => boolean)

/** A glob: `*` is any run of characters, `?` one, `[…]` and `[!…]` one of a set. Upper and lower case differ. */
export function globPattern(glob: string): ZonePattern {
  const steps = stepsOf([...glob])
  return (listed) => matches(steps, [...listed])
}

function stepsOf(characters: readonly string[]): Step[] {
  const steps: Step[] = []
  for (let i = 0; i < characters.length; i += 1) {
    const character = characters[i] as string
    // A bracket that begins the set is one of it.
    const end = character === '[' ? characters.indexOf(']', i + (characters[i + 1] === '!' ? 3 : 2)) : -1
    if (character === '*') steps.push('any')
    else if (character === '?') steps.push(() => true)
    else if (end === -1) steps.push((other) => other === character)
    else {
      steps.push(oneOf(characters.slice(i + 1, end)))
      i = end
    }
  }
  return steps
}

function oneOf(set: readonly string[]): (character: string) => boolean {
  const isOther = set[0] === '!'
  const ranges: [string, string][] = []
  for (let i = isOther ? 1 : 0; i < set.length; i += 1) {
    const from = set[i] as string
    const isRange = set[i + 1] === '-' && i + 2 < set.length
    ranges.push([from, isRange ? (set[i + 2] as string) : from])
    if (isRange) i += 2
  }
  return (character) => ranges.some(([from, to]) => from <= character && character <= to) !== isOther
}

/** Steps back to the last `*` only, so that the time is bounded by the product of both lengths. */
function matches(steps: readonly Step[], text: readonly string[]): boolean {
  let [step, at, star, from] = [0, 0, -1, 0]
  while (at < text.length) {
    const one = steps[step]
    if (one === 'any') [star, from, step] = [step, at, step + 1]
    else if (one?.(text[at] as string)) [step, at] = [step + 1, at + 1]
    else if (star === -1) return false
    else [step, at, from] = [star + 1, from + 1, from + 1]
  }
  return steps.slice(step).every((one) => one === 'any')
}

/** What means the same in Python and here: no look-around, no references, no flags, and groups that are not repeated. */
const SAME = /^\^?(?:[\w.-]|\\[.\-dw]|\[\^?[\w.-]+\]|(?<!^|[*+?(|^])[*+?](?![*+?])|\((?!\?)|\(\?:|\)(?![*+?{])|\||\$$|\$(?=[)|]))*$/

/** Repetitions in one expression: more could take long over a long name. */
const MAX_REPETITIONS = 3

/** A regular expression; null for one that could mean something else here, or could take long. */
export function regexPattern(text: string): ZonePattern | null {
  if (text.length > 1000 || !SAME.test(text) || (text.match(/[*+]/g) ?? []).length > MAX_REPETITIONS) return null
  try {
    const expression = new RegExp(text)
    return (listed) => expression.test(listed)
  } catch {
    return null
  }
}
