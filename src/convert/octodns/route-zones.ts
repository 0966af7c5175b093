import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import type { ImportRequest } from '../importer.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import { readingOf, type ZonePart, type ZoneToRead } from './assemble-zones.ts'
import type { OctodnsZoneFiles } from './find-zone-files.ts'
import type { OctodnsConfig, OctodnsZoneEntry } from './read-octodns-config.ts'
import type { OpenSource } from './yaml-sources.ts'

/** A zone with the entry that says where it goes. */
export interface RoutedZone extends ZoneToRead {
  readonly entry: OctodnsZoneEntry
  /** Its own entry: another where the zone is an alias, which has limits of its own. */
  readonly own: OctodnsZoneEntry
  /** Names of processors that it has besides those of all zones. */
  readonly processors: readonly string[]
  /** What keeps records of sources that are not read here: nothing is to be deleted, or touched where such a source replaces others. */
  readonly others: 'upsert-only' | 'create-only' | null
}

export interface Routes {
  readonly zones: readonly RoutedZone[]
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
}

interface Run {
  readonly config: OctodnsConfig
  readonly sources: ReadonlyMap<string, OpenSource>
  readonly request: ImportRequest
  readonly dropped: UnsupportedFeature[]
  readonly diagnostics: Diagnostic[]
}

/** Every zone of the configuration once: those with a name, what dynamic entries find, and aliases of both. */
export function routeZones(config: OctodnsConfig, sources: ReadonlyMap<string, OpenSource>, request: ImportRequest): Routes {
  const run: Run = { config, sources, request, dropped: [], diagnostics: [] }
  const routed: RoutedZone[] = []
  const named = new Map(config.zones.flatMap((entry) => (entry.name === null ? [] : [[entry.name, entry] as const])))
  /** The entry of each zone that has sources of its own. */
  const origins = new Map<DomainName, OctodnsZoneEntry>()
  const route = (origin: DomainName, name: DomainName, entry: OctodnsZoneEntry, own = entry): void => {
    const [first, ...rest] = partsOf(origin, name, entry, run)
    // octoDNS gives aliases the processors of the zone that it has looked at last (its manager.py); those of the origin are meant.
    const last = own === entry ? undefined : [...origins.values()].at(-1)
    const processors = [...new Set([...entry.processors, ...(last?.processors ?? [])])]
    if (first !== undefined) routed.push({ name, parts: [first, ...rest], entry, own, processors, others: otherRecords(entry, run) })
  }
  for (const [name, entry] of named) if (entry.alias === null) origins.set(name, entry)
  for (const [name, entry] of origins) route(name, name, entry)
  for (const entry of config.zones) {
    if (entry.name !== null) continue
    for (const source of entry.sources) if (!sources.has(source)) lose(run, null, `the zones that the source ${source} lists`, entry)
    for (const { zone, listed } of listedZones(entry, sources)) {
      if (listed === null || entry.pattern?.(listed) === false) continue
      if (origins.has(zone) || named.has(zone)) {
        // It compares the name of the file with zones whose names are A-labels by then.
        if (/[^ -~]/.test(listed) && origins.get(zone) !== entry) lose(run, zone, UNICODE_FILE, entry, 'the entry before counts')
        continue
      }
      origins.set(zone, entry)
      route(zone, zone, entry)
    }
  }
  for (const [name, entry] of named) {
    if (entry.alias === null) continue
    const origin = origins.get(entry.alias)
    if (origin === undefined) tell(run, entry, `${name} is an alias of ${entry.alias}, which the configuration does not name`)
    else route(entry.alias, name, origin, entry)
  }
  return { zones: routed, dropped: run.dropped, diagnostics: run.diagnostics }
}

const UNICODE_FILE = 'that octoDNS takes an entry "*" for it though it has one before, since the name of its file is in Unicode'

const listedZones = (entry: OctodnsZoneEntry, sources: ReadonlyMap<string, OpenSource>): OctodnsZoneFiles[] =>
  entry.sources.flatMap((name) => [...(sources.get(name)?.zones.values() ?? [])].flat())

const lose = ({ dropped }: Run, zone: DomainName | null, what: string, { at }: OctodnsZoneEntry, outcome?: string): void =>
  void dropped.push({ zone, name: null, type: null, what, at, outcome })

/** How careful a zone is to be treated for records that come from sources of other classes: octoDNS has them, the definition has not. */
function otherRecords({ sources }: OctodnsZoneEntry, { config, sources: read }: Run): RoutedZone['others'] {
  const others = sources.filter((name) => !read.has(name))
  if (others.length === 0) return null
  return others.some((name) => config.replacing.has(name)) ? 'create-only' : 'upsert-only'
}

const tell = (run: Run, { at }: OctodnsZoneEntry, message: string): void =>
  void run.diagnostics.push({ severity: 'error', code: 'zone-unknown', message, at })

/** What a zone is made of, in the order octoDNS reads it: source by source, and in each by path. */
function partsOf(origin: DomainName, name: DomainName, entry: OctodnsZoneEntry, run: Run): ZonePart[] {
  const parts: ZonePart[] = []
  const others: string[] = []
  const missing: string[] = []
  for (const one of entry.sources) {
    const open = run.sources.get(one)
    const own = open === undefined ? [] : partsOfSource(open, origin, run.request)
    if (open === undefined) others.push(one)
    else if (own.length === 0 && !open.source.ignoresMissing) missing.push(one)
    parts.push(...own)
  }
  const policy = otherRecords(entry, run)
  const outcome = `no plan deletes ${policy === 'create-only' ? 'or changes ' : ''}a record set (policy: ${policy})`
  if (missing.length > 0 || entry.sources.length === 0) {
    const all = missing.length === entry.sources.length
    // Of an alias the zone itself is told.
    if (name === origin) tell(run, entry, all ? `no source of ${name} has a file of it` : `the source ${missing[0]} has no file of ${name}`)
    return []
  }
  if (parts.length > 0) for (const other of others) lose(run, name, `the records of the source ${other}`, entry, outcome)
  else if (others.length > 0) lose(run, name, `the zone, whose records all come from ${others.join(', ')}`, entry)
  else lose(run, name, 'a zone without a file (ignore_missing_zones)', entry)
  return parts
}

function partsOfSource({ source, base, zones, sharedPath }: OpenSource, zone: DomainName, request: ImportRequest): ZonePart[] {
  const { defaultTtl, escapesSemicolons, replaces } = source
  const reading = readingOf(base, request, { defaultTtl, escapesSemicolons })
  const shared = sharedPath === null ? [] : [{ zone, folder: null, paths: [sharedPath], listed: null }]
  return [...(zones.get(zone) ?? []), ...shared]
    .sort((a, b) => ((a.paths[0] ?? '') < (b.paths[0] ?? '') ? -1 : 1))
    .map((files) => ({ files, reading, replaces, isShared: files.paths[0] === sharedPath }))
}
