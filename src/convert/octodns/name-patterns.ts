/**
 * The patterns of octoDNS's name filters (its processor/filter.py): a name relative to the zone as it stands, or `/EXPRESSION/`, a regular expression
 * of Python's that is searched for.
 */
import { regexPattern } from './zone-pattern.ts'

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
