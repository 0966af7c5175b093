import type { ApplicableZone } from '../apply/apply-plan.ts'
import { rereadZones, type ZoneToReread } from '../apply/saved-plan/reread-zones.ts'
import type { SavedPlan } from '../apply/saved-plan/saved-plan.ts'
import type { Plan } from '../plan/plan.ts'
import type { Console } from './console.ts'
import type { Workspace } from './workspace.ts'

/** A plan and its zones as they are live: what can be applied. */
export interface ReadyRun {
  readonly plan: Plan
  /** In the order of the plan. */
  readonly zones: readonly ApplicableZone[]
}

/** Milliseconds after which what was read is read again before it is changed. */
const LONG_PAUSE = 30_000

/** The zones of a saved plan read again. Says which of them have moved; their plans have the error too. */
export const rereadSavedPlan = (
  saved: SavedPlan,
  workspace: Workspace,
  console: Console,
  inText: boolean,
  signal: AbortSignal,
): Promise<ReadyRun> => reread(saved.plan, saved.zones, `the plan was made (${saved.plan.created})`, workspace, console, inText, signal)

/** The same for a plan that somebody looked at for a long time before consenting to it; after a short time it is given back as it is. */
export const rereadAfterPause = async (
  ready: ReadyRun,
  pause: number,
  workspace: Workspace,
  console: Console,
  inText: boolean,
  signal: AbortSignal,
): Promise<ReadyRun> =>
  pause <= LONG_PAUSE ? ready : reread(ready.plan, ready.zones, 'it was read for this plan', workspace, console, inText, signal)

async function reread(
  plan: Plan,
  zones: readonly ZoneToReread[],
  since: string,
  { providers }: Workspace,
  console: Console,
  inText: boolean,
  signal: AbortSignal,
): Promise<ReadyRun> {
  const bar = console.progress()
  try {
    const { zones: read, diagnostics } = await rereadZones(zones, { providers, since, signal, onProgress: bar.onProgress })
    // Other reports hold them with their zones.
    if (inText) console.diagnostics(diagnostics)
    return { plan: { ...plan, zones: read.map((zone) => zone.plan) }, zones: read }
  } finally {
    bar.clear()
  }
}
