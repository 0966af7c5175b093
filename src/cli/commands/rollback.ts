import { findRun, lastRun } from '../../apply/journal/find-run.ts'
import type { RunZone } from '../../apply/journal/journal-entry.ts'
import { readRuns } from '../../apply/journal/read-journal.ts'
import { type RunZoneDetail, readRunPlans } from '../../apply/journal/read-run-plans.ts'
import type { RunRecord } from '../../apply/journal/run-record.ts'
import { type PlannedRollback, planRollback } from '../../apply/rollback-run.ts'
import type { Config } from '../../definition/config/config.ts'
import { unknownProvider } from '../../definition/config/read-config.ts'
import { ownProcess } from '../../definition/files/process-identity.ts'
import { type Diagnostic, hasErrors } from '../../dns/diagnostic.ts'
import { parseDomainName } from '../../dns/domain-name.ts'
import type { RefusalName } from '../../dns/zone.ts'
import type { Provider, ProviderContext } from '../../providers/provider.ts'
import { createProvider } from '../../providers/registry.ts'
import { type Console, createConsole } from '../console.ts'
import { EXIT, type ExitStatus, worstOf } from '../exit-status.ts'
import { TOOL } from '../identity.ts'
import { type Interruption, listenForInterruption } from '../interruption.ts'
import type { CliIo } from '../io.ts'
import { reportThrottling } from '../report-throttling.ts'
import { loadRunConfig } from '../run-config.ts'
import { endRun, type GuardedRun, guardRun } from '../run-guard.ts'
import type { Workspace } from '../workspace.ts'
import { type ApplyOptions, makeChanges, STOPPING } from './apply.ts'
import { checkWorkspace, emptyPlan } from './plan.ts'

export interface RollbackOptions extends ApplyOptions {
  readonly last?: boolean
  readonly overwrite?: boolean
}

type OpeningOptions = RollbackOptions & Pick<ProviderContext, 'onThrottled'>

/** The run that goes back, and those of its zones that do. */
interface RollbackWorkspace extends Workspace {
  readonly config: Config | null
  /** Null where the diagnostics hold an error. */
  readonly run: RunRecord | null
  readonly isAsked: (zone: RunZone) => boolean
}

/**
 * `zonewright rollback RUN [zone...]`: plans zones back to what they were before a run, asks, and makes the changes. Works without definitions: by the
 * journal, the config and what is live.
 */
export async function rollback(io: CliIo, [args]: readonly [string[]], options: RollbackOptions): Promise<ExitStatus> {
  const console = createConsole(io, options)
  const workspace = await openRollback(io, args, { ...options, onThrottled: reportThrottling(console) })
  const interruption = listenForInterruption(console.say, STOPPING, { seconds: options.timeout, hangUp: true })
  const failed = (diagnostics: readonly Diagnostic[]): ExitStatus => {
    if (options.format !== 'text') console.plan(emptyPlan(io, diagnostics), options.format)
    return interruption.status() ?? EXIT.failure
  }
  try {
    const isFine = checkWorkspace(workspace, console, { inFull: true })
    if (!isFine || workspace.run === null) return failed(workspace.diagnostics)
    const zones = workspace.run.begin.zones.filter(workspace.isAsked)
    const { journal } = workspace
    const guarded = await guardRun(io, console, { journal, command: 'rollback', zones, wait: options.wait, signal: interruption.signal })
    if (guarded.run === null) return failed([guarded.diagnostic])
    const { run } = guarded
    return await endRun(run, () => rollBack(io, workspace, console, interruption, run, options))
  } finally {
    interruption.release()
    await workspace.close()
  }
}

async function rollBack(
  io: CliIo,
  workspace: RollbackWorkspace,
  console: Console,
  interruption: Interruption,
  guard: GuardedRun,
  options: RollbackOptions,
): Promise<ExitStatus> {
  const { run, journal, isAsked } = workspace
  if (run === null) throw new Error('no run to roll back')
  // Read only now: while another run had the zones, it may have been this one.
  const details = await readRunPlans(journal, run, isAsked)
  const moved = details.ok ? movedTargets(details.value, run, workspace.providers) : [unreadable(details.message)]
  if (!details.ok || moved.length > 0) {
    console.diagnostics(moved)
    if (options.format !== 'text') console.plan(emptyPlan(io, moved), options.format)
    return EXIT.failure
  }
  console.note(`Rolling back run ${run.id}, ${run.begin.command} of ${run.begin.time}.`)
  const planned = await planBack(io, workspace, details.value, console, interruption, options)
  const whole = planned.whole && details.value.length === run.begin.zones.length
  const rollsBack = { run: run.id, whole }
  const status = await makeChanges(io, planned, workspace, console, interruption, guard, { ...options, isSaved: false, rollsBack })
  // By its name: after this run, --last is this run.
  const rest = options.overwrite ? 'see above what stays as it is' : `"zonewright rollback ${run.id} --overwrite" takes back the rest`
  if (!planned.whole) console.say(`Run ${run.id} is not taken back as a whole: ${rest}.`)
  return worstOf([status, planned.whole ? EXIT.done : EXIT.partial])
}

async function planBack(
  io: CliIo,
  { config, providers }: RollbackWorkspace,
  zones: readonly RunZoneDetail[],
  console: Console,
  { signal }: Interruption,
  { allow, prefer, overwrite = false }: RollbackOptions,
): Promise<PlannedRollback> {
  if (config === null) throw new Error('no config')
  const bar = console.progress()
  try {
    return await planRollback({
      zones,
      providers,
      thresholds: config.safety,
      allow: new Set(allow as readonly RefusalName[]),
      prefer,
      overwrite,
      now: io.now(),
      tool: TOOL,
      signal,
      onProgress: bar.onProgress,
    })
  } finally {
    bar.clear()
  }
}

/** Finds the run and makes the providers it needs. Opens no connection. */
async function openRollback(io: CliIo, args: readonly string[], options: OpeningOptions): Promise<RollbackWorkspace> {
  const { config, diagnostics: found } = await loadRunConfig(io, options.config)
  const diagnostics: Diagnostic[] = [...found]
  const providers = new Map<string, Provider>()
  const close = async (): Promise<void> => {
    await Promise.all([...providers.values()].map((provider) => provider.close()))
  }
  const names = options.last ? args : args.slice(1)
  const wanted = wantedZones(names, diagnostics)
  const isAsked = ({ zone, target }: RunZone): boolean =>
    (wanted.size === 0 || wanted.has(zone)) && (options.target === undefined || options.target === target)
  const run = config === null ? null : selectRun(config.journal, options.last ? null : args[0], diagnostics)
  if (run !== null) {
    diagnostics.push(...untouchedZones(run, wanted, isAsked, options.target))
    if (config !== null && !hasErrors(diagnostics)) {
      const targets = new Set(run.begin.zones.filter(isAsked).map(({ target }) => target))
      await addProviders(io, config, targets, options, providers, diagnostics)
    }
  }
  const journal = config?.journal ?? ''
  return { jobs: [], providers, journal, diagnostics, close, config, run: hasErrors(diagnostics) ? null : run, isAsked }
}

function selectRun(journal: string, name: string | null | undefined, diagnostics: Diagnostic[]): RunRecord | null {
  if (name === undefined) {
    diagnostics.push({ severity: 'error', code: 'usage', message: 'rollback needs a run, or --last', hint: 'see "zonewright history"' })
    return null
  }
  const { runs, diagnostics: problems } = readRuns(journal, ownProcess())
  const found = name === null ? lastRun(runs) : findRun(runs, name)
  if (found.run !== null) return found.run
  // A run that cannot be read may be the one that was asked for.
  diagnostics.push(found.diagnostic, ...problems)
  return null
}

function wantedZones(names: readonly string[], diagnostics: Diagnostic[]): Set<string> {
  const wanted = new Set<string>()
  for (const text of names) {
    const name = parseDomainName(text.endsWith('.') ? text : `${text}.`)
    if (name.ok) wanted.add(name.value)
    else diagnostics.push({ severity: 'error', code: 'zone-name', message: `${JSON.stringify(text)} is no zone: ${name.message}` })
  }
  return wanted
}

/** What is asked for and the run did not touch. */
function untouchedZones(
  { id, begin }: RunRecord,
  wanted: ReadonlySet<string>,
  isAsked: (zone: RunZone) => boolean,
  target: string | undefined,
): Diagnostic[] {
  const at = target === undefined ? '' : ` at ${target}`
  const missing = [...wanted].filter((name) => !begin.zones.some((zone) => zone.zone === name && isAsked(zone)))
  if (missing.length === 0 && !begin.zones.some(isAsked)) missing.push('anything')
  return missing.map((name) => ({
    severity: 'error',
    code: 'run-unknown',
    message: `run ${id} did not change ${name}${at}`,
    hint: `"zonewright history ${id}" shows what it did`,
  }))
}

async function addProviders(
  io: CliIo,
  config: Config,
  targets: ReadonlySet<string>,
  { parallelism, onThrottled }: OpeningOptions,
  providers: Map<string, Provider>,
  diagnostics: Diagnostic[],
): Promise<void> {
  for (const target of targets) {
    const entry = config.providers.get(target)
    if (entry === undefined) {
      diagnostics.push(unknownProvider(target, config.providers.keys(), undefined))
      continue
    }
    const made = await createProvider(entry, {
      secrets: { folder: config.folder, env: io.env, loaded: io.secrets },
      parallelism,
      onThrottled,
    })
    diagnostics.push(...made.diagnostics)
    if (made.provider) providers.set(target, made.provider)
  }
}

/** A target that is another server than when the run changed it has nothing to go back to. */
function movedTargets(zones: readonly RunZoneDetail[], { id }: RunRecord, providers: ReadonlyMap<string, Provider>): Diagnostic[] {
  const targets = new Map(zones.map(({ target }) => [target.name, target]))
  return [...targets.values()].flatMap(({ name, type, address }): Diagnostic[] => {
    const provider = providers.get(name)
    if (provider?.type === type && provider.address === address) return []
    const message = `run ${id} changed ${name} at ${address}; in this config ${name} is ${provider?.address ?? 'not there'}`
    return [{ severity: 'error', code: 'plan-file-target', message, hint: 'roll back with the config the run had' }]
  })
}

const unreadable = (message: string): Diagnostic => ({ severity: 'error', code: 'journal-unreadable', message })
