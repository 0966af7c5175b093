import { basename, dirname } from 'node:path'
import { CST, Lexer } from 'yaml'
import { displayPath, fromDisplayPath, isInside, resolveLinks } from '../../definition/files/file-path.ts'
import { readTextWithMark } from '../../definition/files/read-text.ts'
import type { ImportedZone, OutputFile } from '../../definition/imported-zone.ts'
import { fileNameOf, splitFolderZone } from '../../definition/load/definition-name.ts'
import type { IncludeReader } from '../../definition/load/include-reader.ts'
import type { SourcePolicy } from '../../definition/load/source-policy.ts'
import { collectDiagnostics } from '../../definition/parse/collect-diagnostics.ts'
import { openFiles } from '../../definition/parse/open-files.ts'
import { parseDefinition } from '../../definition/parse/parse-definition.ts'
import type { IncludedFile, ParsedDefinition } from '../../definition/parse/parse-options.ts'
import { parseSplitZone } from '../../definition/parse/split-zone.ts'
import { lineIndex } from '../../definition/yaml/line-index.ts'
import type { YamlNode } from '../../definition/yaml/yaml-node.ts'
import type { Diagnostic, SourcePosition } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { parseDomainName } from '../../dns/domain-name.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import type { ZoneComment } from '../../dns/zone.ts'
import type { OctodnsFileSettings } from '../importer.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import type { OctodnsZoneFiles } from './find-zone-files.ts'
import { otherDiagnostics, otherLineEnds, otherNames, unsupportedExtras } from './zone-file-differences.ts'

export interface OctodnsReading {
  /** The folder that paths of the imported files start from, and that nothing is read outside of; absolute. */
  readonly base: string
  readonly cwd: string
  readonly defaultTtl: number
  readonly escapesSemicolons: boolean
  readonly include: IncludeReader
  readonly policy: SourcePolicy
}

export interface ReadOctodnsZone {
  readonly zone: ImportedZone | null
  /** The path of its file or folder from the base, for a rule of a config. */
  readonly place: string
  /** The folder that it stands in, from the base. */
  readonly folder: string
  /** Whether the files as they are mean what is read here; else the zone has to be written anew. */
  readonly isPlain: boolean
  /** The comments of its files; read when they are asked for. */
  readonly comments: () => readonly ZoneComment[]
  /** Files that the zone's draw in. */
  readonly files: readonly OutputFile[]
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
}

/** A file, and all of its text: with the byte order mark where it has one. */
interface Source extends IncludedFile {
  readonly whole: string
}

const withoutMark = (text: string): string => (text.startsWith('\u{feff}') ? text.slice(1) : text)

/**
 * A zone of octoDNS with its files as they are. `as` is the zone it becomes where that is another: an alias. `common` is how a
 * config will have files read.
 */
export async function readOctodnsZone(
  found: OctodnsZoneFiles,
  reading: OctodnsReading,
  as: DomainName,
  common: OctodnsFileSettings,
): Promise<ReadOctodnsZone> {
  const { base, cwd, include } = reading
  const folder = displayPath(dirname(found.folder ?? found.paths[0] ?? base), base)
  const none = { zone: null, place: '', folder, isPlain: true, comments: () => [], files: [], dropped: [] }
  const { sources, diagnostics } = await readSources(found, reading)
  const [first] = sources
  if (diagnostics.length > 0 || first === undefined) return { ...none, diagnostics }
  const parsed = parseAs(sources, found, reading, as, reading)
  const { zone, includedFiles } = parsed
  if (zone === null) return { ...none, diagnostics: parsed.diagnostics }
  const files = sources.map(({ file, whole }) => ({ path: pathOf(file, found, zone.name, reading), text: whole }))
  const trees = openFiles(include, undefined, collectDiagnostics())
  const roots = sources.map((source) => ({ source, root: trees.parse(source) }))
  const { records, scopes } = zone
  const included = includedFiles.flatMap((file) => {
    const text = include(fromDisplayPath(file, cwd), file)
    return text.ok ? [{ file, text: text.value.text }] : []
  })
  return {
    zone: {
      name: zone.name,
      settings: zone.settings,
      records,
      scopes,
      lenient: parsed.lenient,
      unmanaged: zone.unmanaged,
      files,
    },
    comments: () => commentsOf(roots, included, zone.name),
    place: found.folder === null ? (files[0]?.path ?? '') : dirname(files[0]?.path ?? ''),
    folder,
    isPlain: hasOwnName(found, common) && isPlain(sources, records, found, reading, as, common),
    files: included.map(({ file, text }) => ({ path: includedPath(file, found, zone.name, reading), text })),
    dropped: [
      ...unsupportedExtras(zone, parsed),
      ...roots.flatMap(({ source, root }) => [...otherNames(root, zone.name), ...otherLineEnds(source.text, source.file, zone.name)]),
    ],
    diagnostics: otherDiagnostics(parsed.diagnostics),
  }
}

/** Those of all files of the zone, and then of those that they draw in. A file that several draw in has its comments once. */
function commentsOf(
  roots: readonly { readonly source: IncludedFile; readonly root: YamlNode | null }[],
  included: readonly IncludedFile[],
  zone: DomainName,
): ZoneComment[] {
  const entries = roots.flatMap(({ root }) => (root?.kind === 'mapping' ? root.entries : []))
  const [first] = roots
  const all: YamlNode | null = first?.root ? { kind: 'mapping', at: first.root.at, entries } : null
  return [
    ...roots.flatMap(({ source, root }) => zoneComments(source, root, zone)),
    ...included.flatMap((file) => zoneComments(file, all, zone)),
  ]
}

async function readSources(
  { zone, folder, paths }: OctodnsZoneFiles,
  { base, cwd, policy }: OctodnsReading,
): Promise<{ readonly sources: Source[]; readonly diagnostics: Diagnostic[] }> {
  const sources: Source[] = []
  const diagnostics: Diagnostic[] = []
  for (const path of paths) {
    const file = displayPath(path, cwd)
    if (!isInside(resolveLinks(path), base)) {
      const message = `${file} leads out of ${displayPath(base, cwd)}, which zones may not come from`
      diagnostics.push({ severity: 'error', code: 'path-outside', message, at: { file, line: 1, column: 1 } })
      continue
    }
    const text = await readTextWithMark(path, file, policy)
    if (text.ok) sources.push({ file, text: withoutMark(text.text), whole: text.text })
    else diagnostics.push({ severity: 'error', ...text.problem, at: text.problem.at ?? { file, line: 1, column: 1 } })
  }
  if (paths.length === 0) {
    const message = `the folder ${displayPath(folder ?? '', cwd)} of ${zone} has no YAML files`
    diagnostics.push({ severity: 'error', code: 'no-definitions', message })
  }
  return { sources, diagnostics }
}

function parseAs(
  sources: readonly Source[],
  { folder }: OctodnsZoneFiles,
  { include, cwd }: OctodnsReading,
  as: DomainName,
  { defaultTtl, escapesSemicolons }: Pick<OctodnsReading, 'defaultTtl' | 'escapesSemicolons'>,
): ParsedDefinition {
  const [first] = sources as [Source]
  const options = { zoneName: as, include, octodnsDefaultTtl: defaultTtl, escapesSemicolons }
  return folder === null
    ? parseDefinition(first.text, { ...options, file: first.file })
    : parseSplitZone(sources, { ...options, directory: displayPath(folder, cwd) })
}

/**
 * Whether the name of a file says the zone without the folder it is in, which a slash in the zone's name would be; that of a folder, by what folders
 * of split zones end in.
 */
const hasOwnName = ({ zone, folder, paths }: OctodnsZoneFiles, { octodnsSplitExtension }: OctodnsFileSettings): boolean =>
  folder === null ? fileNameOf(basename(paths[0] ?? ''))?.zone === zone : splitFolderZone(basename(folder), octodnsSplitExtension) === zone

/** Whether the files mean the same where they are read like any definition, with the TTL of the config and `\;` for `;`. */
function isPlain(
  sources: readonly Source[],
  records: readonly DefinedRecord[],
  found: OctodnsZoneFiles,
  reading: OctodnsReading,
  as: DomainName,
  common: OctodnsFileSettings,
): boolean {
  if (reading.defaultTtl === common.octodnsDefaultTtl && (reading.escapesSemicolons || !sources.some(({ text }) => text.includes('\\;'))))
    return true
  const { zone } = parseAs(sources, found, reading, as, { defaultTtl: common.octodnsDefaultTtl, escapesSemicolons: true })
  const lines = (all: readonly DefinedRecord[]): string => all.map(({ ttl, data }) => `${ttl} ${data}`).join('\n')
  return zone !== null && lines(zone.records) === lines(records)
}

/** Where a file goes: where it was, an alias beside it. */
function pathOf(file: string, { zone, folder }: OctodnsZoneFiles, as: DomainName, { base, cwd }: OctodnsReading): string {
  const path = displayPath(fromDisplayPath(file, cwd), base)
  if (zone === as) return path
  const parts = path.split('/')
  const at = folder === null ? parts.length - 1 : displayPath(folder, base).split('/').length - 1
  const ending = folder === null ? '.yaml' : endingOf(parts[at] ?? '', zone)
  return parts.with(at, as.slice(0, -1) + ending).join('/')
}

/** Where a file goes that the zone's draw in: where it was, and in the folder of an alias where it was in that of the zone. */
function includedPath(file: string, found: OctodnsZoneFiles, as: DomainName, reading: OctodnsReading): string {
  const path = fromDisplayPath(file, reading.cwd)
  const isWithin = found.folder !== null && isInside(path, found.folder)
  return isWithin ? pathOf(file, found, as, reading) : displayPath(path, reading.base)
}

/** What stands behind the zone's name in that of its folder. */
function endingOf(folder: string, zone: DomainName): string {
  for (let end = 1; end < folder.length; end += 1) if (splitFolderZone(folder, folder.slice(end)) === zone) return folder.slice(end)
  return '.'
}

/**
 * The comments of a file of a record map for a zone that is written anew: those that begin their line without an indent belong to the name below, the
 * others to the name they stand at; what is set off from the first name by an empty line or `---` is the head of the file. Those of a file that
 * is drawn in (`!include`) and has no names of its own belong to the name that draws it in.
 */
function zoneComments({ file, text }: IncludedFile, root: YamlNode | null, zone: DomainName): ZoneComment[] {
  if (!text.includes('#')) return []
  const lines = text.split('\n')
  const entries = root?.kind === 'mapping' ? root.entries : []
  const owners = entries
    .filter(({ key }) => key.at.file === file)
    .map(({ key }) => ({ line: key.at.line, name: ownerOf(key.text, zone) }))
    .sort((a, b) => a.line - b.line)
  const drawing = owners.length > 0 ? undefined : entries.find(({ value }) => isDrawnIn(value, file))
  const only = drawing && ownerOf(drawing.key.text, zone)
  const first = owners[0]?.line ?? Number.POSITIVE_INFINITY
  const isHead = (line: number): boolean =>
    line < first && lines.slice(line, Number.isFinite(first) ? first - 1 : undefined).some((one) => /^\s*(?:---.*)?$/.test(one))
  return commentPlaces(text).map(({ line, column, text: comment }) => {
    const below = owners.find((owner) => owner.line > line)
    const at = owners.findLast((owner) => owner.line <= line)
    const words = comment.replace(/^#\s?/, '')
    if (only) return { name: only, text: words }
    const owner = isHead(line) ? undefined : column === 1 ? (below ?? at) : (at ?? below)
    return owner?.name ? { name: owner.name, text: words } : { name: null, text: words, place: 'apart' as const }
  })
}

/** Whether a node or one below it stands in a file. */
function isDrawnIn(node: YamlNode, file: string): boolean {
  if (node.at.file === file) return true
  if (node.kind === 'sequence') return node.items.some((item) => isDrawnIn(item, file))
  return node.kind === 'mapping' && node.entries.some(({ key, value }) => key.at.file === file || isDrawnIn(value, file))
}

const ownerOf = (text: string, zone: DomainName): DomainName | null => {
  const name = text === '' ? null : parseDomainName(text, zone)
  return name === null ? zone : name.ok ? name.value : null
}

/** Marks of the lexer's own, which stand for nothing in the text. */
const MARKS: ReadonlySet<string> = new Set([CST.SCALAR, CST.DOCUMENT, CST.FLOW_END])

function commentPlaces(text: string): (SourcePosition & { readonly text: string })[] {
  const places: (SourcePosition & { readonly text: string })[] = []
  const at = lineIndex(text, '')
  let offset = 0
  let isScalar = false
  for (const token of new Lexer().lex(text)) {
    if (!isScalar && CST.tokenType(token) === 'comment') places.push({ ...at(offset), text: token.trim() })
    isScalar = token === CST.SCALAR
    if (!MARKS.has(token)) offset += token.length
  }
  return places
}
