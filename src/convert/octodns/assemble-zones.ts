/** Reads the zones of octoDNS sources, and combines the parts of a zone from several files. */
import { basename, dirname, join } from 'node:path'
import pLimit from 'p-limit'
import type { Diagnostic } from '../../base/diagnostic.ts'
import type { ImportedRecord } from '../../definition/imported-zone.ts'
import { printDefinition } from '../../definition/print/print-definition.ts'
import { type DomainName, relativeName } from '../../dns/domain-name.ts'
import { groupRrsets, rrsetKey } from '../../dns/record.ts'
import type { RrsetTargets, UnmanagedSelector } from '../../dns/zone.ts'
import { zoneFileName } from '../../dns/zone-file/zone-file-name.ts'
import { resolveLinks } from '../../files/file-path.ts'
import { sourcePolicy } from '../../files/source-policy.ts'
import type { OutputFile } from '../../files/write-files.ts'
import { createIncludeReader } from '../../load/include-reader.ts'
import type { ImportedZones, ImportRequest, OctodnsFileSettings } from '../importer.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import type { OctodnsZoneFiles } from './find-zone-files.ts'
import { splitLenient } from './lenient-records.ts'
import { type OctodnsReadOptions, type ReadOctodnsZone, readOctodnsZone } from './read-octodns-zone.ts'

/** Zones that are read concurrently. */
const OPEN_ZONES = 16

/** Options for reading zones below a folder. */
export function readOptionsFor(
  base: string,
  { config, cwd }: ImportRequest,
  layout: Pick<OctodnsReadOptions, 'defaultTtl' | 'escapesSemicolons'>,
): OctodnsReadOptions {
  const root = resolveLinks(base)
  const below = { ...config, folder: root, cwd: resolveLinks(cwd) }
  return { ...layout, base: root, cwd: below.cwd, include: createIncludeReader(below, 'yaml'), policy: sourcePolicy(below) }
}

/** A file, or a folder of split files, of a zone. */
export interface ZonePart {
  readonly files: OctodnsZoneFiles
  readonly reading: OctodnsReadOptions
  /** Whether its RRsets replace those of earlier parts. */
  readonly replaces: boolean
  /** Whether other zones use the same file. */
  readonly isShared: boolean
}

export interface ZoneToRead {
  /** The name of the imported zone, which differs from that of its files for an alias. */
  readonly name: DomainName
  readonly parts: readonly [ZonePart, ...ZonePart[]]
}

/** Reads zones in order. `common` says how files that are copied unchanged will be read. */
export function readZones(zones: readonly ZoneToRead[], common: OctodnsFileSettings): Promise<ReadOctodnsZone[]> {
  const limit = pLimit(OPEN_ZONES)
  return Promise.all(zones.map((zone) => limit(() => readZone(zone, common))))
}

/** Copies the files if they alone define the zone; otherwise prints the zone as a new definition. */
async function readZone({ name, parts }: ZoneToRead, common: OctodnsFileSettings): Promise<ReadOctodnsZone> {
  const read: { readonly read: ReadOctodnsZone; readonly replaces: boolean }[] = []
  for (const part of parts) for (const one of await readPart(part, name, common)) read.push({ read: one, replaces: part.replaces })
  const [only] = read
  if (read.length !== 1 || !only || parts[0].isShared) return reprintZone(withoutRefused(joinParts(name, read)))
  const whole = withoutRefused(only.read)
  return whole.isReusable ? whole : reprintZone(whole)
}

/** Leaves out the lenient record sets that no definition can contain. The files of such a zone cannot be copied. */
function withoutRefused(read: ReadOctodnsZone): ReadOctodnsZone {
  if (read.zone === null) return read
  const { zone, dropped } = splitLenient(read.zone)
  return dropped.length === 0 ? read : { ...read, zone, isReusable: false, dropped: [...read.dropped, ...dropped] }
}

async function readPart({ files, reading, replaces }: ZonePart, name: DomainName, common: OctodnsFileSettings): Promise<ReadOctodnsZone[]> {
  const found = resolvePaths(files)
  const whole = await readOctodnsZone(found, reading, name, common)
  // If the source replaces, an RRset in two files of a folder is taken from the later one.
  if (!replaces || !whole.diagnostics.some(({ code }) => code === 'rrset-split')) return [whole]
  return Promise.all(found.paths.map((path) => readOctodnsZone({ ...found, paths: [path] }, reading, name, common)))
}

/** Resolves symbolic links in directories, so all paths have one base. Files and zone folders keep their names. */
function resolvePaths({ folder, paths, ...rest }: OctodnsZoneFiles): OctodnsZoneFiles {
  const realFolder = folder === null ? null : resolveFolder(folder)
  return {
    ...rest,
    folder: realFolder,
    paths: paths.map((path) => (realFolder === null ? resolveFolder(path) : join(realFolder, basename(path)))),
  }
}

const resolveFolder = (path: string): string => join(resolveLinks(dirname(path)), basename(path))

export function combineZones(read: readonly ReadOctodnsZone[]): ImportedZones {
  const shared = new Map<string, OutputFile>()
  for (const { files } of read) for (const file of files) shared.set(file.path, file)
  return {
    zones: read.flatMap(({ zone }) => (zone === null ? [] : [zone])),
    dropped: read.flatMap(({ dropped }) => dropped),
    diagnostics: read.flatMap(({ diagnostics }) => diagnostics),
    files: [...shared.values()],
  }
}

/** An RRset with its options. */
interface JoinedRrset {
  readonly records: readonly ImportedRecord[]
  readonly scope: RrsetTargets | undefined
  readonly isLenient: boolean
  readonly dropped: readonly UnsupportedFeature[]
}

/**
 * Combines the parts of a zone that no single definition can replace: several sources, a file beside a folder of split files, or a file
 * that all zones share. Parts are given in the order octoDNS reads them. As in octoDNS, an RRset comes from one part: a second one is an
 * error unless its part replaces.
 */
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
  const defined = new Set(all.flatMap(({ records }) => records.map((one) => `${relativeName(one.name, name) || '@'} ${one.type}`)))
  const isDefined = (selector: UnmanagedSelector): boolean => defined.has(`${selector.name} ${selector.type}`)
  const isRead = parts.every(({ read }) => read.zone !== null)
  return {
    zone: isRead
      ? {
          name,
          settings: {},
          records: all.flatMap(({ records }) => records),
          rrsetTargets: all.flatMap(({ scope }) => scope ?? []),
          // A later part may define a record set that an earlier one has only with invalid data.
          unmanaged: parts.flatMap(({ read }) => read.zone?.unmanaged ?? []).filter((selector) => !isDefined(selector)),
          lenient: new Set([...rrsets].flatMap(([key, { isLenient }]) => (isLenient ? [key] : []))),
        }
      : null,
    path: first?.read.path ?? '',
    folder: first?.read.folder ?? '',
    isReusable: false,
    comments: () => parts.flatMap(({ read }) => read.comments()),
    files: [],
    dropped: [...dropped, ...all.flatMap((rrset) => rrset.dropped)],
    diagnostics,
  }
}

/** Prints the zone as a new definition in the folder of its first file. */
function reprintZone(read: ReadOctodnsZone): ReadOctodnsZone {
  const { zone, folder } = read
  if (zone === null) return read
  const file = zoneFileName(zone.name, new Set(), 'yaml')
  const path = folder === '' || folder === '.' ? file : `${folder}/${file}`
  const kept = new Set(zone.records.map(rrsetKey))
  const rrsetTargets = zone.rrsetTargets?.filter((scope) => kept.has(rrsetKey(scope)))
  const owners = new Set(zone.records.map(({ name }) => name))
  // Comments of a name without remaining records move to the end.
  const comments = read
    .comments()
    .map((one) => (one.name === null || owners.has(one.name) ? one : { text: one.text, name: null, place: 'end-of-file' as const }))
  const text = printDefinition({ ...zone, comments, rrsetTargets, files: undefined })
  return { ...read, zone: { ...zone, rrsetTargets, files: [{ path, text }] }, files: [], path: path, isReusable: true }
}

function rrsetsOf({ zone, dropped }: ReadOctodnsZone): Map<string, JoinedRrset> {
  const rrsets = new Map<string, JoinedRrset>()
  for (const [key, records] of groupRrsets(zone?.records ?? [])) {
    const scope = zone?.rrsetTargets?.find((one) => rrsetKey(one) === key)
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
    message: `${key}: the records come from ${other?.file} and from ${at?.file}, and neither replaces the other`,
    at,
    hint: 'octoDNS refuses this too, unless the second source has populate_should_replace: true',
    ...(other && { related: [{ message: 'the other records', at: other }] }),
  }
}
