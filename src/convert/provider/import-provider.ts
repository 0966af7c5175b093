import { join, resolve } from 'node:path'
import { type Config, type ConfigRule, DEFAULT_RULE } from '../../definition/config/config.ts'
import { unknownProvider } from '../../definition/config/read-config.ts'
import { displayPath } from '../../definition/files/file-path.ts'
import type { ImportedZone } from '../../definition/imported-zone.ts'
import { configureZone, targetsOf } from '../../definition/load/configured-zone.ts'
import { rulesByPath } from '../../definition/load/rule-of-path.ts'
import { type Diagnostic, hasErrors, isError } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { type ExistingRecord, recordKey } from '../../dns/record.ts'
import { unmanagedTest } from '../../dns/unmanaged.ts'
import { DEFAULT_ZONE_OPTIONS, type ExistingZone } from '../../dns/zone.ts'
import { zoneFileName } from '../../dns/zone-file/zone-file-name.ts'
import { makeZonePlan } from '../../plan/make-plan.ts'
import type { Change } from '../../plan/plan.ts'
import type { Provider, ProviderCallOptions, UnusableZone, ZoneList } from '../../providers/provider.ts'
import { diagnosticOf } from '../../providers/provider.ts'
import { createProvider } from '../../providers/registry.ts'
import { counted, listed } from '../../report/english.ts'
import type { Holder } from '../definable-records.ts'
import type { ImportRequest } from '../importer.ts'
import { type ImportedZones, missingZones } from '../importer.ts'
import { excerpt, type UnsupportedFeature } from '../unsupported-features.ts'
import { copyAtProvider } from './copy-zones.ts'
import { zoneOfProvider } from './provider-zone.ts'

/** Zones as a provider of the config holds them, so that a plan made of them is empty. */
export async function importFromProvider(request: ImportRequest): Promise<ImportedZones> {
  const { source, config, env, parallelism, onThrottled } = request
  const entry = config.providers.get(source)
  if (!entry) return { zones: [], dropped: [], diagnostics: [unknownProvider(source, config.providers.keys(), undefined)] }
  const made = await createProvider(entry, { secrets: { folder: config.folder, env, loaded: config.secrets }, parallelism, onThrottled })
  if (made.provider === null) return { zones: [], dropped: [], diagnostics: made.diagnostics }
  try {
    const copied = await copyAtProvider(made.provider, request)
    const imported = hasErrors(copied) ? NOTHING : await readZones(made.provider, request)
    return { ...imported, diagnostics: [...made.diagnostics, ...copied, ...imported.diagnostics] }
  } catch (error) {
    return { zones: [], dropped: [], diagnostics: [...made.diagnostics, diagnosticOf(error)] }
  } finally {
    await made.provider.close()
  }
}

const NOTHING: ImportedZones = { zones: [], dropped: [], diagnostics: [] }

async function readZones(provider: Provider, request: ImportRequest): Promise<ImportedZones> {
  const { zones, config, source, signal, stop } = request
  const call = { signal, stop }
  const { zones: references, unusable } = await listedZones(provider, zones, call)
  const diagnostics: Diagnostic[] = missingZones(zones, references, source)
  if (hasErrors(diagnostics)) return { zones: [], dropped: [], diagnostics }
  const holder: Holder = { target: provider.name, capabilities: provider.capabilities }
  // The provider itself bounds its requests.
  const read = await Promise.all(references.map((reference) => provider.readZone(reference, call)))
  const placeOf = places(request)
  const unknownSettings: string[] = []
  const converted = read.map((existing) => {
    const { zone: imported, dropped } = zoneOfProvider(existing, config, holder)
    const { path, rule } = placeOf(imported)
    if (rule === null) unknownSettings.push(path)
    const targets = targetsOf({ targets: null }, rule ?? DEFAULT_RULE, config)
    const zone = targets.includes(source) ? imported : { ...imported, targets: [source] }
    const foreseen = previewPlan(zone, existing, { config, rule: rule ?? DEFAULT_RULE }, holder)
    return { zone, dropped: [...dropped, ...foreseen.dropped], diagnostics: foreseen.diagnostics }
  })
  if (unknownSettings.length > 0) diagnostics.push(tellUnread(unknownSettings))
  return {
    zones: converted.map(({ zone }) => zone),
    dropped: [...unusable.map((one) => lostZone(one, source)), ...converted.flatMap(({ dropped }) => dropped)],
    diagnostics: [...diagnostics, ...converted.flatMap((one) => one.diagnostics)],
  }
}

async function listedZones(provider: Provider, names: ImportRequest['zones'], call: ProviderCallOptions): Promise<ZoneList> {
  if (names.length > 0) return { zones: [...(await provider.findZones(names, call)).values()], unusable: [] }
  const { zones, unusable } = await provider.listZones(call)
  return { zones: zones.toSorted((a, b) => (a.name < b.name ? -1 : 1)), unusable }
}

/** Where the definition of a zone will stand, as messages name that, and the rule of the config it falls under there; null for none. */
function places({
  config,
  cwd,
  options,
}: ImportRequest): (zone: ImportedZone) => { readonly path: string; readonly rule: ConfigRule | null } {
  const ruleOf = rulesByPath(config)
  const folder = options.out === undefined ? join(config.folder, 'zones') : resolve(cwd, options.out)
  return (zone) => {
    const path = join(folder, zoneFileName(zone.name, new Set(), 'yaml'))
    return { path: displayPath(path, cwd), rule: ruleOf(path, zone) }
  }
}

/** Files that a message lists. */
const MOST_LISTED = 5

function tellUnread(paths: readonly string[]): Diagnostic {
  const message = `no rule of the config takes ${listed(paths, MOST_LISTED)}, so that no plan reads that`
  return { severity: 'warning', code: 'import-pending', message, hint: 'name another folder with -o, or add a rule under "zones"' }
}

const lostZone = ({ name, id, reason }: UnusableZone, source: string): UnsupportedFeature => ({
  zone: null,
  name: null,
  type: null,
  what: `${JSON.stringify(excerpt(name))}, number ${id} at ${source}: ${reason}`,
  outcome: `it stays as it is at ${source}, and has no definition`,
})

interface PlanPreview {
  readonly diagnostics: readonly Diagnostic[]
  /** What keeps the plan from being made. */
  readonly dropped: readonly UnsupportedFeature[]
}

/**
 * What the first plan of an imported definition will say, made here and now: it has no calls but those that delete exact duplicates, which no definition
 * can say, and whatever else it has or refuses is told before the definition is written.
 */
function previewPlan(
  zone: ImportedZone,
  existing: ExistingZone,
  { config, rule }: { readonly config: Config; readonly rule: ConfigRule },
  { target, capabilities }: Holder,
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
  const dropped = plan.diagnostics
    .filter(isError)
    .map(({ message }): UnsupportedFeature => ({ zone: zone.name, name: null, type: null, what: `what a plan of it refuses: ${message}` }))
  const selected = unmanagedTest(unmanaged, zone.name)
  const duplicates = duplicatesOf(existing.records.filter((record) => !selected(record)))
  const deleted = new Set(plan.changes.flatMap((change) => (change.action === 'delete' && change.id !== null ? [change.id] : [])))
  const diagnostics = duplicates.map((set) => tellDuplicates(zone.name, set, deleted))
  const expected = new Set(duplicates.flatMap((set) => set.map(({ id }) => id)).filter((id) => id !== undefined && deleted.has(id)))
  const others = plan.changes.filter(({ id }) => id === null || !expected.has(id))
  if (expected.size > 0) {
    const calls = counted(expected.size, 'call')
    const message = `${zone.name}: the next plan has ${calls} to delete what is there more than once${others.length === 0 ? ', and no others' : ''}`
    diagnostics.push({ severity: 'warning', code: 'surplus-duplicate', message })
  }
  if (others.length > 0) diagnostics.push(tellOthers(zone.name, others))
  for (const { message } of plan.refusals) diagnostics.push(warning('import-pending', `${zone.name}: the next plan is refused: ${message}`))
  return { diagnostics, dropped }
}

const warning = (code: Diagnostic['code'], message: string): Diagnostic => ({ severity: 'warning', code, message })

/** Records of which there are several, by owner, type and data. */
function duplicatesOf(records: readonly ExistingRecord[]): ExistingRecord[][] {
  const sets = new Map<string, ExistingRecord[]>()
  for (const record of records) {
    const key = recordKey(record)
    const set = sets.get(key)
    if (set) set.push(record)
    else sets.set(key, [record])
  }
  return [...sets.values()].filter((set) => set.length > 1)
}

function tellDuplicates(zone: DomainName, set: readonly ExistingRecord[], deleted: ReadonlySet<number | string>): Diagnostic {
  const [{ name, type, data }] = set as [ExistingRecord]
  const going = set.flatMap(({ id }) => (id !== undefined && deleted.has(id) ? [id] : []))
  const consequence = going.length === 0 ? 'plans leave the others as they are' : `the next plan deletes number ${going.join(', ')}`
  const message = `${zone} holds ${name} ${type} ${excerpt(data)} ${set.length} times; a definition says a record once, and ${consequence}`
  return warning('surplus-duplicate', message)
}

/** Changes that a message lists. */
const MAX_LISTED_CHANGES = 5

function tellOthers(zone: DomainName, changes: readonly Change[]): Diagnostic {
  const words = changes.slice(0, MAX_LISTED_CHANGES).map(({ action, subject, name, type, fields }) => {
    const what = subject === 'domain' ? 'the zone' : `${name} ${type}`
    return `${action} ${what}${fields.length === 0 ? '' : ` (${fields.join(', ')})`}`
  })
  if (changes.length > MAX_LISTED_CHANGES) words.push(`${changes.length - MAX_LISTED_CHANGES} more`)
  const calls = counted(changes.length, 'call')
  return warning('import-pending', `${zone}: the next plan has ${calls} to make it what the definition says: ${words.join('; ')}`)
}
