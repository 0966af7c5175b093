/**
 * Patterns that are matched in linear time: at most (length of the pattern) × (length of the text) steps, whatever either holds. A pattern is a program;
 * all places of the program that the text so far can have reached are followed side by side (Thompson, CACM 11(6), 1968), so that no character is read
 * twice. Regular expressions of JavaScript try one way after another, which takes forever with patterns made for that: text from definitions, configs and
 * imports never becomes a `RegExp`.
 */

/** Whether a character is taken; `previous` is the one before it, `''` at the start. */
export type CharacterTest = (character: string, previous: string) => boolean

type Instruction =
  | { readonly kind: 'take' | 'take-any'; readonly test: CharacterTest }
  /** Goes on only if the test holds for the next character, `''` at the end. */
  | { readonly kind: 'check'; readonly test: CharacterTest }
  | { readonly kind: 'fork'; readonly to: number[] }

export interface LinearPattern {
  /** Takes one character. */
  readonly take: (test: CharacterTest) => void
  /** Takes any number of characters. */
  readonly takeAny: (test: CharacterTest) => void
  /** Looks at the next character, `''` at the end, without taking it. */
  readonly check: (test: CharacterTest) => void
  /** What `part` adds is left out or comes in once. */
  readonly optional: (part: () => void) => void
  /** What `part` adds comes in any number of times. */
  readonly repeat: (part: () => void) => void
  /** Begins alternatives; they may be nested. */
  readonly openChoice: () => void
  readonly nextChoice: () => void
  readonly closeChoice: () => void
  /** Whether the pattern matches a whole text. Nothing may be added after the first match. */
  readonly matches: (text: string) => boolean
}

/** Called for each step of matching: tests count them. */
export type OnStep = () => void

/** An empty pattern. */
export function createLinearPattern(onStep: OnStep = () => {}): LinearPattern {
  const program: Instruction[] = []
  const choices: { readonly begin: number[]; readonly ends: number[][] }[] = []
  const fork = (...to: number[]): number[] => {
    program.push({ kind: 'fork', to })
    return to
  }
  const endChoice = (): void => void choices.at(-1)?.ends.push(fork())
  return {
    take: (test) => void program.push({ kind: 'take', test }),
    takeAny: (test) => void program.push({ kind: 'take-any', test }),
    check: (test) => void program.push({ kind: 'check', test }),
    optional(part) {
      const to = fork(program.length + 1)
      part()
      to.push(program.length)
    },
    repeat(part) {
      const begin = program.length
      const to = fork(begin + 1)
      part()
      fork(begin)
      to.push(program.length)
    },
    openChoice() {
      choices.push({ begin: fork(program.length + 1), ends: [] })
    },
    nextChoice() {
      endChoice()
      choices.at(-1)?.begin.push(program.length)
    },
    closeChoice() {
      endChoice()
      for (const to of choices.pop()?.ends ?? []) to.push(program.length)
    },
    matches: (text) => run(program, text, onStep),
  }
}

/** Follows the places in the program from character to character. The place after the last instruction is the match. */
function run(program: readonly Instruction[], text: string, onStep: OnStep): boolean {
  const match = program.length
  /** For each place, the position in the text at which it was reached last. */
  const reached = new Int32Array(match + 1).fill(-1)
  /** Places reached at this position whose instruction takes a character, and those at the next. */
  let [takers, nextTakers] = [new Int32Array(match), new Int32Array(match)]
  let count = 0
  const pending: number[] = []
  const reach = (start: number, at: number, next: string, previous: string): void => {
    pending.push(start)
    for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
      if (reached[place] === at) continue
      reached[place] = at
      onStep()
      const instruction = program[place]
      if (instruction === undefined) continue
      if (instruction.kind === 'fork') for (const to of instruction.to) pending.push(to)
      else if (instruction.kind === 'check') {
        if (instruction.test(next, previous)) pending.push(place + 1)
      } else {
        nextTakers[count] = place
        count += 1
        if (instruction.kind === 'take-any') pending.push(place + 1)
      }
    }
  }
  let character = characterAt(text, 0)
  let previous = ''
  reach(0, 0, character, previous)
  for (let at = 0; at < text.length; ) {
    if (count === 0) return false
    const swapped = takers
    takers = nextTakers
    nextTakers = swapped
    const takerCount = count
    count = 0
    at += character.length
    const next = characterAt(text, at)
    for (let i = 0; i < takerCount; i += 1) {
      const place = takers[i] as number
      const instruction = program[place]
      if (instruction?.kind !== 'take' && instruction?.kind !== 'take-any') continue
      if (instruction.test(character, previous)) reach(instruction.kind === 'take' ? place + 1 : place, at, next, character)
    }
    previous = character
    character = next
  }
  return reached[match] === text.length
}

/** The character at a place, of two UTF-16 code units outside the Basic Multilingual Plane; `''` at the end. */
function characterAt(text: string, at: number): string {
  const code = text.codePointAt(at)
  if (code === undefined) return ''
  return code > 0xffff ? text.slice(at, at + 2) : text.charAt(at)
}
