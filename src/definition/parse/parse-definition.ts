import { compareDiagnostics, type Diagnostic, isError, type SourcePosition } from '../../dns/diagnostic.ts'
import { type DomainName, parseDomainName, ROOT } from '../../dns/domain-name.ts'
import { type DefinedRecord, groupRrsets } from '../../dns/record.ts'
import { type Ttl, ttlFromSeconds } from '../../dns/ttl.ts'
import { DEFAULT_ZONE_OPTIONS, type DesiredZone } from '../../dns/zone.ts'
import { MAX_YAML_LENGTH } from '../yaml/read-yaml.ts'
import { isBroken, isNull, lookUp, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts'
import { createFileLoader, type FileLoader, type ReadInclude, type SourceFile } from './file-loader.ts'
import type { VariableExpansion } from './fragments.ts'
import { hasSettings, nameInclusion, readFragment, straySetting } from './fragments.ts'
import { mergeSources, reportConflictingSources } from './merge-sources.ts'
import {
  collectDiagnostics,
  type DiagnosticCollector,
  type Layout,
  newParseState,
  newSource,
  type ParseState,
  quoted,
  type UnsupportedKey,
} from './parse-state.ts'
import { readRecordMap } from './read-record-map.ts'
import { type DefinitionSettings, type IncludeEntry, readSettings } from './read-settings.ts'
import { checkSettings } from './schema-check.ts'

/** What octoDNS gives a record without `ttl`. */
const OCTODNS_DEFAULT_TTL = 3600

/** A zone for messages about a file that does not say which zone it is of. */
const NAMELESS = 'zone.invalid.' as DomainName

/** Reads a definition in either layout. Every fault of the file becomes a diagnostic with its place; never throws on bad input. */
export function parseDefinition(text: string, options: ParseOptions): ParsedDefinition {
  const problems = collectDiagnostics()
  const files = createFileLoader(options.include, options.maxLength, problems)
  const root = files.parse({ file: options.file, text })
  if (root !== null && hasSettings(root)) return parseWithSettings(root, files, problems, options)
  return parseRecordMaps(root === null ? [] : [root], files, problems, options)
}

/** Reads several files that are one record map in octoDNS's layout; `options.file` is where the zone begins. */
export function parseFilesOfZone(sources: readonly SourceFile[], options: ParseOptions): ParsedDefinition {
  const problems = collectDiagnostics()
  const files = createFileLoader(options.include, options.maxLength, problems)
  const roots = sources.flatMap((source) => files.parse(source) ?? [])
  return parseRecordMaps(roots, files, problems, options)
}

function parseRecordMaps(
  roots: readonly YamlNode[],
  files: FileLoader,
  problems: DiagnosticCollector,
  options: ParseOptions,
): ParsedDefinition {
  const start: SourcePosition = { file: options.file, line: 1, column: 1 }
  const zone = options.zoneName ?? null
  if (zone === null) {
    const hint = 'Name the file after its zone, such as example.com.yaml, or write domain: above its records.'
    problems.report('zone-name', start, '', 'nothing says which zone the file is of', { hint })
  }
  const ttl = ttlFromSeconds(options.octodnsDefaultTtl ?? OCTODNS_DEFAULT_TTL)
  const state: ParseState = {
    ...newParseState('octodns', zone ?? NAMELESS, ttl.ok ? ttl.value : (OCTODNS_DEFAULT_TTL as Ttl), problems),
    escapesSemicolons: options.escapesSemicolons ?? true,
  }
  const first = new Map<string, DefinedRecord>()
  for (const root of roots) {
    const read = state.records.length
    if (!reportStraySettings(root, problems)) readRecordMap(root, state)
    if (roots.length > 1) reportShared(state.records.slice(read), first, problems)
  }
  return {
    zone:
      zone === null || roots.length === 0 ? null : { ...DEFAULT_ZONE_OPTIONS, settings: {}, name: zone, at: start, ...resultsOf(state) },
    layout: 'octodns',
    enabled: true,
    includes: [],
    includedFiles: files.includedFiles(),
    lenient: state.lenient,
    unsupportedKeys: state.extras,
    diagnostics: problems.diagnostics.sort(compareDiagnostics),
  }
}

/** Each file of a split zone has RRsets of its own (octoDNS refuses the second); `first` has those of the files before. */
function reportShared(records: readonly DefinedRecord[], first: Map<string, DefinedRecord>, problems: DiagnosticCollector): void {
  for (const [key, [record]] of groupRrsets(records)) {
    if (record === undefined) continue
    const earlier = first.get(key)
    if (earlier === undefined) first.set(key, record)
    else reportConflictingSources(earlier, record, problems, 'Put them in one of the files.')
  }
}

function parseWithSettings(root: YamlMapping, files: FileLoader, problems: DiagnosticCollector, options: ParseOptions): ParsedDefinition {
  const domain = lookUp(root, 'domain') as YamlNode
  const name = readZoneName(domain, problems)
  const zone = name ?? options.zoneName ?? NAMELESS
  const invalid = new Set<YamlNode>()
  const { settings, enabled, includes, defaultTtl, ...rest } = readCheckedSettings(root, zone, invalid, problems)
  const common = { ...newParseState('settings', zone, defaultTtl, problems), invalid }
  const own = newSource('definition')
  const sources = [own]
  const records = lookUp(root, 'records')
  if (records !== undefined) readRecordMap(records, { ...common, ...own, source: own })
  const filling: VariableExpansion = { charactersLeft: options.maxLength ?? MAX_YAML_LENGTH, problems }
  for (const entry of includes) {
    const source = newSource('fragment', entry.at)
    sources.push(source)
    const told = problems.diagnostics.length
    readFragment(entry, files, { ...common, ...source, source }, filling)
    nameInclusion(problems.diagnostics, told, entry.at)
    if (filling.charactersLeft < 0 || files.isFull()) break
  }
  const state = { ...common, ...mergeSources(sources, problems) }
  if (settings.type === 'slave') checkSlave(root, state)
  const desired: DesiredZone = { name: zone, at: domain.at, settings, ...rest, ...resultsOf(state) }
  return {
    zone: name === null ? null : desired,
    layout: 'settings',
    enabled,
    includes,
    includedFiles: files.includedFiles(),
    lenient: state.lenient,
    unsupportedKeys: state.unsupportedKeys,
    diagnostics: problems.diagnostics.sort(compareDiagnostics),
  }
}

/** What the schema refuses is refused: should the reader have found no fault with the content, the schema's own words are given. */
function readCheckedSettings(
  root: YamlMapping,
  zone: DomainName,
  invalid: Set<YamlNode>,
  problems: DiagnosticCollector,
): DefinitionSettings {
  const left = checkSettings(root, zone, invalid, problems)
  const told = problems.diagnostics.length
  const settings = readSettings(root, zone, invalid, problems)
  if (left.length > 0 && !problems.diagnostics.slice(told).some(isError)) {
    for (const problem of left) problems.report('schema-value', problem.node.at, problem.subject, problem.message)
  }
  return settings
}

const resultsOf = ({
  records,
  inventory,
  foreign,
  scopes,
}: ParseState): Pick<DesiredZone, 'records' | 'inventory' | 'foreign' | 'scopes'> => ({
  records,
  ...(inventory.length > 0 && { inventory }),
  foreign,
  scopes,
})

function readZoneName(node: YamlNode, problems: DiagnosticCollector): DomainName | null {
  if (node.kind !== 'scalar' || isBroken(node)) return null
  if (isNull(node)) {
    problems.report('zone-name', node.at, '', 'domain: is empty')
    return null
  }
  const name = parseDomainName(node.text, ROOT)
  if (name.ok && name.value !== ROOT) return name.value
  problems.report('zone-name', node.at, '', name.ok ? 'the root cannot be managed as a zone' : `domain: ${name.message}`)
  return null
}

/** A record map with settings in it lacks its `domain:`. Says so instead of a fault for every setting. */
function reportStraySettings(root: YamlNode, problems: DiagnosticCollector): boolean {
  const stray = straySetting(root)
  if (stray === undefined) return false
  const message = `${quoted(stray.text)} is a setting of a zone, but the file has no domain: above its settings`
  problems.report('schema-missing-key', stray.at, '', message, { hint: 'Write domain: example.com as the first line.' })
  return true
}

/** A slave zone takes its records from its masters. */
function checkSlave(root: YamlMapping, { zone, records, problems }: ParseState): void {
  const [first] = records
  if (first) {
    const at = root.entries.find(({ key }) => key.text === 'records')?.key.at ?? first.at
    problems.report('setting-invalid', at, zone, 'a slave zone has no records of its own: they come from its masters')
  }
  const masters = lookUp(root, 'master_ips')
  if (masters === undefined || (masters.kind === 'sequence' && masters.items.length === 0)) {
    const at = root.entries.find(({ key }) => key.text === 'type')?.key.at ?? root.at
    problems.report('schema-missing-key', at, zone, 'a slave zone needs master_ips, the servers it is transferred from')
  }
}

interface SplitZoneOptions extends Omit<ParseOptions, 'file' | 'zoneName'> {
  /** The name of the directory without the `split_extension`. */
  readonly zoneName: DomainName
  /** The path of the directory, where the zone begins. */
  readonly directory?: string | undefined
}

/**
 * Reads an octoDNS split directory (`split_extension`): every file in it is a record map, one of them by convention
 * `$ZONE.yaml` for the apex and wildcard, and all of them make one zone. They are read in the order of their paths, as octoDNS does.
 */
export function parseSplitZone(files: readonly SourceFile[], options: SplitZoneOptions): ParsedDefinition {
  const sorted = [...files].sort((a, b) => (a.file < b.file ? -1 : 1))
  return parseFilesOfZone(sorted, { ...options, file: options.directory ?? sorted[0]?.file ?? options.zoneName })
}

export interface ParseOptions {
  /** The name of the file in positions and diagnostics. */
  readonly file: string
  /** The zone by the name of the file; used where the file has no `domain:`. */
  readonly zoneName?: DomainName | null | undefined
  /** Seconds for records without `ttl` in the layout that is the record map alone; 3600 where absent. */
  readonly octodnsDefaultTtl?: number | undefined
  /** In the same layout: false where `\;` in a text stands for both characters; true where absent. */
  readonly escapesSemicolons?: boolean | undefined
  /** Without it, a file that includes others is an error. */
  readonly include?: ReadInclude | undefined
  /** The most characters one file may have; 10 Mi where absent. */
  readonly maxLength?: number | undefined
}

export interface ParsedDefinition {
  /** Null where the file has faults that leave no zone to speak of. With errors among the diagnostics a zone lacks what was at fault. */
  readonly zone: DesiredZone | null
  readonly layout: Layout
  /** False with `enabled: false`: the definition is to be left alone. */
  readonly enabled: boolean
  /** The entries of `include:`; already merged into the zone. */
  readonly includes: readonly IncludeEntry[]
  /** Every other file that was read, by `file`, sorted. */
  readonly includedFiles: readonly string[]
  /** RRsets whose definition says `octodns: {lenient: true}`, by `rrsetKey`. */
  readonly lenient: ReadonlySet<string>
  /** Keys of records that no target can express, each with the warning `record-extra` at its record. */
  readonly unsupportedKeys: readonly UnsupportedKey[]
  readonly diagnostics: readonly Diagnostic[]
}
