/**
 * How long a read is waited for, all its tries together. Two clocks run: what its own tries and the pauses between them took, and how
 * long the server has answered nothing to anybody. A read that waits for its turn behind others is not late while those are answered;
 * but once nobody is, a hundred reads must not run out one after the other.
 */

/** When a server answered last, whatever it was asked. */
export interface AnswerWatch {
  /** An answer came; for `pause` milliseconds more the server wants no request, so that none can be answered. */
  note(pause: number): void
  /** The moment since which nothing was answered, by the clock. */
  last(): number
  readonly now: () => number
}

export function createAnswerWatch(now: () => number = () => performance.now()): AnswerWatch {
  let last = Number.NEGATIVE_INFINITY
  return {
    note: (pause) => {
      last = Math.max(last, now() + pause)
    },
    last: () => last,
    now,
  }
}

export interface ReadDeadline {
  /** Milliseconds that are left to both clocks; none left is 0. */
  left(): number
  /** Counts what a try or a pause of our own took, in milliseconds. */
  spend(milliseconds: number): void
  /** Aborted when nothing is left; `end` is to be called once nobody waits for that any more. */
  watch(): { readonly signal: AbortSignal; end(): void }
}

/** The deadline of a read that begins now. */
export function createReadDeadline(milliseconds: number, answers: AnswerWatch): ReadDeadline {
  const begun = answers.now()
  let spent = 0
  const left = (): number => {
    const silent = answers.now() - Math.max(begun, answers.last())
    return Math.max(0, milliseconds - Math.max(spent, silent))
  }
  return {
    left,
    spend(took) {
      spent += took
    },
    watch() {
      const over = new AbortController()
      let timer: NodeJS.Timeout
      const look = (): void => {
        const rest = left()
        if (rest <= 0) over.abort()
        else timer = setTimeout(look, Math.ceil(Math.min(rest, milliseconds)) + 1)
      }
      look()
      return { signal: over.signal, end: () => clearTimeout(timer) }
    },
  }
}
