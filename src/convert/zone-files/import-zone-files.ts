/** Imports zone files. */
import { open, stat } from 'node:fs/promises'
import { basename, dirname, relative, resolve } from 'node:path'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { hasErrors } from '../../base/diagnostic.ts'
import { counted } from '../../base/english.ts'
import type { ImportedZone } from '../../definition/imported-zone.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { placeComments } from '../../dns/zone-file/place-comments.ts'
import type { IncludedZoneFile, ReadZoneInclude } from '../../dns/zone-file/scope.ts'
import { displayPath, resolveLinks } from '../../files/file-path.ts'
import { folderTree } from '../../files/folder-tree.ts'
import { describeReadError, readZoneFileText, similarFile } from '../../files/read-text.ts'
import { sourcePolicy } from '../../files/source-policy.ts'
import { parseFileName, unprintableNameError, zoneOfStem } from '../../load/definition-name.ts'
import { createIncludeReader } from '../../load/include-reader.ts'
import { misnamedWarnings, zoneFileDefinition } from '../../load/zone-file-definition.ts'
import { splitByRules } from '../definable-records.ts'
import type { ImportRequest } from '../importer.ts'
import { type ImportedZones, missingZones } from '../importer.ts'
import { withoutOtherClients } from '../other-clients.ts'
import { droppedRecord, recordsOutside, type UnsupportedFeature } from '../unsupported-features.ts'

/**
 * Imports one zone file (RFC 1035), or all in a folder and its subfolders: `*.zone`, `*.db` and `db.*`. Included files must be in the
 * source folder, or in the folder of the one file.
 */
export async function importZoneFiles({ source, zones, cwd, config }: ImportRequest): Promise<ImportedZones> {
  const path = resolve(cwd, source)
  const facts = await stat(path).catch((error: unknown) => describeReadError(error))
  const hint = similarFile(path, cwd) ?? 'name a zone file, or a folder of files like example.com.zone or db.example.com'
  if (typeof facts === 'string') return failed({ code: 'file-unreadable', message: `${displayPath(path, cwd)} ${facts}`, hint })
  const folder = facts.isDirectory() ? path : dirname(path)
  const include = createIncludeReader({ ...config, folder, cwd }, 'zone-file')
  const policy = sourcePolicy({ ...config, folder, cwd }, facts.isDirectory() ? 'refused' : 'allowed')
  const { files, others, diagnostics } = facts.isDirectory()
    ? await findZoneFiles(path, cwd)
    : { files: [path], others: [], diagnostics: [] }
  const found: ImportedZone[] = []
  const dropped: UnsupportedFeature[] = []
  const included = new Set<string>()
  const read: ReadZone[] = []
  for (const one of files) {
    const file = displayPath(one, cwd)
    const text = await readZoneFileText(one, file, policy)
    if (!text.ok) {
      read.push({
        file,
        zone: null,
        dropped: [],
        diagnostics: [{ severity: 'error', ...text.problem, at: text.problem.at ?? { file, line: 1, column: 1 } }],
      })
      continue
    }
    const definition = readCommentedZone({ file, text: text.text }, zoneNameOf(one, zones, !facts.isDirectory()), include)
    for (const other of definition.includedFiles) included.add(other)
    const { zone } = definition
    if (zone === null && definition.diagnostics.some(({ code }) => code === 'zone-name')) {
      read.push({ ...definition, file, diagnostics: [unnamed(file, facts.isDirectory() ? 'warning' : 'error')] })
      continue
    }
    if (zone !== null && zones.length > 0 && !zones.includes(zone.name)) continue
    const misnamed = misnamedWarnings(parseFileName(basename(one))?.zone ?? null, zone?.name ?? null, { file, line: 1, column: 1 })
    read.push({ ...definition, file, diagnostics: [...definition.diagnostics, ...misnamed] })
  }
  // A file that another file includes is not a zone.
  const realCwd = resolveLinks(cwd)
  const isIncluded = (one: string): boolean => included.has(displayPath(resolveLinks(one), realCwd))
  for (const one of read) {
    if (isIncluded(resolve(cwd, one.file))) continue
    diagnostics.push(...one.diagnostics)
    if (one.zone === null) continue
    const twice = found.some(({ name }) => name === one.zone?.name)
    if (twice) diagnostics.push(duplicate(one.zone.name, one.file))
    else {
      const { name, records } = one.zone
      const { records: kept, undefinable } = splitByRules(name, records)
      const left = withoutOtherClients({ ...one.zone, records: kept })
      found.push(left.zone)
      diagnostics.push(...left.diagnostics)
      dropped.push(...one.dropped, ...undefinable.map(({ record, reason }) => droppedRecord(name, record, reason)))
    }
  }
  const unknownFiles = others.filter((one) => !isIncluded(one))
  diagnostics.push(...(await misnamedZoneFiles(unknownFiles, (one) => displayPath(one, cwd))))
  if (files.length === 0)
    diagnostics.push(...failed({ code: 'no-definitions', message: `${displayPath(path, cwd)} has no zone files` }).diagnostics)
  else diagnostics.push(...missingZones(zones, found, source))
  return { zones: found, dropped, diagnostics }
}

interface ReadZone {
  readonly file: string
  /** Null if the file is unreadable or does not name its zone. */
  readonly zone: ImportedZone | null
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
}

const failed = (problem: Pick<Diagnostic, 'code' | 'message' | 'hint'>): ImportedZones => ({
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

/** The diagnostic of a file that does not say its zone. In a folder the file is skipped. */
function unnamed(file: string, severity: 'warning' | 'error'): Diagnostic {
  const octets = /^(?:db\.)?(\d{1,3}(?:\.\d{1,3}){0,3})(?:\.zone|\.db)?$/i.exec(basename(file))?.[1]?.split('.') ?? []
  const isPrefix = octets.length > 0 && octets.every((octet) => Number(octet) < 256)
  const zone = isPrefix ? `${octets.reverse().join('.')}.in-addr.arpa` : 'ZONE'
  const message = `the file does not say which zone it defines${severity === 'warning' ? ', so it was skipped' : ''}`
  const hint = `name the zone: zonewright import zonefile ${file} ${zone}`
  return { severity, code: 'zone-name', message, at: { file, line: 1, column: 1 }, hint }
}

const pathOutside = (path: string): Diagnostic => ({
  severity: 'warning',
  code: 'path-outside',
  message: `${path} is outside the folder and was skipped`,
  hint: 'name the file itself as the source to import it',
})

/**
 * The zone of a file that does not name it: the only requested zone if the source is this file, else that of the file name. If the name has no zone file
 * ending: the only requested zone, else the whole file name.
 */
function zoneNameOf(path: string, requested: readonly DomainName[], isSource: boolean): DomainName | null {
  const base = basename(path)
  const known = parseFileName(base)
  if (known && !(isSource && requested.length === 1)) return known.zone
  if (requested.length === 1) return requested[0] ?? null
  return base.includes('.') ? zoneOfStem(base) : null
}

interface FoundFiles {
  readonly files: readonly string[]
  /** Files that by their name are neither zone files nor definitions. */
  readonly others: readonly string[]
  readonly diagnostics: Diagnostic[]
}

async function findZoneFiles(folder: string, cwd: string): Promise<FoundFiles> {
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
      const known = parseFileName(name)
      if (!isFolder && known?.kind !== 'zone-file') {
        if (known === null && !isOutside) others.push(path)
      } else if (isOutside) diagnostics.push(pathOutside(displayPath(path, cwd)))
      else if (!isFolder) {
        const unprintable = unprintableNameError(relative(folder, path), displayPath(path, cwd))
        if (unprintable === null) files.push(path)
        else diagnostics.push(unprintable)
      }
    },
  )
  for (const { path, message } of tree.problems)
    diagnostics.push({ severity: 'error', code: 'file-unreadable', message: `${displayPath(path, cwd)} ${message}` })
  return { files, others, diagnostics }
}

interface CommentedZone {
  /** Null if the zone of the file is unknown. */
  readonly zone: ImportedZone | null
  readonly dropped: readonly UnsupportedFeature[]
  readonly includedFiles: readonly string[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Reads a zone file with its comments and those of included files. After an error comments are left out, because nothing is written. */
export function readCommentedZone(file: IncludedZoneFile, zoneName: DomainName | null, include?: ReadZoneInclude): CommentedZone {
  const opened: IncludedZoneFile[] = []
  const { zone, read, outside, includedFiles, diagnostics } = zoneFileDefinition(file.text, zoneName, {
    file: file.file,
    include: include && recordingIncludes(include, opened),
  })
  if (zone === null) return { zone, dropped: [], includedFiles, diagnostics }
  const { name, settings, soa, records } = zone
  if (hasErrors(diagnostics)) return { zone: { name, settings, soa, records }, dropped: [], includedFiles, diagnostics }
  const { comments, dropped: droppedLines } = placeComments({ zone: name, file, included: opened, records: read })
  const what = `${counted(droppedLines, 'line')} of comments above the limit`
  const dropped = [
    ...recordsOutside(outside, name),
    ...(droppedLines === 0 ? [] : [{ zone: name, name: null, type: null, what, at: zone.at }]),
  ]
  return { zone: { name, settings, soa, records, comments }, dropped, includedFiles, diagnostics }
}

/** Wraps a reader of included files to collect what it reads. */
const recordingIncludes =
  (include: ReadZoneInclude, opened: IncludedZoneFile[]): ReadZoneInclude =>
  (path, from) => {
    const source = include(path, from)
    if (source.ok) opened.push(source.value)
    return source
  }

/** Limits of the search for misnamed zone files: files inspected, octets read from each, and files reported by name. */
const MAX_FILES = 1000
const HEAD_OCTETS = 16_384
const MAX_REPORTED = 20

/** The start of an SOA record: two names, then a parenthesis or the serial. */
const SOA = /(?:^|[ \t])SOA[ \t]+\S+[ \t]+\S+[ \t]+(?:\(|[0-9])/im

/** Warns of each file that contains an SOA record but is not named like a zone file. `shown` is the path for messages. */
async function misnamedZoneFiles(paths: readonly string[], shown: (path: string) => string): Promise<Diagnostic[]> {
  const found: string[] = []
  for (const path of paths.slice(0, MAX_FILES)) if (SOA.test(await readHead(path))) found.push(path)
  const diagnostics = found
    .slice(0, MAX_REPORTED)
    .map((path) => skippedFile(`${shown(path)} looks like a zone file but is not named like one, so it was skipped`))
  if (found.length > MAX_REPORTED)
    diagnostics.push(skippedFile(`${found.length - MAX_REPORTED} more files look like zone files and were skipped`))
  return diagnostics
}

const skippedFile = (message: string): Diagnostic => ({
  severity: 'warning',
  code: 'file-format',
  message,
  hint: 'name the file itself as the source to import it, or end its name in .zone',
})

/** The start of a file; empty if it is unreadable, because the user did not name it. */
async function readHead(path: string): Promise<string> {
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
