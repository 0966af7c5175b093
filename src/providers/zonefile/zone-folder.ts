/** The folder of the served zone files: which file a zone has, and which zones there are. */
import { existsSync, readdirSync, type Stats, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { failure, ok, type Result } from '../../base/result.ts'
import { type DomainName, parseDomainName } from '../../dns/domain-name.ts'
import { parseZoneFile } from '../../dns/zone-file/parse-zone-file.ts'
import type { ReadZoneInclude } from '../../dns/zone-file/scope.ts'
import { USUAL_FILE_NAMES, zoneFileName } from '../../dns/zone-file/zone-file-name.ts'
import type { PathScope } from '../../files/allowed-paths.ts'
import { isInside, resolveLinks } from '../../files/file-path.ts'
import { readTextSync, readZoneFileText } from '../../files/read-text.ts'
import { linkPolicy } from '../../files/source-policy.ts'
import { ProviderError } from '../provider.ts'
import { assertFolder } from '../replace-file.ts'

export interface FolderOptions {
  /** The provider's name in the config. */
  readonly provider: string
  /** Absolute. */
  readonly directory: string
  /** The folder as messages show it. */
  readonly shown: string
  readonly scope: PathScope
  /** The file name of a zone, with `{zone}` once. */
  readonly fileName: string
}

/** A file of the folder that may be a zone file. */
export interface ListedFile {
  readonly fileName: string
  /** The zone; null if the content shows none. */
  readonly zone: DomainName | null
}

export interface ZoneFolder {
  /** The name of the file of a zone, without the folder. Letters that no file name should have are replaced, so two zones may share a name. */
  fileNameOf(zone: DomainName): string
  /** Another file with one of the usual names of zone files and the SOA record of the zone, and its name as a setting `file_name`; null without one. */
  otherFileOf(zone: DomainName): Promise<{ readonly fileName: string; readonly pattern: string } | null>
  pathOf(fileName: string): string
  shownPathOf(fileName: string): string
  /** Throws a `ProviderError` without the folder: perhaps because a disk is not mounted, no zone would seem to exist. */
  assertExists(): void
  /** The text of the file of a zone; null if there is none. Throws a `ProviderError`. */
  read(fileName: string): Promise<string | null>
  /** Whether the file is, through a symbolic link, outside the folder. */
  isOutside(fileName: string): boolean
  /** Whether BIND has a journal of updates beside the file that it plays on it. A zone that it signs inline has another file for these. */
  hasJournal(fileName: string): boolean
  readonly include: ReadZoneInclude
  /** The zone files by their names, in the order of the names. Throws a `ProviderError`. */
  list(): Promise<readonly ListedFile[]>
}

export function createZoneFolder(options: FolderOptions): ZoneFolder {
  const { provider, directory, shown, scope, fileName: pattern } = options
  const policy = linkPolicy(scope)
  const [prefix = '', suffix = ''] = pattern.split('{zone}')
  const known = new Map<string, { readonly facts: string; readonly zone: DomainName | null }>()
  const pathOf = (fileName: string): string => join(directory, fileName)
  const shownPathOf = (fileName: string): string => `${shown}/${fileName}`

  const read = async (fileName: string): Promise<string | null> => {
    assertFolder(options)
    const text = await readZoneFileText(pathOf(fileName), shownPathOf(fileName), policy)
    if (text.ok) return text.text
    if (text.isMissing && statSync(pathOf(fileName), { throwIfNoEntry: false }) === undefined) return null
    const { message, hint } = text.problem
    throw new ProviderError('file-unreadable', `${provider}: ${message}`, { hint })
  }

  const zoneOf = async (fileName: string, facts: Stats): Promise<DomainName | null> => {
    const version = `${facts.ino} ${facts.size} ${facts.mtimeMs}`
    const cached = known.get(fileName)
    if (cached?.facts === version) return cached.zone
    const text = await readZoneFileText(pathOf(fileName), shownPathOf(fileName), policy)
    const named = parseDomainName(`${fileName.slice(prefix.length, fileName.length - suffix.length)}.`)
    const zone = text.ok ? soaOwner(text.text, named.ok ? named.value : null) : null
    known.set(fileName, { facts: version, zone })
    return zone
  }

  const stemOf = (zone: DomainName): string => zoneFileName(zone, new Set(), 'z').slice(0, -2)

  return {
    fileNameOf: (zone) => prefix + stemOf(zone) + suffix,
    async otherFileOf(zone) {
      for (const usual of USUAL_FILE_NAMES) {
        const fileName = usual.replace('{zone}', stemOf(zone))
        if (usual === pattern || !statSync(pathOf(fileName), { throwIfNoEntry: false })?.isFile()) continue
        const text = await readZoneFileText(pathOf(fileName), shownPathOf(fileName), policy)
        if (text.ok && soaOwner(text.text, zone) === zone) return { fileName, pattern: usual }
      }
      return null
    },
    pathOf,
    shownPathOf,
    assertExists: () => assertFolder(options),
    read,
    isOutside: (fileName) => !isInside(resolveLinks(pathOf(fileName)), resolveLinks(directory)),
    hasJournal: (fileName) => existsSync(`${pathOf(fileName)}.jnl`) && !existsSync(`${pathOf(fileName)}.signed`),
    include: (path, from) => {
      const base = from.startsWith(`${shown}/`) ? pathOf(from.slice(shown.length + 1)) : from
      const wanted = resolve(dirname(base), path)
      if (!isInside(resolveLinks(wanted), resolveLinks(directory))) return failure(`${path} is outside ${shown}`)
      const text: Result<string> = readTextSync(wanted, path, policy, 'zone-file')
      return text.ok ? ok({ file: `${shown}/${wanted.slice(directory.length + 1)}`, text: text.value }) : text
    },
    async list() {
      assertFolder(options)
      const listed: ListedFile[] = []
      for (const fileName of readdirSync(directory).sort()) {
        const isNamed = fileName.length > prefix.length + suffix.length && fileName.startsWith(prefix) && fileName.endsWith(suffix)
        if (!isNamed || fileName.startsWith('.')) continue
        const facts = statSync(pathOf(fileName), { throwIfNoEntry: false })
        if (facts?.isFile()) listed.push({ fileName, zone: await zoneOf(fileName, facts) })
      }
      return listed
    },
  }
}

/** The owner of the SOA record, which nearly always comes first; null without one. */
function soaOwner(text: string, origin: DomainName | null): DomainName | null {
  for (const maxRecords of [1, Number.POSITIVE_INFINITY]) {
    const { records } = parseZoneFile(text, { origin, file: '', maxRecords })
    const soa = records.find(({ type }) => type === 'SOA')
    if (soa !== undefined) return soa.name
  }
  return null
}
