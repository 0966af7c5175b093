/** Finds the zone files in a directory of octoDNS. */
import { readdir, stat } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { displayPath } from '../../definition/files/file-path.ts'
import { parseFileName, splitFolderZone, unprintableNameError, withoutControlCharacters } from '../../definition/load/definition-name.ts'
import { compareDiagnostics, type Diagnostic } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'

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
  readonly splitExtension: string | null
  readonly hasZoneFiles: boolean
  /** Zones to find even if octoDNS does not list them: `com.yaml`, and `0/26.2.0.192.in-addr.arpa.yaml` of a zone with a slash. */
  readonly named?: Iterable<DomainName> | undefined
}

/** The name of a zone file that octoDNS lists: it contains at least two dots. */
export const ZONE_FILE = /\..*\.yaml$/

/** Entries that are read from one directory. */
const MAX_ENTRIES = 100_000

/**
 * Finds the zones in a directory as octoDNS does (its provider/yaml.py): files `ZONE.yaml` with at least two dots in the name, folders that
 * end in `split_extension`, and the unlisted files of zones that are named. Throws errors of the file system.
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
      const isListed = ZONE_FILE.test(entry)
      if (zone !== null) found.push({ zone, folder: null, paths: [path], listed: isListed ? entry.slice(0, -'yaml'.length) : null })
    }
  }
  return layout.hasZoneFiles ? [...found, ...(await filesInFolders(directory, layout.named ?? []))] : found
}

/**
 * Returns an error per zone file or folder with a control character in its name. `shown` is the directory in messages. Throws errors of the
 * file system.
 */
export async function unprintableNames(directory: string, splitExtension: string | null, shown: string): Promise<Diagnostic[]> {
  const found: Diagnostic[] = []
  const report = (path: string): void => {
    const refused = unprintableNameError(basename(path), join(shown, relative(directory, path)))
    if (refused !== null) found.push(refused)
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

/** Keeps zones that are listed or named. */
export function requestedZones(found: readonly OctodnsZoneFiles[], named: Iterable<DomainName>): OctodnsZoneFiles[] {
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

/** A folder name without what follows its final dot. */
const listedName = (folder: string, extension: string): string => folder.slice(0, folder.length - extension.length + 1)

/** Groups by zone: a file, a folder of split files, or both. */
export function groupByZone(found: readonly OctodnsZoneFiles[]): Map<DomainName, OctodnsZoneFiles[]> {
  const entries = new Map<DomainName, OctodnsZoneFiles[]>()
  for (const files of found) {
    const known = entries.get(files.zone)
    if (known === undefined) entries.set(files.zone, [files])
    else known.push(files)
  }
  return entries
}

/** Returns an error per zone with two files or two folders, spelled in Unicode and as A-labels. */
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

/** The YAML files in a directory and its folders that contain some, sorted by name. */
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
