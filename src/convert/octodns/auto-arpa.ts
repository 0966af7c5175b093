/**
 * Converts octoDNS's `auto_arpa` (its processor/arpa.py, version 1.22) to `auto_ptr`. octoDNS adds a PTR record for every name of every address, we one per
 * address. So it is converted only if both add records with the same names and data; otherwise the records of the source are reported as missing.
 */
import { counted } from '../../base/english.ts'
import { printDefinition } from '../../definition/print/print-definition.ts'
import { type DomainName, isBelow, relativeName } from '../../dns/domain-name.ts'
import { rrsetKey } from '../../dns/record.ts'
import { classlessBlock, isReverseName, reverseName } from '../../dns/reverse-name.ts'
import { zoneFileName } from '../../dns/zone-file/zone-file-name.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import { AUTO_ARPA, AUTO_ARPA_SOURCE, type OctodnsConfig, type OctodnsZoneEntry } from './read-octodns-config.ts'
import type { ReadOctodnsZone } from './read-octodns-zone.ts'
import type { RoutedZone } from './route-zones.ts'

/** octoDNS's default TTL of the PTR records in seconds. */
const DEFAULT_TTL = 3600

const KNOWN_SETTINGS: ReadonlySet<string> = new Set(['ttl', 'inherit_ttl', 'populate_should_replace', 'max_auto_arpa'])

export interface ConvertedAutoArpa {
  /** The config without the source. */
  readonly config: OctodnsConfig
  /** Empty definitions of the reverse zones that have no other source. */
  readonly empty: readonly { readonly routed: RoutedZone; readonly read: ReadOctodnsZone }[]
  readonly dropped: readonly UnsupportedFeature[]
}

/** The config without `auto_arpa` if no wanted zone (all if none is named) gets PTR records from it: only reverse zones that list it do. */
export function withoutIdleAutoArpa(config: OctodnsConfig, routed: readonly RoutedZone[], wanted: readonly DomainName[]): OctodnsConfig {
  const reverse = config.zones.flatMap((entry) => reverseZonesOf(entry, routed))
  if (reverse.some((name) => wanted.length === 0 || wanted.includes(name))) return config
  return { ...config, autoArpa: null, dropped: config.dropped.filter(({ what }) => what !== AUTO_ARPA) }
}

/** The reverse zones of an entry that list `auto_arpa`. */
function reverseZonesOf(entry: OctodnsZoneEntry, routed: readonly RoutedZone[]): DomainName[] {
  const zones = [...routed.filter(({ ownEntry }) => ownEntry === entry), entry].flatMap(({ name }) => name ?? [])
  return entry.sources.includes(AUTO_ARPA_SOURCE) ? zones.filter(isReverseName) : []
}

/** The conversion; null if the config does not use `auto_arpa`, or if `auto_ptr` would add other records. `routed` and `read` are all zones of the config. */
export function convertAutoArpa(
  config: OctodnsConfig,
  routed: readonly RoutedZone[],
  read: readonly ReadOctodnsZone[],
): ConvertedAutoArpa | null {
  const { autoArpa: settings } = config
  const entries = config.zones.filter((entry) => reverseZonesOf(entry, routed).length > 0)
  if (settings === null || !isConvertible(config, entries, routed, read)) return null
  const reverse = new Set(entries.flatMap(({ name }) => name ?? []))
  const ttls = ptrTtls(reverse, routed, read)
  if (ttls === null) return null
  const ttl = settings['ttl'] ?? DEFAULT_TTL
  const changed = settings['inherit_ttl'] === true ? [] : ttls.filter((one) => one !== ttl)
  const folder = read.find(({ zone }) => zone !== null)?.folder ?? ''
  const alone = entries.filter(({ sources }) => sources.length === 1)
  const zones = config.zones
    .filter((entry) => !alone.includes(entry))
    .map((entry) => (entries.includes(entry) ? { ...entry, sources: entry.sources.filter((one) => one !== AUTO_ARPA_SOURCE) } : entry))
  return {
    config: { ...config, zones, dropped: config.dropped.filter(({ what }) => what !== AUTO_ARPA) },
    empty: alone.flatMap((entry) => (entry.name === null ? [] : [emptyZone(entry, entry.name, folder)])),
    dropped: changed.length === 0 ? [] : [otherTtl(ttl, changed.length)],
  }
}

/** Whether every address that octoDNS uses is known here, and would be used here, too. */
function isConvertible(
  { autoArpa, processors, globalProcessors, providers }: OctodnsConfig,
  entries: readonly OctodnsZoneEntry[],
  routed: readonly RoutedZone[],
  read: readonly ReadOctodnsZone[],
): boolean {
  const isKnown = Object.keys(autoArpa ?? {}).every((key) => KNOWN_SETTINGS.has(key))
  const named = new Set(entries.map(({ name }) => name))
  return (
    isKnown &&
    entries.length > 0 &&
    !providers.has(AUTO_ARPA_SOURCE) &&
    !processors.has(AUTO_ARPA_SOURCE) &&
    globalProcessors.before.length + globalProcessors.after.length === 0 &&
    entries.every(({ name, alias, isDryRun }) => name !== null && isReverseName(name) && alias === null && !isDryRun) &&
    routed.every(
      ({ name, ownEntry, processors: own, unreadSourcePolicy }) =>
        own.length === 0 && !ownEntry.isDryRun && (unreadSourcePolicy === null || named.has(name)),
    ) &&
    read.every(({ zone, dropped }) => zone !== null && dropped.length === 0)
  )
}

/** The TTLs of the PTR records, one per address in the reverse zones; null if we would add others than octoDNS. */
function ptrTtls(
  reverse: ReadonlySet<DomainName>,
  routed: readonly RoutedZone[],
  read: readonly ReadOctodnsZone[],
): (number | null)[] | null {
  const zones = [...new Set([...reverse, ...routed.map(({ name }) => name).filter(isReverseName)])]
  if (zones.some((zone) => classlessBlock(zone) !== null)) return null
  const written = new Set(read.flatMap(({ zone }) => zone?.records ?? []).map(({ name }) => name))
  const claims = new Map<DomainName, { readonly host: DomainName; readonly ttl: number | null }>()
  for (const { zone } of read) {
    if (zone === null) continue
    const scoped = new Set((zone.rrsetTargets ?? []).map(rrsetKey))
    for (const record of zone.records) {
      const { name, type, data, ttl } = record
      if ((type !== 'A' && type !== 'AAAA') || relativeName(name, zone.name) === '*') continue
      const owner = reverseName(data)
      const holders = zones.filter((one) => isBelow(owner, one))
      if (holders.length === 0) continue
      const earlier = claims.get(owner)
      const isSame = earlier === undefined || (earlier.host === name && earlier.ttl === ttl)
      const [holder, ...others] = holders
      if (!isSame || others.length > 0 || holder === undefined || !reverse.has(holder)) return null
      if (name.includes('*') || scoped.has(rrsetKey(record)) || written.has(owner)) return null
      claims.set(owner, { host: name, ttl })
    }
  }
  return [...claims.values()].map(({ ttl }) => ttl)
}

/** A definition without records of a zone that only has PTR records. */
function emptyZone(entry: OctodnsZoneEntry, name: DomainName, folder: string): { routed: RoutedZone; read: ReadOctodnsZone } {
  const file = zoneFileName(name, new Set(), 'yaml')
  const path = folder === '' || folder === '.' ? file : `${folder}/${file}`
  const zone = { name, settings: {}, records: [] }
  const whole = { ...zone, files: [{ path, text: printDefinition(zone) }] }
  const read = { zone: whole, path, folder, isReusable: true, comments: () => [], files: [], dropped: [], diagnostics: [] }
  return {
    read,
    routed: { name, parts: [] as unknown as RoutedZone['parts'], entry, ownEntry: entry, processors: [], unreadSourcePolicy: null },
  }
}

const otherTtl = (ttl: unknown, count: number): UnsupportedFeature => ({
  zone: null,
  name: null,
  type: null,
  what: `the TTL ${JSON.stringify(ttl)} of PTR records (${AUTO_ARPA})`,
  outcome: `the first plan gives ${counted(count, 'PTR record')} the TTL of the address`,
  keepsRecords: true,
})
