import { counted } from '../../base/english.ts'
/**
 * What octoDNS's own processors (its processor/, version 1.22) become here. A processor that hides records on both sides becomes selectors
 * of unmanaged records, which mean the same. If no selector can, a policy protects what octoDNS would leave unchanged, and the difference
 * is reported.
 */

import { OCTODNS_TYPES } from '../../definition/print/octodns-value.ts'
import { relativeName } from '../../dns/domain-name.ts'
import { groupRrsets, type ResourceRecord, rrsetKey } from '../../dns/record.ts'
import { parseRecordType } from '../../dns/record-type.ts'
import type { DesiredZone, Policy, UnmanagedSelector } from '../../dns/zone.ts'
import type { OctodnsProvider } from './octodns-provider.ts'
import { nameGlobOf, nameTestOf } from './patterns.ts'

/** The effect of a processor on a zone. */
export interface ProcessorEffect {
  readonly unmanaged: readonly UnmanagedSelector[]
  /** The least restrictive policy that is still safe; null for any. */
  readonly policy: Policy | null
  /** Whether octoDNS ignores record sets that the definition contains. */
  readonly hidesRecords?: true
  /** The part without a counterpart; null if there is none. */
  readonly dropped: { readonly what: string; readonly outcome: string; readonly keepsRecords?: true } | null
}

export type ProcessedZone = Pick<DesiredZone, 'name'> & { readonly records: readonly ResourceRecord[] }

const NOTHING: ProcessorEffect = { unmanaged: [], policy: null, dropped: null }

const ROOT_NS: UnmanagedSelector = { name: '', type: 'NS' }

/** The effect of a processor on a zone as its files define it. A class outside octoDNS may have any effect. */
export function processorEffect({ className, settings }: OctodnsProvider, zone: ProcessedZone): ProcessorEffect {
  const effect = EFFECTS.get(className.replace(/^octodns\.processor\./, ''))
  const isOwn = className.startsWith('octodns.processor.')
  if (!isOwn || effect === undefined) return createOnly('its effect is unknown')
  return Object.values(settings).some(isFromEnvironment) ? createOnly('its settings come from the environment') : effect(settings, zone)
}

type Settings = OctodnsProvider['settings']
type Effect = (settings: Settings, zone: ProcessedZone) => ProcessorEffect

const isFromEnvironment = (value: unknown): boolean => typeof value === 'string' && value.startsWith('env/')

/** Existing record sets are never changed, whatever the processor ignores. */
const createOnly = (what: string): ProcessorEffect => ({
  unmanaged: [],
  policy: 'create-only',
  dropped: { what, outcome: 'no plan changes an existing record set (policy: create-only)' },
})

/** Existing record sets that the definition lacks stay. */
const upsertOnly = (what: string, more = ''): ProcessorEffect => ({
  unmanaged: [],
  policy: 'upsert-only',
  dropped: { what, outcome: `no plan deletes a record set (policy: upsert-only)${more}`, keepsRecords: true },
})

const skippedCheck = (what: string): ProcessorEffect => ({
  ...NOTHING,
  dropped: { what, outcome: 'the check is not done; plans are the same', keepsRecords: true },
})

/** Whether a filter matches a record; `name` is relative to the zone. */
type RrsetTest = (record: ResourceRecord, name: string) => boolean

function rrsetsOf({ name: zone, records }: ProcessedZone, test: RrsetTest): number {
  const keys = new Set<string>()
  for (const record of records) if (test(record, relativeName(record.name, zone))) keys.add(rrsetKey(record))
  return keys.size
}

/**
 * A filter with `include_target: false`: octoDNS deletes at the target what the filter hides in the files. Here that happens to what is not
 * in the definition.
 */
function sourceOnly(zone: ProcessedZone, removes: RrsetTest | null): ProcessorEffect {
  const count = removes === null ? null : rrsetsOf(zone, removes)
  if (count === 0) return NOTHING
  const which = count === null ? 'record sets that it hides in the files' : counted(count, 'record set')
  // octoDNS leaves apex NS records unchanged if it has none.
  const keepsRootNs = zone.records.some(
    (record) => record.type === 'NS' && record.name === zone.name && (removes === null || removes(record, '')),
  )
  return {
    ...NOTHING,
    unmanaged: keepsRootNs ? [ROOT_NS] : [],
    hidesRecords: true,
    dropped: {
      what: `${which}, which it deletes at the target (include_target: false)`,
      outcome: 'the first plan keeps or creates them, because the definition contains them',
    },
  }
}

const isOff = (value: unknown): boolean => value === false || /^(?:false|no|off)$/i.test(String(value))

const textsOf = (value: unknown): string[] | null =>
  Array.isArray(value) && value.every((item) => typeof item === 'string') ? (value as string[]) : null

const typeFilter =
  (key: 'allowlist' | 'rejectlist'): Effect =>
  (settings, zone) => {
    const list = textsOf(settings[key])
    if (list === null || list.some((type) => type !== type.toUpperCase() || !(parseRecordType(type).ok || type.includes('/'))))
      return createOnly(`${key} is not a list of types`)
    const listed = new Set(list)
    const isAllowed = key === 'allowlist'
    if (isOff(settings['include_target'])) return sourceOnly(zone, ({ type }) => listed.has(type) !== isAllowed)
    const others = isAllowed ? [...OCTODNS_TYPES].filter((type) => !listed.has(type)) : [...listed]
    return { ...NOTHING, unmanaged: others.map((type) => ({ type })) }
  }

const nameFilter =
  (key: 'allowlist' | 'rejectlist'): Effect =>
  (settings, zone) => {
    const list = textsOf(settings[key])
    if (list === null) return createOnly(`${key} is not a list of names`)
    const isListed = nameTestOf(list)
    const isAllowed = key === 'allowlist'
    const removes: RrsetTest | null = isListed && ((_, name) => isListed(name) !== isAllowed)
    if (isOff(settings['include_target'])) return sourceOnly(zone, removes)
    const globs = list.map(nameGlobOf)
    if (!isAllowed && globs.every((glob) => glob !== null))
      return { ...NOTHING, unmanaged: globs.map((name) => ({ name: name as string })) }
    const what = isAllowed
      ? 'the names that it ignores, which are all except those it lists'
      : 'the names that it ignores, which no selector can express'
    if (removes !== null && rrsetsOf(zone, removes) === 0) return upsertOnly(what)
    return createOnly(what)
  }

const valueFilter: Effect = (settings, zone) =>
  isOff(settings['include_target']) ? sourceOnly(zone, null) : createOnly('the record sets that it ignores because of a value')

/** Refuses or ignores records whose name ends like the zone: `www.example.com` in example.com. */
const zoneNameFilter: Effect = (settings, zone) => {
  const ending = zone.name.slice(0, -1)
  const isError = !isOff(settings['error'] ?? true)
  const ignoresTarget = !isOff(settings['include_target'])
  const matches: RrsetTest = (_, name) => name.endsWith(ending)
  if (!isError && !ignoresTarget) return sourceOnly(zone, matches)
  return {
    ...NOTHING,
    unmanaged: ignoresTarget ? [{ name: `*${ending}` }] : [],
    dropped: isError
      ? {
          what: 'its refusal of names that end in the zone name',
          outcome: ignoresTarget ? 'they are ignored' : 'the check is not done',
          keepsRecords: true,
        }
      : null,
  }
}

const CHALLENGE = '_acme-challenge'

const acme: Effect = (_, zone) => {
  const own = rrsetsOf(zone, ({ type }, name) => type === 'TXT' && name.startsWith(CHALLENGE))
  return {
    ...NOTHING,
    unmanaged: [{ preset: 'acme' }],
    dropped:
      own === 0
        ? null
        : {
            what: `${counted(own, 'record set')} of TXT at ${CHALLENGE}, which it manages with the mark *octoDNS*`,
            outcome: 'their values are managed without it, and other values stay',
            keepsRecords: true,
          },
  }
}

const meta: Effect = ({ record_name: given = 'meta' }) => {
  const name = String(given)
  if (nameGlobOf(name) === null) return createOnly('the record that it writes')
  return {
    ...NOTHING,
    unmanaged: [{ name, type: 'TXT' }],
    dropped: {
      what: `the TXT record ${name}, which it rewrites with every change`,
      outcome: 'the record keeps its last value',
      keepsRecords: true,
    },
  }
}

const clamp: Effect = (settings, zone) => {
  const [min, max] = [Number(settings['min_ttl'] ?? 300), Number(settings['max_ttl'] ?? 86_400)]
  const count = rrsetsOf(zone, ({ ttl }) => ttl !== null && (ttl < min || ttl > max))
  return {
    ...NOTHING,
    dropped: {
      what: `its limit of TTLs to ${min} to ${max}`,
      outcome:
        count === 0
          ? 'plans are the same, because no TTL is outside that range'
          : `the first plan gives ${counted(count, 'record set')} TTLs outside that range`,
      keepsRecords: true,
    },
  }
}

const templating: Effect = (_, zone) => {
  const count = [...groupRrsets(zone.records).values()].filter((records) => records.some(({ data }) => data.includes('{'))).length
  return count === 0 ? NOTHING : createOnly(`the values that it fills in for ${counted(count, 'record set')}`)
}

/** Changes of apex NS records are errors to it, or are left out. Here, the safety limits refuse such errors. */
const rootNsChanges: Effect = (settings) => (isOff(settings['error'] ?? true) ? { ...NOTHING, unmanaged: [ROOT_NS] } : NOTHING)

const EFFECTS: ReadonlyMap<string, Effect> = new Map<string, Effect>([
  ['filter.IgnoreRootNsFilter', () => ({ ...NOTHING, unmanaged: [ROOT_NS] })],
  ['filter.ExcludeRootNsChanges', rootNsChanges],
  ['filter.TypeAllowlistFilter', typeFilter('allowlist')],
  ['filter.TypeRejectlistFilter', typeFilter('rejectlist')],
  ['filter.NameAllowlistFilter', nameFilter('allowlist')],
  ['filter.NameRejectlistFilter', nameFilter('rejectlist')],
  ['filter.ValueAllowlistFilter', valueFilter],
  ['filter.ValueRejectlistFilter', valueFilter],
  ['filter.NetworkValueAllowlistFilter', valueFilter],
  ['filter.NetworkValueRejectlistFilter', valueFilter],
  ['filter.ZoneNameFilter', zoneNameFilter],
  ['acme.AcmeManagingProcessor', acme],
  ['acme.AcmeMangingProcessor', acme],
  [
    'ownership.OwnershipProcessor',
    () => upsertOnly('its ownership: it deletes its own record sets and refuses those of other owners', '; its TXT records stay'),
  ],
  ['meta.MetaProcessor', meta],
  // Its records come from the source of the same name, which is reported if a zone uses it.
  ['arpa.AutoArpa', () => NOTHING],
  ['spf.SpfDnsLookupProcessor', () => skippedCheck('its refusal of SPF texts with more than 10 look-ups')],
  ['restrict.TtlRestrictionFilter', () => skippedCheck('its refusal of TTLs')],
  ['clamp.TtlClampProcessor', clamp],
  ['templating.Templating', templating],
  // In the layout of octoDNS, a target without the final dot is absolute.
  ['trailing_dots.EnsureTrailingDots', () => NOTHING],
])
