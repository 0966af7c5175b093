/**
 * Which zones a dynamic entry of octoDNS's configuration takes (its manager.py): by a glob as Python's fnmatch understands it, or by a regular
 * expression that Python searches for. Names are as the source lists them, with the final dot.
 */
import { type CharacterTest, createLinearPattern, type OnStep } from '../../dns/linear-pattern.ts'

export type ZonePattern = (listed: string) => boolean

/** A glob: `*` is any run of characters, `?` one, `[…]` and `[!…]` one of a set. Upper and lower case differ. */
export function globPattern(glob: string, onStep?: OnStep): ZonePattern {
  const characters = [...glob]
  const pattern = createLinearPattern(onStep)
  const lastBracket = characters.lastIndexOf(']')
  for (let i = 0; i < characters.length; i += 1) {
    const character = characters[i] as string
    // A bracket that begins the set is one of it.
    const end = character === '[' && i < lastBracket ? characters.indexOf(']', i + (characters[i + 1] === '!' ? 3 : 2)) : -1
    if (character === '*') pattern.takeAny(() => true)
    else if (character === '?') pattern.take(() => true)
    else if (end === -1) pattern.take((other) => other === character)
    else {
      const isOther = characters[i + 1] === '!'
      pattern.take(oneOf(characters.slice(i + (isOther ? 2 : 1), end), isOther))
      i = end
    }
  }
  return pattern.matches
}

function oneOf(set: readonly string[], isOther: boolean): CharacterTest {
  const ranges: [string, string][] = []
  for (let i = 0; i < set.length; i += 1) {
    const from = set[i] as string
    const isRange = set[i + 1] === '-' && i + 2 < set.length
    ranges.push([from, isRange ? (set[i + 2] as string) : from])
    if (isRange) i += 2
  }
  return (character) => ranges.some(([from, to]) => from <= character && character <= to) !== isOther
}

/** What means the same in Python and here: no look-around, no references, no flags, and groups that are not repeated. */
const SAME = /^\^?(?:[\w.-]|\\[.\-dw]|\[\^?[\w.-]+\]|(?<!^|[*+?(|:^])[*+?](?![*+?])|\((?!\?)|\(\?:|\)(?![*+?{])|\||\$$|\$(?=[)|]))*$/

/** A piece of such an expression: a character or set with what repeats it, a group's beginning or end, an alternative, an end of the text. */
const PIECE = /(\\.|\[\^?[^\]]+\]|[\w.-])([*+?]?)|\((?:\?:)?|[)|$]/g

/** A regular expression; null for one that could mean something else here. */
export function regexPattern(text: string, onStep?: OnStep): ZonePattern | null {
  if (text.length > 1000 || !SAME.test(text)) return null
  const pattern = createLinearPattern(onStep)
  const anything = (): void => pattern.takeAny(() => true)
  const isAnchored = text.startsWith('^')
  let depth = 0
  pattern.openChoice()
  const begin = (): void => {
    // The anchor belongs to the first alternative alone.
    if (!isAnchored || begun) anything()
    begun = true
  }
  let begun = false
  begin()
  for (const [piece, one, times] of text.slice(isAnchored ? 1 : 0).matchAll(PIECE)) {
    if (one !== undefined) {
      const test = characterTest(one)
      if (test === null) return null
      if (times === '?') pattern.optional(() => pattern.take(test))
      else if (times !== '*') pattern.take(test)
      if (times === '*' || times === '+') pattern.takeAny(test)
    } else if (piece.startsWith('(')) {
      depth += 1
      pattern.openChoice()
    } else if (piece === ')') {
      depth -= 1
      if (depth < 0) return null
      pattern.closeChoice()
    } else if (piece === '$') pattern.check((next) => next === '')
    else {
      if (depth === 0) anything()
      pattern.nextChoice()
      if (depth === 0) begin()
    }
  }
  if (depth > 0) return null
  anything()
  pattern.closeChoice()
  return pattern.matches
}

/** What a character, an escape or a set matches; null for a range that is the wrong way round. */
function characterTest(text: string): CharacterTest | null {
  if (text === '.') return () => true
  if (text === '\\d') return (character) => /\d/.test(character)
  if (text === '\\w') return (character) => /\w/.test(character)
  if (!text.startsWith('[')) return (character) => character === text.at(-1)
  const isOther = text[1] === '^'
  const set = [...text.slice(isOther ? 2 : 1, -1)]
  for (let i = 0; i + 2 < set.length; i += 1) {
    if (set[i + 1] !== '-') continue
    if ((set[i] as string) > (set[i + 2] as string)) return null
    i += 2
  }
  return oneOf(set, isOther)
}

/**
 * The patterns of octoDNS's name filters (its processor/filter.py): a name relative to the zone as it stands, or `/EXPRESSION/`, a regular expression
 * of Python's that is searched for.
 */
/** A name that is compared as it stands, and that no glob reads otherwise. */
const PLAIN_NAME = /^[a-z0-9_.-]*$/

/** Literal characters, escaped ones, and runs of any. */
const SIMPLE_EXPRESSION = /^\^?(?:[a-z0-9_-]|\\[.-]|\.\*)*\$?$/

/** The pattern as a glob of ours that matches the same names; null where there is none. */
export function nameGlobOf(pattern: string): string | null {
  const expression = expressionOf(pattern)
  if (expression === null) return PLAIN_NAME.test(pattern) ? pattern : null
  if (!SIMPLE_EXPRESSION.test(expression)) return null
  const [, start = '', body = '', end = ''] = /^(\^?)(.*?)(\$?)$/.exec(expression) ?? []
  const glob = body.replace(/\\(.)|\.\*/g, (_, literal: string | undefined) => literal ?? '*')
  return `${start === '' ? '*' : ''}${glob}${end === '' ? '*' : ''}`.replace(/\*+/g, '*')
}

/** A test for the names that any of the patterns matches; null where one means perhaps something else here. */
export function nameTestOf(patterns: readonly string[]): ((name: string) => boolean) | null {
  const exact = new Set<string>()
  const expressions: ((name: string) => boolean)[] = []
  for (const pattern of patterns) {
    const expression = expressionOf(pattern)
    if (expression === null) exact.add(pattern)
    else {
      const test = regexPattern(expression)
      if (test === null) return null
      expressions.push(test)
    }
  }
  return (name) => exact.has(name) || expressions.some((test) => test(name))
}

/** What stands between the slashes; octoDNS looks at the first alone and cuts off the last character, whatever it is. */
const expressionOf = (pattern: string): string | null => (pattern.startsWith('/') ? pattern.slice(1, -1) : null)
