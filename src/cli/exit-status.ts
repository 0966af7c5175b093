/** What the program ends with. Where several hold, 1 comes before 4 before 3 before 2. */
export const EXIT = {
  done: 0,
  /** Invalid input or a failure; also `apply` that nobody could confirm. */
  failure: 1,
  /** Changes pending (`plan --detailed-exitcode`), differences found (`verify`), files to rewrite (`fmt --check`). */
  pending: 2,
  /** A safety limit refuses, or a saved plan's zone has moved. */
  refused: 3,
  /** Some of the changes were applied and some were not. */
  partial: 4,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const

export type ExitStatus = (typeof EXIT)[keyof typeof EXIT]

const PRECEDENCE: readonly ExitStatus[] = [
  EXIT.terminated,
  EXIT.interrupted,
  EXIT.hungUp,
  EXIT.failure,
  EXIT.partial,
  EXIT.refused,
  EXIT.pending,
]

/** The status of a run in which all of these hold. */
export const worstOf = (statuses: Iterable<ExitStatus>): ExitStatus => {
  const held = new Set(statuses)
  return PRECEDENCE.find((status) => held.has(status)) ?? EXIT.done
}
