/** `rollback`: finds a run in the journal, locks its zones, plans the changes back to the state before that run, and makes them. Needs no definitions. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import pLimit from 'p-limit'
import { ownProcess } from '../../definition/files/process-identity.ts'
import { type Diagnostic, hasErrors, oneLine } from '../../dns/diagnostic.ts'
import { parseAbsoluteName } from '../../dns/domain-name.ts'
import type { Allowance } from '../../dns/zone.ts'
import { diagnosticOf, type Provider, type ZoneReference } from '../../providers/provider.ts'
import type { ApplicableZone, ChangesToMake } from '../apply-zones.ts'
import { checkPlan } from '../check-plan.ts'
import { movingZones } from '../cutover/cutover-state.ts'
import { EXIT, type ExitStatus, worstOf } from '../exit-status.ts'
import { JOURNAL_FILE, type RunZone } from '../journal/journal-format.ts'
import { type RunRecord, readForeignRun, readRuns } from '../journal/read-journal.ts'
import { findRun, lastRun, type RunZoneDetail, readRunPlans } from '../journal/runs.ts'
import { type Fences, storedTtlsOf } from '../journal/store/fences.ts'
import { fetchJournal } from '../journal/store/fetch-journal.ts'
import { storeContext } from '../journal/store/open-store.ts'
import { type LockedRun, lockRun } from '../locked-run.ts'
import { hasChanges } from '../planned-zone.ts'
import { changeZones } from '../run-apply.ts'
import { loadRunConfig } from '../run-config.ts'
import {
  type ApplyContext,
  type ApplyOptions,
  type ApplySetup,
  closeRun,
  type OnProgress,
  openRun,
  type Workspace,
  withProgress,
} from '../run-context.ts'
import { showAndSave } from '../saved-plan/show-and-save.ts'
import { openProviders, reportLoaded } from '../workspace.ts'
import { planZoneRollback } from './rollback-zone.ts'

export interface RollbackOptions extends ApplyOptions {
  /** Whether to roll back the latest run that changed something. */
  readonly last?: boolean | undefined
  /** Whether to overwrite changes that other clients made since the run. */
  readonly overwrite?: boolean | undefined
  /** The file to save the plan to, instead of applying it. */
  readonly out?: string | undefined
}

/** A workspace with the run to undo. */
interface RollbackWorkspace extends Workspace {
  /** Null if the diagnostics have an error. */
  readonly runToUndo: RunRecord | null
  /** The run as a command can name it: its id, or the path of a run of another machine. */
  readonly runName: string
  /** Whether a zone of the run was requested. */
  readonly isRequested: (zone: RunZone) => boolean
}

type RollbackContext = ApplyContext<RollbackOptions, RollbackWorkspace>

/** Undoes the run that the first argument names, or with `last` the latest run. Further arguments name zones; without them, all zones of the run. */
export async function runRollback(setup: ApplySetup<RollbackOptions>, args: readonly string[]): Promise<ExitStatus> {
  const context: RollbackContext = openRun(setup, await openRollback(setup, args))
  const fail = (diagnostics: readonly Diagnostic[]): ExitStatus => {
    context.output.unplanned(diagnostics)
    return context.environment.interruption.status() ?? EXIT.failure
  }
  try {
    const { workspace } = context
    const isUsable = reportLoaded(context.output, workspace, { inFull: true })
    const { runToUndo, isRequested } = workspace
    if (!isUsable || runToUndo === null) return fail(workspace.diagnostics)
    const wanted = runToUndo.begin.zones.filter(isRequested)
    const lock = await lockRun(context, 'rollback', wanted)
    if (lock.lockedRun === null) return fail([lock.diagnostic])
    const rollback = lock.lockedRun
    return await rollback.finish(async () => {
      const moving = await movingZones(workspace.journal, wanted)
      const found = [...moving.values()]
      context.output.diagnostics(found)
      if (moving.size === wanted.length) return fail(found)
      const isFree = (zone: RunZone): boolean => isRequested(zone) && !moving.has(zone)
      const own = { ...context, workspace: { ...workspace, isRequested: isFree } }
      return worstOf([await rollBack(own, rollback, runToUndo), moving.size > 0 ? EXIT.failure : EXIT.done])
    })
  } finally {
    await closeRun(context)
  }
}

async function rollBack(context: RollbackContext, rollback: LockedRun, runToUndo: RunRecord): Promise<ExitStatus> {
  const { output, options, workspace } = context
  const { isRequested, runName } = workspace
  // Read only after the lock: the run that had locked the zones may be the one to undo.
  const unread = await fetchJournal(storeContext(context))
  const details = await readRunPlans(runToUndo, isRequested)
  const problems =
    unread !== null
      ? [unread]
      : details.ok
        ? changedTargets(details.value, runToUndo, workspace.providers)
        : [unreadable(details.message, planHint(workspace))]
  if (!details.ok || problems.length > 0) {
    output.diagnostics(problems)
    output.unplanned(problems)
    return EXIT.failure
  }
  output.note(`Rolling back run ${runToUndo.id}, ${runToUndo.begin.command} of ${runToUndo.begin.time}.`)
  const planned = await withProgress(output, (onProgress) => planRollback(context, rollback.fences, details.value, onProgress))
  // A rollback must be possible in an emergency.
  const checked = await checkPlan(context, planned, { asWarnings: true })
  const { whole } = checked
  const rollsBack = { run: runToUndo.id, whole: whole && details.value.length === runToUndo.begin.zones.length }
  const status =
    options.out === undefined
      ? await changeZones(context, rollback, { ...checked, rollsBack })
      : await showAndSave(context, options.out, checked, rollback)
  // The run is named because --last now selects this rollback.
  const rest = options.overwrite
    ? 'the report shows what stays'
    : `"zonewright rollback ${oneLine(runName)} --overwrite" rolls back the rest`
  if (!whole)
    output.say(
      `Run ${runToUndo.id} ${options.out === undefined ? 'was' : 'would'} not ${options.out === undefined ? '' : 'be '}rolled back completely: ${rest}.`,
    )
  if (checked.zones.some(hasChanges))
    output.note('A rollback leaves the definitions as they are: correct them too, or the next apply makes the same changes again.')
  return worstOf([status, whole ? EXIT.done : EXIT.partial])
}

/** Finds the run to undo and creates the providers of its targets. */
async function openRollback(setup: ApplySetup<RollbackOptions>, args: readonly string[]): Promise<RollbackWorkspace> {
  const { environment } = setup
  const { cwd } = environment
  const { target, last = false } = setup.options
  const { config, diagnostics: inConfig } = await loadRunConfig(environment, setup.options.config, { trusted: setup.options.trustedConfig })
  const unread = config === null ? null : await fetchJournal({ ...environment, config, journal: config.journal })
  const diagnostics: Diagnostic[] = [...inConfig, ...(unread === null ? [] : [unread])]
  const requested = requestedZones(last ? args : args.slice(1), diagnostics)
  const isRequested = (zone: RunZone): boolean =>
    (requested.size === 0 || requested.has(zone.zone)) && (target === undefined || target === zone.target)
  const name = last ? null : args[0]
  const path = config !== null && typeof name === 'string' && isRunPath(name, cwd, config.journal) ? resolve(cwd, name) : null
  const runToUndo =
    config === null ? null : path === null ? selectRun(config.journal, name, diagnostics) : readRunAt(path, name ?? '', diagnostics)
  if (runToUndo !== null) diagnostics.push(...untouchedZones(runToUndo, requested, isRequested, target))
  const runName = path === null ? (runToUndo?.id ?? '') : (name ?? '')
  const unopened = { config, runName, journal: config?.journal ?? '', providers: new Map<string, Provider>(), close: async () => undefined }
  if (config === null || runToUndo === null || hasErrors(diagnostics))
    return { ...unopened, jobs: [], diagnostics, runToUndo: null, isRequested }
  const targets = new Set(runToUndo.begin.zones.filter(isRequested).map((zone) => zone.target))
  const opened = await openProviders(setup, config, targets)
  diagnostics.push(...opened.diagnostics)
  return { ...opened, jobs: [], diagnostics, runToUndo: hasErrors(diagnostics) ? null : runToUndo, runName, isRequested }
}

/** Whether the argument is a path to a run of another machine. No name of a run contains a slash; a folder without one must not be a run of the journal. */
function isRunPath(name: string, cwd: string, journal: string): boolean {
  if (/[/\\]|\.jsonl$/.test(name)) return true
  return existsSync(resolve(cwd, name, JOURNAL_FILE)) && findRun(readRuns(journal, ownProcess()).runs, name).run === null
}

function readRunAt(path: string, shown: string, diagnostics: Diagnostic[]): RunRecord | null {
  const run = readForeignRun(path, ownProcess())
  if (run.ok) return run.value
  diagnostics.push(unreadable(`${oneLine(shown)}: ${run.message}`, RUN_FOLDER))
  return null
}

const RUN_FOLDER = 'name the folder of the run, with journal.jsonl and plans, or its journal.jsonl'

const planHint = ({ runToUndo, runName }: RollbackWorkspace): string | undefined =>
  runToUndo !== null && runName !== runToUndo.id ? 'copy the whole folder of the run, with its plans' : undefined

function selectRun(journal: string, name: string | null | undefined, diagnostics: Diagnostic[]): RunRecord | null {
  if (name === undefined) {
    diagnostics.push({ severity: 'error', code: 'usage', message: 'rollback needs a run, or --last', hint: 'see "zonewright history"' })
    return null
  }
  const { runs, diagnostics: problems } = readRuns(journal, ownProcess())
  const found = name === null ? lastRun(runs) : findRun(runs, name)
  if (found.run !== null) return found.run
  // A run that cannot be read may be the requested one.
  diagnostics.push(found.diagnostic, ...problems)
  return null
}

function requestedZones(names: readonly string[], diagnostics: Diagnostic[]): Set<string> {
  const zones = new Set<string>()
  for (const text of names) {
    const name = parseAbsoluteName(text)
    if (name.ok) zones.add(name.value)
    else diagnostics.push({ severity: 'error', code: 'zone-name', message: `${JSON.stringify(text)} is not a zone name: ${name.message}` })
  }
  return zones
}

/** An error for each requested zone that the run did not change. */
function untouchedZones(
  { id, begin }: RunRecord,
  requested: ReadonlySet<string>,
  isRequested: (zone: RunZone) => boolean,
  target: string | undefined,
): Diagnostic[] {
  const at = target === undefined ? '' : ` at ${target}`
  const missing = [...requested].filter((name) => !begin.zones.some((zone) => zone.zone === name && isRequested(zone)))
  if (missing.length === 0 && !begin.zones.some(isRequested)) missing.push('anything')
  return missing.map((name) => ({
    severity: 'error',
    code: 'zone-unknown',
    message: `run ${id} did not change ${name}${at}`,
    hint: `"zonewright history ${id}" shows its changes`,
  }))
}

/** An error for each target whose type or address differs from that of the run. */
function changedTargets(zones: readonly RunZoneDetail[], { id }: RunRecord, providers: ReadonlyMap<string, Provider>): Diagnostic[] {
  const targets = new Map(zones.map(({ target }) => [target.name, target]))
  return [...targets.values()].flatMap(({ name, type, address }): Diagnostic[] => {
    const provider = providers.get(name)
    if (provider?.type === type && provider.address === address) return []
    const message = `run ${id} changed ${name} at ${address}; in this config ${name} is ${provider?.address ?? 'missing'}`
    return [{ severity: 'error', code: 'target-changed', message, hint: 'roll back with the config of that run' }]
  })
}

const unreadable = (message: string, hint?: string): Diagnostic => ({ severity: 'error', code: 'journal-unreadable', message, hint })

/** Zones read concurrently. Each provider limits its requests itself. */
const ZONES_AT_ONCE = 16

interface PlannedRollback extends ChangesToMake {
  /** Whether all changes of the run to these zones are undone. */
  readonly whole: boolean
}

/** Reads the zones and plans the changes back to their state before the run. A zone that cannot be read is left out, with an error. */
async function planRollback(
  context: RollbackContext,
  fences: Fences,
  details: readonly RunZoneDetail[],
  onProgress: OnProgress,
): Promise<PlannedRollback> {
  const { options } = context
  const { config, providers } = context.workspace
  const { now, tool, interruption } = context.environment
  if (config === null) throw new Error('no config')
  const { prefer, overwrite = false } = options
  const rules = { thresholds: config.safety, allow: new Set(options.allow as readonly Allowance[]), prefer, overwrite }
  const { signal } = interruption
  const diagnostics: Diagnostic[] = []
  const limit = pLimit(ZONES_AT_ONCE)
  const references = await findZones(context, details, diagnostics)
  let done = 0
  let whole = true
  const planned = await Promise.all(
    details.map((zone) =>
      limit(async (): Promise<ApplicableZone | null> => {
        const { plan, existing: before, outcome } = zone
        const provider = providers.get(plan.target)
        const found = references.get(plan.target)
        if (!provider || !found) return null
        try {
          const reference = found.get(plan.zone) ?? null
          const readAt = performance.now()
          const live = reference && (await provider.readZone(reference, { signal }))
          const own = { ...rules, capabilities: provider.capabilities, storedTtls: storedTtlsOf(fences, plan) }
          const rollback = planZoneRollback({ before, plan, outcomes: outcome.outcomes }, live, own)
          whole &&= rollback.whole
          return { plan: rollback.plan, reference, existing: live, readAt }
        } catch (error) {
          diagnostics.push(diagnosticOf(error))
          return null
        } finally {
          done += 1
          onProgress({ phase: 'reading', done, total: details.length })
        }
      }),
    ),
  )
  const zones = planned.filter((zone) => zone !== null)
  return { created: now().toISOString(), tool, zones, diagnostics, whole: whole && zones.length === details.length }
}

/** The existing zones by target. A target that cannot be reached is left out, with an error. */
async function findZones(
  { workspace: { providers }, environment: { interruption } }: RollbackContext,
  details: readonly RunZoneDetail[],
  diagnostics: Diagnostic[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, ZoneReference>>> {
  const found = new Map<string, ReadonlyMap<string, ZoneReference>>()
  await Promise.all(
    [...new Set(details.map(({ plan }) => plan.target))].map(async (target) => {
      const names = details.filter(({ plan }) => plan.target === target).map(({ plan }) => plan.zone)
      try {
        const references = await providers.get(target)?.findZones(names, { signal: interruption.signal })
        if (references) found.set(target, references)
      } catch (error) {
        diagnostics.push(diagnosticOf(error))
      }
    }),
  )
  return found
}
