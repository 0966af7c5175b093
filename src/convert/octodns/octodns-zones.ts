import { basename, dirname, join } from 'node:path'
import pLimit from 'p-limit'
import { resolveLinks } from '../../definition/files/file-path.ts'
import type { OutputFile } from '../../definition/imported-zone.ts'
import { includeReader } from '../../definition/load/include-reader.ts'
import { sourcePolicy } from '../../definition/load/source-policy.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import type { FileReading, Imported } from '../conversion.ts'
import type { ImportRequest } from '../importer.ts'
import { joinParts, printedAnew } from './join-octodns-parts.ts'
import type { OctodnsZoneFiles } from './octodns-files.ts'
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
export function readAll(zones: readonly ZoneToRead[], common: FileReading): Promise<ReadOctodnsZone[]> {
  const limit = pLimit(OPEN_ZONES)
  return Promise.all(zones.map((zone) => limit(() => readZone(zone, common))))
}

/** The files as they are where they alone mean the zone; else the zone is written anew. */
async function readZone({ name, parts }: ZoneToRead, common: FileReading): Promise<ReadOctodnsZone> {
  const read: { readonly read: ReadOctodnsZone; readonly replaces: boolean }[] = []
  for (const part of parts) for (const one of await readPart(part, name, common)) read.push({ read: one, replaces: part.replaces })
  const [only] = read
  if (read.length === 1 && only && !parts[0].isShared) return only.read.isPlain ? only.read : printedAnew(only.read)
  return printedAnew(joinParts(name, read))
}

async function readPart({ files, reading, replaces }: ZonePart, name: DomainName, common: FileReading): Promise<ReadOctodnsZone[]> {
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

export function joined(read: readonly ReadOctodnsZone[]): Imported {
  const shared = new Map<string, OutputFile>()
  for (const { files } of read) for (const file of files) shared.set(file.path, file)
  return {
    zones: read.flatMap(({ zone }) => (zone === null ? [] : [zone])),
    dropped: read.flatMap(({ dropped }) => dropped),
    diagnostics: read.flatMap(({ diagnostics }) => diagnostics),
    files: [...shared.values()],
  }
}
