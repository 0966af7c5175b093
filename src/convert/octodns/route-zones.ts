/** Finds the sources and targets of every zone in an octoDNS config. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { isReverseName } from '../../dns/reverse-name.ts'
import type { ImportRequest } from '../importer.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import { readOptionsFor, type ZonePart, type ZoneToRead } from './assemble-zones.ts'
import type { OctodnsZoneFiles } from './find-zone-files.ts'
import { AUTO_ARPA_SOURCE, type OctodnsConfig, type OctodnsZoneEntry } from './read-octodns-config.ts'
import type { OpenSource } from './yaml-sources.ts'

/** A zone with the config entry that names its sources and targets. */
export interface RoutedZone extends ZoneToRead {
  readonly entry: OctodnsZoneEntry
  /** The entry with the limits: that of the alias if the zone is one. */
  readonly ownEntry: OctodnsZoneEntry
  /** Names of processors besides those of all zones. */
  readonly processors: readonly string[]
  /**
   * The policy that protects records of sources that are not read here: `upsert-only`, or `create-only` if such a source replaces records
   * of other sources.
   */
  readonly unreadSourcePolicy: 'upsert-only' | 'create-only' | null
}

export interface Routes {
  readonly zones: readonly RoutedZone[]
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
}

interface RouteContext {
  readonly config: OctodnsConfig
  readonly sources: ReadonlyMap<string, OpenSource>
  readonly request: ImportRequest
  readonly dropped: UnsupportedFeature[]
  readonly diagnostics: Diagnostic[]
}

/** Returns every zone of the config once: named zones, zones that dynamic entries find, and aliases of both. */
export function routeZones(config: OctodnsConfig, sources: ReadonlyMap<string, OpenSource>, request: ImportRequest): Routes {
  const context: RouteContext = { config, sources, request, dropped: [], diagnostics: [] }
  const routed: RoutedZone[] = []
  const named = new Map(config.zones.flatMap((entry) => (entry.name === null ? [] : [[entry.name, entry] as const])))
  /** The entry of each zone with its own sources. */
  const origins = new Map<DomainName, OctodnsZoneEntry>()
  const route = (origin: DomainName, name: DomainName, entry: OctodnsZoneEntry, own = entry): void => {
    const [first, ...rest] = partsOf(origin, name, entry, context)
    // octoDNS gives an alias the processors of the last zone it has processed (its manager.py). Those of the origin are surely intended, so
    // the alias gets both.
    const last = own === entry ? undefined : [...origins.values()].at(-1)
    const processors = [...new Set([...entry.processors, ...(last?.processors ?? [])])]
    if (first !== undefined)
      routed.push({
        name,
        parts: [first, ...rest],
        entry,
        ownEntry: own,
        processors,
        unreadSourcePolicy: policyForUnreadSources(name, entry, context),
      })
  }
  for (const [name, entry] of named) if (entry.alias === null) origins.set(name, entry)
  for (const [name, entry] of origins) route(name, name, entry)
  for (const entry of config.zones) {
    if (entry.name !== null) continue
    for (const source of entry.sources)
      if (!sources.has(source) && !isAutoArpa(source, config)) drop(context, null, `the zones that the source ${source} lists`, entry)
    for (const { zone, listed } of listedZones(entry, sources)) {
      if (listed === null || entry.pattern?.(listed) === false) continue
      if (origins.has(zone) || named.has(zone)) {
        // octoDNS compares the file name with zone names that are A-labels by then.
        if (/[^ -~]/.test(listed) && origins.get(zone) !== entry) drop(context, zone, UNICODE_FILE, entry, 'the first entry is used')
        continue
      }
      origins.set(zone, entry)
      route(zone, zone, entry)
    }
  }
  for (const [name, entry] of named) {
    if (entry.alias === null) continue
    const origin = origins.get(entry.alias)
    if (origin === undefined) fail(context, entry, `${name} is an alias of ${entry.alias}, which the config does not name`)
    else route(entry.alias, name, origin, entry)
  }
  return { zones: routed, dropped: context.dropped, diagnostics: context.diagnostics }
}

const UNICODE_FILE = 'the second entry "*" that octoDNS uses for it, because its file name is in Unicode'

const listedZones = (entry: OctodnsZoneEntry, sources: ReadonlyMap<string, OpenSource>): OctodnsZoneFiles[] =>
  entry.sources.flatMap((name) => [...(sources.get(name)?.zones.values() ?? [])].flat())

const drop = (
  { dropped }: RouteContext,
  zone: DomainName | null,
  what: string,
  { at }: OctodnsZoneEntry,
  outcome?: string,
  keepsRecords?: true,
): void => void dropped.push({ zone, name: null, type: null, what, at, outcome, keepsRecords })

/** Whether a source has the PTR records of `auto_arpa`. It lists no zones. */
const isAutoArpa = (source: string, { providers }: OctodnsConfig): boolean => source === AUTO_ARPA_SOURCE && !providers.has(source)

/** The sources of a zone, without `auto-arpa` if the zone is no reverse zone: then it adds nothing. */
function sourcesOf(zone: DomainName, { sources }: OctodnsZoneEntry, config: OctodnsConfig): readonly string[] {
  const others = isReverseName(zone) ? sources : sources.filter((source) => !isAutoArpa(source, config))
  return others.length === 0 ? sources : others
}

/** The policy for records from sources of other classes: octoDNS knows them, the definition does not. */
export function policyForUnreadSources(
  zone: DomainName,
  entry: OctodnsZoneEntry,
  { config, sources: read }: Pick<RouteContext, 'config' | 'sources'>,
): RoutedZone['unreadSourcePolicy'] {
  const unreadSources = sourcesOf(zone, entry, config).filter((name) => !read.has(name))
  if (unreadSources.length === 0) return null
  return unreadSources.some((name) => config.replacingProviders.has(name)) ? 'create-only' : 'upsert-only'
}

const fail = (context: RouteContext, { at }: OctodnsZoneEntry, message: string): void =>
  void context.diagnostics.push({ severity: 'error', code: 'zone-unknown', message, at })

/** The files of a zone in the order octoDNS reads them: source by source, and by path within a source. */
function partsOf(origin: DomainName, name: DomainName, entry: OctodnsZoneEntry, context: RouteContext): ZonePart[] {
  const parts: ZonePart[] = []
  const unreadSources: string[] = []
  const missing: string[] = []
  const sources = sourcesOf(name, entry, context.config)
  for (const one of sources) {
    const open = context.sources.get(one)
    const own = open === undefined ? [] : partsOfSource(open, origin, context.request)
    if (open === undefined) unreadSources.push(one)
    else if (own.length === 0 && !open.source.ignoresMissing) missing.push(one)
    parts.push(...own)
  }
  const policy = policyForUnreadSources(name, entry, context)
  const outcome = `no plan deletes ${policy === 'create-only' ? 'or changes ' : ''}a record set (policy: ${policy})`
  if (missing.length > 0 || sources.length === 0) {
    const all = missing.length === sources.length
    // For an alias, the error is reported for its origin.
    if (name === origin) fail(context, entry, all ? `no source has a file of ${name}` : `the source ${missing[0]} has no file of ${name}`)
    return []
  }
  if (parts.length > 0) for (const other of unreadSources) drop(context, name, `the records of the source ${other}`, entry, outcome)
  else if (unreadSources.length > 0) drop(context, name, `the zone, whose records all come from ${unreadSources.join(', ')}`, entry)
  else drop(context, name, 'a zone without a file (ignore_missing_zones)', entry, 'it is left out', true)
  return parts
}

function partsOfSource({ source, base, zones, sharedPath }: OpenSource, zone: DomainName, request: ImportRequest): ZonePart[] {
  const { defaultTtl, escapesSemicolons, replaces } = source
  const reading = readOptionsFor(base, request, { defaultTtl, escapesSemicolons })
  const shared = sharedPath === null ? [] : [{ zone, folder: null, paths: [sharedPath], listed: null }]
  return [...(zones.get(zone) ?? []), ...shared]
    .sort((a, b) => ((a.paths[0] ?? '') < (b.paths[0] ?? '') ? -1 : 1))
    .map((files) => ({ files, reading, replaces, isShared: files.paths[0] === sharedPath }))
}
