/**
 * Patterns of octoDNS's config. Dynamic zone entries use globs of Python's fnmatch or regular expressions of Python that are searched for
 * (its manager.py); zones are matched as the source lists them, with the final dot. Name filters (its processor/filter.py) use a name
 * relative to the zone, or `/EXPRESSION/`.
 */
import { type CharacterTest, createLinearPattern, type OnStep } from '../../base/linear-pattern.ts'

export type ZonePattern = (listed: string) => boolean

/** A glob: `*` matches any characters, `?` one, `[…]` and `[!…]` one of a set. Case matters. */
export function globPattern(glob: string, onStep?: OnStep): ZonePattern {
  const characters = [...glob]
  const pattern = createLinearPattern(onStep)
  const lastBracket = characters.lastIndexOf(']')
  for (let i = 0; i < characters.length; i += 1) {
    const character = characters[i] as string
    // A closing bracket at the start of a set is a member of it.
    const end = character === '[' && i < lastBracket ? characters.indexOf(']', i + (characters[i + 1] === '!' ? 3 : 2)) : -1
    if (character === '*') pattern.takeAny(() => true)
    else if (character === '?') pattern.take(() => true)
    else if (end === -1) pattern.take((other) => other === character)
    else {
      const isNegated = characters[i + 1] === '!'
      pattern.take(oneOf(characters.slice(i + (isNegated ? 2 : 1), end), isNegated))
      i = end
    }
  }
  return pattern.matches
}

function oneOf(set: readonly string[], isNegated: boolean): CharacterTest {
  const ranges: [string, string][] = []
  for (let i = 0; i < set.length; i += 1) {
    const from = set[i] as string
    const isRange = set[i + 1] === '-' && i + 2 < set.length
    ranges.push([from, isRange ? (set[i + 2] as string) : from])
    if (isRange) i += 2
  }
  return (character) => ranges.some(([from, to]) => from <= character && character <= to) !== isNegated
}

/** Expressions that mean the same in Python and here: no look-around, references or flags, and no repeated groups. */
const PORTABLE_EXPRESSION =
  /^\^?(?:[\w.-]|\\[.\-dw]|\[\^?[\w.-]+\]|(?<!^|[*+?(|:^])[*+?](?![*+?])|\((?!\?)|\(\?:|\)(?![*+?{])|\||\$$|\$(?=[)|]))*$/

/**
 * A piece of such an expression: a character or set with its quantifier, the start or end of a group, an alternative, or the end of the
 * text.
 */
const PIECE = /(\\.|\[\^?[^\]]+\]|[\w.-])([*+?]?)|\((?:\?:)?|[)|$]/g

/** A regular expression; null if it could mean something else here. */
export function regexPattern(text: string, onStep?: OnStep): ZonePattern | null {
  if (text.length > 1000 || !PORTABLE_EXPRESSION.test(text)) return null
  const pattern = createLinearPattern(onStep)
  const anything = (): void => pattern.takeAny(() => true)
  const isAnchored = text.startsWith('^')
  let depth = 0
  pattern.openChoice()
  const begin = (): void => {
    // The anchor applies only to the first alternative.
    if (!isAnchored || hasBegun) anything()
    hasBegun = true
  }
  let hasBegun = false
  begin()
  for (const [piece, one, quantifier] of text.slice(isAnchored ? 1 : 0).matchAll(PIECE)) {
    if (one !== undefined) {
      const test = characterTest(one)
      if (test === null) return null
      if (quantifier === '?') pattern.optional(() => pattern.take(test))
      else if (quantifier !== '*') pattern.take(test)
      if (quantifier === '*' || quantifier === '+') pattern.takeAny(test)
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

/** The test for a character, an escape or a set; null for a reversed range. */
function characterTest(text: string): CharacterTest | null {
  if (text === '.') return () => true
  if (text === '\\d') return (character) => /\d/.test(character)
  if (text === '\\w') return (character) => /\w/.test(character)
  if (!text.startsWith('[')) return (character) => character === text.at(-1)
  const isNegated = text[1] === '^'
  const set = [...text.slice(isNegated ? 2 : 1, -1)]
  for (let i = 0; i + 2 < set.length; i += 1) {
    if (set[i + 1] !== '-') continue
    if ((set[i] as string) > (set[i + 2] as string)) return null
    i += 2
  }
  return oneOf(set, isNegated)
}

/**
 * The glob of ours for file names that matches the same names of zones, which end in a dot; null if there is none. A name of a file has no final dot,
 * so the glob must end in one, or in `*`.
 */
export function fileGlobOf(glob: string): string | null {
  const isSame = /^(?:[A-Za-z0-9_.*?-]|\[!?[a-z0-9-]+\])+$/.test(glob) && /[.*]$/.test(glob)
  return isSame ? glob.replace(/\*+/g, '*') : null
}

/** A name that matches itself only, also as a glob. */
const PLAIN_NAME = /^[a-z0-9_.-]*$/

/** Literal and escaped characters, and `.*`. */
const SIMPLE_EXPRESSION = /^\^?(?:[a-z0-9_-]|\\[.-]|\.\*)*\$?$/

/** The glob of ours that matches the same names; null if there is none. */
export function nameGlobOf(pattern: string): string | null {
  const expression = expressionOf(pattern)
  if (expression === null) return PLAIN_NAME.test(pattern) ? pattern : null
  if (!SIMPLE_EXPRESSION.test(expression)) return null
  const [, start = '', body = '', end = ''] = /^(\^?)(.*?)(\$?)$/.exec(expression) ?? []
  const glob = body.replace(/\\(.)|\.\*/g, (_, jsString: string | undefined) => jsString ?? '*')
  return `${start === '' ? '*' : ''}${glob}${end === '' ? '*' : ''}`.replace(/\*+/g, '*')
}

/** A test for names that match any of the patterns; null if one could mean something else here. */
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

/** The text between the slashes. octoDNS checks only the first one and removes the last character, whatever it is. */
const expressionOf = (pattern: string): string | null => (pattern.startsWith('/') ? pattern.slice(1, -1) : null)
