/** Finds the zone files in a directory of octoDNS. */
import { readdir, stat } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { compareDiagnostics, type Diagnostic } from '../../base/diagnostic.ts'
import { groupBy } from '../../base/group-by.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { displayPath, withoutControlCharacters } from '../../files/file-path.ts'
import { parseFileName, splitFolderZone, unprintableNameError } from '../../load/definition-name.ts'

/** The files of one zone in the directory of a YamlProvider: absolute paths, in the order octoDNS reads them. */
export interface OctodnsZoneFiles {
  readonly zone: DomainName
  /** The folder of a split zone; null for a single file. */
  readonly folder: string | null
  readonly paths: readonly string[]
  /** The zone's name as octoDNS lists it, with the final dot. Null if octoDNS finds the file only when its config names the zone. */
  readonly listed: string | null
}

export interface OctodnsLayout {
  /** Null if octoDNS reads no split folders. */
  readonly splitExtension: string | null
  /** Whether octoDNS reads files `ZONE.yaml`. */
  readonly hasZoneFiles: boolean
  /** Zones to look for in folders too, because their names have a slash: `0/26.2.0.192.in-addr.arpa.yaml`. */
  readonly named?: Iterable<DomainName> | undefined
}

/** The name of a zone file that octoDNS lists: it contains at least two dots. */
export const LISTED_ZONE_FILE = /\..*\.yaml$/

/** Maximum number of entries read from one directory; further ones are ignored. */
const MAX_ENTRIES = 100_000

/**
 * Finds all files `ZONE.yaml` and all folders that end in `splitExtension`, and the files of named zones with a slash. `listed` is set for those that
 * octoDNS lists itself (its provider/yaml.py). Throws errors of the file system.
 */
export async function findOctodnsZones(directory: string, layout: OctodnsLayout): Promise<OctodnsZoneFiles[]> {
  const found: OctodnsZoneFiles[] = []
  const entries = (await readdir(directory)).filter(isPrintable).sort().slice(0, MAX_ENTRIES)
  for (const entry of entries) {
    const path = join(directory, entry)
    const facts = await stat(path).catch(() => null)
    if (facts?.isDirectory() && layout.splitExtension !== null) {
      const zone = splitFolderZone(entry, layout.splitExtension)
      if (zone !== null) found.push({ zone, folder: path, paths: await partsOf(path), listed: listedName(entry, layout.splitExtension) })
    } else if (facts?.isFile() && layout.hasZoneFiles && entry.endsWith('.yaml')) {
      const zone = parseFileName(entry)?.zone ?? null
      const isListed = LISTED_ZONE_FILE.test(entry)
      if (zone !== null) found.push({ zone, folder: null, paths: [path], listed: isListed ? entry.slice(0, -'yaml'.length) : null })
    }
  }
  return layout.hasZoneFiles ? [...found, ...(await filesInFolders(directory, layout.named ?? []))] : found
}

/**
 * Returns an error per zone file or folder with a control character in its name. `shown` is the directory in messages. Throws errors of the
 * file system.
 */
export async function unprintableNameErrors(directory: string, splitExtension: string | null, shown: string): Promise<Diagnostic[]> {
  const found: Diagnostic[] = []
  const report = (path: string): void => {
    const error = unprintableNameError(basename(path), join(shown, relative(directory, path)))
    if (error !== null) found.push(error)
  }
  for (const entry of (await readdir(directory)).slice(0, MAX_ENTRIES)) {
    const path = join(directory, entry)
    const isZone = splitExtension !== null && splitFolderZone(entry, splitExtension) !== null
    if (isZone || isYaml(entry)) report(path)
    const parts = isZone ? await readdir(path).catch(() => []) : []
    for (const part of parts) if (isYaml(part)) report(join(path, part))
  }
  return found.sort(compareDiagnostics)
}

const isYaml = (name: string): boolean => withoutControlCharacters(name).endsWith('.yaml')

const isPrintable = (name: string): boolean => withoutControlCharacters(name) === name

/** Returns the files of zones that octoDNS lists, or that are in `named`. */
export function listedOrNamed(found: readonly OctodnsZoneFiles[], named: Iterable<DomainName>): OctodnsZoneFiles[] {
  const wanted = new Set(named)
  for (const { zone, listed } of found) if (listed !== null) wanted.add(zone)
  return found.filter(({ zone }) => wanted.has(zone))
}

/** octoDNS appends the zone name to the directory, so a slash in it leads into a folder (zones of RFC 2317). */
async function filesInFolders(directory: string, named: Iterable<DomainName>): Promise<OctodnsZoneFiles[]> {
  const found: OctodnsZoneFiles[] = []
  for (const zone of named) {
    if (!/^[a-z0-9_-][a-z0-9_.-]*(?:\/[a-z0-9_-][a-z0-9_.-]*)+$/.test(zone)) continue
    const path = join(directory, `${zone}yaml`)
    const facts = await stat(path).catch(() => null)
    if (facts?.isFile()) found.push({ zone, folder: null, paths: [path], listed: null })
  }
  return found
}

/** The zone of a split folder, with its final dot: the folder's name without the extension after its leading dot. */
const listedName = (folder: string, extension: string): string => folder.slice(0, folder.length - extension.length + 1)

/** Groups by zone: a file, a folder of split files, or both. */
export const groupByZone = (found: readonly OctodnsZoneFiles[]): Map<DomainName, OctodnsZoneFiles[]> => groupBy(found, ({ zone }) => zone)

/** Returns an error per zone with two files or two folders: their names differ only in spelling (Unicode or A-labels, letter case). */
export function duplicateZoneErrors(found: readonly OctodnsZoneFiles[], cwd: string): Diagnostic[] {
  return [...groupByZone(found)].flatMap(([zone, entries]) =>
    [entries.filter(({ folder }) => folder === null), entries.filter(({ folder }) => folder !== null)]
      .filter((duplicates) => duplicates.length > 1)
      .map((duplicates) => ({
        severity: 'error' as const,
        code: 'zone-duplicate' as const,
        message: `${zone} is in ${duplicates.map(({ folder, paths }) => displayPath(folder ?? paths[0] ?? '', cwd)).join(' and in ')}`,
        hint: 'move its records into one of them',
      })),
  )
}

const partsOf = async (folder: string): Promise<string[]> =>
  (await readdir(folder))
    .filter((name) => name.endsWith('.yaml') && isPrintable(name))
    .sort()
    .map((name) => join(folder, name))

/** The names of the YAML files in a directory, and of its folders that have YAML files, sorted. */
export async function listYamlFiles(directory: string): Promise<{ readonly name: string; readonly isFolder: boolean }[]> {
  const entries = (await readdir(directory, { withFileTypes: true })).filter(({ name }) => isPrintable(name)).slice(0, MAX_ENTRIES)
  const found = await Promise.all(
    entries.map(async (entry) => {
      const isFolder = entry.isDirectory()
      const parts = isFolder ? await partsOf(join(directory, entry.name)).catch(() => []) : []
      return isFolder ? parts.length > 0 : entry.name.endsWith('.yaml')
    }),
  )
  return entries
    .filter((_, i) => found[i])
    .map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}
