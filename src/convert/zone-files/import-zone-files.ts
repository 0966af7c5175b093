import { open, stat } from 'node:fs/promises'
import { basename, dirname, relative, resolve } from 'node:path'
import { displayPath, resolveLinks } from '../../definition/files/file-path.ts'
import { folderTree } from '../../definition/files/folder-tree.ts'
import { describeReadError, readText } from '../../definition/files/read-text.ts'
import type { ImportedZone } from '../../definition/imported-zone.ts'
import { fileNameOf, unprintableName } from '../../definition/load/definition-name.ts'
import { includeReader } from '../../definition/load/include-reader.ts'
import { sourcePolicy } from '../../definition/load/source-policy.ts'
import { zoneFileDefinition } from '../../definition/load/zone-file-definition.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { hasErrors } from '../../dns/diagnostic.ts'
import { type DomainName, parseDomainName } from '../../dns/domain-name.ts'
import { placeComments } from '../../dns/zone-file/place-comments.ts'
import type { IncludedZoneFile, ReadZoneInclude } from '../../dns/zone-file/scope.ts'
import { counted } from '../../report/english.ts'
import { checkSoaSettings } from '../definable-settings.ts'
import type { ImportRequest } from '../importer.ts'
import { type ImportedZones, missingZones } from '../importer.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'

/**
 * Zone files (RFC 1035), one or all of a folder and the folders in it: `*.zone`, `*.db` and `db.*`. What they include must lie in the
 * folder that was given, or in that of the one file.
 */
export async function importZoneFiles({ source, zones, cwd, config }: ImportRequest): Promise<ImportedZones> {
  const path = resolve(cwd, source)
  const facts = await stat(path).catch((error: unknown) => describeReadError(error))
  if (typeof facts === 'string') return failed({ code: 'file-unreadable', message: `${displayPath(path, cwd)} ${facts}` })
  const folder = facts.isDirectory() ? path : dirname(path)
  const include = includeReader({ ...config, folder, cwd })
  const policy = sourcePolicy({ ...config, folder, cwd }, facts.isDirectory() ? 'refused' : 'allowed')
  const { files, others, diagnostics } = facts.isDirectory()
    ? await zoneFilesBelow(path, cwd)
    : { files: [path], others: [], diagnostics: [] }
  const found: ImportedZone[] = []
  const dropped: UnsupportedFeature[] = []
  const included = new Set<string>()
  const read: ReadZone[] = []
  for (const one of files) {
    const file = displayPath(one, cwd)
    const text = await readText(one, file, policy)
    if (!text.ok) {
      read.push({
        file,
        zone: null,
        dropped: [],
        diagnostics: [{ severity: 'error', ...text.problem, at: text.problem.at ?? { file, line: 1, column: 1 } }],
      })
      continue
    }
    const definition = readCommentedZone({ file, text: text.text }, zoneNameOf(one, zones), include)
    for (const other of definition.includedFiles) included.add(other)
    const { zone } = definition
    if (zone !== null && zones.length > 0 && !zones.includes(zone.name)) continue
    read.push({ ...definition, file })
  }
  // A file that another includes is no zone of its own.
  const realCwd = resolveLinks(cwd)
  const isIncluded = (one: string): boolean => included.has(displayPath(resolveLinks(one), realCwd))
  for (const one of read) {
    if (isIncluded(resolve(cwd, one.file))) continue
    diagnostics.push(...one.diagnostics)
    if (one.zone === null) continue
    const twice = found.some(({ name }) => name === one.zone?.name)
    if (twice) diagnostics.push(duplicate(one.zone.name, one.file))
    else {
      const checked = checkSoaSettings(one.zone)
      found.push(checked.zone)
      dropped.push(...one.dropped, ...checked.dropped)
    }
  }
  const unknownSettings = others.filter((one) => !isIncluded(one))
  diagnostics.push(...(await otherZoneFiles(unknownSettings, (one) => displayPath(one, cwd))))
  if (files.length === 0)
    diagnostics.push(...failed({ code: 'no-definitions', message: `${displayPath(path, cwd)} has no zone files` }).diagnostics)
  else diagnostics.push(...missingZones(zones, found, source))
  return { zones: found, dropped, diagnostics }
}

interface ReadZone {
  readonly file: string
  /** Null where nothing could be had. */
  readonly zone: ImportedZone | null
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
}

const failed = (problem: Pick<Diagnostic, 'code' | 'message'>): ImportedZones => ({
  zones: [],
  dropped: [],
  diagnostics: [{ severity: 'error', ...problem }],
})

const duplicate = (zone: DomainName, file: string): Diagnostic => ({
  severity: 'error',
  code: 'zone-duplicate',
  message: `${zone} is in more than one file`,
  at: { file, line: 1, column: 1 },
})

const leadingOut = (path: string): Diagnostic => ({
  severity: 'warning',
  code: 'path-outside',
  message: `${path} leads out of the folder and was left out`,
  hint: 'name the file itself as the source to import it',
})

/** The zone by the name of the file; where that has no ending that says so, the one zone that is asked for, else the whole name. */
function zoneNameOf(path: string, asked: readonly DomainName[]): DomainName | null {
  const base = basename(path)
  const known = fileNameOf(base)
  if (known) return known.zone
  if (asked.length === 1) return asked[0] ?? null
  const name = parseDomainName(`${base.replace(/\.$/, '')}.`)
  return name.ok && base.includes('.') ? name.value : null
}

interface FilesBelow {
  readonly files: readonly string[]
  /** Those whose name is not that of a zone file, nor of a definition. */
  readonly others: readonly string[]
  readonly diagnostics: Diagnostic[]
}

async function zoneFilesBelow(folder: string, cwd: string): Promise<FilesBelow> {
  const tree = folderTree(resolveLinks(folder))
  const files: string[] = []
  const others: string[] = []
  const diagnostics: Diagnostic[] = []
  await tree.walk(
    folder,
    Number.POSITIVE_INFINITY,
    () => true,
    ({ path, name, isFolder, isOutside }) => {
      if (name.startsWith('.')) return
      const known = fileNameOf(name)
      if (!isFolder && known?.kind !== 'zone-file') {
        if (known === null && !isOutside) others.push(path)
      } else if (isOutside) diagnostics.push(leadingOut(displayPath(path, cwd)))
      else if (!isFolder) {
        const unprintable = unprintableName(relative(folder, path), displayPath(path, cwd))
        if (unprintable === null) files.push(path)
        else diagnostics.push(unprintable)
      }
    },
  )
  for (const { path, message } of tree.problems)
    diagnostics.push({ severity: 'error', code: 'file-unreadable', message: `${displayPath(path, cwd)} ${message}` })
  return { files, others, diagnostics }
}

export interface CommentedZone {
  /** Null where nothing says which zone the file is of. */
  readonly zone: ImportedZone | null
  readonly dropped: readonly UnsupportedFeature[]
  readonly includedFiles: readonly string[]
  readonly diagnostics: readonly Diagnostic[]
}

/** The zone of a zone file with the comments of the file and of those it includes. With errors there are none: nothing is written then. */
export function readCommentedZone(file: IncludedZoneFile, zoneName: DomainName | null, include?: ReadZoneInclude): CommentedZone {
  const opened: IncludedZoneFile[] = []
  const { zone, read, includedFiles, diagnostics } = zoneFileDefinition(file.text, zoneName, {
    file: file.file,
    include: include && noting(include, opened),
  })
  if (zone === null) return { zone, dropped: [], includedFiles, diagnostics }
  const { name, settings, records } = zone
  if (hasErrors(diagnostics)) return { zone: { name, settings, records }, dropped: [], includedFiles, diagnostics }
  const { comments, dropped: droppedLines } = placeComments({ zone: name, file, included: opened, records: read })
  const what = counted(droppedLines, 'more line of comments than are kept', 'more lines of comments than are kept')
  const dropped = droppedLines === 0 ? [] : [{ zone: name, name: null, type: null, what, at: zone.at }]
  return { zone: { name, settings, records, comments }, dropped, includedFiles, diagnostics }
}

/** The same reader, which notes what it gives. */
const noting =
  (include: ReadZoneInclude, opened: IncludedZoneFile[]): ReadZoneInclude =>
  (path, from) => {
    const source = include(path, from)
    if (source.ok) opened.push(source.value)
    return source
  }

/** Files that are looked at, octets of the start of each, and those that are told by name. */
const MAX_FILES = 1000
const HEAD_OCTETS = 16_384
const TOLD = 20

/** The start of an SOA record: two names, and a parenthesis or the serial. */
const SOA = /(?:^|[ \t])SOA[ \t]+\S+[ \t]+\S+[ \t]+(?:\(|[0-9])/im

/** A word for each file that has an SOA record, and a name that does not say it is a zone file. `shown` names a path in messages. */
async function otherZoneFiles(paths: readonly string[], shown: (path: string) => string): Promise<Diagnostic[]> {
  const found: string[] = []
  for (const path of paths.slice(0, MAX_FILES)) if (SOA.test(await headOf(path))) found.push(path)
  const diagnostics = found
    .slice(0, TOLD)
    .map((path) => leftOut(`${shown(path)} looks like a zone file and was left out, since its name does not say so`))
  if (found.length > TOLD) diagnostics.push(leftOut(`${found.length - TOLD} more files look like zone files and were left out`))
  return diagnostics
}

const leftOut = (message: string): Diagnostic => ({
  severity: 'warning',
  code: 'file-format',
  message,
  hint: 'name the file itself as the source to import it, or end its name in .zone',
})

/** The start of a file; nothing where it cannot be read, for nobody asked for it. */
async function headOf(path: string): Promise<string> {
  try {
    const file = await open(path)
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_OCTETS), 0, HEAD_OCTETS, 0)
      return buffer.toString('latin1', 0, bytesRead)
    } finally {
      await file.close()
    }
  } catch {
    return ''
  }
}
