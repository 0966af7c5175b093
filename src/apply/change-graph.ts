/** Performs the changes of a plan in the order of their `after` edges. */
import type { Change, Outcome } from '../plan/plan.ts'

export interface GraphRun {
  /** Concurrent changes. */
  readonly concurrency: number
  /** Stops the run: changes that have not started are skipped. */
  readonly stop?: AbortSignal | undefined
  readonly onOutcome?: ((index: number, outcome: Outcome) => void) | undefined
}

/**
 * Performs changes in the order of their `after` edges, concurrently up to the limit. A change whose predecessor was not applied is skipped, with the
 * reason. Returns one outcome per change, in the same order. Rejects only if `perform` does.
 */
export async function runGraph(
  changes: readonly Change[],
  perform: (change: Change, index: number) => Promise<Outcome>,
  run: GraphRun,
): Promise<Outcome[]> {
  const outcomes = new Array<Outcome | undefined>(changes.length)
  const followers: number[][] = changes.map(() => [])
  const waiting = changes.map((change, index) => {
    for (const before of change.after) followers[before]?.push(index)
    return change.after.length
  })
  const ready = changes.flatMap((change, index) => (change.after.length === 0 ? [index] : []))
  let cursor = 0
  let active = 0

  const finish = (index: number, outcome: Outcome): void => {
    outcomes[index] = outcome
    run.onOutcome?.(index, outcome)
    for (const follower of followers[index] as number[]) {
      waiting[follower] = (waiting[follower] as number) - 1
      if (waiting[follower] === 0) ready.push(follower)
    }
  }
  const blocker = (change: Change): string | null => {
    const failed = change.after.find((before) => outcomes[before]?.state !== 'applied')
    if (failed !== undefined) return blockedBy(changes[failed] as Change, outcomes[failed] as Outcome)
    return run.stop?.aborted ? stopReason(run.stop) : null
  }

  await new Promise<void>((resolve, reject) => {
    const pump = (): void => {
      while (cursor < ready.length && active < run.concurrency) {
        const index = ready[cursor] as number
        cursor += 1
        const change = changes[index] as Change
        const because = blocker(change)
        if (because !== null) {
          finish(index, { state: 'skipped', because })
          continue
        }
        active += 1
        perform(change, index).then((outcome) => {
          active -= 1
          finish(index, outcome)
          pump()
        }, reject)
      }
      if (active === 0 && cursor === ready.length) resolve()
    }
    pump()
  })
  return outcomes.map((outcome) => outcome ?? { state: 'skipped', because: 'the order of the changes has a cycle' })
}

const AFTER: Readonly<Record<Outcome['state'], string>> = {
  applied: 'whose success was not known in time',
  failed: 'which was not applied',
  skipped: 'which was not applied',
  unknown: 'whose result is unknown',
}

const blockedBy = (change: Change, { state }: Outcome): string => `waiting for ${describeChange(change)}, ${AFTER[state]}`

/** Updates the reasons of changes that were skipped because of an outcome that was unknown then and has been resolved since. */
export function withResolvedReasons(changes: readonly Change[], before: readonly Outcome[], resolved: readonly Outcome[]): Outcome[] {
  return resolved.map((outcome, index) => {
    if (outcome.state !== 'skipped') return outcome
    const cause = changes[index]?.after.find(
      (at) => before[at]?.state === 'unknown' && outcome.because === blockedBy(changes[at] as Change, before[at] as Outcome),
    )
    return cause === undefined ? outcome : { ...outcome, because: blockedBy(changes[cause] as Change, resolved[cause] as Outcome) }
  })
}

export const describeChange = (change: Change): string => `${change.action} ${change.name}${change.type === null ? '' : ` ${change.type}`}`

/** Why a run was stopped, to follow "skipped:". The reason of the signal, if it is a text. */
export const stopReason = ({ reason }: AbortSignal): string => (typeof reason === 'string' ? reason : 'the run was interrupted')
