import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileNameOf, splitFolderZone } from '../../definitions/definition-name.ts'
import { displayPath } from '../../definitions/file-path.ts'
import type { Diagnostic } from '../../model/diagnostic.ts'
import type { DomainName } from '../../model/domain-name.ts'

/** The files of one zone in the directory of a YamlProvider, absolute, in the order octoDNS reads them. */
export interface OctodnsZoneFiles {
  readonly zone: DomainName
  /** The folder of a split zone; null for a single file. */
  readonly folder: string | null
  readonly paths: readonly string[]
}

export interface OctodnsLayout {
  readonly splitExtension: string | null
  readonly hasZoneFiles: boolean
}

/** The name of a zone's file: octoDNS wants at least two dots in it. */
export const ZONE_FILE = /\..*\.yaml$/

/** Zones in one directory. */
const MAX_ENTRIES = 100_000

/**
 * The zones in a directory as octoDNS lists them (its provider/yaml.py): files `ZONE.yaml` with at least two dots in their name, and folders
 * that end in `split_extension`. Throws what the file system throws.
 */
export async function findOctodnsZones(directory: string, layout: OctodnsLayout): Promise<OctodnsZoneFiles[]> {
  const found: OctodnsZoneFiles[] = []
  const entries = (await readdir(directory)).sort().slice(0, MAX_ENTRIES)
  for (const entry of entries) {
    const path = join(directory, entry)
    const facts = await stat(path).catch(() => null)
    if (facts?.isDirectory() && layout.splitExtension !== null) {
      const zone = splitFolderZone(entry, layout.splitExtension)
      if (zone !== null) found.push({ zone, folder: path, paths: await partsOf(path) })
    } else if (facts?.isFile() && layout.hasZoneFiles && ZONE_FILE.test(entry)) {
      const name = fileNameOf(entry)
      if (name?.zone) found.push({ zone: name.zone, folder: null, paths: [path] })
    }
  }
  return found
}

/** An error for each zone that more than one entry of a directory is of: octoDNS reads all of them into one zone. */
export function zonesInTwo(found: readonly OctodnsZoneFiles[], cwd: string): Diagnostic[] {
  const byZone = new Map<DomainName, string[]>()
  for (const { zone, folder, paths } of found) byZone.set(zone, [...(byZone.get(zone) ?? []), displayPath(folder ?? paths[0] ?? '', cwd)])
  return [...byZone]
    .filter(([, shown]) => shown.length > 1)
    .map(([zone, shown]) => ({
      severity: 'error',
      code: 'zone-duplicate',
      message: `${zone} is in ${shown.join(' and in ')}`,
      hint: 'move its records into one of them',
    }))
}

const partsOf = async (folder: string): Promise<string[]> =>
  (await readdir(folder))
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((name) => join(folder, name))

/** The YAML files in a directory and the folders that hold some, in the order of their names. */
export async function yamlIn(directory: string): Promise<{ readonly name: string; readonly isFolder: boolean }[]> {
  const entries = (await readdir(directory, { withFileTypes: true })).slice(0, MAX_ENTRIES)
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
