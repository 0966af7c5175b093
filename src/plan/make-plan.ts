/** The plan of one zone at one target, from its definition, the live zone and the target's capabilities. The order of the inputs has no effect. */
import type { Diagnostic } from '../base/diagnostic.ts'
import { agreeing, counted, listed } from '../base/english.ts'
import { excerpt } from '../base/text.ts'
import {
  conflictingSettings,
  type DefinedRecord,
  type ExistingRecord,
  groupRrsets,
  isApexNs,
  type ResourceRecord,
  recordKey,
  rrsetKey,
} from '../dns/record.ts'
import { suppress } from '../dns/suppress.ts'
import type { Ttl } from '../dns/ttl.ts'
import { clientText, knownClients, unmanagedTest } from '../dns/unmanaged.ts'
import type { Allowance, DesiredZone, ExistingZone, Policy, UnplannedRecord } from '../dns/zone.ts'
import type { Capabilities } from './capabilities.ts'
import { lowestTtl } from './changesets.ts'
import { applyPolicy, compareZones, type ZoneDifference } from './compare-zones.ts'
import type { Preference } from './continuity.ts'
import { differingSettings, domainChange, domainProblems } from './domain-change.ts'
import { type FittedZone, fitToTarget } from './fit-to-target.ts'
import { undescribableReason } from './misfits.ts'
import type { RenderedState, ZonePlan } from './plan.ts'
import { planDifference } from './plan-difference.ts'
import { aliasesBesideAddresses, conflictsAmongAdded, conflictsWithKept, ownedByOthers } from './record-conflicts.ts'
import type { SafetyThresholds } from './safety-limits.ts'
import { type StoredTtls, withStoredTtls } from './stored-ttls.ts'

export interface PlanInput {
  readonly desired: DesiredZone
  readonly existing: ExistingZone | null
  /** The provider's name in the config. */
  readonly target: string
  readonly capabilities: Capabilities
  readonly policy: Policy
  readonly thresholds: SafetyThresholds
  readonly allow: ReadonlySet<Allowance>
  readonly rendered: RenderedState
  /** The apex NS data that the target sets itself; null if they are unknown. */
  readonly servedApexNs: readonly string[] | null
  /** Continuity if absent. */
  readonly prefer?: Preference | undefined
  /** What earlier runs have found; absent if nothing. */
  readonly storedTtls?: StoredTtls | undefined
  /** Why no call can change the existing zone; absent if calls can. */
  readonly readOnly?: ReadOnlyReason | undefined
}

/** Why a zone cannot be changed at its target. */
export interface ReadOnlyReason {
  /** Worded to follow "cannot be changed: ". */
  readonly reason: string
  readonly hint: string
}

export function makeZonePlan(input: PlanInput): ZonePlan {
  const { desired, existing, target, capabilities } = input
  const known = withStoredTtls(fitToTarget(desired, target, capabilities), existing?.records ?? [], target, input.storedTtls ?? new Map())
  const stored = withNameservers(known, input)
  const isUnmanaged = unmanagedTest(desired.unmanaged, desired.name, { live: [existing], declared: stored.records })
  const shared = withUnmanagedTtls(stored, isUnmanaged, input)
  const wanted = withFixedTtls(shared, existing?.records ?? [])
  const held = heldRrsets(input)
  const fitted = held.size === 0 ? wanted : { ...wanted, records: wanted.records.filter((record) => !held.has(rrsetKey(record))) }
  const diagnostics: Diagnostic[] = [
    ...suppress(desired, fitted.diagnostics).kept,
    ...apexNsNotice(fitted, input),
    ...newZoneWithoutNs(fitted, input),
    ...unusedSoaFields(input),
    ...ownedByOthers(fitted.records, isUnmanaged, input),
  ]
  // The records of a slave come from its masters. Plans never change them: they compare with no records and make no record calls.
  const isSlave = (fitted.settings.type ?? existing?.settings.type) === 'slave'
  const compared = compare(input, fitted, isSlave ? [] : (existing?.records ?? []), isUnmanaged)
  const difference = applyPolicy(compared, capabilities.onlyCreates === undefined ? input.policy : 'create-only')
  diagnostics.push(
    ...unplannedNotices([...(existing?.unplanned ?? []), ...compared.undescribable], input),
    ...heldWarnings(wanted, held, input),
  )
  diagnostics.push(...policyNotices(compared, fitted, input), ...surplusNotices(difference, target), ...clientRecords(difference, input))
  if (capabilities.cnameExclusive && !desired.absent)
    diagnostics.push(...conflictsWithKept(difference, [...held.values()], target), ...conflictsAmongAdded(difference, target))
  if (capabilities.aliasExclusive && !desired.absent)
    diagnostics.push(...aliasesBesideAddresses(fitted.records, [...held.values()], target))
  const domain = domainChange(desired.name, existing, fitted.settings, desired.absent, input.policy)
  if (domain) diagnostics.push(...domainProblems(domain, input))
  if (isSlave && !desired.absent) diagnostics.push(...slaveRecordProblems(input))
  if (capabilities.needsApexNs && !desired.absent && !isSlave) diagnostics.push(...missingApexNs(difference, input))
  const plan = planDifference({
    ...input,
    zone: desired.name,
    at: desired.at,
    difference,
    domain,
    unmanaged: desired.unmanaged,
    hasRecordCalls: !desired.absent && !isSlave,
    deletesZone: domain?.action === 'delete',
    desiredRecords: fitted.records.length,
    diagnostics,
  })
  if (plan.changes.length === 0) return plan
  const serial = domain?.action === 'create' && capabilities.setsSerials ? desired.soa?.serial : undefined
  return { ...plan, ...(serial !== undefined && { serial }), diagnostics: [...plan.diagnostics, ...readOnlyProblems(input)] }
}

/** An error for changes that no call can make. */
function readOnlyProblems({ readOnly, desired, target }: PlanInput): Diagnostic[] {
  if (readOnly === undefined) return []
  const message = `${desired.name} at ${target} cannot be changed: ${readOnly.reason}`
  return [{ severity: 'error', code: 'zone-read-only', message, at: desired.at, hint: readOnly.hint }]
}

/** An error if the zone would have no NS records at its apex, which its servers need; a warning if it has none today. */
function missingApexNs({ kept, unmanaged, added, removed }: ZoneDifference, { desired, existing, target }: PlanInput): Diagnostic[] {
  const has = (...all: readonly (readonly ResourceRecord[])[]): boolean =>
    all.some((records) => records.some((record) => isApexNs(record, desired.name)))
  if (has(kept, unmanaged, added)) return []
  const isLosing = existing === null || has(removed)
  const message = `${desired.name} ${isLosing ? 'would have' : 'has'} no NS records at its apex at ${target}, and name servers refuse such a zone`
  const hint = 'define NS records at the apex, for example in a file that all zones include; for a copy, name them with --apex-ns'
  return [{ severity: isLosing ? 'error' : 'warning', code: 'zone-without-ns', message, at: desired.at, hint }]
}

/** A new zone without NS records at its apex gets those that the target has for it. */
function withNameservers(fitted: FittedZone, { desired, existing, capabilities }: PlanInput): FittedZone {
  const { newZoneNameservers = [], fallbackTtl } = capabilities
  const { name, records, settings } = fitted
  const isComplete = existing !== null || desired.absent || settings.type === 'slave' || records.some((record) => isApexNs(record, name))
  if (isComplete || newZoneNameservers.length === 0) return fitted
  const ttl = (settings.ttl_sec || fallbackTtl || null) as Ttl | null
  const added = newZoneNameservers.map((data): DefinedRecord => ({ name, type: 'NS', ttl, data, at: desired.at }))
  return { ...fitted, records: [...records, ...added] }
}

/** Records of an RRset that also has records which plans leave alone have their TTL: an RRset has one (RFC 2181 section 5.2). */
function withUnmanagedTtls(
  fitted: FittedZone,
  isUnmanaged: (record: ResourceRecord) => boolean,
  { existing, target, desired, capabilities }: PlanInput,
): FittedZone {
  if (existing === null) return fitted
  const [wanted, sets] = [new Set(fitted.records.map(recordKey)), new Set(fitted.records.map(rrsetKey))]
  const staysBeside = (record: ExistingRecord): boolean =>
    sets.has(rrsetKey(record)) &&
    (isUnmanaged(record) ||
      (record.ttl !== null && !wanted.has(recordKey(record)) && undescribableReason(record, desired.name, capabilities) !== null))
  const theirs = groupRrsets(existing.records.filter(staysBeside))
  if (theirs.size === 0) return fitted
  const diagnostics: Diagnostic[] = []
  const records = fitted.records.map((record) => {
    const shared = isUnmanaged(record) ? undefined : theirs.get(rrsetKey(record))
    const ttl = shared === undefined ? record.ttl : lowestTtl(shared)
    if (shared === undefined || ttl === record.ttl) return record
    const message = `${record.name} ${record.type} ${excerpt(record.data, 100)} has TTL ${ttl ?? 'default'} at ${target}, not ${record.ttl ?? 'default'}: it shares its record set with the unmanaged ${excerpt(shared.map(({ data }) => data).join(', '), 200)}`
    diagnostics.push({ severity: 'notice', code: 'ttl-rounded', message, at: record.at })
    return { ...record, ttl }
  })
  return { ...fitted, records, diagnostics: [...fitted.diagnostics, ...diagnostics] }
}

/** Records whose TTL the provider sets itself have that TTL. */
function withFixedTtls(fitted: FittedZone, existing: readonly ExistingRecord[]): FittedZone {
  const fixed = new Map(
    existing.flatMap((record) => (record.fixedTtlTypes ?? []).map((type) => [rrsetKey({ name: record.name, type }), record] as const)),
  )
  if (fixed.size === 0) return fitted
  const withTtl = (record: DefinedRecord): DefinedRecord => {
    const other = fixed.get(rrsetKey(record))
    const isFixed = other !== undefined && conflictingSettings({ ...other, settings: other.fixedTtlWhile }, record).length === 0
    return isFixed ? { ...record, ttl: other.ttl } : record
  }
  return { ...fitted, records: fitted.records.map(withTtl) }
}

function compare(
  { desired, capabilities }: PlanInput,
  fitted: FittedZone,
  existing: readonly ExistingRecord[],
  isUnmanaged: (record: ResourceRecord) => boolean,
): ZoneDifference {
  // A definition without apex NS records leaves them to the target: a zone without any does not work.
  const hasApexNs = fitted.records.some((record) => isApexNs(record, desired.name))
  const isKept = fitted.apexNs !== null || (desired.apexNs !== 'manage' && !hasApexNs)
  const apexNsKey = isKept ? rrsetKey({ name: desired.name, type: 'NS' }) : null
  const isLeftAlone = (record: ResourceRecord): boolean => {
    if (isUnmanaged(record)) return true
    if (record.type === 'NS' && apexNsKey !== null && rrsetKey(record) === apexNsKey) return true
    return fitted.excluded.size > 0 && fitted.excluded.has(rrsetKey(record))
  }
  return compareZones(existing, fitted.records, isLeftAlone, (record) => undescribableReason(record, desired.name, capabilities))
}

/** An error if a definition has records but the existing zone is a slave. The parser refuses records of zones that are defined as slaves. */
function slaveRecordProblems({ desired, target }: PlanInput): Diagnostic[] {
  if (desired.records.length === 0) return []
  const message = `${desired.name} is a slave zone at ${target}: its records come from its masters, so the definition cannot have any`
  const hint = 'delete the zone there to have it created as a master, or define it with "type: slave" and without records'
  return [{ severity: 'error', code: 'setting-invalid', message, at: desired.at, hint }]
}

function apexNsNotice(fitted: FittedZone, { servedApexNs, target, desired }: PlanInput): Diagnostic[] {
  if (fitted.apexNs === null || fitted.apexNs.length === 0) return []
  const wanted = fitted.apexNs.map((record) => record.data).sort()
  if (servedApexNs !== null && JSON.stringify([...servedApexNs].sort()) === JSON.stringify(wanted)) return []
  const served = servedApexNs === null || servedApexNs.length === 0 ? 'unknown names' : servedApexNs.join(', ')
  const message = `${target} sets the apex NS records of ${desired.name} itself (${served}); those of the definition (${wanted.join(', ')}) are ignored`
  return [
    { severity: 'notice', code: 'apex-ns-kept', message, at: fitted.apexNs[0]?.at, hint: 'set "apex_ns: manage" to have them as records' },
  ]
}

/** A warning about a new zone without NS records at its apex, if the target could add some. */
function newZoneWithoutNs({ records, settings }: FittedZone, { desired, existing, target, capabilities }: PlanInput): Diagnostic[] {
  if (capabilities.newZoneNameservers === undefined || existing !== null || desired.absent || settings.type === 'slave') return []
  if (records.some((record) => isApexNs(record, desired.name))) return []
  const message = `${desired.name} is new at ${target} and has no NS records at its apex`
  const hint = `define them, or name the servers of new zones in the settings of ${target}`
  return [{ severity: 'warning', code: 'zone-without-ns', message, at: desired.at, hint }]
}

/** The fields of an SOA record that no setting of a zone expresses. */
const SOA_ONLY_FIELDS = ['primary', 'mailbox', 'serial', 'ttl'] as const

/**
 * A notice about a new zone whose target sets the SOA record itself. The record of an existing zone stays. A target with its own name servers is its own
 * primary, so nobody expects another one there.
 */
function unusedSoaFields({ desired, existing, target, capabilities }: PlanInput): Diagnostic[] {
  const { createsZones, storesSoaFields, servesApexNs, setsSerials } = capabilities
  if (existing !== null || desired.absent || !createsZones || storesSoaFields || servesApexNs) return []
  const unused = SOA_ONLY_FIELDS.filter((field) => desired.soa?.[field] !== undefined && !(setsSerials && field === 'serial')).map(
    (field) => `soa.${field}`,
  )
  if (unused.length === 0) return []
  const message = `${target} sets the SOA record of new zones: ${listed(unused)} ${agreeing(unused.length, 'is', 'are')} not used`
  const cause = { subject: 'zone', message }
  return [{ severity: 'notice', code: 'setting-unsupported', message: `${desired.name}: ${message}`, at: desired.at, cause }]
}

function unplannedNotices(unplanned: readonly UnplannedRecord[], { target, desired }: PlanInput): Diagnostic[] {
  if (desired.absent) return []
  return unplanned.map(({ name, type, data, reason }) => ({
    severity: 'notice',
    code: 'record-unplanned',
    message: `${name} ${type} ${excerpt(data, 100)} ${reason} at ${target}, and stays as it is`,
    cause: { subject: 'record', message: `${reason} at ${target}, and stays as it is` },
  }))
}

/** The records that plans do not change and that no other can be beside in their RRset, by `rrsetKey`. */
const heldRrsets = ({ existing, desired }: PlanInput): ReadonlyMap<string, UnplannedRecord> =>
  new Map(desired.absent ? [] : (existing?.unplanned ?? []).flatMap((record) => (record.holdsRrset ? [[rrsetKey(record), record]] : [])))

/** A warning for each RRset of the definition that the target holds in a form that plans do not change. */
function heldWarnings({ records }: FittedZone, held: ReadonlyMap<string, UnplannedRecord>, { target }: PlanInput): Diagnostic[] {
  if (held.size === 0) return []
  return [...groupRrsets(records)].flatMap(([key, [record]]): Diagnostic[] => {
    const reason = held.get(key)?.reason
    if (reason === undefined || record === undefined) return []
    const message = `${record.name} ${record.type} of the definition is ignored: the one at ${target} ${reason}, and stays as it is`
    return [{ severity: 'warning', code: 'record-unplanned', message, at: record.at, hint: 'remove one of them' }]
  })
}

/** Maximum number of settings and RRsets in one message. */
const MAX_LISTED = 5

/** A warning about deletions of records that known other clients write. */
function clientRecords({ removed, added }: ZoneDifference, { desired, existing, target }: PlanInput): Diagnostic[] {
  if (existing === null || desired.absent || removed.length === 0) return []
  const staying = new Set(added.map(rrsetKey))
  const deleted = removed.filter((record) => !staying.has(rrsetKey(record)))
  return knownClients(existing, deleted).map((client) => {
    const theirs = deleted.filter(unmanagedTest([client], desired.name, { live: [existing] }))
    const names = listed([...new Set(theirs.map(({ name, type }) => `${name} ${type}`))].sort(), MAX_LISTED)
    const message = `${desired.name} at ${target}: the plan deletes what another client seems to have written: ${names}`
    const hint = `to leave it to that client, write "unmanaged: [${clientText(client)}]"`
    return { severity: 'warning', code: 'client-record', message, at: desired.at, hint }
  })
}

/** Reports what `upsert-only`, `create-only` and targets that only create leave in place: an empty plan does not mean that the zone equals its definition. */
function policyNotices(
  { rrsets }: ZoneDifference,
  { settings }: FittedZone,
  { desired, existing, target, policy: own, capabilities: { onlyCreates } }: PlanInput,
): Diagnostic[] {
  const policy = onlyCreates === undefined ? own : 'create-only'
  if (policy === 'sync' || existing === null || desired.absent) return []
  const keeps = onlyCreates === undefined ? `the policy ${policy} keeps` : `plans only create records, because ${onlyCreates}, and keep`
  const hintOf = (hint: string): string => (onlyCreates === undefined ? hint : 'change them at the service')
  const notice = (message: string, hint: string, at = desired.at): Diagnostic => ({
    severity: 'notice',
    code: 'policy-kept',
    message,
    at,
    hint,
  })
  const { length } = rrsets.removed
  const others = listed([...rrsets.removed].sort(), MAX_LISTED)
  const left = `${desired.name} at ${target}: ${keeps} ${counted(length, 'record set')} that no definition has: ${others}`
  const leaves =
    length === 0
      ? []
      : [notice(left, hintOf('to delete them, set the policy to sync; if they belong to another client, list them under "unmanaged"'))]
  const kept = policy === 'create-only' ? [...differingSettings(existing.settings, settings), ...[...rrsets.changed].sort()] : []
  if (kept.length === 0) return leaves
  const message = `${desired.name} at ${target}: ${keeps} what differs from the definition: ${listed(kept, MAX_LISTED)}`
  const at = desired.records.find((record) => rrsets.changed.includes(rrsetKey(record)))?.at
  return [notice(message, hintOf('to change it to the definition, set the policy to upsert-only or sync'), at), ...leaves]
}

const surplusNotices = (difference: ZoneDifference, target: string): Diagnostic[] =>
  difference.surplus.map(({ name, type, data }) => ({
    severity: 'notice',
    code: 'surplus-duplicate',
    message: `${target} has ${name} ${type} ${data} more than once; the duplicates are deleted`,
  }))
