/** Globs for file paths. */
import { isAbsolute, relative, sep } from 'node:path'
import { type CharacterTest, createLinearPattern, type LinearPattern, type OnStep } from '../base/linear-pattern.ts'
import { withoutControlCharacters } from './file-path.ts'

/** Globs of a rule as one test. */
export interface FileGlobs {
  /** Where the search begins, one place per glob: a folder, or for a glob without wildcards the path itself. */
  readonly starts: readonly GlobStart[]
  /** Whether a path (from the config's folder, with `/`) is matched, as it is or without control characters, and not excluded by a glob that begins with `!`. */
  readonly matches: (path: string) => boolean
  /** Whether a glob that begins with `!` excludes a path. */
  readonly excludes: (path: string) => boolean
}

export interface GlobStart {
  /** From the config's folder; `''` for the folder itself. */
  readonly path: string
  /** The glob has no wildcard: it names `path` itself. */
  readonly literal: boolean
  /** Folders below `path` in which the glob can match; infinite with `**`. */
  readonly depth: number
}

/** Compiles the globs of a rule. Absolute globs are made relative to `folder`. */
export function compileGlobs(globs: readonly string[], folder: string): FileGlobs {
  const fromFolder = (glob: string): FileGlob => parseGlob(isAbsolute(glob) ? relative(folder, glob).split(sep).join('/') : glob)
  const wanted = globs.filter((glob) => !glob.startsWith('!')).map(fromFolder)
  const excluded = globs.filter((glob) => glob.startsWith('!')).map((glob) => fromFolder(glob.slice(1)))
  const excludes = (path: string): boolean => excluded.some(({ matches }) => matches(path))
  const isMatch = (path: string): boolean => wanted.some(({ matches }) => matches(path)) && !excludes(path)
  return {
    starts: wanted.map(({ start }) => start),
    // A name with control characters also matches as if it had none, so that the caller reports it instead of ignoring it.
    matches: (path) => isMatch(path) || (withoutControlCharacters(path) !== path && isMatch(withoutControlCharacters(path))),
    excludes,
  }
}

/** Whether a path is a glob and no plain path. */
export const hasGlob = (path: string): boolean => !parseGlob(path).start.literal

/** Escapes a path: the glob matches the path and everything below it. */
export const escapeGlob = (path: string): string => path.replace(/[\\*?[\]{}]|^!/g, '\\$&')

export interface FileGlob {
  readonly start: GlobStart
  readonly matches: (path: string) => boolean
}

/**
 * Parses a glob: `*` and `?` are any characters but `/`, `**` as a whole segment any folders, `[a-z]` and `[!a-z]` one character, `{a,b}` and `{1..3}`
 * alternatives; a backslash takes the next character literally. Wildcards match no dot at the beginning of a name.
 */
export function parseGlob(glob: string, onStep?: OnStep): FileGlob {
  const text = [...normalized(glob)]
  const sets = characterSets(text)
  const braces = matchingBraces(text, sets)
  const pattern = createLinearPattern(onStep)
  /** The text without escapes, as far as it has no wildcard. */
  let literal = ''
  let isLiteral = true
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string
    const brace = braces.get(at)
    const stars = character === '*' ? runLength(text, at) : 0
    const set = sets.get(at)
    if (stars > 0) {
      isLiteral = false
      at += stars - 1
      if (stars === 2 && isSegment(text, at)) at += addFolders(pattern, text[at + 1])
      else {
        // "**.yaml" is taken as "**/*.yaml".
        if (stars > 1 && at === stars - 1 && text[at + 1] === '.') pattern.repeat(() => addFolder(pattern, 'slash last'))
        addStar(pattern)
      }
    } else if (character === '?') {
      isLiteral = false
      pattern.take(isOrdinary)
    } else if (set) {
      isLiteral = false
      pattern.take(set.test)
      at = set.end
    } else if (brace !== undefined) {
      isLiteral = false
      if (brace.range) {
        pattern.take(brace.range)
        at = brace.end
      } else if (character === '{') pattern.openChoice()
      else if (character === ',') pattern.nextChoice()
      else pattern.closeChoice()
    } else if (character === '/' && text[at + 1] === '*' && text[at + 2] === '*' && endsHere(text[at + 3])) {
      if (isLiteral) literal += '/'
      isLiteral = false
      at += 2
      // "zones/**" matches the folder itself too; "*/**" does not match the files beside the folders.
      if (text[at - 3] === '*') addFolder(pattern, 'slash first')
      pattern.repeat(() => addFolder(pattern, 'slash first'))
    } else {
      if (character === '\\' && at + 1 < text.length) at += 1
      const own = text[at] as string
      if (isLiteral) literal += own
      pattern.take((other) => other === own)
    }
  }
  // A plain path names everything below it.
  if (isLiteral) {
    pattern.optional(() => {
      pattern.take(isSlash)
      pattern.takeAny(() => true)
    })
  }
  return { start: startOf(literal, isLiteral, text), matches: pattern.matches }
}

/** Where the search begins: the folder above the first wildcard. */
function startOf(literal: string, isLiteral: boolean, text: readonly string[]): GlobStart {
  if (isLiteral) return { path: literal, literal: true, depth: Number.POSITIVE_INFINITY }
  const folders = literal.split('/').slice(0, -1)
  const crosses = text.some((character, at) => character === '*' && text[at + 1] === '*')
  const depth = crosses ? Number.POSITIVE_INFINITY : text.filter((character) => character === '/').length - folders.length
  return { path: folders.join('/'), literal: false, depth }
}

const isSlash: CharacterTest = (character) => character === '/'

const isBeginning = (previous: string): boolean => previous === '' || previous === '/'

/** A character that wildcards match. */
const isOrdinary: CharacterTest = (character, previous) => character !== '/' && !(character === '.' && isBeginning(previous))

/** At the beginning of a name: not a dot, and not an empty name. */
const mayBegin: CharacterTest = (next, previous) => !isBeginning(previous) || (next !== '' && isOrdinary(next, previous))

function addStar(pattern: LinearPattern): void {
  pattern.check(mayBegin)
  pattern.takeAny((character) => character !== '/')
}

function addFolder(pattern: LinearPattern, slash: 'slash first' | 'slash last'): void {
  if (slash === 'slash first') pattern.take(isSlash)
  addStar(pattern)
  if (slash === 'slash last') pattern.take(isSlash)
}

/** Adds `**`, including a slash that follows. Returns how many characters after the stars it consumed: 0 or 1. */
function addFolders(pattern: LinearPattern, next: string | undefined): number {
  if (next === '/') {
    pattern.repeat(() => addFolder(pattern, 'slash last'))
    return 1
  }
  addStar(pattern)
  pattern.repeat(() => addFolder(pattern, 'slash first'))
  return 0
}

function runLength(text: readonly string[], at: number): number {
  let end = at
  while (text[end] === '*') end += 1
  return end - at
}

const endsHere = (next: string | undefined): boolean => next === undefined || next === ',' || next === '}'

/** Whether two stars, of which `at` is the second, are a whole segment. */
function isSegment(text: readonly string[], at: number): boolean {
  const [before, after] = [text[at - 2], text[at + 1]]
  return (before === undefined || before === '/' || before === '{' || before === ',') && (after === '/' || endsHere(after))
}

interface CharacterSet {
  readonly test: CharacterTest
  /** The place of the bracket that ends it. */
  readonly end: number
}

/** The sets `[…]` by the places where they begin. A set ends within its segment; a bracket directly after its beginning belongs to it. */
function characterSets(text: readonly string[]): ReadonlyMap<number, CharacterSet> {
  const found = new Map<number, CharacterSet>()
  // No set that begins before this place ends. Searching again would take quadratic time.
  let unclosedUntil = -1
  for (let begin = 0; begin < text.length; begin += 1) {
    if (text[begin] === '\\') begin += 1
    else if (text[begin] === '[' && begin >= unclosedUntil) {
      const isNegated = text[begin + 1] === '!' || text[begin + 1] === '^'
      const { members, end } = membersOf(text, begin + (isNegated ? 2 : 1))
      if (text[end] === ']') {
        found.set(begin, { test: testOf(members, isNegated), end })
        begin = end
      } else unclosedUntil = end
    }
  }
  return found
}

interface Member {
  readonly character: string
  /** Not escaped. */
  readonly isPlain: boolean
}

/** The members of a set, and the place after them: of a bracket, of a slash, or the end of the text. */
function membersOf(text: readonly string[], first: number): { readonly members: readonly Member[]; readonly end: number } {
  const members: Member[] = []
  let at = first
  while (at < text.length && text[at] !== '/' && (text[at] !== ']' || at === first)) {
    const isEscaped = text[at] === '\\' && at + 1 < text.length
    if (isEscaped) at += 1
    members.push({ character: text[at] as string, isPlain: !isEscaped })
    at += 1
  }
  return { members, end: at }
}

function testOf(members: readonly Member[], isNegated: boolean): CharacterTest {
  const ranges: [from: string, to: string][] = []
  for (let at = 0; at < members.length; at += 1) {
    const from = members[at]?.character as string
    const isDash = members[at + 1]?.character === '-' && members[at + 1]?.isPlain === true
    const to = isDash ? members[at + 2]?.character : undefined
    ranges.push([from, to ?? from])
    if (to !== undefined) at += 2
  }
  return (character, previous) =>
    isOrdinary(character, previous) && ranges.some(([from, to]) => from <= character && character <= to) !== isNegated
}

type Brace =
  /** A brace or a comma of alternatives. */
  | { readonly range?: undefined }
  /** A range such as `{1..3}`, and the place of its closing brace. */
  | { readonly range: CharacterTest; readonly end: number }

/** The places of braces and commas that mean alternatives. Braces without a partner or a comma are literal. */
function matchingBraces(text: readonly string[], sets: ReadonlyMap<number, CharacterSet>): ReadonlyMap<number, Brace> {
  const found = new Map<number, Brace>()
  const open: number[][] = []
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    const set = sets.get(at)
    if (set) at = set.end
    else if (character === '\\') at += 1
    else if (character === '{' && isRange(text, at)) {
      const [from, to] = [text[at + 1] as string, text[at + 4] as string]
      const end = at + 5
      found.set(at, { range: (other, previous) => isOrdinary(other, previous) && from <= other && other <= to, end })
      at = end
    } else if (character === '{') open.push([at])
    else if (character === ',') open.at(-1)?.push(at)
    else if (character === '}') {
      const places = open.pop() ?? []
      if (places.length > 1) for (const place of [...places, at]) found.set(place, {})
    }
  }
  return found
}

/** Whether `{a..b}` with two letters or two digits is at a place. */
const isRange = (text: readonly string[], at: number): boolean =>
  /^\{(?:[a-z]\.\.[a-z]|[0-9]\.\.[0-9])\}$/i.test(text.slice(at, at + 6).join(''))

/** A glob without `./` before it, slashes after it, and repetitions of a segment `**`. */
function normalized(glob: string): string {
  let [begin, end] = [0, glob.length]
  while (glob.startsWith('./', begin)) begin += 2
  while (end > begin && glob[end - 1] === '/') end -= 1
  return glob.slice(begin, end).replace(/\/\*\*(?=\/\*\*(?:\/|$))/g, '')
}
