/** `copy`: reads zones at one provider, shows what another does not support of them, plans them there, and makes the changes. Needs no definitions. */
import { type Diagnostic, hasErrors } from '../../base/diagnostic.ts'
import type { AcceptedLosses } from '../../checks/accepted-losses.ts'
import type { Config } from '../../config/config.ts'
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import type { Allowance } from '../../dns/zone.ts'
import { type Misfit, misfitsOf } from '../../plan/misfits.ts'
import type { Plan } from '../../plan/plan.ts'
import { planOf, withoutSecrets, type ZoneJob } from '../../plan/planned-zone.ts'
import { diagnosticOf, type Provider, type ZoneReference, type ZoneSnapshot } from '../../providers/provider.ts'
import { withFreeZones } from '../../run/apply/locked-run.ts'
import { EXIT, type ExitStatus, statusOfPlan } from '../../run/context/exit-status.ts'
import {
  type ApplyContext,
  type ApplyOptions,
  type ApplyOutput,
  type ApplySetup,
  closeRun,
  forEachZone,
  openRun,
  type Workspace,
  withProgress,
} from '../../run/context/run-context.ts'
import { checkPlan } from '../../run/load/check-plan.ts'
import { loadRunConfig } from '../../run/load/run-config.ts'
import { NOT_OPENED, openProviders, reportLoaded } from '../../run/load/workspace.ts'
import { type PlannedJob, type PlannedJobs, planZones } from '../../run/plan/plan-zones.ts'
import { changeZones } from '../../run/run-apply.ts'
import { readKnownFences } from '../../run/run-plan.ts'
import { showAndSave } from '../../run/saved/save-plan.ts'
import { storedTtlsOf } from '../../stored/store/fences.ts'
import { storeContext } from '../../stored/store/open-store.ts'
import { type CopyOptions, copiedZone, copyHint, leftBehind, leftBehindDiagnostics, refusedLosses } from './copied-zone.ts'

export interface CopyRunOptions extends CopyPlanOptions {
  /** The providers' names in the config. */
  readonly from: string
  readonly to: string
  /** The target's name servers, which become the apex NS records; empty to leave those to the target. */
  readonly apexNs: readonly string[]
  /** Whether to show the plan and change nothing. */
  readonly dryRun?: boolean | undefined
  /** The file to save the plan to, instead of applying it. */
  readonly out?: string | undefined
}

export interface CopySetup extends ApplySetup<CopyRunOptions> {
  readonly output: ApplyOutput & { misfits(zone: DomainName, target: string, misfits: readonly Misfit[]): void }
}

interface CopyWorkspace extends Workspace {
  readonly zones: readonly DomainName[]
  readonly apexNs: readonly DomainName[] | null
  /** Null if the diagnostics have an error. */
  readonly ends: CopyEnds | null
}

export interface CopyEnds {
  readonly source: Provider
  readonly target: Provider
}

type CopyContext = ApplyContext<CopyRunOptions, CopyWorkspace> & CopySetup

/** Copies the named zones. A zone that a cutover is moving is left out. If one of the others may not be copied, none is changed. */
export async function runCopy(setup: CopySetup, zones: readonly string[]): Promise<ExitStatus> {
  const context: CopyContext = openRun(setup, await openCopy(setup, zones))
  const fail = (diagnostics: readonly Diagnostic[]): ExitStatus => {
    context.output.unplanned(diagnostics)
    return context.environment.interruption.status() ?? EXIT.failure
  }
  try {
    const { workspace } = context
    const isUsable = reportLoaded(context.output, workspace, { inFull: true })
    const { apexNs, ends } = workspace
    if (!isUsable || ends === null) return fail(workspace.diagnostics)
    const { source, target } = ends
    const plan = async (zones: readonly DomainName[]): Promise<PlannedJobs | null> => {
      const problems: Diagnostic[] = []
      try {
        const read = await readSource(context, zones, source, problems)
        if (problems.length === 0) {
          const copied = await planCopy(context, read, ends, apexNs === null ? null : { names: apexNs, ttl: null })
          // What is live already may break policies.
          return await checkPlan(context, copied, { asWarnings: true })
        }
      } catch (error) {
        problems.push(diagnosticOf(error))
      }
      context.output.diagnostics(problems)
      fail(problems)
      return null
    }
    if (context.options.dryRun) {
      const planned = await plan(workspace.zones)
      return planned === null ? EXIT.failure : showOnly(context, planOf(withoutSecrets(planned, context.environment.secrets)))
    }
    const wanted = workspace.zones.map((zone) => ({ zone, target: target.name }))
    return await withFreeZones(context, 'copy', wanted, async (free, lockedRun) => {
      const planned = await plan(free.map(({ zone }) => zone))
      if (planned === null) return EXIT.failure
      const { out } = context.options
      return out === undefined ? changeZones(context, lockedRun, planned) : showAndSave(context, out, planned, lockedRun.fences)
    })
  } finally {
    await closeRun(context)
  }
}

function showOnly(context: CopyContext, plan: Plan): ExitStatus {
  context.output.planDiagnostics(plan)
  context.output.plan(plan)
  return statusOfPlan(plan)
}

async function openCopy(setup: CopySetup, args: readonly string[]): Promise<CopyWorkspace> {
  const { from, to, apexNs } = setup.options
  const { config, diagnostics: inConfig } = await loadRunConfig(setup.environment, setup.options.config, {
    trusted: setup.options.trustedConfig,
  })
  const diagnostics: Diagnostic[] = [...inConfig]
  const namesOf = (texts: readonly string[], code: Diagnostic['code']): DomainName[] =>
    unique(
      texts.flatMap((text) => {
        const name = parseAbsoluteName(text)
        if (name.ok) return name.value
        diagnostics.push({ severity: 'error', code, message: name.message })
        return []
      }),
    )
  const zones = namesOf(args, 'zone-name')
  const servers = namesOf(apexNs, 'usage')
  if (from === to) diagnostics.push({ severity: 'error', code: 'usage', message: `--from and --to both name ${from}` })
  const rest = { zones, apexNs: servers.length === 0 ? null : servers }
  if (config === null || hasErrors(diagnostics)) return { ...NOT_OPENED, ...rest, diagnostics, ends: null }
  const opened = await openProviders(setup, config, [from, to])
  diagnostics.push(...opened.diagnostics)
  const [source, target] = [opened.providers.get(from), opened.providers.get(to)]
  const ends = source === undefined || target === undefined || hasErrors(diagnostics) ? null : { source, target }
  return { ...opened, ...rest, jobs: [], diagnostics, ends }
}

const unique = <Item>(items: readonly Item[]): Item[] => [...new Set(items)]

/** Reads the zones at the source. A zone that is missing there, or that its masters fill, becomes a problem. */
async function readSource(
  { output, environment }: CopyContext,
  zones: readonly DomainName[],
  source: Provider,
  problems: Diagnostic[],
): Promise<readonly ZoneSnapshot[]> {
  const { signal } = environment.interruption
  const references = await source.findZones(zones, { signal })
  const missing = zones.filter((zone) => !references.has(zone))
  problems.push(...missing.map((zone) => problem('zone-unknown', `${source.name} has no zone ${zone}`)))
  if (missing.length > 0) return []
  const read = await forEachZone(output, 'reading', zones, (zone) => source.readZone(references.get(zone) as ZoneReference, { signal }))
  const from = 'copy it from its masters, with a provider of the type "axfr"'
  for (const { name, settings } of read)
    if (settings.type === 'slave') problems.push(problem('setting-unsupported', `${name} is a slave zone at ${source.name}: ${from}`))
  return read
}

const problem = (code: Diagnostic['code'], message: string): Diagnostic => ({ severity: 'error', code, message })

/** Options of a plan to copy. */
export interface CopyPlanOptions extends ApplyOptions {
  /** The types of records to leave out if the target does not support them. */
  readonly lossy?: AcceptedLosses | undefined
}

type CopyPlanContext = ApplyContext<CopyPlanOptions> & { readonly output: CopySetup['output'] }

/** Plans the zones at the target, and shows what it does not support of them. */
export async function planCopy(
  context: CopyPlanContext,
  zones: readonly ZoneSnapshot[],
  { source, target }: CopyEnds,
  apexNs: CopyOptions['apexNs'],
): Promise<PlannedJobs> {
  const { output, options } = context
  const { now, tool, interruption } = context.environment
  const { providers, config } = context.workspace
  const { defaults, safety } = config as Config
  const { signal } = interruption
  const existing = await target.findZones(
    zones.map(({ name }) => name),
    { signal },
  )
  const { fences, problems } = await readKnownFences(storeContext(context))
  const accepted = options.lossy ?? false
  const jobs = zones.map((zone): ZoneJob => {
    const isNew = !existing.has(zone.name)
    const desired = copiedZone(zone, source, target, { apexNs, isNew, defaults: defaults.settings, lossy: accepted !== false })
    const allow = new Set((options.allow ?? []) as Allowance[])
    const storedTtls = storedTtlsOf(fences, { zone: zone.name, target: target.name })
    return { desired, target: target.name, policy: 'sync', thresholds: safety, prefer: options.prefer, allow, storedTtls }
  })
  const left = new Map(zones.map((zone) => [zone.name, leftBehind(zone, source, target)]))
  const refused = new Map(
    jobs.map(({ desired }) => {
      const misfits = misfitsOf(desired, target.name, target.capabilities)
      output.misfits(desired.name, target.name, [...(left.get(desired.name) ?? []), ...misfits])
      return [desired.name, accepted === false ? [] : refusedLosses(desired, misfits, accepted)]
    }),
  )
  const planned = await withProgress(output, (onProgress) => planZones(jobs, { providers, now: now(), tool, signal, onProgress }))
  const withLosses = (zone: PlannedJob): PlannedJob => {
    const refusals = refused.get(zone.plan.zone) ?? []
    const own = [...leftBehindDiagnostics(left.get(zone.plan.zone) ?? [], zone.plan.zone, accepted), ...refusals]
    const fitting = zone.plan.diagnostics.flatMap((one) => {
      if (!UNSUPPORTED.has(one.code)) return [one]
      if (one.severity === 'error') return [{ ...one, hint: copyHint(false, '', false) }]
      // Nothing is skipped in a zone that is not copied; the table of its misfits lists all records.
      return refusals.length > 0 ? [] : [one]
    })
    return { ...zone, plan: { ...zone.plan, diagnostics: [...own, ...fitting] } }
  }
  return withoutPositions({ ...planned, zones: planned.zones.map(withLosses), diagnostics: [...problems, ...planned.diagnostics] })
}

/** Errors about records that the target does not support. */
const UNSUPPORTED: ReadonlySet<Diagnostic['code']> = new Set(['type-unsupported', 'record-unsupported'])

/** The plan without positions: records of a provider have none. */
export function withoutPositions(planned: PlannedJobs): PlannedJobs {
  const bare = <Part extends { readonly diagnostics: readonly Diagnostic[] }>(part: Part): Part => ({
    ...part,
    diagnostics: part.diagnostics.map(({ at: _, ...diagnostic }) => diagnostic),
  })
  return bare({ ...planned, zones: planned.zones.map((zone) => ({ ...zone, plan: bare(zone.plan) })) })
}
