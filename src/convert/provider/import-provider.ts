/** Imports zones from a provider. */
import { join, resolve } from 'node:path'
import { type Config, DEFAULT_ZONE_RULE, type ZoneRule } from '../../definition/config/config.ts'
import { unknownProvider } from '../../definition/config/unknown-provider.ts'
import { displayPath } from '../../definition/files/file-path.ts'
import type { ImportedZone } from '../../definition/imported-zone.ts'
import { configureZone, createRuleLookup, targetsOf } from '../../definition/load/configured-zone.ts'
import { type Diagnostic, hasErrors, isError } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { groupBy } from '../../dns/group-by.ts'
import { type ExistingRecord, recordKey } from '../../dns/record.ts'
import { unmanagedTest } from '../../dns/unmanaged.ts'
import { DEFAULT_ZONE_OPTIONS, type ExistingZone } from '../../dns/zone.ts'
import { zoneFileName } from '../../dns/zone-file/zone-file-name.ts'
import { makeZonePlan } from '../../plan/make-plan.ts'
import type { Change } from '../../plan/plan.ts'
import type { Provider, ProviderCallOptions, UnusableZone, ZoneList } from '../../providers/provider.ts'
import { diagnosticOf } from '../../providers/provider.ts'
import { createProvider } from '../../providers/registry.ts'
import { agreeing, counted, listed } from '../../report/english.ts'
import type { ZoneTarget } from '../definable-records.ts'
import type { ImportRequest } from '../importer.ts'
import { type ImportedZones, missingZones } from '../importer.ts'
import { shownData, type UnsupportedFeature } from '../unsupported-features.ts'
import { copyZones } from './copy-zones.ts'
import { convertProviderZone } from './provider-zone.ts'

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
  const message = `${zone} holds ${name} ${type} ${shownData(data)} ${set.length} times; a definition can contain a record once, and ${consequence}`
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
