/**
 * What octoDNS's own processors (its processor/, version 1.22) come to here. One that takes records out of sight on both sides becomes selectors of
 * unmanaged records, which mean the same; where no selector does, a policy keeps safe what octoDNS would have left alone, and the difference is told.
 */

import { OCTODNS_TYPES } from '../../definition/print/octodns-value.ts'
import { relativeName } from '../../dns/domain-name.ts'
import { groupRrsets, type ResourceRecord, rrsetKey } from '../../dns/record.ts'
import { parseRecordType } from '../../dns/record-type.ts'
import type { DesiredZone, Policy, UnmanagedSelector } from '../../dns/zone.ts'
import { counted } from '../../report/english.ts'
import type { OctodnsProvider } from './octodns-provider.ts'
import { nameGlobOf, nameTestOf } from './patterns.ts'

/** What a processor means for a zone. */
export interface ProcessorEffect {
  readonly unmanaged: readonly UnmanagedSelector[]
  /** What the zone may at the most be given; null where it may be all. */
  readonly policy: Policy | null
  /** Whether the definition has record sets that octoDNS does not take for its own. */
  readonly takesOut?: true
  /** What has no counterpart; null where nothing is lost. */
  readonly dropped: { readonly what: string; readonly outcome: string } | null
}

export type ProcessedZone = Pick<DesiredZone, 'name'> & { readonly records: readonly ResourceRecord[] }

const NOTHING: ProcessorEffect = { unmanaged: [], policy: null, dropped: null }

const ROOT_NS: UnmanagedSelector = { name: '', type: 'NS' }

/** What a processor does to a zone as its files have it; a class that is none of octoDNS's own may do anything. */
export function processorEffect({ className, settings }: OctodnsProvider, zone: ProcessedZone): ProcessorEffect {
  const effect = EFFECTS.get(className.replace(/^octodns\.processor\./, ''))
  const isOwn = className.startsWith('octodns.processor.')
  if (!isOwn || effect === undefined) return untouched('what it does is not known here')
  return Object.values(settings).some(isFromEnvironment) ? untouched('its settings are in the environment') : effect(settings, zone)
}

type Settings = OctodnsProvider['settings']
type Effect = (settings: Settings, zone: ProcessedZone) => ProcessorEffect

const isFromEnvironment = (value: unknown): boolean => typeof value === 'string' && value.startsWith('env/')

/** Nothing that exists is touched, whatever a processor leaves alone. */
const untouched = (what: string): ProcessorEffect => ({
  unmanaged: [],
  policy: 'create-only',
  dropped: { what, outcome: 'no plan touches a record set that exists (policy: create-only)' },
})

/** What exists and is not in the definition stays. */
const undeleted = (what: string, more = ''): ProcessorEffect => ({
  unmanaged: [],
  policy: 'upsert-only',
  dropped: { what, outcome: `no plan deletes a record set (policy: upsert-only)${more}` },
})

const unchecked = (what: string): ProcessorEffect => ({
  ...NOTHING,
  dropped: { what, outcome: 'the check is not made; plans are the same' },
})

/** What of a record a filter looks at. */
type RrsetTest = (record: ResourceRecord, name: string) => boolean

function rrsetsOf({ name: zone, records }: ProcessedZone, test: RrsetTest): number {
  const keys = new Set<string>()
  for (const record of records) if (test(record, relativeName(record.name, zone))) keys.add(rrsetKey(record))
  return keys.size
}

/**
 * A filter with `include_target: false`: what it takes out of the files octoDNS deletes where it exists, which here happens to what is not in the
 * definition.
 */
function sourceOnly(zone: ProcessedZone, removes: RrsetTest | null): ProcessorEffect {
  const count = removes === null ? null : rrsetsOf(zone, removes)
  if (count === 0) return NOTHING
  const which = count === null ? 'what it takes out of the files' : counted(count, 'record set')
  // Of name servers of the apex that it has none of octoDNS leaves those that exist alone.
  const keepsRootNs = zone.records.some(
    (record) => record.type === 'NS' && record.name === zone.name && (removes === null || removes(record, '')),
  )
  return {
    ...NOTHING,
    unmanaged: keepsRootNs ? [ROOT_NS] : [],
    takesOut: true,
    dropped: {
      what: `${which} that it deletes at the target (include_target: false)`,
      outcome: 'the first plan keeps or creates them, as the definition has them',
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
      return untouched(`${key} is no list of types`)
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
    if (list === null) return untouched(`${key} is no list of names`)
    const isListed = nameTestOf(list)
    const isAllowed = key === 'allowlist'
    const removes: RrsetTest | null = isListed && ((_, name) => isListed(name) !== isAllowed)
    if (isOff(settings['include_target'])) return sourceOnly(zone, removes)
    const globs = list.map(nameGlobOf)
    if (!isAllowed && globs.every((glob) => glob !== null))
      return { ...NOTHING, unmanaged: globs.map((name) => ({ name: name as string })) }
    const what = isAllowed
      ? 'names that it leaves alone, which are all but those it lists'
      : 'names that it leaves alone, which no selector tells from others'
    if (removes !== null && rrsetsOf(zone, removes) === 0) return undeleted(what)
    return untouched(what)
  }

const valueFilter: Effect = (settings, zone) =>
  isOff(settings['include_target']) ? sourceOnly(zone, null) : untouched('record sets that it leaves alone for one of their values')

/** Records whose name ends in that of the zone: `www.example.com` in example.com. */
const zoneNameFilter: Effect = (settings, zone) => {
  const ending = zone.name.slice(0, -1)
  const isError = !isOff(settings['error'] ?? true)
  const leavesAlone = !isOff(settings['include_target'])
  const matches: RrsetTest = (_, name) => name.endsWith(ending)
  if (!isError && !leavesAlone) return sourceOnly(zone, matches)
  return {
    ...NOTHING,
    unmanaged: leavesAlone ? [{ name: `*${ending}` }] : [],
    dropped: isError
      ? {
          what: 'that it refuses names that end in that of the zone',
          outcome: leavesAlone ? 'they are left alone' : 'the check is not made',
        }
      : null,
  }
}

const CHALLENGE = '_acme-challenge'

const acme: Effect = (_, zone) => {
  const own = rrsetsOf(zone, ({ type }, name) => type === 'TXT' && name.startsWith(CHALLENGE))
  return {
    ...NOTHING,
    unmanaged: [{ name: `${CHALLENGE}*`, type: 'TXT' }],
    dropped:
      own === 0
        ? null
        : {
            what: `${counted(own, 'record set')} of TXT at ${CHALLENGE}, which it manages with the mark *octoDNS*`,
            outcome: 'they are left alone, as those of others are',
          },
  }
}

const meta: Effect = ({ record_name: given = 'meta' }) => {
  const name = String(given)
  if (nameGlobOf(name) === null) return untouched('the record that it writes')
  return {
    ...NOTHING,
    unmanaged: [{ name, type: 'TXT' }],
    dropped: { what: `the TXT record ${name}, which it writes anew with every change`, outcome: 'the record stays as it was written last' },
  }
}

const clamp: Effect = (settings, zone) => {
  const [min, max] = [Number(settings['min_ttl'] ?? 300), Number(settings['max_ttl'] ?? 86_400)]
  const count = rrsetsOf(zone, ({ ttl }) => ttl !== null && (ttl < min || ttl > max))
  return {
    ...NOTHING,
    dropped: {
      what: `that it keeps TTLs from ${min} to ${max}`,
      outcome:
        count === 0
          ? 'plans are the same, as no TTL is beyond that'
          : `the first plan gives ${counted(count, 'record set')} TTLs beyond that`,
    },
  }
}

const templating: Effect = (_, zone) => {
  const count = [...groupRrsets(zone.records).values()].filter((records) => records.some(({ data }) => data.includes('{'))).length
  return count === 0 ? NOTHING : untouched(`values that it fills in, of ${counted(count, 'record set')}`)
}

/** Changes of the NS records of the apex are an error to it, which here a safety limit refuses; or they are left out. */
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
    () => undeleted('that it deletes record sets of its own, and refuses those of other owners', '; its TXT records stay'),
  ],
  ['meta.MetaProcessor', meta],
  // Its records come from the source of the same name, which is named where a zone has it.
  ['arpa.AutoArpa', () => NOTHING],
  ['spf.SpfDnsLookupProcessor', () => unchecked('that it refuses SPF texts of more than 10 look-ups')],
  ['restrict.TtlRestrictionFilter', () => unchecked('that it refuses TTLs')],
  ['clamp.TtlClampProcessor', clamp],
  ['templating.Templating', templating],
  // A target without the final dot is absolute in the layout of octoDNS's files.
  ['trailing_dots.EnsureTrailingDots', () => NOTHING],
])
