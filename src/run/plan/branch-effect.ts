/**
 * `plan --base REV`: the effect of a branch alone, which is the plan of its definitions less the plan of those of REV.
 *
 * Both plans start from the same live zone. A plan adds records and removes records; two records are the same if owner, type, TTL and data are. Subtracting
 * the plan of REV therefore means to plan the branch against the zone as the plan of REV would leave it: what both add or remove disappears, and a record that
 * REV would change to one value and the branch to another is shown as a change from the one to the other.
 */
import { type Diagnostic, formatDiagnostic } from '../../base/diagnostic.ts'
import { agreeing, counted } from '../../base/english.ts'
import type { Config } from '../../config/config.ts'
import type { ExistingRecord } from '../../dns/record.ts'
import { withRevision } from '../../git/revision.ts'
import { type LoadedRevision, loadRevision } from '../../load/changed-zones.ts'
import type { Change, PlanBase, ZonePlan } from '../../plan/plan.ts'
import { withDiagnostics, withZoneDiagnostics, type ZoneJob } from '../../plan/planned-zone.ts'
import { NO_SOURCE_STATE } from '../../plan/source-state.ts'
import type { Provider, ZoneSnapshot } from '../../providers/provider.ts'
import { capabilitiesOf } from '../../providers/registry.ts'
import { existingRecords } from '../../stored/plans/parse-saved-change.ts'
import type { RunContext } from '../context/run-context.ts'
import { nameUndescribedZones } from '../load/removed-zones.ts'
import { jobsOf } from '../load/workspace.ts'
import { fillJob } from '../read/fill-job.ts'
import { createSourceReader } from '../read/read-sources.ts'
import { mergeTargets, type PlannedJob, type PlannedJobs, planAgain } from './plan-zones.ts'

/** The plan less that of the revision `text`; a plan without zones, with an error, if the revision cannot be read. Contacts no server but for sources that only the revision has. */
export async function effectOfBranch(context: RunContext, planned: PlannedJobs, text: string): Promise<PlannedJobs> {
  const { config } = context.workspace
  if (config === null) throw new Error('a plan needs a config')
  const read = await withRevision(config.folder, text, context.environment.env, async (revision) => ({
    base: await loadRevision(config, revision),
    commit: revision.commit,
  }))
  if (!read.ok) return withDiagnostics({ ...planned, zones: [] }, [read.diagnostic])
  const { base, commit } = read.value
  const basePlans = await plansOfBase(context, planned, base)
  const zones = planned.zones.map((zone) => effectOn(zone, basePlans.plans.get(keyOf(zone.plan)), context))
  const leftOut = [...basePlans.plans.values()].reduce((sum, { changes }) => sum + changes.length, 0)
  const of: PlanBase = { revision: text, commit, leftOut }
  const former = base.zones.flatMap(({ zone: { name, absent, at }, targets }) =>
    absent ? [] : targets.map((target) => ({ name, target, origin: `${at.file} described it in ${text}` })),
  )
  const removed = nameUndescribedZones(former, false, context.workspace, planned.diagnostics)
  const diagnostics = [effectNotice(of), ...basePlans.diagnostics, ...planned.diagnostics, ...removed]
  return { ...planned, base: of, zones, diagnostics }
}

const keyOf = ({ zone, target }: { readonly zone: string; readonly target: string }): string => `${zone} ${target}`

const effectNotice = ({ revision, commit, leftOut }: PlanBase): Diagnostic => ({
  severity: 'notice',
  code: 'branch-effect',
  message: `shows the effect of the branch alone: ${counted(leftOut, 'change')} that the definitions of ${revision} (${commit.slice(0, 12)}) make without it ${agreeing(leftOut, 'is', 'are')} left out`,
})

interface BasePlans {
  /** By zone and target. A zone that the revision did not have at the target has none. */
  readonly plans: ReadonlyMap<string, ZonePlan>
  readonly diagnostics: readonly Diagnostic[]
}

/** Plans the definitions of the revision for the zones of a plan, from the same live state. */
async function plansOfBase(context: RunContext, { zones, sources }: PlannedJobs, base: LoadedRevision): Promise<BasePlans> {
  const { options, environment, workspace } = context
  const { providers } = workspace
  if (base.config === null) return { plans: new Map(), diagnostics: [unusable('it has no config that can be read')] }
  const planned = new Map(zones.map((zone) => [keyOf(zone.plan), zone]))
  const isPlanned = ({ desired, target }: ZoneJob): boolean => planned.has(keyOf({ zone: desired.name, target }))
  const known = base.zones.map((zone) => ({ zone, jobs: jobsOf(zone, options).filter(isPlanned) })).filter(({ jobs }) => jobs.length > 0)
  const jobs = known.filter(({ zone }) => zone.valid).flatMap((one) => one.jobs)
  const baseProviders = new Map([...providers].map(([name, provider]) => [name, asInConfig(provider, base.config, jobs)]))
  const ofRun = sources ?? { reader: createSourceReader(jobs, providers), store: null, counts: false, now: environment.now }
  const read = await Promise.all(
    jobs.map(async (defined) => {
      const zone = planned.get(keyOf({ zone: defined.desired.name, target: defined.target })) as PlannedJob
      // The state after this run's read, so that both plans keep the same values.
      const { job, ...filled } = await fillJob(defined, zone.existing, ofRun, zone.filled?.sourceState ?? NO_SOURCE_STATE)
      return planAgain({ ...zone, job, filled }, baseProviders.get(job.target) as Provider)
    }),
  )
  const plans = mergeTargets(read, baseProviders).map(({ plan }) => [keyOf(plan), plan] as const)
  const invalid = known.filter(({ zone }) => !zone.valid).map(({ zone }) => zone.zone.name)
  const problems = [...new Set(invalid)].map((name) => `its definition of ${name} has errors`)
  return { plans: new Map(plans), diagnostics: problems.slice(0, MAX_PROBLEMS).map(unusable) }
}

/** Warnings about definitions of the revision. */
const MAX_PROBLEMS = 20

const unusable = (problem: string): Diagnostic => ({
  severity: 'warning',
  code: 'branch-effect',
  message: `the plan of the revision is incomplete, so more is shown than the branch changes: ${problem}`,
})

/** A provider with what it can hold by the settings of another config. */
function asInConfig(provider: Provider, config: Config | null, jobs: readonly ZoneJob[]): Provider {
  const zones = jobs.filter(({ target }) => target === provider.name).map(({ desired }) => desired.name)
  const capabilities = capabilitiesOf(config?.providers.get(provider.name), provider.capabilityFacts?.(zones))
  return { ...provider, capabilities: capabilities ?? provider.capabilities }
}

/** The plan of a zone from the state in which the plan of the revision would leave it. */
function effectOn(zone: PlannedJob, base: ZonePlan | undefined, { workspace }: RunContext): PlannedJob {
  const provider = workspace.providers.get(zone.job.target)
  if (base === undefined || base.changes.length === 0 || provider === undefined) return zone
  const again = planAgain({ ...zone, existing: stateAfter(zone.existing, base) }, provider)
  const known = new Set(again.plan.diagnostics.map(formatDiagnostic))
  // Reading and merging report problems, too, which a plan from the same reading does not repeat.
  const others = zone.plan.diagnostics.filter((one) => ONCE.has(one.code) && !known.has(formatDiagnostic(one)))
  return withZoneDiagnostics(again, others)
}

const ONCE: ReadonlySet<Diagnostic['code']> = new Set(['rendered-unavailable', 'apex-ns-kept'])

/** A zone after all changes of its plan; null if it does not exist then. */
export function stateAfter(existing: ZoneSnapshot | null, { zone, changes }: ZonePlan): ZoneSnapshot | null {
  const own = changes.find((change) => change.subject === 'domain')
  if (own?.action === 'delete' || (existing === null && own === undefined)) return null
  const before = existing ?? { name: zone, id: zone, settings: {}, records: [] }
  const settings = own?.subject === 'domain' ? { ...before.settings, ...own.desired } : before.settings
  return { ...before, settings, records: recordsAfter(before.records, changes) }
}

function recordsAfter(records: readonly ExistingRecord[], changes: readonly Change[]): ExistingRecord[] {
  const available = existingRecords(records)
  const removed = new Set<ExistingRecord>()
  const added: ExistingRecord[] = []
  for (const change of changes) {
    if (change.subject !== 'record') continue
    const before = change.existing === null ? undefined : available.take(change.id, change.existing)
    if (before !== undefined) removed.add(before)
    if (change.desired === null) continue
    const settings = { ...before?.settings, ...change.desired.settings }
    added.push({ ...before, ...change.desired, ...(Object.keys(settings).length === 0 ? {} : { settings }) })
  }
  return [...records.filter((record) => !removed.has(record)), ...added]
}
