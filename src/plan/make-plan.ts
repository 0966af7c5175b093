/**
 * The plan of one zone at one target: desired zone, existing zone and the target's capabilities in, changes out. Pure: the same
 * inputs in any order give the same plan.
 */
import type { Diagnostic } from '../dns/diagnostic.ts'
import { type ExistingRecord, rrsetKey } from '../dns/record.ts'
import { unmanagedTest } from '../dns/unmanaged.ts'
import type { DesiredZone, ExistingZone, Policy, RefusalName } from '../dns/zone.ts'
import type { Preference } from './break-cycles.ts'
import type { Capabilities } from './capabilities.ts'
import { applyPolicy, compareZones, type ZoneDifference } from './compare-zones.ts'
import { differingSettings, domainChange } from './domain-change.ts'
import { type FittedZone, fitToTarget } from './fit-to-target.ts'
import type { DomainChange, RenderedState, ZonePlan } from './plan.ts'
import { planDifference } from './plan-difference.ts'
import { conflictsAmongAdded, conflictsWithKept } from './record-conflicts.ts'
import type { SafetyThresholds } from './safety-limits.ts'

export interface PlanInput {
  readonly desired: DesiredZone
  readonly existing: ExistingZone | null
  /** The provider's name in the config. */
  readonly target: string
  readonly capabilities: Capabilities
  readonly policy: Policy
  readonly thresholds: SafetyThresholds
  readonly allow: ReadonlySet<RefusalName>
  readonly rendered: RenderedState
  /** Data of the apex NS records the target serves by itself; null where that is not known. */
  readonly servedApexNs: readonly string[] | null
  /** What comes first where fewest calls and no interruption cannot both be had; continuity where absent. */
  readonly prefer?: Preference | undefined
}

export function makeZonePlan(input: PlanInput): ZonePlan {
  const { desired, existing, target, capabilities } = input
  const fitted = fitToTarget(desired, target, capabilities)
  const diagnostics: Diagnostic[] = [...fitted.diagnostics, ...apexNsNotice(fitted, input)]
  const transferred = (fitted.settings.type ?? existing?.settings.type) === 'slave'
  // What is listed of a slave is a copy of what its masters have: nobody here adds to it or takes from it.
  const existingRecords = transferred ? [] : (existing?.records ?? [])
  const compared = compare(input, fitted, existingRecords)
  const difference = applyPolicy(compared, input.policy)
  diagnostics.push(...policyNotice(compared, fitted, input), ...surplusNotices(difference, target))
  if (capabilities.cnameExclusive && !desired.absent)
    diagnostics.push(...conflictsWithKept(difference, target), ...conflictsAmongAdded(difference, target))
  const domain = domainChange(desired.name, existing, fitted.settings, desired.absent, input.policy)
  if (domain?.action === 'create') diagnostics.push(...unfitName(input), ...missingSettings(domain, input))
  if (domain?.action === 'update') diagnostics.push(...fixedSettings(domain, input))
  if (transferred && !desired.absent) diagnostics.push(...recordsOfSlave(input))
  return planDifference({
    ...input,
    zone: desired.name,
    at: desired.at,
    difference,
    domain,
    unmanaged: desired.unmanaged,
    records: desired.absent || transferred ? 'left' : 'changed',
    deletesZone: domain?.action === 'delete',
    desiredRecords: fitted.records.length,
    diagnostics,
  })
}

function unfitName({ desired, target, capabilities }: PlanInput): Diagnostic[] {
  if (capabilities.canCreateZone(desired.name)) return []
  const message = `${target} cannot have a zone named ${desired.name}`
  return [{ severity: 'error', code: 'zone-name', message, at: desired.at, hint: 'leave the definition to a target that can' }]
}

/** What the target needs to know of a new zone and the definition does not say. */
function missingSettings({ desired: settings }: DomainChange, { desired, target, capabilities }: PlanInput): Diagnostic[] {
  const needed = capabilities.neededToCreate[settings?.type ?? 'master'].filter((field) => isBlank(settings?.[field]))
  return needed.map((field) => ({
    severity: 'error',
    code: 'schema-missing-key',
    message: `${desired.name} is new at ${target}, which needs ${field} to create it`,
    at: desired.at,
    hint: `set "${field}" in the definition, or under "defaults" in the config`,
  }))
}

/** Settings that a zone keeps from its creation on. */
const fixedSettings = ({ fields, existing, desired: settings }: DomainChange, { desired, target, capabilities }: PlanInput): Diagnostic[] =>
  fields
    .filter((field) => capabilities.fixedSettings.has(field))
    .map((field) => ({
      severity: 'error',
      code: 'setting-invalid',
      message: `${desired.name} is ${field} ${JSON.stringify(existing?.[field])} at ${target}, which cannot become ${JSON.stringify(settings?.[field])}`,
      at: desired.settingsAt?.[field] ?? desired.at,
      hint: 'delete the zone there and create it anew, or keep what it is',
    }))

/** A definition that does not say its type, with records that a zone known as a slave cannot be given. */
function recordsOfSlave({ desired, target }: PlanInput): Diagnostic[] {
  if (desired.records.length === 0) return []
  return [
    {
      severity: 'error',
      code: 'setting-invalid',
      message: `${desired.name} is a slave zone at ${target}: its records come from its masters, and those of the definition cannot`,
      at: desired.at,
      hint: 'delete the zone there to have it created as a master, or define it with "type: slave" and without records',
    },
  ]
}

const isBlank = (value: unknown): boolean => value === undefined || value === '' || (Array.isArray(value) && value.length === 0)

function compare(input: PlanInput, fitted: FittedZone, existing: readonly ExistingRecord[]): ZoneDifference {
  const selected = unmanagedTest(input.desired.unmanaged, input.desired.name)
  const apexNsKey = fitted.apexNs === null ? null : rrsetKey({ name: input.desired.name, type: 'NS' })
  return compareZones(existing, fitted.records, (record) => {
    if (selected(record)) return true
    if (record.type === 'NS' && apexNsKey !== null && rrsetKey(record) === apexNsKey) return true
    return fitted.excluded.size > 0 && fitted.excluded.has(rrsetKey(record))
  })
}

function apexNsNotice(fitted: FittedZone, { servedApexNs, target, desired }: PlanInput): Diagnostic[] {
  if (fitted.apexNs === null || fitted.apexNs.length === 0) return []
  const wanted = fitted.apexNs.map((record) => record.data).sort()
  if (servedApexNs !== null && JSON.stringify([...servedApexNs].sort()) === JSON.stringify(wanted)) return []
  const served = servedApexNs === null || servedApexNs.length === 0 ? 'its own' : servedApexNs.join(', ')
  const message = `${target} serves ${served} as NS of ${desired.name}; the definition's ${wanted.join(', ')} are left out`
  return [
    { severity: 'notice', code: 'apex-ns-kept', message, at: fitted.apexNs[0]?.at, hint: 'set "apex_ns: manage" to have them as records' },
  ]
}

/** What a notice names of one kind. */
const NAMED = 5

/** What a policy keeps as it is though the definition says it otherwise, so that no plan without calls is taken for a zone as defined. */
function policyNotice(
  { rrsets }: ZoneDifference,
  { settings }: FittedZone,
  { desired, existing, target, policy }: PlanInput,
): Diagnostic[] {
  if (policy !== 'create-only' || existing === null || desired.absent) return []
  const others = [...differingSettings(existing.settings, settings), ...[...rrsets.changed].sort()]
  if (others.length === 0) return []
  const named = others.slice(0, NAMED).join(', ')
  const more = others.length > NAMED ? ` and ${others.length - NAMED} more` : ''
  const message = `${desired.name} at ${target}: the policy create-only keeps what differs from the definition as it is: ${named}${more}`
  const at = desired.records.find((record) => rrsets.changed.includes(rrsetKey(record)))?.at ?? desired.at
  return [{ severity: 'notice', code: 'policy-kept', message, at, hint: 'a policy of upsert-only or sync has it as defined' }]
}

const surplusNotices = (difference: ZoneDifference, target: string): Diagnostic[] =>
  difference.surplus.map((record) => ({
    severity: 'notice',
    code: 'surplus-duplicate',
    message: `${target} holds ${record.name} ${record.type} ${record.data} more than once; what is too much is deleted`,
  }))
