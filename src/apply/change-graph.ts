import type { Change, Outcome } from '../plan/plan.ts'

export interface GraphRun {
  /** Changes under way at once. */
  readonly concurrency: number
  /** Ends the run: what has not begun is skipped. */
  readonly stop?: AbortSignal | undefined
  readonly onOutcome?: ((index: number, outcome: Outcome) => void) | undefined
}

/**
 * Runs changes along their `after` edges, as many at once as allowed, earlier ones first. A change whose predecessor was not applied
 * is skipped, with the reason. Gives one outcome a change, in the same order; rejects only if `perform` does.
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

  const settle = (index: number, outcome: Outcome): void => {
    outcomes[index] = outcome
    run.onOutcome?.(index, outcome)
    for (const follower of followers[index] as number[]) {
      waiting[follower] = (waiting[follower] as number) - 1
      if (waiting[follower] === 0) ready.push(follower)
    }
  }
  const obstacle = (change: Change): string | null => {
    const failed = change.after.find((before) => outcomes[before]?.state !== 'applied')
    if (failed !== undefined) return waitedInVain(changes[failed] as Change, outcomes[failed] as Outcome)
    return run.stop?.aborted ? stopReason(run.stop) : null
  }

  await new Promise<void>((resolve, reject) => {
    const pump = (): void => {
      while (cursor < ready.length && active < run.concurrency) {
        const index = ready[cursor] as number
        cursor += 1
        const change = changes[index] as Change
        const because = obstacle(change)
        if (because !== null) {
          settle(index, { state: 'skipped', because })
          continue
        }
        active += 1
        perform(change, index).then((outcome) => {
          active -= 1
          settle(index, outcome)
          pump()
        }, reject)
      }
      if (active === 0 && cursor === ready.length) resolve()
    }
    pump()
  })
  return outcomes.map((outcome) => outcome ?? { state: 'skipped', because: 'its order has a circle' })
}

const AFTER: Readonly<Record<Outcome['state'], string>> = {
  applied: 'of which it was not known in time that it was applied',
  failed: 'which was not applied',
  skipped: 'which was not applied',
  unknown: 'of which it is not known whether it was applied',
}

const waitedInVain = (change: Change, { state }: Outcome): string => `it comes after ${describeChange(change)}, ${AFTER[state]}`

/** The outcomes of changes in a graph, some of which were settled after the others had been skipped because of them: the reasons say what is known now. */
export function withResolvedReasons(changes: readonly Change[], before: readonly Outcome[], settled: readonly Outcome[]): Outcome[] {
  return settled.map((outcome, index) => {
    if (outcome.state !== 'skipped') return outcome
    const cause = changes[index]?.after.find(
      (at) => before[at]?.state === 'unknown' && outcome.because === waitedInVain(changes[at] as Change, before[at] as Outcome),
    )
    return cause === undefined ? outcome : { ...outcome, because: waitedInVain(changes[cause] as Change, settled[cause] as Outcome) }
  })
}

export const describeChange = (change: Change): string => `${change.action} ${change.name}${change.type === null ? '' : ` ${change.type}`}`

/** Why a run was stopped, in words that fit behind "skipped:". Who stops a run may give a text as the reason. */
export const stopReason = ({ reason }: AbortSignal): string => (typeof reason === 'string' ? reason : 'the run was interrupted')
