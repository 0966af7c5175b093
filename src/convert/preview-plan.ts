import type { Config, ConfigRule } from '../definition/config/config.ts'
import type { ImportedZone } from '../definition/imported-zone.ts'
import { configureZone } from '../definition/load/configured-zone.ts'
import { type Diagnostic, isError } from '../dns/diagnostic.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { type ExistingRecord, recordKey } from '../dns/record.ts'
import { unmanagedTest } from '../dns/unmanaged.ts'
import { DEFAULT_ZONE_OPTIONS, type ExistingZone } from '../dns/zone.ts'
import { makeZonePlan } from '../plan/make-plan.ts'
import type { Change } from '../plan/plan.ts'
import type { UnsupportedFeature } from './conversion.ts'
import type { Holder } from './definable-records.ts'
import { excerpt } from './excerpt.ts'

export interface PlanPreview {
  readonly diagnostics: readonly Diagnostic[]
  /** What keeps the plan from being made. */
  readonly dropped: readonly UnsupportedFeature[]
}

/**
 * What the first plan of an imported definition will say, made here and now: it has no calls but those that delete exact duplicates, which no definition
 * can say, and whatever else it has or refuses is told before the definition is written.
 */
export function previewPlan(
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
    const calls = `${expected.size} ${expected.size === 1 ? 'call' : 'calls'}`
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
const MOST_LISTED = 5

function tellOthers(zone: DomainName, changes: readonly Change[]): Diagnostic {
  const words = changes.slice(0, MOST_LISTED).map(({ action, subject, name, type, fields }) => {
    const what = subject === 'domain' ? 'the zone' : `${name} ${type}`
    return `${action} ${what}${fields.length === 0 ? '' : ` (${fields.join(', ')})`}`
  })
  if (changes.length > MOST_LISTED) words.push(`${changes.length - MOST_LISTED} more`)
  const calls = `${changes.length} ${changes.length === 1 ? 'call' : 'calls'}`
  return warning('import-pending', `${zone}: the next plan has ${calls} to make it what the definition says: ${words.join('; ')}`)
}
