/** Reads one zone from files of octoDNS. */
import { basename, dirname } from 'node:path'
import { CST, Lexer } from 'yaml'
import type { Diagnostic, SourcePosition } from '../../base/diagnostic.ts'
import type { ImportedZone } from '../../definition/imported-zone.ts'
import type { SourceFile } from '../../definition/parse/file-loader.ts'
import { createFileLoader } from '../../definition/parse/file-loader.ts'
import type { ParsedDefinition } from '../../definition/parse/parse-definition.ts'
import { parseDefinition, parseSplitZone } from '../../definition/parse/parse-definition.ts'
import { collectDiagnostics } from '../../definition/parse/parse-state.ts'
import { lineIndex } from '../../definition/yaml/build-tree.ts'
import { isBlankYaml } from '../../definition/yaml/read-yaml.ts'
import type { YamlNode } from '../../definition/yaml/yaml-node.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { parseDomainName } from '../../dns/domain-name.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import type { ZoneComment } from '../../dns/zone.ts'
import { displayPath, fromDisplayPath, isInside, resolveLinks } from '../../files/file-path.ts'
import { readTextWithMark } from '../../files/read-text.ts'
import type { SourcePolicy } from '../../files/source-policy.ts'
import type { OutputFile } from '../../files/write-files.ts'
import { parseFileName, splitFolderZone } from '../../load/definition-name.ts'
import type { IncludeReader } from '../../load/include-reader.ts'
import type { OctodnsFileSettings } from '../importer.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import type { OctodnsZoneFiles } from './find-zone-files.ts'
import { withoutRefusedLenient } from './lenient-records.ts'
import { misreadLineBreaks, unsupportedExtras, withoutExtrasWarnings } from './zone-file-differences.ts'

export interface OctodnsReadOptions {
  /** The absolute folder that output paths are relative to. Nothing outside it is read. */
  readonly base: string
  readonly cwd: string
  readonly defaultTtl: number
  readonly escapesSemicolons: boolean
  readonly include: IncludeReader
  readonly policy: SourcePolicy
}

export interface ReadOctodnsZone {
  readonly zone: ImportedZone | null
  /** The path of its file or folder relative to the base, for a config rule. */
  readonly path: string
  /** The folder that contains it, relative to the base. */
  readonly folder: string
  /** Whether the unchanged files mean what was read; otherwise the zone must be printed as a new definition. */
  readonly isReusable: boolean
  /** Reads the comments of its files on demand. */
  readonly comments: () => readonly ZoneComment[]
  /** Files that the zone's files include. */
  readonly files: readonly OutputFile[]
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
}

/** A file with its exact text, including a byte order mark. */
interface Source extends SourceFile {
  readonly whole: string
}

const withoutMark = (text: string): string => (text.startsWith('\u{feff}') ? text.slice(1) : text)

/**
 * Reads a zone of octoDNS. `as` is the name of the imported zone, which differs for an alias. `common` says how files that are copied
 * unchanged will be read.
 */
export async function readOctodnsZone(
  found: OctodnsZoneFiles,
  reading: OctodnsReadOptions,
  as: DomainName,
  common: OctodnsFileSettings,
): Promise<ReadOctodnsZone> {
  const { base, cwd, include } = reading
  const folder = displayPath(dirname(found.folder ?? found.paths[0] ?? base), base)
  const none = { zone: null, path: '', folder, isReusable: true, comments: () => [], files: [], dropped: [] }
  const { sources, diagnostics } = await readSources(found, reading)
  const [first] = sources
  if (diagnostics.length > 0 || first === undefined) return { ...none, diagnostics }
  const parsed = parseAs(sources, found, reading, as, reading)
  const { includedFiles, refusedLenient } = parsed
  if (parsed.zone === null) return { ...none, diagnostics: parsed.diagnostics }
  const { zone, dropped: refused, diagnostics: remaining } = withoutRefusedLenient(parsed.zone, parsed)
  const files = sources.map(({ file, whole }) => ({ path: pathOf(file, found, zone.name, reading), text: whole }))
  const trees = createFileLoader(include, undefined, collectDiagnostics())
  const roots = sources.map((source) => ({ source, root: trees.parse(source) }))
  const { records, rrsetTargets } = zone
  const included = includedFiles.flatMap((file) => {
    const text = include(fromDisplayPath(file, cwd), file)
    return text.ok ? [{ file, text: text.value.text }] : []
  })
  return {
    zone: {
      name: zone.name,
      settings: zone.settings,
      records,
      rrsetTargets,
      lenient: parsed.lenient,
      unmanaged: zone.unmanaged,
      files,
    },
    comments: () => commentsOf(roots, included, zone.name),
    path: found.folder === null ? (files[0]?.path ?? '') : dirname(files[0]?.path ?? ''),
    folder,
    isReusable: refusedLenient.length === 0 && hasOwnName(found, common) && isReusable(sources, records, found, reading, as, common),
    files: included.map(({ file, text }) => ({ path: includedPath(file, found, zone.name, reading), text })),
    dropped: [
      ...unsupportedExtras(zone, parsed),
      ...refused,
      ...sources.flatMap(({ text, file }) => misreadLineBreaks(text, file, zone.name)),
    ],
    diagnostics: withoutExtrasWarnings(remaining),
  }
}

/** Comments of all files of the zone, then of the files they include. A file that is included several times is read once. */
function commentsOf(
  roots: readonly { readonly source: SourceFile; readonly root: YamlNode | null }[],
  included: readonly SourceFile[],
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
  { base, cwd, policy }: OctodnsReadOptions,
): Promise<{ readonly sources: Source[]; readonly diagnostics: Diagnostic[] }> {
  const sources: Source[] = []
  const diagnostics: Diagnostic[] = []
  for (const path of paths) {
    const file = displayPath(path, cwd)
    if (!isInside(resolveLinks(path), base)) {
      const message = `${file} is outside ${displayPath(base, cwd)}, and zones must be inside it`
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
  { include, cwd }: OctodnsReadOptions,
  as: DomainName,
  { defaultTtl, escapesSemicolons }: Pick<OctodnsReadOptions, 'defaultTtl' | 'escapesSemicolons'>,
): ParsedDefinition {
  const [first] = sources as [Source]
  const options = { zoneName: as, include, octodnsDefaultTtl: defaultTtl, escapesSemicolons }
  return folder === null
    ? parseDefinition(first.text, { ...options, file: first.file })
    : parseSplitZone(sources, { ...options, folder: displayPath(folder, cwd) })
}

/**
 * Whether the name of the file alone gives the zone, which is not so if the zone's name has a slash. For a folder, the split extension of
 * the config must match.
 */
const hasOwnName = ({ zone, folder, paths }: OctodnsZoneFiles, { octodnsSplitExtension }: OctodnsFileSettings): boolean =>
  folder === null
    ? parseFileName(basename(paths[0] ?? ''))?.zone === zone
    : splitFolderZone(basename(folder), octodnsSplitExtension) === zone

/** Whether the files mean the same when they are read with the config's default TTL and with `\;` for `;`. */
function isReusable(
  sources: readonly Source[],
  records: readonly DefinedRecord[],
  found: OctodnsZoneFiles,
  reading: OctodnsReadOptions,
  as: DomainName,
  common: OctodnsFileSettings,
): boolean {
  // To octoDNS a file without content is an empty zone.
  if (sources.some(({ text }) => isBlankYaml(text))) return false
  if (reading.defaultTtl === common.octodnsDefaultTtl && (reading.escapesSemicolons || !sources.some(({ text }) => text.includes('\\;'))))
    return true
  const { zone } = parseAs(sources, found, reading, as, { defaultTtl: common.octodnsDefaultTtl, escapesSemicolons: true })
  const lines = (all: readonly DefinedRecord[]): string => all.map(({ ttl, data }) => `${ttl} ${data}`).join('\n')
  return zone !== null && lines(zone.records) === lines(records)
}

/** The output path of a file: unchanged, or renamed beside it for an alias. */
function pathOf(file: string, { zone, folder }: OctodnsZoneFiles, as: DomainName, { base, cwd }: OctodnsReadOptions): string {
  const path = displayPath(fromDisplayPath(file, cwd), base)
  if (zone === as) return path
  const parts = path.split('/')
  const at = folder === null ? parts.length - 1 : displayPath(folder, base).split('/').length - 1
  const extension = folder === null ? '.yaml' : extensionOf(parts[at] ?? '', zone)
  return parts.with(at, as.slice(0, -1) + extension).join('/')
}

/** The output path of an included file: unchanged, or in the alias's folder if it is in the zone's. */
function includedPath(file: string, found: OctodnsZoneFiles, as: DomainName, reading: OctodnsReadOptions): string {
  const path = fromDisplayPath(file, reading.cwd)
  const isWithin = found.folder !== null && isInside(path, found.folder)
  return isWithin ? pathOf(file, found, as, reading) : displayPath(path, reading.base)
}

/** The extension of a zone's folder. */
function extensionOf(folder: string, zone: DomainName): string {
  for (let end = 1; end < folder.length; end += 1) if (splitFolderZone(folder, folder.slice(end)) === zone) return folder.slice(end)
  return '.'
}

/**
 * Returns the comments of a file for a zone that is printed as a new definition. A comment without indentation belongs to the name below
 * it, others to the name they are at. Comments that an empty line or `---` separates from the first name are the head of the file. Comments
 * of an included file without names belong to the name that includes it.
 */
function zoneComments({ file, text }: SourceFile, root: YamlNode | null, zone: DomainName): ZoneComment[] {
  if (!text.includes('#')) return []
  const lines = text.split('\n')
  const entries = root?.kind === 'mapping' ? root.entries : []
  const owners = entries
    .filter(({ key }) => key.at.file === file)
    .map(({ key }) => ({ line: key.at.line, name: ownerOf(key.text, zone) }))
    .sort((a, b) => a.line - b.line)
  const including = owners.length > 0 ? undefined : entries.find(({ value }) => isFromFile(value, file))
  const only = including && ownerOf(including.key.text, zone)
  const first = owners[0]?.line ?? Number.POSITIVE_INFINITY
  const isHead = (line: number): boolean =>
    line < first && lines.slice(line, Number.isFinite(first) ? first - 1 : undefined).some((one) => /^\s*(?:---.*)?$/.test(one))
  return findComments(text).map(({ line, column, text: comment }) => {
    const below = owners.find((owner) => owner.line > line)
    const at = owners.findLast((owner) => owner.line <= line)
    const words = comment.replace(/^#\s?/, '')
    if (only) return { name: only, text: words }
    const owner = isHead(line) ? undefined : column === 1 ? (below ?? at) : (at ?? below)
    return owner?.name ? { name: owner.name, text: words } : { name: null, text: words, place: 'above-with-blank-line' as const }
  })
}

/** Whether a node or one of its descendants comes from a file. */
function isFromFile(node: YamlNode, file: string): boolean {
  if (node.at.file === file) return true
  if (node.kind === 'sequence') return node.items.some((item) => isFromFile(item, file))
  return node.kind === 'mapping' && node.entries.some(({ key, value }) => key.at.file === file || isFromFile(value, file))
}

const ownerOf = (text: string, zone: DomainName): DomainName | null => {
  const name = text === '' ? null : parseDomainName(text, zone)
  return name === null ? zone : name.ok ? name.value : null
}

/** Control tokens of the lexer, which are not in the text. */
const CONTROL_TOKENS: ReadonlySet<string> = new Set([CST.SCALAR, CST.DOCUMENT, CST.FLOW_END])

function findComments(text: string): (SourcePosition & { readonly text: string })[] {
  const comments: (SourcePosition & { readonly text: string })[] = []
  const at = lineIndex(text, '')
  let offset = 0
  let isScalar = false
  for (const token of new Lexer().lex(text)) {
    if (!isScalar && CST.tokenType(token) === 'comment') comments.push({ ...at(offset), text: token.trim() })
    isScalar = token === CST.SCALAR
    if (!CONTROL_TOKENS.has(token)) offset += token.length
  }
  return comments
}
