/** Reads the definition of one zone. */
import { type Diagnostic, hasErrors, isError } from '../base/diagnostic.ts'
import { checkZone } from '../checks/rules/rules.ts'
import type { Config } from '../config/config.ts'
import { type ParsedDefinition, parseDefinition, parseSplitZone } from '../definition/parse/parse-definition.ts'
import { MAX_DATA_OCTETS, MAX_RECORDS } from '../definition/parse/parse-state.ts'
import { isBlankYaml } from '../definition/yaml/read-yaml.ts'
import { type DomainName, parseAbsoluteName } from '../dns/domain-name.ts'
import { rrsetKey } from '../dns/record.ts'
import type { DesiredZone } from '../dns/zone.ts'
import { displayPath, resolveLinks } from '../files/file-path.ts'
import { readText, readZoneFileText, refuseSecrets } from '../files/read-text.ts'
import type { SourcePolicy } from '../files/source-policy.ts'
import type { FoundDefinition } from './find-definitions.ts'
import type { IncludeReader } from './include-reader.ts'
import { misnamedWarnings, misspeltWarnings, outsideErrors, zoneFileDefinition } from './zone-file-definition.ts'

/** A definition as read from its files. */
export interface LoadedDefinition {
  readonly definition: FoundDefinition
  readonly zone: DesiredZone | null
  readonly enabled: boolean
  /** The files that were read, as messages show them, sorted. */
  readonly files: readonly string[]
  readonly includedFiles: readonly string[]
  /** Whether it may ask for PTR records in other zones. */
  readonly mayUseAutoPtr: boolean
  readonly diagnostics: readonly Diagnostic[]
}

/** The access to files that definitions need. */
export interface DefinitionSources {
  readonly include: IncludeReader
  /** For `$INCLUDE` of zone files. */
  readonly includeZoneFile: IncludeReader
  readonly policy: SourcePolicy
  readonly total: RecordTotal
}

/** A selection of zones by name, or by their file. */
interface WantedDefinitions {
  has(name: DomainName): boolean
  hasFile(definition: FoundDefinition): boolean
}

export interface ReadOptions {
  /** Only these zones; null for all. */
  readonly wanted: WantedDefinitions | null
  /** Texts that replace files, by absolute path. */
  readonly texts?: ReadonlyMap<string, string> | undefined
  /** Receives the texts as they were read, by absolute path. */
  readonly textsRead?: Map<string, string> | undefined
}

/** Reads a definition; null if it does not define any of the wanted zones. */
export async function readDefinition(
  definition: FoundDefinition,
  config: Config,
  { policy, total, ...include }: DefinitionSources,
  { wanted, texts, textsRead }: ReadOptions,
): Promise<LoadedDefinition | null> {
  const zoneName = definition.rules.find((rule) => rule.zoneName !== null)?.zoneName ?? definition.zoneName
  const sources: { path: string; file: string; text: string }[] = []
  const problems: Diagnostic[] = []
  for (const path of definition.kind === 'split' ? definition.parts : [definition.path]) {
    const file = displayPath(path, config.cwd)
    // Edits have the path of the file itself, not of a link to it.
    const given = texts?.get(path) ?? texts?.get(resolveLinks(path))
    const read = definition.kind === 'zone-file' ? readZoneFileText : readText
    const text = given === undefined ? await read(path, file, policy) : refuseSecrets(given, file, policy)
    if (text.ok) sources.push({ path, file, text: text.text })
    else problems.push({ severity: 'error', ...text.problem, at: text.problem.at ?? { file, line: 1, column: 1 } })
  }
  const files = sources.map((source) => source.file)
  if (definition.parts.length === 0 && definition.kind === 'split') {
    const at = { file: definition.file, line: 1, column: 1 }
    problems.push({ severity: 'error', code: 'no-definitions', message: `the folder ${definition.file} has no YAML files`, at })
  }
  const mayUseAutoPtr =
    problems.length > 0 ||
    definition.rules.some(({ autoPtr }) => autoPtr) ||
    // With escapes, the words may be written otherwise.
    sources.some(({ text }) => /\bauto_ptr\b|^include\b|\\[xuU]/m.test(text))
  if (problems.length > 0) {
    return { definition, zone: null, enabled: true, files, includedFiles: [], mayUseAutoPtr, diagnostics: problems }
  }
  if (wanted !== null && !wanted.hasFile(definition) && !sources.some((source) => mayDefine(wanted, zoneName, source.text))) return null
  const empty = definition.kind === 'zone-file' ? [] : sources.filter(({ text }) => isBlankYaml(text))
  if (empty.length > 0) {
    const diagnostics = empty.map(({ file }) => emptyFile(file))
    return { definition, zone: null, enabled: true, files, includedFiles: [], mayUseAutoPtr, diagnostics }
  }
  if (textsRead) for (const { path, text } of sources) textsRead.set(resolveLinks(path), text)
  const unread: ParsedText = { zone: null, enabled: true, includedFiles: [], diagnostics: [] }
  const parsed = total.isExceeded() ? unread : parseSources(definition, sources, zoneName, config, include)
  const length = sources.reduce((sum, { text }) => sum + text.length, 0)
  const excess = total.count(parsed.zone?.records ?? [], { length, file: definition.file })
  const within = excess === null ? parsed : { ...parsed, zone: null, diagnostics: [...parsed.diagnostics.filter(isError), excess] }
  return { definition, ...within, mayUseAutoPtr, files: [...files, ...parsed.includedFiles].sort() }
}

/** A file that was truncated must not look like a zone without records. */
const emptyFile = (file: string): Diagnostic => ({
  severity: 'error',
  code: 'definition-empty',
  message: 'the file is empty',
  at: { file, line: 1, column: 1 },
  hint: 'Write the zone, or {} for a zone without records, or remove the file.',
})

/** Whether the text may define one of the zones: a quick check that saves parsing it. */
function mayDefine(wanted: WantedDefinitions, zoneName: DomainName | null, text: string): boolean {
  if (zoneName !== null && wanted.has(zoneName)) return true
  const domain = /^["']?domain["']?[ \t]*:[ \t]+["']?([\p{L}\p{N}._-]+)["']?[ \t\r]*(?:#.*)?$/mu.exec(text)?.[1]
  const name = domain === undefined ? null : parseAbsoluteName(domain)
  if (name?.ok) return wanted.has(name.value)
  return /\bdomain\b|\bSOA\b|^\$(?:ORIGIN|INCLUDE)\b/im.test(text)
}

type ParsedText = Pick<LoadedDefinition, 'zone' | 'enabled' | 'includedFiles' | 'diagnostics'>

function parseSources(
  definition: FoundDefinition,
  sources: readonly { readonly file: string; readonly text: string }[],
  zoneName: DomainName | null,
  config: Config,
  { include, includeZoneFile }: Pick<DefinitionSources, 'include' | 'includeZoneFile'>,
): ParsedText {
  const { kind, file } = definition
  const { text } = sources[0] as { text: string }
  const common = { include, octodnsDefaultTtl: config.octodnsDefaultTtl }
  if (kind === 'split' && zoneName !== null) return withRules(parseSplitZone(sources, { ...common, zoneName, folder: file }))
  const isOwnName = zoneName === definition.zoneName
  if (kind === 'yaml') {
    const parsed = parseDefinition(text, { ...common, file, zoneName })
    return withRules({ ...parsed, diagnostics: [...parsed.diagnostics, ...(isOwnName ? misspeltWarnings(zoneName, parsed.zone) : [])] })
  }
  const { zone, outside, includedFiles, diagnostics } = zoneFileDefinition(text, zoneName, { file, include: includeZoneFile })
  const found = [...diagnostics, ...(zone === null ? [] : outsideErrors(outside, zone.name))]
  const named = isOwnName ? misnamedWarnings(zoneName, zone?.name ?? null, { file, line: 1, column: 1 }) : []
  return { zone, enabled: true, includedFiles, diagnostics: [...found, ...named, ...checkRules(zone, found)] }
}

/** Errors that octoDNS's `lenient: true` turns into warnings. */
const LENIENT_CODES: ReadonlySet<string> = new Set(['cname-at-apex'])

/** Whether an error is only a warning for a record set that octoDNS marks as lenient. */
export const isSoftened = ({ code }: Diagnostic): boolean => LENIENT_CODES.has(code)

/** What was parsed, checked by the DNS rules. */
export function withRules({ zone, enabled, includedFiles, lenient, diagnostics }: ParsedDefinition): ParsedText {
  const found = checkRules(zone, diagnostics)
  if (zone === null || lenient.size === 0) return { zone, enabled, includedFiles, diagnostics: [...diagnostics, ...found] }
  const places = new Set(zone.records.filter((record) => lenient.has(rrsetKey(record))).map((record) => record.at))
  const softened = found.map(
    (one): Diagnostic =>
      one.severity === 'error' && one.at && places.has(one.at) && LENIENT_CODES.has(one.code) ? { ...one, severity: 'warning' } : one,
  )
  return { zone, enabled, includedFiles, diagnostics: [...diagnostics, ...softened] }
}

/** The diagnostics of the DNS rules. If there are errors, missing targets are not reported: the target's record may be the invalid one. */
function checkRules(zone: DesiredZone | null, diagnostics: readonly Diagnostic[]): Diagnostic[] {
  if (zone === null) return []
  const found = checkZone(zone)
  return hasErrors([...diagnostics, ...found]) ? found.filter((one) => one.code !== 'target-nonexistent') : found
}

// Limits the records of all definitions of a run together: many small files that repeat records must not exhaust the memory.

/** Characters that a record needs in a file: those that a definition has beyond are repeated by includes, aliases or `$GENERATE`. */
const RECORD_LENGTH = 8

export interface RecordTotal {
  /** Whether the repeated records of all definitions, or their data, exceed the limits of one definition, so that no further one is read. */
  readonly isExceeded: () => boolean
  /** Counts the records of a definition whose own text has a length. Returns an error for the definition that exceeds the limit. */
  readonly count: (
    records: readonly { readonly data: string }[],
    own: { readonly length: number; readonly file: string },
  ) => Diagnostic | null
}

/** `origin` says what makes the records that are counted. */
export function createRecordTotal(origin = 'repeated by includes, aliases or $GENERATE', most = MAX_RECORDS): RecordTotal {
  let repeated = 0
  let octets = 0
  const isExceeded = (): boolean => repeated > most || octets > MAX_DATA_OCTETS
  return {
    isExceeded,
    count: (records, { length, file }) => {
      if (isExceeded()) return null
      repeated += Math.max(0, records.length - length / RECORD_LENGTH)
      octets += Math.max(0, records.reduce((sum, { data }) => sum + data.length, 0) - length)
      if (!isExceeded()) return null
      const limit = repeated > most ? `${most} records` : `${MAX_DATA_OCTETS} octets of data`
      const message = `with this definition, more than ${limit} of all definitions are ${origin}; no further definition is read`
      return { severity: 'error', code: 'file-too-large', message, at: { file, line: 1, column: 1 } }
    },
  }
}
