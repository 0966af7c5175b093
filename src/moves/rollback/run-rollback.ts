/** `rollback`: finds a run in the journal, locks its zones, plans the changes back to the state before that run, and makes them. Needs no definitions. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Diagnostic, hasErrors, oneLine } from '../../base/diagnostic.ts'
import { parseAbsoluteName } from '../../dns/domain-name.ts'
import type { Allowance } from '../../dns/zone.ts'
import { ownProcess } from '../../files/process-identity.ts'
import { hasChanges } from '../../plan/planned-zone.ts'
import { diagnosticOf, type Provider } from '../../providers/provider.ts'
import type { ApplicableZone, ChangesToMake } from '../../run/apply/apply-zones.ts'
import { type LockedRun, withFreeZones } from '../../run/apply/locked-run.ts'
import { EXIT, type ExitStatus, worstOf } from '../../run/context/exit-status.ts'
import {
  type ApplyContext,
  type ApplyOptions,
  type ApplySetup,
  closeRun,
  forEachZone,
  openRun,
  type Workspace,
} from '../../run/context/run-context.ts'
import { checkPlan } from '../../run/load/check-plan.ts'
import { loadRunConfig } from '../../run/load/run-config.ts'
import { NOT_OPENED, openProviders, reportLoaded } from '../../run/load/workspace.ts'
import { changeZones } from '../../run/run-apply.ts'
import { findReferences } from '../../run/saved/reread-zones.ts'
import { showAndSave } from '../../run/saved/save-plan.ts'
import { JOURNAL_FILE, type RunZone } from '../../stored/journal/journal-format.ts'
import { type RunRecord, readForeignRun, readRuns } from '../../stored/journal/read-journal.ts'
import { findRun, lastRun, type RunZoneDetail, readRunPlans } from '../../stored/journal/runs.ts'
import { type Fences, storedTtlsOf } from '../../stored/store/fences.ts'
import { fetchJournal } from '../../stored/store/fetch-journal.ts'
import { storeContext } from '../../stored/store/open-store.ts'
import { planZoneRollback } from './rollback-zone.ts'

export interface RollbackOptions extends ApplyOptions {
  /** Whether to roll back the latest run that changed something, is no rollback and is not rolled back. */
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
  const { output, workspace, environment } = context
  try {
    const isUsable = reportLoaded(output, workspace, { inFull: true })
    const { runToUndo, isRequested } = workspace
    if (!isUsable || runToUndo === null) {
      output.unplanned(workspace.diagnostics)
      return environment.interruption.status() ?? EXIT.failure
    }
    return await withFreeZones(context, 'rollback', runToUndo.begin.zones.filter(isRequested), (free, lockedRun) =>
      rollBack({ ...context, workspace: { ...workspace, isRequested: (zone) => free.includes(zone) } }, lockedRun, runToUndo),
    )
  } finally {
    await closeRun(context)
  }
}

async function rollBack(context: RollbackContext, lockedRun: LockedRun, runToUndo: RunRecord): Promise<ExitStatus> {
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
  const planned = await planRollback(context, lockedRun.fences, details.value)
  // A rollback must be possible in an emergency.
  const checked = await checkPlan(context, planned, { asWarnings: true })
  const { whole } = checked
  const rollsBack = { run: runToUndo.id, whole: whole && details.value.length === runToUndo.begin.zones.length }
  const status =
    options.out === undefined
      ? await changeZones(context, lockedRun, { ...checked, rollsBack })
      : await showAndSave(context, options.out, checked, lockedRun.fences)
  // The run is named because --last may select another one now.
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
  if (config === null || runToUndo === null || hasErrors(diagnostics))
    return { ...NOT_OPENED, runName, diagnostics, runToUndo: null, isRequested }
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
  const found =
    name === null ? lastRun(runs, ({ begin, state }) => begin.command !== 'rollback' && state !== 'rolled-back') : findRun(runs, name)
  if (found.run !== null) {
    const latest = lastRun(runs).run
    if (name === null && latest?.begin.command === 'rollback') {
      const message = `the latest run, ${latest.id}, is a rollback, so --last means run ${found.run.id} before it`
      diagnostics.push({ severity: 'notice', code: 'rollback-last', message, hint: `zonewright rollback ${latest.id} undoes the rollback` })
    }
    return found.run
  }
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

interface PlannedRollback extends ChangesToMake {
  /** Whether all changes of the run to these zones are undone. */
  readonly whole: boolean
}

/** Reads the zones and plans the changes back to their state before the run. A zone that cannot be read is left out, with an error. */
async function planRollback(context: RollbackContext, fences: Fences, details: readonly RunZoneDetail[]): Promise<PlannedRollback> {
  const { options, output } = context
  const { config, providers } = context.workspace
  const { now, tool, interruption } = context.environment
  if (config === null) throw new Error('no config')
  const { prefer, overwrite = false } = options
  const rules = { thresholds: config.safety, allow: new Set(options.allow as readonly Allowance[]), prefer, overwrite }
  const { signal } = interruption
  const references = await findReferences(providers, details, signal)
  const diagnostics: Diagnostic[] = [...references.values()].flatMap((found) => ('message' in found ? [found] : []))
  let whole = true
  const planOne = async ({ plan, existing: before, outcome }: RunZoneDetail): Promise<ApplicableZone | null> => {
    const provider = providers.get(plan.target)
    const found = references.get(plan.target)
    if (!provider || found === undefined || 'message' in found) return null
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
    }
  }
  const zones = (await forEachZone(output, 'reading', details, planOne)).filter((zone) => zone !== null)
  return { created: now().toISOString(), tool, zones, diagnostics, whole: whole && zones.length === details.length }
}
