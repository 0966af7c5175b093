/** Applies the policies of the config to the zones and the plan of a run. */
import { type Diagnostic, isError, type SourcePosition } from '../../base/diagnostic.ts'
import { applyRules, applyToZone, applyToZones, contentsOf, positionsOf } from '../../checks/policies/apply-policies.ts'
import { loadPolicies } from '../../checks/policies/load-policies.ts'
import type { RecordSetDocument, ZoneContents } from '../../checks/policies/policy-documents.ts'
import type { Policies, PolicyRule } from '../../checks/policies/policy-rule.ts'
import { type DomainName, isAtOrBelow, relativeName } from '../../dns/domain-name.ts'
import { type ResourceRecord, recordKey, rrsetKey } from '../../dns/record.ts'
import { unmanagedTest } from '../../dns/unmanaged.ts'
import type { DesiredZone, ZoneSettings } from '../../dns/zone.ts'
import { type Change, finalRecords, type ZonePlan } from '../../plan/plan.ts'
import { type PlannedZone, type PlannedZones, planOf, withDiagnostics, withZoneDiagnostics, type ZoneJob } from '../../plan/planned-zone.ts'
import { type ChangeDocument, planDocument } from '../../report/plan-document.ts'
import type { RunContext } from '../context/run-context.ts'
import type { FilledJob } from '../read/fill-job.ts'
import { hasSources } from '../read/read-sources.ts'
import type { CheckZones } from './select-zones.ts'

/** Adds what the rules for zones and record sets say about selected zones. */
export const checkedBy =
  (policies: Policies | null, now: Date): CheckZones =>
  (selected) =>
    policies === null ? selected : applyToZones(selected, policies, now)

/** Zones that were planned from definitions have a job with an owner or null, those of a saved plan, a rollback or a copy have none. */
interface CheckedZone extends PlannedZone {
  readonly filled?: Pick<FilledJob, 'defined' | 'untouched'> | undefined
}

/**
 * A plan with what the policies of the run say about its changes. `asWarnings` makes errors warnings, for a rollback: it must be possible in an emergency. Of
 * zones without a definition, as in saved plans and copies, the rules for zones see the records after the changes, and those for record sets the ones that change.
 */
export async function checkPlan<Planned extends PlannedZones<CheckedZone>>(
  { environment, workspace }: RunContext,
  planned: Planned,
  { asWarnings = false }: { readonly asWarnings?: boolean } = {},
): Promise<Planned> {
  const { config } = workspace
  if (config === null) return planned
  const now = environment.now()
  const policies = workspace.policies === undefined ? await loadPolicies(config, { now, env: environment.env }) : workspace.policies
  if (policies === null) return planned
  const graded = (found: readonly Diagnostic[]): readonly Diagnostic[] =>
    asWarnings ? found.map((one) => (one.severity === 'error' ? { ...one, severity: 'warning' } : one)) : found
  const isUsed = (each: string): boolean => policies.rules.some((rule) => rule.each === each)
  const document = isUsed('change') || isUsed('plan') ? planDocument(planOf(planned)) : null
  const changes = planned.zones.map(({ plan }, index) => changeDocuments(plan, document?.zones[index]?.changes ?? []))
  const ofPlan =
    document === null
      ? []
      : applyRules(policies, 'plan', { ...document, changes: changes.flat() }, now, () => ({ zone: null, at: undefined }))
  const zones = planned.zones.map((zone, index) => {
    const job = zone.job?.owner === undefined ? undefined : zone.job
    const found = [
      ...(job === undefined ? checkResult(policies, zone, now) : checkResolved(policies, job, zone.filled, now)),
      ...checkChanges(policies, zone.plan, job, changes[index] ?? [], now),
    ]
    return withZoneDiagnostics(zone, graded(found))
  })
  // Those of a run's own policies were reported when they were loaded.
  const ofFiles = workspace.policies === undefined ? policies.diagnostics : []
  return withDiagnostics({ ...planned, zones }, graded([...ofFiles, ...ofPlan]))
}

/** A change as policies see it. */
interface PolicyChange extends Omit<ChangeDocument, 'owner'> {
  readonly zone: string
  readonly target: string
  readonly owner: string | null
  readonly relativeName: string
}

const changeDocuments = ({ zone, target, owner = null }: ZonePlan, changes: readonly ChangeDocument[]): PolicyChange[] =>
  changes.map((change) => ({ zone, target, owner, ...change, relativeName: relativeTo(change.name as DomainName, zone) }))

const relativeTo = (name: DomainName, zone: DomainName): string => (isAtOrBelow(name, zone) ? relativeName(name, zone) : '')

function checkChanges(
  policies: Policies,
  plan: ZonePlan,
  job: ZoneJob | undefined,
  documents: readonly PolicyChange[],
  now: Date,
): Diagnostic[] {
  if (documents.length === 0) return []
  const placeOf = changePlaces(job?.desired)
  return documents.flatMap((document, index) =>
    applyRules(policies, 'change', document, now, () => {
      const { zone, name, relativeName: relative, type } = document
      return { zone, name, relativeName: relative, type, at: placeOf(plan.changes[index]) }
    }),
  )
}

/** Where the records of changes are defined: the record itself, or another of its RRset, or else the zone. */
function changePlaces(desired: DesiredZone | undefined): (change: Change | undefined) => SourcePosition | undefined {
  if (desired === undefined) return () => undefined
  const ofRrsets = positionsOf(desired)
  const ofRecords = new Map(desired.records.map((record) => [recordKey(record), record.at]))
  return (change) =>
    change?.subject !== 'record'
      ? desired.at
      : ((change.desired && ofRecords.get(recordKey(change.desired))) ?? ofRrsets.get(rrsetKey(change)) ?? desired.at)
}

/** The rules that waited for the values of sources. */
function checkResolved(
  policies: Policies,
  { desired, target, targets = [target], owner = null }: ZoneJob,
  filled: CheckedZone['filled'],
  now: Date,
): Diagnostic[] {
  if (filled === undefined || !hasSources(filled.defined)) return []
  const { records, sourced = [] } = filled.defined
  const waited = new Set(sourced.map(rrsetKey))
  const known = new Set(records.map(rrsetKey))
  const isWanted = ({ name, type }: RecordSetDocument): boolean => waited.has(`${name} ${type}`) || !known.has(`${name} ${type}`)
  const contents = { ...contentsOf(desired, owner, targets), records: [...desired.records, ...filled.untouched] }
  return applyToZone(policies, contents, now, { at: desired.at, positions: positionsOf(desired), isWanted })
}

/**
 * The rules for zones and record sets, applied to a zone as its changes leave it. Records that no definition describes may break a rule for the zone, so what
 * the zone breaks before the changes, too, is a warning.
 */
function checkResult(policies: Policies, { plan, existing }: CheckedZone, now: Date): Diagnostic[] {
  const { zone, target, owner, changes } = plan
  const isDeleted = changes.some(({ subject, action }) => subject === 'domain' && action === 'delete')
  if (changes.length === 0 || isDeleted) return []
  const ofZone = changes.find(({ subject }) => subject === 'domain')?.desired as ZoneSettings | null | undefined
  const isUnmanaged = unmanagedTest(plan.unmanaged ?? [], zone, { live: [existing] })
  const owners = new Map(
    changes.flatMap((change) => (change.subject === 'record' && change.desired !== null ? [[rrsetKey(change.desired), change.owner]] : [])),
  )
  const isKnown = (set: string | null): boolean => owner !== undefined && (set === null || owners.has(set))
  const contentsWith = (settings: ZoneSettings | null | undefined, records: readonly ResourceRecord[]): ZoneContents => ({
    name: zone,
    owner: owner ?? null,
    targets: [target],
    settings: { ...existing?.settings, ...settings },
    defaultTtl: null,
    records: records.flatMap((record) => (isUnmanaged(record) ? [] : [{ ...record, owner: owners.get(rrsetKey(record)) }])),
    unknownOf: (set) => (isKnown(set) ? ['targets', 'expires'] : ['targets', 'expires', 'owner']),
  })
  const check = (contents: ZoneContents, isWanted: (set: RecordSetDocument) => boolean): Diagnostic[] =>
    applyToZone(policies, contents, now, { at: undefined, isWanted })
  const records = existing?.records ?? []
  const found = check(contentsWith(ofZone, finalRecords(records, changes)), ({ name, type }) => owners.has(`${name} ${type}`))
  const ofZones = new Set(policies.rules.flatMap(({ each, code }) => (each === 'zone' ? [code] : [])))
  if (existing === null || !found.some((one) => isError(one) && ofZones.has(one.code as PolicyRule['code']))) return found
  const before = new Set(check(contentsWith(null, records), () => false).map(({ code }) => code))
  return found.map((one) => {
    if (!isError(one) || !before.has(one.code)) return one
    return { ...one, severity: 'warning', hint: `${one.hint ?? ''}; the zone breaks it before these changes, too` }
  })
}
