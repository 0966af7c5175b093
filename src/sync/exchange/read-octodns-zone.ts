import { splitFolderZone } from '../../definitions/definition-name.ts'
import { displayPath, fromDisplayPath, isInside, realOr } from '../../definitions/file-path.ts'
import type { IncludeReader } from '../../definitions/include-reader.ts'
import { readWholeText } from '../../definitions/read-text.ts'
import { collectFaults } from '../../formats/definition/faults.ts'
import { openFiles } from '../../formats/definition/open-files.ts'
import { parseDefinition } from '../../formats/definition/parse-definition.ts'
import type { IncludedFile } from '../../formats/definition/parse-options.ts'
import { lostExtras } from '../../formats/octodns/lost-extras.ts'
import { otherNames } from '../../formats/octodns/plain-names.ts'
import { parseSplitZone } from '../../formats/octodns/split-zone.ts'
import type { Diagnostic } from '../../model/diagnostic.ts'
import type { DomainName } from '../../model/domain-name.ts'
import type { ExchangedFile, ImportedZone, LostItem } from '../../model/exchange.ts'
import type { OctodnsZoneFiles } from './octodns-files.ts'

export interface OctodnsReading {
  /** The folder that paths of the imported files start from, and that nothing is read outside of; absolute. */
  readonly base: string
  readonly cwd: string
  readonly defaultTtl: number
  readonly escapesSemicolons: boolean
  readonly include: IncludeReader
}

export interface ReadOctodnsZone {
  readonly zone: ImportedZone | null
  /** Files that the zone's draw in. */
  readonly files: readonly ExchangedFile[]
  readonly lost: readonly LostItem[]
  readonly diagnostics: readonly Diagnostic[]
}

/** A file, and all of its text: with the byte order mark where it has one. */
interface Source extends IncludedFile {
  readonly whole: string
}

const withoutMark = (text: string): string => (text.startsWith('\u{feff}') ? text.slice(1) : text)

/** A zone of octoDNS with its files as they are. `as` is the zone it becomes where that is another: an alias. */
export async function readOctodnsZone(
  found: OctodnsZoneFiles,
  reading: OctodnsReading,
  as: DomainName = found.zone,
): Promise<ReadOctodnsZone> {
  const { base, cwd, defaultTtl, include } = reading
  const sources: Source[] = []
  const diagnostics: Diagnostic[] = []
  for (const path of found.paths) {
    const file = displayPath(path, cwd)
    if (!isInside(realOr(path), base)) {
      const message = `${file} leads out of ${displayPath(base, cwd)}, which zones may not come from`
      diagnostics.push({ severity: 'error', code: 'path-outside', message, at: { file, line: 1, column: 1 } })
      continue
    }
    const text = await readWholeText(path, file)
    if (text.ok) sources.push({ file, text: withoutMark(text.text), whole: text.text })
    else diagnostics.push({ severity: 'error', ...text.fault, at: { file, line: 1, column: 1 } })
  }
  const [first] = sources
  if (diagnostics.length > 0 || first === undefined) return { zone: null, files: [], lost: [], diagnostics }
  const common = { zoneName: as, include, octodnsDefaultTtl: defaultTtl }
  const parsed =
    found.folder === null
      ? parseDefinition(first.text, { ...common, file: first.file })
      : parseSplitZone(sources, { ...common, directory: displayPath(found.folder, cwd) })
  const { zone, includedFiles } = parsed
  if (zone === null) return { zone: null, files: [], lost: [], diagnostics: parsed.diagnostics }
  const files = sources.map(({ file, whole }) => ({ path: pathOf(file, found, zone.name, reading), text: whole }))
  const { lost, others } = lostExtras(zone, parsed.diagnostics)
  const trees = openFiles(include, undefined, collectFaults())
  const renamed = sources.flatMap((source) => otherNames(trees.parse(source), zone.name))
  return {
    zone: { name: zone.name, settings: zone.settings, records: zone.records, unmanaged: zone.unmanaged, files },
    files: includedFiles.flatMap((file) => {
      const text = include(fromDisplayPath(file, cwd), file)
      return text.ok ? [{ path: displayPath(fromDisplayPath(file, cwd), base), text: text.value.text }] : []
    }),
    lost: [...lost, ...renamed, ...unescaped(sources, zone.name, reading)],
    diagnostics: others,
  }
}

/** Where a file goes: where it was, an alias beside it. */
function pathOf(file: string, { zone, folder }: OctodnsZoneFiles, as: DomainName, { base, cwd }: OctodnsReading): string {
  const path = displayPath(fromDisplayPath(file, cwd), base)
  if (zone === as) return path
  const parts = path.split('/')
  const at = parts.length - (folder === null ? 1 : 2)
  const ending = folder === null ? '.yaml' : endingOf(parts[at] ?? '', zone)
  return parts.with(at, as.slice(0, -1) + ending).join('/')
}

/** What stands behind the zone's name in that of its folder. */
function endingOf(folder: string, zone: DomainName): string {
  for (let end = 1; end < folder.length; end += 1) if (splitFolderZone(folder, folder.slice(end)) === zone) return folder.slice(end)
  return '.'
}

/** With `escaped_semicolons: false` the two characters `\;` are both meant; a definition takes them for one. */
const unescaped = (sources: readonly IncludedFile[], zone: DomainName, { escapesSemicolons }: OctodnsReading): LostItem[] =>
  sources
    .filter(({ text }) => !escapesSemicolons && text.includes('\\;'))
    .map(({ file }) => ({
      zone,
      name: null,
      type: null,
      what: 'the backslash before a semicolon, which stands for itself with escaped_semicolons: false',
      at: { file, line: 1, column: 1 },
    }))
