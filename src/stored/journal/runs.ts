/** Finds runs in a journal, reads their plans, and removes old runs. */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Diagnostic } from '../../base/diagnostic.ts'
import type { DiagnosticCode } from '../../base/diagnostic-codes.ts'
import { listed } from '../../base/english.ts'
import { failure, ok, type Result } from '../../base/result.ts'
import { quoted } from '../../base/text.ts'
import type { Plan, ZoneOutcome } from '../../plan/plan.ts'
import { type PlannedZone, planOf } from '../../plan/planned-zone.ts'
import { parseSavedPlan } from '../plans/parse-saved-plan.ts'
import { readPlanText, type SavedTarget } from '../plans/saved-plan.ts'
import { isRunPrefix, PLANS_FOLDER, planFile, plannedChanges, type RunZone } from './journal-format.ts'
import type { RunRecord } from './read-journal.ts'
import { outcomesOf, readRunZones } from './read-journal.ts'

export type FoundRun = { readonly run: RunRecord } | { readonly run: null; readonly diagnostic: Diagnostic }

/** Maximum runs listed if a prefix is ambiguous. */
const SHOWN = 5

/** Finds the run with that name, or the only one whose name starts with it. */
export function findRun(runs: readonly RunRecord[], name: string): FoundRun {
  const wanted = name.toLowerCase()
  const found = isRunPrefix(name) ? runs.filter(({ id }) => id.toLowerCase().startsWith(wanted)) : []
  const [run] = found
  if (run !== undefined && found.length === 1) return { run }
  if (!isRunPrefix(name)) return notFound(`${quoted(name)} is not a run: a run is named by its time, such as 20261231T235959Z-01ab`)
  if (run === undefined) return notFound(`the journal has no run ${quoted(name)}`)
  const ids = found.map(({ id }) => id)
  return notFound(`${name} matches ${found.length} runs: ${listed(ids, SHOWN)}`)
}

/** The latest run that changed something or may have. `runs` begins with the latest, as `readRuns` returns them. */
export const lastRun = (runs: readonly RunRecord[], isMeant: (run: RunRecord) => boolean = () => true): FoundRun => {
  const run = runs.find((one) => one.figures.applied.total + one.figures.unknown > 0 && isMeant(one))
  return run === undefined ? notFound('the journal has no run that changed anything') : { run }
}

const notFound = (message: string): FoundRun => ({
  run: null,
  diagnostic: { severity: 'error', code: 'run-unknown', message, hint: '"zonewright history" lists the runs' },
})

/** Milliseconds after which the folder of a run that did not start is removed. */
const LEFTOVER_AGE = 86_400_000

/**
 * Removes all runs except the latest `keep` and those still running. Returns the names of the removed runs. `runs` begins with the latest.
 * Also removes leftover folders. Throws the system's error.
 */
export function pruneRuns(journal: string, runs: readonly RunRecord[], keep: number, now: Date): string[] {
  const folder = join(journal, 'runs')
  const removed = runs.slice(keep).filter(({ state }) => state !== 'running')
  for (const { id } of removed) rmSync(join(folder, id), { recursive: true, force: true })
  removeLeftovers(folder, now)
  return removed.map(({ id }) => id)
}

/**
 * Removes folders of runs that were killed before they started. Until its journal has begun, a run's folder is named `.YYYYMMDDTHHMMSSZ…`; such names sort
 * by time.
 */
function removeLeftovers(folder: string, now: Date): void {
  if (!existsSync(folder)) return
  const limit = new Date(now.getTime() - LEFTOVER_AGE).toISOString().replace(/[-:]|\.[0-9]+/g, '')
  const leftovers = readdirSync(folder).filter((name) => /^\.[0-9]{8}T/.test(name) && name.slice(1) < limit)
  for (const name of leftovers) rmSync(join(folder, name), { recursive: true, force: true })
}

/** A zone of a run: its state before, its plan and its outcome, whose plan is the same. */
export interface RunZoneDetail extends PlannedZone {
  readonly target: SavedTarget
  readonly outcome: ZoneOutcome
}

/** The requested zones of a run, in the order of the run. */
export async function readRunPlans(
  run: RunRecord,
  isRequested: (zone: RunZone) => boolean = () => true,
): Promise<Result<readonly RunZoneDetail[]>> {
  const journalled = readRunZones(run)
  if (!journalled.ok) return failure(`run ${run.id}: ${journalled.message}`)
  const details: RunZoneDetail[] = []
  for (const [index, zone] of run.begin.zones.entries()) {
    if (!isRequested(zone)) continue
    const saved = await readZonePlan(join(run.folder, PLANS_FOLDER, planFile(index)), run.id, zone)
    if (!saved.ok) return saved
    const entry = journalled.value[index]
    if (entry === undefined) throw new Error(`${zone.zone} is not in the journal`)
    const { plan } = saved.value
    const diagnostics = entry.diagnostics.map(({ severity, code, message, hint }) => ({
      severity,
      code: code as DiagnosticCode,
      message,
      hint,
    }))
    details.push({ ...saved.value, outcome: { plan, outcomes: outcomesOf(plan, entry), readBack: entry.readBack, diagnostics } })
  }
  return ok(details)
}

/** The plan and the outcome of a run. */
export async function readRunReport(run: RunRecord): Promise<Result<{ readonly plan: Plan; readonly outcomes: readonly ZoneOutcome[] }>> {
  const details = await readRunPlans(run)
  if (!details.ok) return details
  const plan = planOf({ created: run.begin.time, tool: run.begin.tool, zones: details.value, diagnostics: [] })
  return ok({ plan, outcomes: details.value.map(({ outcome }) => outcome) })
}

async function readZonePlan(path: string, run: string, { zone, target, calls }: RunZone): Promise<Result<Omit<RunZoneDetail, 'outcome'>>> {
  const text = await readPlanText(path)
  if (!text.ok) return failure(`run ${run}: the plan of ${zone} at ${target} ${text.message}`)
  const { saved, diagnostics } = parseSavedPlan(text.value, `run ${run}: the plan of ${zone} at ${target}`, null)
  if (saved === null) return failure(diagnostics.map(({ message }) => message).join('; '))
  const [savedZone] = saved.zones
  const [savedTarget] = saved.targets
  const isExpected =
    savedTarget?.name === target &&
    savedZone?.plan.zone === zone &&
    savedZone.plan.target === target &&
    savedZone.plan.changes.length === plannedChanges(calls)
  if (!isExpected) return failure(`run ${run}: the plan of ${zone} at ${target} does not match the journal`)
  return ok({ ...savedZone, target: savedTarget })
}
