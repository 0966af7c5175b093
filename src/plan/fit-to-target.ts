/** What a target would store of a definition. Plans compare this with the live zone, so that the plan after an apply is empty. Every difference is reported. */
import type { Diagnostic, SourcePosition } from '../base/diagnostic.ts'
import { agreeing } from '../base/english.ts'
import { compareText } from '../base/text.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { emailToName, nameToEmail } from '../dns/mailbox.ts'
import { type DefinedRecord, groupRrsets, recordKey, rrsetKey } from '../dns/record.ts'
import { isProviderType } from '../dns/record-type.ts'
import { SOA_TIMES } from '../dns/soa.ts'
import type { Ttl } from '../dns/ttl.ts'
import type { DesiredZone, ZoneSettings } from '../dns/zone.ts'
import type { Capabilities } from './capabilities.ts'
import { lowestTtl } from './changesets.ts'

export interface FittedZone {
  readonly name: DomainName
  readonly settings: ZoneSettings
  readonly records: readonly DefinedRecord[]
  /** Keys of the RRsets that the definition excludes from this target: plans do not change them. */
  readonly excluded: ReadonlySet<string>
  /** The definition's apex NS records if the target sets its own; null if they are ordinary records. */
  readonly apexNs: readonly DefinedRecord[] | null
  readonly diagnostics: readonly Diagnostic[]
}

/** Records that the target does not support are errors, or warnings with `unsupported: skip`. */
export function fitToTarget(zone: DesiredZone, target: string, capabilities: Capabilities): FittedZone {
  const diagnostics: Diagnostic[] = []
  const leftAlone = excludedRrsets(zone, target)
  const unsupported = (type: string) =>
    zone.unsupported === 'skip' || (zone.skipsProviderTypes && isProviderType(type))
      ? ({ severity: 'warning', skipped: '; it is skipped', hint: undefined } as const)
      : ({
          severity: 'error',
          skipped: '',
          hint: 'remove it, assign it to another target, or set "unsupported: skip" for the zone',
        } as const)

  for (const { name, type, at } of zone.providerSpecific) {
    if (leftAlone.has(rrsetKey({ name, type }))) continue
    const { severity, skipped, hint } = unsupported(type)
    diagnostics.push({ severity, code: 'type-unsupported', message: `${target} does not support ${type} at ${name}${skipped}`, at, hint })
  }

  const records: DefinedRecord[] = []
  const apexNs: DefinedRecord[] = []
  const separateApexNs = capabilities.servesApexNs && zone.apexNs !== 'manage'
  const seen = new Set<string>()
  const roundedSets = new Set<string>()
  for (const record of zone.records) {
    if (leftAlone.size > 0 && leftAlone.has(rrsetKey(record))) continue
    if (separateApexNs && record.type === 'NS' && record.name === zone.name) {
      apexNs.push(record)
      continue
    }
    const { severity, skipped, hint } = unsupported(record.type)
    if (capabilities.types !== null && !capabilities.types.has(record.type)) {
      const cannot = `${target} does not support ${record.type} records`
      const message = `${cannot} (${record.name})${skipped}`
      const cause = { subject: 'record', message: cannot + skipped }
      diagnostics.push({ severity, code: 'type-unsupported', message, at: record.at, hint, cause })
      continue
    }
    const ruled = applyRules(withSettings(record, capabilities), zone, capabilities)
    for (const diagnostic of ruled.diagnostics) {
      diagnostics.push(ruled.record === null ? { ...diagnostic, severity, message: diagnostic.message + skipped } : diagnostic)
    }
    if (ruled.record === null) continue
    const fitted = fitTtl(ruled.record, zone, capabilities)
    if (fitted.ttl !== record.ttl && record.ttl !== null && !roundedSets.has(rrsetKey(record))) {
      roundedSets.add(rrsetKey(record))
      diagnostics.push(roundedNotice(record, fitted.ttl, target, zone))
    }
    const key = recordKey(fitted)
    if (seen.has(key)) continue
    seen.add(key)
    records.push(fitted)
  }
  for (const { record, beside } of removeSurplusValues(records, capabilities)) {
    const { severity, skipped, hint } = unsupported(record.type)
    const message = `${target} does not support a second ${record.type} record at ${record.name}, beside ${beside.data}${skipped}`
    diagnostics.push({ severity, code: 'record-unsupported', message, at: record.at, hint })
  }
  if (capabilities.maxRecords !== null && records.length > capabilities.maxRecords) {
    const message = `${zone.name} has ${records.length} records; ${target} supports ${capabilities.maxRecords} per zone`
    diagnostics.push({ severity: 'error', code: 'record-limit', message, at: zone.at })
  }
  const settings = fitSettings(zone, target, capabilities, diagnostics)
  // An RRset that is replaced or sent as a whole has one TTL.
  if (capabilities.calls.unit === 'rrset') unifyTtls(records, target, diagnostics)
  return { name: zone.name, settings, records, excluded: leftAlone, apexNs: separateApexNs ? apexNs : null, diagnostics }
}

/** Removes all but the first record, by data, of RRsets that have only one at the target. Returns the removed ones. */
function removeSurplusValues(
  records: DefinedRecord[],
  { singleValueTypes }: Capabilities,
): { readonly record: DefinedRecord; readonly beside: DefinedRecord }[] {
  if (singleValueTypes === undefined) return []
  const sets = [...groupRrsets(records.filter(({ type }) => singleValueTypes.has(type))).values()]
  const surplus = sets.flatMap((set) => {
    const [beside, ...others] = set.sort((a, b) => compareText(a.data, b.data))
    return beside === undefined ? [] : others.map((record) => ({ record, beside }))
  })
  const removed = new Set(surplus.map(({ record }) => record))
  if (removed.size > 0) records.splice(0, records.length, ...records.filter((record) => !removed.has(record)))
  return surplus
}

/** Keys of the RRsets that the definition excludes from a target. */
export function excludedRrsets(zone: DesiredZone, target: string): ReadonlySet<string> {
  const keys = new Set<string>()
  for (const scope of zone.rrsetTargets) {
    const isElsewhere = scope.included.length > 0 && !scope.included.includes(target)
    if (scope.ignored || isElsewhere || scope.excluded.includes(target)) keys.add(rrsetKey(scope))
  }
  return keys
}

/** The record with the settings that its definition states for this type of target. */
function withSettings(record: DefinedRecord, { recordSettings }: Capabilities): DefinedRecord {
  const settings = recordSettings === undefined ? undefined : record.providerSettings?.[recordSettings]
  return settings === undefined ? record : { ...record, settings }
}

function applyRules(
  record: DefinedRecord,
  zone: DesiredZone,
  capabilities: Capabilities,
): { record: DefinedRecord | null; diagnostics: Diagnostic[] } {
  let fitted = record
  const diagnostics: Diagnostic[] = []
  for (const rule of capabilities.rules) {
    const ruled = rule(fitted, zone.name)
    if (ruled.diagnostics.length > 0) diagnostics.push(...ruled.diagnostics)
    if (ruled.record === null) return { record: null, diagnostics }
    fitted = ruled.record
  }
  return { record: fitted, diagnostics }
}

function roundedNotice(
  { name, type, ttl, at }: DefinedRecord,
  fitted: Ttl | null,
  target: string,
  { defaultTtl }: DesiredZone,
): Diagnostic {
  const rounded =
    fitted === null || ttl === null
      ? `${target} stores TTL ${fitted ?? 'default'} instead of ${ttl ?? 'default'}`
      : `${target} rounds TTL ${ttl} ${fitted > ttl ? 'up' : 'down'} to ${fitted}`
  return {
    severity: 'notice',
    code: 'ttl-rounded',
    message: `${rounded} for ${name} ${type}`,
    at,
    cause: { subject: 'record set', message: rounded },
    ...(defaultTtl !== undefined && defaultTtl.ttl === ttl && { related: [{ message: 'default_ttl', at: defaultTtl.at }] }),
  }
}

/** The TTL in seconds that a target stores for `seconds`, which are not 0. */
export const storedTtl = (seconds: number, { ttlSteps }: Capabilities): number =>
  ttlSteps === null ? seconds : nearestStep(seconds, ttlSteps)

/** The record with the TTL that the target stores. A TTL of 0 means the zone's default if the target has one. */
function fitTtl(record: DefinedRecord, zone: DesiredZone, capabilities: Capabilities): DefinedRecord {
  const { ttl } = record
  const { ttlDefault, fallbackTtl } = capabilities
  if (ttl === null && !ttlDefault && fallbackTtl !== undefined) return { ...record, ttl: (zone.settings.ttl_sec || fallbackTtl) as Ttl }
  if (ttl === null || capabilities.ttlSteps === null) return record
  const fitted = ttl === 0 && capabilities.ttlDefault ? null : (nearestStep(ttl, capabilities.ttlSteps) as Ttl)
  return fitted === ttl ? record : { ...record, ttl: fitted }
}

/** Sets the TTL of each record to the lowest of its RRset (RFC 2181 section 5.2). */
function unifyTtls(records: DefinedRecord[], target: string, diagnostics: Diagnostic[]): void {
  const lowest = new Map([...groupRrsets(records)].map(([key, set]) => [key, lowestTtl(set)]))
  const reported = new Set<string>()
  records.forEach((record, index) => {
    const key = rrsetKey(record)
    const ttl = lowest.get(key) ?? null
    if (ttl === record.ttl) return
    records[index] = { ...record, ttl }
    if (reported.has(key)) return
    reported.add(key)
    const message = `${target} stores one TTL for ${record.name} ${record.type}, ${ttl ?? 'default'}, not also ${record.ttl ?? 'default'}`
    diagnostics.push({ severity: 'notice', code: 'ttl-rounded', message, at: record.at })
  })
}

const TIME_SETTINGS = ['ttl_sec', 'refresh_sec', 'retry_sec', 'expire_sec'] as const

function fitSettings(zone: DesiredZone, target: string, capabilities: Capabilities, diagnostics: Diagnostic[]): ZoneSettings {
  if (capabilities.settings.size === 0) return withoutSettings(zone, target, diagnostics)
  const settings: Record<string, unknown> = soaTimes(zone, capabilities)
  const positionOf = (key: keyof ZoneSettings): SourcePosition => zone.settingPositions?.[key] ?? zone.at
  for (const [key, value] of Object.entries(zone.settings)) {
    if (value === undefined) continue
    if (!capabilities.settings.has(key as keyof ZoneSettings)) {
      const message = `${target} has no setting ${key} (${zone.name})`
      diagnostics.push({ severity: 'warning', code: 'setting-unsupported', message, at: positionOf(key as keyof ZoneSettings) })
      continue
    }
    settings[key] = key === 'soa_email' && typeof value === 'string' ? storedAddress(value, capabilities) : value
  }
  for (const { field, message } of capabilities.settingProblems(settings)) {
    diagnostics.push({ severity: 'error', code: 'limit-exceeded', message: `${zone.name} at ${target}: ${message}`, at: positionOf(field) })
  }
  if (capabilities.settingSteps === null) return settings
  for (const key of TIME_SETTINGS) {
    const value = settings[key]
    const isOfSoa = zone.settings[key] === undefined
    if (typeof value !== 'number' || (value === 0 && !isOfSoa)) continue
    const fitted = stepAtLeast(value, capabilities.settingSteps)
    if (fitted === value) continue
    settings[key] = fitted
    const message = `${target} stores ${key} ${fitted} for ${zone.name}, not ${value}`
    diagnostics.push({ severity: 'notice', code: 'setting-rounded', message, at: positionOf(key) })
  }
  return settings
}

/** The times that only the SOA record has, under the target's settings. 0 is 0 seconds there, not the default. */
function soaTimes({ soa, settings }: DesiredZone, capabilities: Capabilities): Record<string, unknown> {
  const times: Record<string, unknown> = {}
  for (const [field, key] of soa === undefined ? [] : SOA_TIMES)
    if (soa?.[field] !== undefined && settings[key] === undefined && capabilities.settings.has(key)) times[key] = soa[field]
  return times
}

/** The settings at a target that has none: one notice for all, and an error for a slave, whose records would come from its masters. */
function withoutSettings({ name, settings, at }: DesiredZone, target: string, diagnostics: Diagnostic[]): ZoneSettings {
  if (settings.type === 'slave')
    diagnostics.push({ severity: 'error', code: 'setting-unsupported', message: `${target} has no slave zones (${name})`, at })
  const unused = Object.entries(settings).flatMap(([key, value]) =>
    value === undefined || key === 'type' || key === 'ttl_sec' ? [] : [key],
  )
  if (unused.length > 0) {
    const message = `${target} keeps its own settings of ${name}: ${unused.sort().join(', ')} ${agreeing(unused.length, 'is', 'are')} not used`
    diagnostics.push({ severity: 'notice', code: 'setting-unsupported', message, at })
  }
  return {}
}

const storedAddress = (email: string, { lowersMailAddress }: Capabilities): string =>
  lowersMailAddress ? asciiAddress(email).toLowerCase() : asciiAddress(email)

/** A mail address with its host in A-labels and without a final dot. If it has that form, it stays as written. */
function asciiAddress(email: string): string {
  if (/^[\x21-\x7e]*[^.]$/.test(email)) return email
  const name = emailToName(email)
  return (name === null ? null : nameToEmail(name)) ?? email
}

/** The step nearest to `seconds`, the lower one of two. `steps` ascends and is not empty. */
function nearestStep(seconds: number, steps: readonly number[]): number {
  const above = stepAtLeast(seconds, steps)
  const index = steps.indexOf(above)
  const below = steps[index - 1]
  if (below === undefined || above === seconds) return above
  if (seconds > above) return above
  return seconds - below <= above - seconds ? below : above
}

/** The first step of at least `seconds`, or the last step. */
const stepAtLeast = (seconds: number, steps: readonly number[]): number =>
  steps.find((step) => step >= seconds) ?? (steps[steps.length - 1] as number)
