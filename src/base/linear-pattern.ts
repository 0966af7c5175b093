/**
 * Patterns that match in at most (length of the pattern) × (length of the text) steps. A pattern is a small program. Matching follows, in parallel,
 * all instructions that the text so far can reach (Thompson, CACM 11(6), 1968). So it reads each character once. A JavaScript `RegExp` backtracks, and
 * a hostile one takes exponential time. So text from definitions, configs and imports never becomes a `RegExp`.
 */

/** Whether a character matches. `previous` is the character before it, or `''` at the start. */
export type CharacterTest = (character: string, previous: string) => boolean

type Instruction =
  | { readonly kind: 'take' | 'take-any'; readonly test: CharacterTest }
  /** Continues only if the next character (`''` at the end) passes the test. */
  | { readonly kind: 'check'; readonly test: CharacterTest }
  | { readonly kind: 'fork'; readonly to: number[] }

export interface LinearPattern {
  /** Matches one character. */
  readonly take: (test: CharacterTest) => void
  /** Matches any number of characters. */
  readonly takeAny: (test: CharacterTest) => void
  /** Tests the next character (`''` at the end) without consuming it. */
  readonly check: (test: CharacterTest) => void
  /** Makes the part of the pattern that `part` adds optional. */
  readonly optional: (part: () => void) => void
  /** Repeats the part of the pattern that `part` adds any number of times. */
  readonly repeat: (part: () => void) => void
  /** Begins a list of alternatives. Lists can be nested. */
  readonly openChoice: () => void
  readonly nextChoice: () => void
  readonly closeChoice: () => void
  /** Whether the pattern matches the whole text. Add nothing after the first call. */
  readonly matches: (text: string) => boolean
}

/** Called once per matching step, so that tests can count the steps. */
export type OnStep = () => void

/** Creates an empty pattern. */
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
    matches: (text) => runProgram(program, text, onStep),
  }
}

/** Whether the whole text matches. The text matches if its end reaches the address after the last instruction. */
function runProgram(program: readonly Instruction[], text: string, onStep: OnStep): boolean {
  const match = program.length
  /** The last text offset at which each address was reached. */
  const reached = new Int32Array(match + 1).fill(-1)
  /** Addresses of character instructions reached at this offset and at the next one. */
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

/** The character at an offset, as one or two UTF-16 code units; `''` at the end. */
function characterAt(text: string, at: number): string {
  const code = text.codePointAt(at)
  if (code === undefined) return ''
  return code > 0xffff ? text.slice(at, at + 2) : text.charAt(at)
}
