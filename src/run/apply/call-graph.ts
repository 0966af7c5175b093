/** Makes the calls of a zone in their order. */
import type { Changeset } from '../../plan/changesets.ts'
import type { Change, Outcome } from '../../plan/plan.ts'

export interface GraphRun {
  /** Maximum concurrent calls. */
  readonly concurrency: number
  /** Stops the run: calls that have not started are skipped. */
  readonly stop?: AbortSignal | undefined
  /** Called for each change when its call ends. */
  readonly onOutcome?: ((index: number, outcome: Outcome) => void) | undefined
}

/**
 * Makes calls concurrently up to the limit, each after those it follows. If a change of such a call was not applied, the call is skipped, with the reason.
 * `perform` returns one outcome per change of the call. Returns one outcome per change of the plan. Rejects only if `perform` does.
 */
export async function runGraph(
  calls: readonly Changeset[],
  perform: (call: Changeset) => Promise<readonly Outcome[]>,
  run: GraphRun,
): Promise<Outcome[]> {
  const outcomes: (Outcome | undefined)[] = []
  const followers: number[][] = calls.map(() => [])
  const waiting = calls.map((call, number) => {
    for (const before of call.after) followers[before]?.push(number)
    return call.after.length
  })
  const ready = calls.flatMap((call, number) => (call.after.length === 0 ? [number] : []))
  let cursor = 0
  let active = 0

  const finish = (number: number, result: readonly Outcome[]): void => {
    const { indexes } = calls[number] as Changeset
    for (const [position, index] of indexes.entries()) {
      const outcome = result[position] as Outcome
      outcomes[index] = outcome
      run.onOutcome?.(index, outcome)
    }
    for (const follower of followers[number] as number[]) {
      waiting[follower] = (waiting[follower] as number) - 1
      if (waiting[follower] === 0) ready.push(follower)
    }
  }
  const blocker = (call: Changeset): string | null => blockerIn(call, calls, outcomes) ?? (run.stop?.aborted ? stopReason(run.stop) : null)

  await new Promise<void>((resolve, reject) => {
    const pump = (): void => {
      while (cursor < ready.length && active < run.concurrency) {
        const number = ready[cursor] as number
        cursor += 1
        const call = calls[number] as Changeset
        const because = blocker(call)
        if (because !== null) {
          finish(number, skipped(call, because))
          continue
        }
        active += 1
        perform(call).then((result) => {
          active -= 1
          finish(number, result)
          pump()
        }, reject)
      }
      if (active === 0 && cursor === ready.length) resolve()
    }
    pump()
  })
  return calls
    .flatMap(({ indexes }) => indexes)
    .sort((a, b) => a - b)
    .map((index) => outcomes[index] ?? { state: 'skipped', because: 'the order of the calls has a cycle' })
}

/** The outcomes of a call that was not sent. */
export const skipped = (call: Changeset, because: string): Outcome[] => call.indexes.map(() => ({ state: 'skipped', because }))

/** Why a call cannot be made after those it follows; null if it can. */
function blockerIn(call: Changeset, calls: readonly Changeset[], outcomes: readonly (Outcome | undefined)[]): string | null {
  for (const before of call.after) {
    const { indexes, changes } = calls[before] as Changeset
    const failed = indexes.findIndex((index) => outcomes[index]?.state !== 'applied')
    if (failed !== -1) return blockedBy(changes[failed] as Change, outcomes[indexes[failed] as number] as Outcome)
  }
  return null
}

const AFTER: Readonly<Record<Outcome['state'], string>> = {
  applied: 'whose result was unknown at that time',
  failed: 'which was not applied',
  skipped: 'which was not applied',
  unknown: 'whose result is unknown',
}

/** Why a call is not made after a change with this outcome. */
export const blockedBy = (change: Change, { state }: Outcome): string => `waiting for ${describeChange(change)}, ${AFTER[state]}`

/** Updates the reasons of changes that were skipped because of an outcome that was unknown then and has been resolved since. */
export function withResolvedReasons(calls: readonly Changeset[], before: readonly Outcome[], resolved: readonly Outcome[]): Outcome[] {
  const result = [...resolved]
  for (const call of calls) {
    const outcome = resolved[call.indexes[0] as number]
    if (outcome?.state !== 'skipped') continue
    for (const { indexes, changes } of call.after.map((number) => calls[number] as Changeset)) {
      const cause = indexes.findIndex(
        (index, position) =>
          before[index]?.state === 'unknown' && outcome.because === blockedBy(changes[position] as Change, before[index] as Outcome),
      )
      if (cause === -1) continue
      const because = blockedBy(changes[cause] as Change, resolved[indexes[cause] as number] as Outcome)
      for (const index of call.indexes) result[index] = { ...outcome, because }
    }
  }
  return result
}

export const describeChange = (change: Change): string => `${change.action} ${change.name}${change.type === null ? '' : ` ${change.type}`}`

/** Why a run was stopped, to follow "skipped:". The reason of the signal, if it is a text. */
export const stopReason = ({ reason }: AbortSignal): string => (typeof reason === 'string' ? reason : 'the run was interrupted')
