import { readdir, stat } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { displayPath } from '../../definition/files/file-path.ts'
import { fileNameOf, splitFolderZone, unprintableName, withoutControlCharacters } from '../../definition/load/definition-name.ts'
import { compareDiagnostics, type Diagnostic } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'

/** The files of one zone in the directory of a YamlProvider, absolute, in the order octoDNS reads them. */
export interface OctodnsZoneFiles {
  readonly zone: DomainName
  /** The folder of a split zone; null for a single file. */
  readonly folder: string | null
  readonly paths: readonly string[]
  /** Its name as octoDNS lists it, with the final dot; null where it finds the file only for a zone that somebody names. */
  readonly listed: string | null
}

export interface OctodnsLayout {
  readonly splitExtension: string | null
  readonly hasZoneFiles: boolean
  /** Zones that are found also where octoDNS does not list them: \`com.yaml\`, and \`0/26.2.0.192.in-addr.arpa.yaml\` of a zone with a slash. */
  readonly named?: Iterable<DomainName> | undefined
}

/** The name of a zone's file: octoDNS wants at least two dots in it. */
export const ZONE_FILE = /\..*\.yaml$/

/** Zones in one directory. */
const MAX_ENTRIES = 100_000

/**
 * The zones in a directory as octoDNS lists them (its provider/yaml.py): files `ZONE.yaml` with at least two dots in their name, and folders
 * that end in `split_extension`; and files that it does not list and finds where it looks for their zone. Throws what the file system throws.
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
      const zone = fileNameOf(entry)?.zone ?? null
      const isListed = ZONE_FILE.test(entry)
      if (zone !== null) found.push({ zone, folder: null, paths: [path], listed: isListed ? entry.slice(0, -'yaml'.length) : null })
    }
  }
  return layout.hasZoneFiles ? [...found, ...(await filesInFolders(directory, layout.named ?? []))] : found
}

/** An error for each file and folder of a zone that has a control character in its name. `shown` is the directory in messages. Throws what the file system throws. */
export async function unprintableNames(directory: string, splitExtension: string | null, shown: string): Promise<Diagnostic[]> {
  const found: Diagnostic[] = []
  const report = (path: string): void => {
    const refused = unprintableName(basename(path), join(shown, relative(directory, path)))
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

/** Without files that nobody looks for: those that are not listed, of zones that are neither named nor listed themselves. */
export function soughtZones(found: readonly OctodnsZoneFiles[], named: Iterable<DomainName>): OctodnsZoneFiles[] {
  const sought = new Set(named)
  for (const { zone, listed } of found) if (listed !== null) sought.add(zone)
  return found.filter(({ zone }) => sought.has(zone))
}

/** octoDNS joins the name of a zone to the directory, whatever is in it, so that a slash leads into a folder (RFC 2317 zones). */
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

/** The name of a folder without what stands behind its final dot. */
const listedName = (folder: string, extension: string): string => folder.slice(0, folder.length - extension.length + 1)

/** The entries of each zone: a file, a folder of split files, or both. */
export function byZone(found: readonly OctodnsZoneFiles[]): Map<DomainName, OctodnsZoneFiles[]> {
  const entries = new Map<DomainName, OctodnsZoneFiles[]>()
  for (const files of found) {
    const known = entries.get(files.zone)
    if (known === undefined) entries.set(files.zone, [files])
    else known.push(files)
  }
  return entries
}

/** An error for each zone that has two files or two folders, in Unicode and as A-labels. */
export function zonesInTwo(found: readonly OctodnsZoneFiles[], cwd: string): Diagnostic[] {
  return [...byZone(found)].flatMap(([zone, entries]) =>
    [entries.filter(({ folder }) => folder === null), entries.filter(({ folder }) => folder !== null)]
      .filter((alike) => alike.length > 1)
      .map((alike) => ({
        severity: 'error' as const,
        code: 'zone-duplicate' as const,
        message: `${zone} is in ${alike.map(({ folder, paths }) => displayPath(folder ?? paths[0] ?? '', cwd)).join(' and in ')}`,
        hint: 'move its records into one of them',
      })),
  )
}

const partsOf = async (folder: string): Promise<string[]> =>
  (await readdir(folder))
    .filter((name) => name.endsWith('.yaml') && isPrintable(name))
    .sort()
    .map((name) => join(folder, name))

/** The YAML files in a directory and the folders that hold some, in the order of their names. */
export async function yamlIn(directory: string): Promise<{ readonly name: string; readonly isFolder: boolean }[]> {
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
