import { basename, dirname, join } from 'node:path'
import pLimit from 'p-limit'
import { realOr } from '../../definitions/file-path.ts'
import { includeReader } from '../../definitions/include-reader.ts'
import type { DomainName } from '../../model/domain-name.ts'
import type { ExchangedFile, Imported } from '../../model/exchange.ts'
import type { ImportRequest } from './importer.ts'
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
  const root = realOr(base)
  return { ...layout, base: root, cwd: realOr(cwd), include: includeReader({ ...config, folder: root, cwd: realOr(cwd) }) }
}

export interface ZoneToRead {
  readonly files: OctodnsZoneFiles
  readonly reading: OctodnsReading
  /** The zone it becomes where that is another: an alias. */
  readonly as?: DomainName | undefined
}

export function readAll(zones: readonly ZoneToRead[]): Promise<ReadOctodnsZone[]> {
  const limit = pLimit(OPEN_ZONES)
  return Promise.all(zones.map(({ files, reading, as }) => limit(() => readOctodnsZone(withRealPaths(files), reading, as ?? files.zone))))
}

/** In their directory without symbolic links, so that all paths are seen from one base. Files and folders of zones keep their names. */
function withRealPaths({ zone, folder, paths }: OctodnsZoneFiles): OctodnsZoneFiles {
  const there = folder === null ? null : inRealFolder(folder)
  return { zone, folder: there, paths: paths.map((path) => (there === null ? inRealFolder(path) : join(there, basename(path)))) }
}

const inRealFolder = (path: string): string => join(realOr(dirname(path)), basename(path))

export function joined(read: readonly ReadOctodnsZone[]): Imported {
  const shared = new Map<string, ExchangedFile>()
  for (const { files } of read) for (const file of files) shared.set(file.path, file)
  return {
    zones: read.flatMap(({ zone }) => (zone === null ? [] : [zone])),
    lost: read.flatMap(({ lost }) => lost),
    diagnostics: read.flatMap(({ diagnostics }) => diagnostics),
    files: [...shared.values()],
  }
}
