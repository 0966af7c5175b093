/** Imports zones from a provider. */
import { join, resolve } from 'node:path'
import { type Diagnostic, hasErrors, isError } from '../../base/diagnostic.ts'
import { agreeing, counted, listed } from '../../base/english.ts'
import { groupBy } from '../../base/group-by.ts'
import { type Config, DEFAULT_ZONE_RULE, unknownProvider, type ZoneRule } from '../../config/config.ts'
import { configureZone, createRuleLookup, targetsOf } from '../../config/configured-zone.ts'
import type { ImportedRecord, ImportedZone } from '../../definition/imported-zone.ts'
import { type DomainName, relativeName } from '../../dns/domain-name.ts'
import { parseIpv4, parseIpv6 } from '../../dns/ip-address.ts'
import { isMailAddress } from '../../dns/mailbox.ts'
import { type ExistingRecord, recordKey, statedSettings } from '../../dns/record.ts'
import type { Ttl } from '../../dns/ttl.ts'
import { unmanagedTest } from '../../dns/unmanaged.ts'
import {
  DEFAULT_ZONE_OPTIONS,
  type ExistingZone,
  type UnplannedRecord,
  ZONE_SETTINGS,
  type ZoneComment,
  type ZoneSettings,
} from '../../dns/zone.ts'
import { zoneFileName } from '../../dns/zone-file/zone-file-name.ts'
import { displayPath } from '../../files/file-path.ts'
import { makeZonePlan } from '../../plan/make-plan.ts'
import { undescribableReason } from '../../plan/misfits.ts'
import type { Change } from '../../plan/plan.ts'
import { diagnosticOf, type Provider, type ProviderCallOptions, type UnusableZone, type ZoneList } from '../../providers/provider.ts'
import { createProvider } from '../../providers/registry.ts'
import {
  type DefinableRecords,
  type DerivedSelectors,
  definableRecords,
  isInseparable,
  type UndefinableRecord,
  unmanagedSelectorsFor,
  type ZoneTarget,
} from '../definable-records.ts'
import { type ImportedZones, type ImportRequest, missingZones } from '../importer.ts'
import { otherClients } from '../other-clients.ts'
import { droppedRecord, shownData, type UnsupportedFeature } from '../unsupported-features.ts'
import { copyZones } from './copy-zones.ts'

/** Imports zones from a provider of the config, so that a plan of the definitions is empty. */
export async function importFromProvider(request: ImportRequest): Promise<ImportedZones> {
  const { source, config, env, parallelism, onThrottled } = request
  const entry = config.providers.get(source)
  if (!entry) return { zones: [], dropped: [], diagnostics: [unknownProvider(source, config.providers.keys(), undefined)] }
  const created = await createProvider(entry, { secrets: { folder: config.folder, env, loaded: config.secrets }, parallelism, onThrottled })
  if (created.provider === null) return { zones: [], dropped: [], diagnostics: created.diagnostics }
  try {
    const copied = await copyZones(created.provider, request)
    const imported = hasErrors(copied) ? NOTHING : await readZones(created.provider, request)
    return { ...imported, diagnostics: [...created.diagnostics, ...copied, ...imported.diagnostics] }
  } catch (error) {
    return { zones: [], dropped: [], diagnostics: [...created.diagnostics, diagnosticOf(error)] }
  } finally {
    await created.provider.close()
  }
}

const NOTHING: ImportedZones = { zones: [], dropped: [], diagnostics: [] }

async function readZones(provider: Provider, request: ImportRequest): Promise<ImportedZones> {
  const { zones, config, source, signal, stop } = request
  const call = { signal, stop }
  const { zones: references, unusable } = await listedZones(provider, zones, call)
  const diagnostics: Diagnostic[] = missingZones(zones, references, source)
  if (hasErrors(diagnostics)) return { zones: [], dropped: [], diagnostics }
  const zoneTarget: ZoneTarget = { target: provider.name, capabilities: provider.capabilities }
  // The provider limits its own concurrency.
  const read = await Promise.all(references.map((reference) => provider.readZone(reference, call)))
  const positionOf = placements(request)
  const unmatchedPaths: string[] = []
  const converted = read.map((existing) => {
    const { zone: imported, dropped, diagnostics: left } = convertProviderZone(existing, config, zoneTarget)
    const { path, rule } = positionOf(imported)
    if (rule === null) unmatchedPaths.push(path)
    const targets = targetsOf({ targets: null }, rule ?? DEFAULT_ZONE_RULE, config)
    const zone = targets.includes(source) ? imported : { ...imported, targets: [source] }
    const preview = previewPlan(zone, existing, { config, rule: rule ?? DEFAULT_ZONE_RULE }, zoneTarget)
    return { zone, dropped: [...dropped, ...preview.dropped], diagnostics: [...left, ...preview.diagnostics] }
  })
  if (unmatchedPaths.length > 0) diagnostics.push(unmatchedPathsWarning(unmatchedPaths))
  return {
    zones: converted.map(({ zone }) => zone),
    dropped: [...unusable.map((one) => droppedZone(one, source)), ...converted.flatMap(({ dropped }) => dropped)],
    diagnostics: [...diagnostics, ...converted.flatMap((one) => one.diagnostics)],
  }
}

async function listedZones(provider: Provider, names: ImportRequest['zones'], call: ProviderCallOptions): Promise<ZoneList> {
  if (names.length > 0) return { zones: [...(await provider.findZones(names, call)).values()], unusable: [] }
  const { zones, unusable } = await provider.listZones(call)
  return { zones: zones.toSorted((a, b) => (a.name < b.name ? -1 : 1)), unusable }
}

/** Returns the path of a zone's definition for messages, and the config rule that matches it there; null if none does. */
function placements({
  config,
  cwd,
  options,
}: ImportRequest): (zone: ImportedZone) => { readonly path: string; readonly rule: ZoneRule | null } {
  const ruleOf = createRuleLookup(config)
  const folder = options.out === undefined ? join(config.folder, 'zones') : resolve(cwd, options.out)
  return (zone) => {
    const path = join(folder, zoneFileName(zone.name, new Set(), 'yaml'))
    return { path: displayPath(path, cwd), rule: ruleOf(path, zone) }
  }
}

/** Files that a message lists by name. */
const MAX_LISTED = 5

function unmatchedPathsWarning(paths: readonly string[]): Diagnostic {
  const message = `no rule of the config matches ${listed(paths, MAX_LISTED)}, so no plan reads ${agreeing(paths.length, 'it', 'them')}`
  return { severity: 'warning', code: 'import-pending', message, hint: 'name another folder with -o, or add a rule under "zones"' }
}

const droppedZone = ({ name, id, reason }: UnusableZone, source: string): UnsupportedFeature => ({
  zone: null,
  name: null,
  type: null,
  what: `${JSON.stringify(shownData(name))}, number ${id} at ${source}: ${reason}`,
  outcome: `it stays unchanged at ${source} and gets no definition`,
})

interface PlanPreview {
  readonly diagnostics: readonly Diagnostic[]
  /** Errors that would prevent the plan. */
  readonly dropped: readonly UnsupportedFeature[]
}

/**
 * Computes the first plan of an imported definition and reports what it contains before the definition is written. The only expected calls
 * delete exact duplicates, which no definition can express.
 */
function previewPlan(
  zone: ImportedZone,
  existing: ExistingZone,
  { config, rule }: { readonly config: Config; readonly rule: ZoneRule },
  { target, capabilities }: ZoneTarget,
): PlanPreview {
  const at = { file: target, line: 1, column: 1 }
  const { settings, unmanaged = [] } = zone
  const records = zone.records.map((record) => ({ ...record, at }))
  const loaded = configureZone({ ...DEFAULT_ZONE_OPTIONS, name: zone.name, at, settings, records, unmanaged }, rule, config, [], [])
  const plan = makeZonePlan({
    desired: loaded.zone,
    existing,
    target,
    capabilities,
    policy: loaded.policy,
    thresholds: loaded.thresholds,
    allow: loaded.allow,
    rendered: 'unavailable',
    servedApexNs: null,
  })
  const dropped = plan.diagnostics.filter(isError).map(
    ({ message }): UnsupportedFeature => ({
      zone: zone.name,
      name: null,
      type: null,
      what: `something that its plan refuses: ${message}`,
    }),
  )
  const selected = unmanagedTest(unmanaged, zone.name, { live: [existing], declared: records })
  const duplicates = duplicatesOf(existing.records.filter((record) => !selected(record)))
  const deleted = new Set(plan.changes.flatMap((change) => (change.action === 'delete' && change.id !== null ? [change.id] : [])))
  const diagnostics = duplicates.map((set) => duplicateWarning(zone.name, set, deleted))
  const expected = new Set(duplicates.flatMap((set) => set.map(({ id }) => id)).filter((id) => id !== undefined && deleted.has(id)))
  const others = plan.changes.filter(({ id }) => id === null || !expected.has(id))
  if (expected.size > 0) {
    const calls = counted(expected.size, 'call')
    const message = `${zone.name}: the next plan has ${calls} to delete duplicates${others.length === 0 ? ' and no others' : ''}`
    diagnostics.push({ severity: 'warning', code: 'surplus-duplicate', message })
  }
  if (others.length > 0) diagnostics.push(pendingWarning(zone.name, others))
  for (const { message } of plan.refusals) diagnostics.push(warning('import-pending', `${zone.name}: the next plan is refused: ${message}`))
  return { diagnostics, dropped }
}

const warning = (code: Diagnostic['code'], message: string): Diagnostic => ({ severity: 'warning', code, message })

/** Groups of records with equal owner, type and data. */
function duplicatesOf(records: readonly ExistingRecord[]): ExistingRecord[][] {
  return [...groupBy(records, recordKey).values()].filter((set) => set.length > 1)
}

function duplicateWarning(zone: DomainName, set: readonly ExistingRecord[], deleted: ReadonlySet<number | string>): Diagnostic {
  const [{ name, type, data }] = set as [ExistingRecord]
  const deletedIds = set.flatMap(({ id }) => (id !== undefined && deleted.has(id) ? [id] : []))
  const consequence =
    deletedIds.length === 0 ? 'plans leave the duplicates unchanged' : `the next plan deletes number ${deletedIds.join(', ')}`
  const message = `${zone} has ${name} ${type} ${shownData(data)} ${set.length} times; a definition can contain a record once, and ${consequence}`
  return warning('surplus-duplicate', message)
}

/** Changes that a message lists one by one. */
const MAX_LISTED_CHANGES = 5

function pendingWarning(zone: DomainName, changes: readonly Change[]): Diagnostic {
  const listed = changes.slice(0, MAX_LISTED_CHANGES).map(({ action, subject, name, type, fields }) => {
    const what = subject === 'domain' ? 'the zone' : `${name} ${type}`
    return `${action} ${what}${fields.length === 0 ? '' : ` (${fields.join(', ')})`}`
  })
  if (changes.length > MAX_LISTED_CHANGES) listed.push(`${changes.length - MAX_LISTED_CHANGES} more`)
  const calls = counted(changes.length, 'call')
  return warning('import-pending', `${zone}: the next plan has ${calls} to make it equal to the definition: ${listed.join('; ')}`)
}

// Converts a zone of a provider to a definition whose plan is empty.

interface ProviderZone {
  readonly zone: ImportedZone
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Converts a provider's zone to a definition whose plan is empty. Settings that the config's defaults would add are overridden, settings
 * with their default value are left out, and selectors of unmanaged records protect what no definition can contain, and the records of other clients.
 */
export function convertProviderZone(existing: ExistingZone, config: Pick<Config, 'defaults'>, zoneTarget: ZoneTarget): ProviderZone {
  const { name } = existing
  const { settings, dropped } = definableSettings(existing, config.defaults.settings, zoneTarget)
  // A slave zone gets its records from its masters.
  if (existing.settings.type === 'slave') return { zone: { name, settings, records: [] }, dropped, diagnostics: [] }
  const others = otherClients(existing)
  const own = existing.records.filter((record) => !others.isTheirs(record))
  const definable = definableRecords(existing, withoutDuplicates(own), zoneTarget)
  const derived = unmanagedSelectorsFor(name, definable)
  const records = definable.records.map(
    (record): ImportedRecord => ({
      name: record.name,
      type: record.type,
      ttl: ttlOf(record, config.defaults.ttl),
      data: record.data,
      ...settingsOf(record, zoneTarget),
    }),
  )
  const selectors = [...others.selectors, ...derived.selectors]
  const zone: ImportedZone = {
    name,
    settings,
    records,
    ...(selectors.length > 0 && { unmanaged: selectors }),
    comments: undefinableComment(name, definable, derived, zoneTarget),
  }
  const unplanned = (existing.unplanned ?? []).map((record) => unplannedRecord(name, record, zoneTarget))
  return {
    zone,
    diagnostics: others.diagnostics,
    dropped: [...dropped, ...unplanned, ...definable.undefinable.map((other) => undefinableRecord(name, other, derived, zoneTarget))],
  }
}

/** Keeps the first of exact duplicates: a definition can contain a record once. */
function withoutDuplicates(records: readonly ExistingRecord[]): ExistingRecord[] {
  const known = new Set<string>()
  return records.filter((record) => known.size < known.add(recordKey(record)).size)
}

/** A record without a TTL would get the default of the config. A TTL of 0 prevents that: it too means the zone's default. */
const ttlOf = ({ ttl }: ExistingRecord, defaultTtl: Ttl | null): Ttl | null => (ttl === null && defaultTtl !== null ? (0 as Ttl) : ttl)

function settingsOf(record: ExistingRecord, { capabilities }: ZoneTarget): Pick<ImportedRecord, 'providerSettings'> {
  const stated = statedSettings(record)
  if (stated.length === 0 || capabilities.recordSettings === undefined) return {}
  return { providerSettings: { [capabilities.recordSettings]: Object.fromEntries(stated) } }
}

function undefinableRecord(
  zone: DomainName,
  { record, reason }: UndefinableRecord,
  derived: DerivedSelectors,
  { target, capabilities }: ZoneTarget,
): UnsupportedFeature {
  const dropped = (outcome: string): UnsupportedFeature => droppedRecord(zone, record, reason, outcome)
  if (!isInseparable(record, derived))
    return { ...dropped(`"unmanaged" in the definition keeps it unchanged at ${target}`), restricts: false }
  if (undescribableReason(record, zone, capabilities) !== null)
    return { ...dropped(`plans leave it unchanged at ${target}`), restricts: false }
  return dropped(`no selector of "unmanaged" can separate it from managed records, so the next plan deletes it at ${target}`)
}

const unplannedRecord = (zone: DomainName, record: UnplannedRecord, { target }: ZoneTarget): UnsupportedFeature => ({
  zone,
  name: record.name,
  type: record.type,
  what: `${shownData(record.data)}: the record ${record.reason}`,
  outcome: `plans leave it unchanged at ${target}`,
  keepsRecords: true,
})

/** Records that a comment lists one by one. */
const MOST_LISTED = 20

function undefinableComment(
  zone: DomainName,
  { undefinable }: DefinableRecords,
  derived: DerivedSelectors,
  { target }: ZoneTarget,
): ZoneComment[] {
  const kept = undefinable.filter(({ record }) => !isInseparable(record, derived))
  if (kept.length === 0) return []
  const lines = kept
    .slice(0, MOST_LISTED)
    .map(({ record: { name, type, data }, reason }) => `  ${relativeName(name, zone) || '@'} ${type} ${shownData(data)}: ${reason}`)
  if (kept.length > MOST_LISTED) lines.push(`  and ${kept.length - MOST_LISTED} more`)
  return [{ name: null, text: [`Records at ${target} that no definition can contain; "unmanaged" keeps them:`, ...lines].join('\n') }]
}

// Finds the settings that a definition cannot contain.

interface DefinableSettings {
  readonly settings: ZoneSettings
  readonly dropped: UnsupportedFeature[]
}

/**
 * The settings that a definition must contain so that a plan changes none. A setting whose absence means the same, given the config's
 * defaults, is left out. A setting with a value that no definition can have is left out and so not managed.
 */
function definableSettings(
  { name, settings, unknownSettings = [] }: ExistingZone,
  defaults: ZoneSettings,
  { target, capabilities }: ZoneTarget,
): DefinableSettings {
  const dropped: UnsupportedFeature[] = []
  const outcome = `it is left out of the definition and stays unchanged at ${target}`
  const drop = (key: string, what: string): void => {
    dropped.push({ zone: name, name: null, type: null, what: `the setting ${key}: ${what}`, outcome })
  }
  const defined: Record<string, unknown> = Object.fromEntries(
    ZONE_SETTINGS.flatMap((key) => {
      const value = settings[key]
      return value === undefined || (isDefault(key, value) && defaults[key] === undefined) ? [] : [[key, value]]
    }),
  )
  for (const setting of unknownSettings) dropped.push({ zone: name, name: null, type: null, what: `the setting ${setting}`, outcome })
  const { soa_email: email } = settings
  // A definition cannot contain an empty address.
  if (email === '') delete defined['soa_email']
  else if (email !== undefined && !isMailAddress(email)) {
    delete defined['soa_email']
    drop('soa_email', `${shownData(email)} is not an e-mail address`)
  }
  for (const key of ['master_ips', 'axfr_ips'] as const) {
    const invalid = settings[key]?.filter((text) => !parseIpv4(text).ok && !parseIpv6(text).ok) ?? []
    if (invalid.length === 0) continue
    delete defined[key]
    drop(key, `${shownData(invalid.join(', '))} among its addresses`)
  }
  for (const { field, message } of capabilities.settingProblems(settings)) {
    if (!(field in defined)) continue
    delete defined[field]
    drop(field, message)
  }
  // A definition without type: slave needs no masters.
  if (settings.type === 'slave' && (defined['master_ips'] === undefined || settings.master_ips?.length === 0)) {
    delete defined['type']
    if (settings.master_ips?.length === 0) drop('type', 'slave, without masters')
  }
  return { settings: defined as ZoneSettings, dropped }
}

function isDefault(key: keyof ZoneSettings, value: unknown): boolean {
  if (key === 'type') return value === 'master'
  if (key === 'status') return value === 'active'
  return value === '' || value === 0 || (Array.isArray(value) && value.length === 0)
}
