import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DiagnosticCode } from '../../dns/diagnostic-codes.ts'
import { failure, ok, type Result } from '../../dns/result.ts'
import type { ZoneOutcome } from '../../plan/plan.ts'
import { listed } from '../../report/english.ts'
import { parseSavedPlan } from '../saved-plan/parse-saved-plan.ts'
import { readPlanText, type SavedTarget, type SavedZone } from '../saved-plan/saved-plan.ts'
import { isRunPrefix, PLANS_FOLDER, planFile, type RunZone } from './journal-format.ts'
import type { RunRecord } from './read-journal.ts'
import { outcomesOf, readRunZones } from './read-journal.ts'

export type FoundRun = { readonly run: RunRecord } | { readonly run: null; readonly diagnostic: Diagnostic }

/** Runs that are named where a name is of more than one. */
const SHOWN = 5

/** The run of that name, or the only one whose name begins so. */
export function findRun(runs: readonly RunRecord[], name: string): FoundRun {
  const wanted = name.toLowerCase()
  const found = isRunPrefix(name) ? runs.filter(({ id }) => id.toLowerCase().startsWith(wanted)) : []
  const [run] = found
  if (run !== undefined && found.length === 1) return { run }
  if (run === undefined) return unknown(`no run ${JSON.stringify(name.slice(0, 60))} is in the journal`)
  const ids = found.map(({ id }) => id)
  return unknown(`${name} is the beginning of ${found.length} runs: ${listed(ids, SHOWN)}`)
}

/** The latest run that changed something, or may have. */
export const lastRun = (runs: readonly RunRecord[]): FoundRun => {
  const run = runs.find(({ figures }) => figures.applied.total + figures.unknown > 0)
  return run === undefined ? unknown('no run in the journal changed anything') : { run }
}

const unknown = (message: string): FoundRun => ({
  run: null,
  diagnostic: { severity: 'error', code: 'run-unknown', message, hint: 'see "zonewright history"' },
})

/** Milliseconds after which a run that never began is rubbish. */
const DAY = 86_400_000

/** Removes all runs but the latest so many; of those that go on none. Gives the names of what it removed. Throws the system's error. */
export function pruneRuns(journal: string, runs: readonly RunRecord[], keep: number, now: Date): string[] {
  const folder = join(journal, 'runs')
  const rubbish = runs.slice(keep).filter(({ state }) => state !== 'running')
  for (const { id } of rubbish) rmSync(join(folder, id), { recursive: true, force: true })
  // What a process that was killed had not put in its place.
  const limit = new Date(now.getTime() - DAY).toISOString().replace(/[-:]|\.[0-9]+/g, '')
  const unfinished = existsSync(folder) ? readdirSync(folder).filter((name) => /^\.[0-9]{8}T/.test(name) && name.slice(1) < limit) : []
  for (const name of unfinished) rmSync(join(folder, name), { recursive: true, force: true })
  return rubbish.map(({ id }) => id)
}

/** A zone of a run: what was found, what was planned, what came of it. */
export interface RunZoneDetail extends SavedZone {
  readonly target: SavedTarget
  readonly outcome: ZoneOutcome
}

/** Those zones of a run that are wanted, in the order of the run. */
export async function readRunPlans(
  journal: string,
  run: RunRecord,
  isWanted: (zone: RunZone) => boolean = () => true,
): Promise<Result<readonly RunZoneDetail[]>> {
  const journalled = readRunZones(journal, run)
  if (!journalled.ok) return failure(`run ${run.id}: ${journalled.message}`)
  const details: RunZoneDetail[] = []
  for (const [index, zone] of run.begin.zones.entries()) {
    if (!isWanted(zone)) continue
    const saved = await readZonePlan(join(journal, 'runs', run.id, PLANS_FOLDER, planFile(index)), run.id, zone)
    if (!saved.ok) return saved
    const told = journalled.value[index]
    if (told === undefined) throw new Error(`${zone.zone} without what its journal tells`)
    const { plan } = saved.value
    const diagnostics = told.diagnostics.map(({ severity, code, message, hint }) => ({
      severity,
      code: code as DiagnosticCode,
      message,
      hint,
    }))
    details.push({ ...saved.value, outcome: { plan, outcomes: outcomesOf(plan, told), readBack: told.readBack, diagnostics } })
  }
  return ok(details)
}

async function readZonePlan(path: string, run: string, { zone, target, calls }: RunZone): Promise<Result<Omit<RunZoneDetail, 'outcome'>>> {
  const text = await readPlanText(path)
  if (!text.ok) return failure(`run ${run}: the plan of ${zone} at ${target} ${text.message}`)
  const { saved, diagnostics } = parseSavedPlan(text.value, `run ${run}: the plan of ${zone} at ${target}`, null)
  if (saved === null) return failure(diagnostics.map(({ message }) => message).join('; '))
  const [only] = saved.zones
  const [bound] = saved.targets
  const isIt = only !== undefined && only.plan.zone === zone && only.plan.target === target && only.plan.changes.length === calls.total
  if (!isIt || bound?.name !== target) return failure(`run ${run}: the plan of ${zone} at ${target} is another zone's or another plan`)
  return ok({ ...only, target: bound })
}
