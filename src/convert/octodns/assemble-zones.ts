import { basename, dirname, join } from 'node:path'
import pLimit from 'p-limit'
import { resolveLinks } from '../../definition/files/file-path.ts'
import type { ImportedRecord, OutputFile } from '../../definition/imported-zone.ts'
import { includeReader } from '../../definition/load/include-reader.ts'
import { sourcePolicy } from '../../definition/load/source-policy.ts'
import { printDefinition } from '../../definition/print/print-definition.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { groupRrsets, rrsetKey } from '../../dns/record.ts'
import type { RrsetScope } from '../../dns/zone.ts'
import { zoneFileName } from '../../dns/zone-file/zone-file-name.ts'
import type { ImportedZones, ImportRequest, OctodnsFileSettings } from '../importer.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import type { OctodnsZoneFiles } from './find-zone-files.ts'
import { type OctodnsReading, type ReadOctodnsZone, readOctodnsZone } from './read-octodns-zone.ts'

/** Zones that are read at once. */
const OPEN_ZONES = 16

/** How zones below a folder are read. */
export function readingOf(
  base: string,
  { config, cwd }: ImportRequest,
  layout: Pick<OctodnsReading, 'defaultTtl' | 'escapesSemicolons'>,
): OctodnsReading {
  const root = resolveLinks(base)
  const below = { ...config, folder: root, cwd: resolveLinks(cwd) }
  return { ...layout, base: root, cwd: below.cwd, include: includeReader(below), policy: sourcePolicy(below) }
}

/** A file or a folder of split files of a zone. */
export interface ZonePart {
  readonly files: OctodnsZoneFiles
  readonly reading: OctodnsReading
  /** Whether its RRsets take the place of those of the parts before. */
  readonly replaces: boolean
  /** Whether other zones have the same file. */
  readonly isShared: boolean
}

export interface ZoneToRead {
  /** What it becomes: another than its files' zone where that has an alias. */
  readonly name: DomainName
  readonly parts: readonly [ZonePart, ...ZonePart[]]
}

/** Reads zones, in order. `common` is how files that stay as they are will be read. */
export function readAll(zones: readonly ZoneToRead[], common: OctodnsFileSettings): Promise<ReadOctodnsZone[]> {
  const limit = pLimit(OPEN_ZONES)
  return Promise.all(zones.map((zone) => limit(() => readZone(zone, common))))
}

/** The files as they are where they alone mean the zone; else the zone is written anew. */
async function readZone({ name, parts }: ZoneToRead, common: OctodnsFileSettings): Promise<ReadOctodnsZone> {
  const read: { readonly read: ReadOctodnsZone; readonly replaces: boolean }[] = []
  for (const part of parts) for (const one of await readPart(part, name, common)) read.push({ read: one, replaces: part.replaces })
  const [only] = read
  if (read.length === 1 && only && !parts[0].isShared) return only.read.isPlain ? only.read : printedAnew(only.read)
  return printedAnew(joinParts(name, read))
}

async function readPart({ files, reading, replaces }: ZonePart, name: DomainName, common: OctodnsFileSettings): Promise<ReadOctodnsZone[]> {
  const found = withRealPaths(files)
  const whole = await readOctodnsZone(found, reading, name, common)
  // An RRset in two files of a folder is the later one's where that replaces the other.
  if (!replaces || !whole.diagnostics.some(({ code }) => code === 'rrset-split')) return [whole]
  return Promise.all(found.paths.map((path) => readOctodnsZone({ ...found, paths: [path] }, reading, name, common)))
}

/** In their directory without symbolic links, so that all paths are seen from one base. Files and folders of zones keep their names. */
function withRealPaths({ folder, paths, ...rest }: OctodnsZoneFiles): OctodnsZoneFiles {
  const there = folder === null ? null : inRealFolder(folder)
  return { ...rest, folder: there, paths: paths.map((path) => (there === null ? inRealFolder(path) : join(there, basename(path)))) }
}

const inRealFolder = (path: string): string => join(resolveLinks(dirname(path)), basename(path))

export function joined(read: readonly ReadOctodnsZone[]): ImportedZones {
  const shared = new Map<string, OutputFile>()
  for (const { files } of read) for (const file of files) shared.set(file.path, file)
  return {
    zones: read.flatMap(({ zone }) => (zone === null ? [] : [zone])),
    dropped: read.flatMap(({ dropped }) => dropped),
    diagnostics: read.flatMap(({ diagnostics }) => diagnostics),
    files: [...shared.values()],
  }
}

/**
 * One zone of several files of octoDNS's that no single definition can stand for: a source after another, a file beside a folder of split
 * files, a file that all zones share. As octoDNS adds them, an RRset is that of one part: the second is refused unless its part replaces.
 */
/** An RRset with what is said of it. */
interface JoinedRrset {
  readonly records: readonly ImportedRecord[]
  readonly scope: RrsetScope | undefined
  readonly isLenient: boolean
  readonly dropped: readonly UnsupportedFeature[]
}

/** The parts of a zone in the order octoDNS reads them, as one. */
function joinParts(name: DomainName, parts: readonly { readonly read: ReadOctodnsZone; readonly replaces: boolean }[]): ReadOctodnsZone {
  const rrsets = new Map<string, JoinedRrset>()
  const diagnostics: Diagnostic[] = []
  const dropped: UnsupportedFeature[] = []
  for (const { read, replaces } of parts) {
    diagnostics.push(...read.diagnostics)
    const own = rrsetsOf(read)
    dropped.push(...read.dropped.filter((item) => !own.has(keyOf(item))))
    for (const [key, rrset] of own) {
      const earlier = rrsets.get(key)
      if (earlier === undefined || replaces) rrsets.set(key, rrset)
      else diagnostics.push(split(key, earlier, rrset))
    }
  }
  const all = [...rrsets.values()]
  const [first] = parts
  const isRead = parts.every(({ read }) => read.zone !== null)
  return {
    zone: isRead
      ? {
          name,
          settings: {},
          records: all.flatMap(({ records }) => records),
          scopes: all.flatMap(({ scope }) => scope ?? []),
          lenient: new Set([...rrsets].flatMap(([key, { isLenient }]) => (isLenient ? [key] : []))),
        }
      : null,
    place: first?.read.place ?? '',
    folder: first?.read.folder ?? '',
    isPlain: false,
    comments: () => parts.flatMap(({ read }) => read.comments()),
    files: [],
    dropped: [...dropped, ...all.flatMap((rrset) => rrset.dropped)],
    diagnostics,
  }
}

/** The zone as a new definition where its first file was. */
function printedAnew(read: ReadOctodnsZone): ReadOctodnsZone {
  const { zone, folder } = read
  if (zone === null) return read
  const file = zoneFileName(zone.name, new Set(), 'yaml')
  const path = folder === '' || folder === '.' ? file : `${folder}/${file}`
  const kept = new Set(zone.records.map(rrsetKey))
  const scopes = zone.scopes?.filter((scope) => kept.has(rrsetKey(scope)))
  const owners = new Set(zone.records.map(({ name }) => name))
  // Of a name whose records no definition holds, the comments stand at the end.
  const comments = read
    .comments()
    .map((one) => (one.name === null || owners.has(one.name) ? one : { text: one.text, name: null, place: 'end' as const }))
  const text = printDefinition({ ...zone, comments, scopes, files: undefined })
  return { ...read, zone: { ...zone, scopes, files: [{ path, text }] }, files: [], place: path, isPlain: true }
}

function rrsetsOf({ zone, dropped }: ReadOctodnsZone): Map<string, JoinedRrset> {
  const rrsets = new Map<string, JoinedRrset>()
  for (const [key, records] of groupRrsets(zone?.records ?? [])) {
    const scope = zone?.scopes?.find((one) => rrsetKey(one) === key)
    const isLenient = zone?.lenient?.has(key) === true
    rrsets.set(key, { records, scope, isLenient, dropped: dropped.filter((item) => keyOf(item) === key) })
  }
  return rrsets
}

const keyOf = ({ name, type }: UnsupportedFeature): string => (name === null || type === null ? '' : rrsetKey({ name, type }))

function split(key: string, earlier: JoinedRrset, later: JoinedRrset): Diagnostic {
  const [at, other] = [later.records[0]?.at, earlier.records[0]?.at]
  return {
    severity: 'error',
    code: 'rrset-split',
    message: `${key}: the records come from ${other?.file} and from ${at?.file}, and neither says how they go together`,
    at,
    hint: 'octoDNS refuses them too, unless the second source has populate_should_replace: true.',
    ...(other && { related: [{ message: 'the other records', at: other }] }),
  }
}
