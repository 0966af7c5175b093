import { compareDiagnostics, type Diagnostic, isError, type SourcePosition } from '../../dns/diagnostic.ts'
import { type DomainName, parseDomainName, ROOT } from '../../dns/domain-name.ts'
import { type DefinedRecord, groupRrsets } from '../../dns/record.ts'
import { type Ttl, ttlFromSeconds } from '../../dns/ttl.ts'
import { DEFAULT_ZONE_OPTIONS, type DesiredZone } from '../../dns/zone.ts'
import { MAX_YAML_LENGTH } from '../yaml/read-yaml.ts'
import { isBroken, isNull, lookUp, type YamlMapping, type YamlNode, type YamlScalar } from '../yaml/yaml-node.ts'
import { collectDiagnostics, type DiagnosticCollector, quoted } from './collect-diagnostics.ts'
import { SETTING_KEYS } from './keys.ts'
import { mergeSources, newSource, reportSplit } from './merge-sources.ts'
import { type OpenFiles, openFiles } from './open-files.ts'
import type { IncludedFile, IncludeEntry, ParsedDefinition, ParseOptions } from './parse-options.ts'
import { newParseState, type ParseState } from './parse-state.ts'
import { readRecordMap } from './read-record-map.ts'
import { type DefinitionSettings, readSettings } from './read-settings.ts'
import { checkSettings } from './schema-check.ts'
import { fillVariables, type VariableFilling } from './variables.ts'

export type { IncludedFile, IncludeEntry, ParsedDefinition, ParseOptions, ReadInclude } from './parse-options.ts'

/** What octoDNS gives a record without `ttl`. */
const OCTODNS_DEFAULT_TTL = 3600

/** A zone for messages about a file that does not say which zone it is of. */
const NAMELESS = 'zone.invalid.' as DomainName

/** Reads a definition in either layout. Every fault of the file becomes a diagnostic with its place; never throws on bad input. */
export function parseDefinition(text: string, options: ParseOptions): ParsedDefinition {
  const problems = collectDiagnostics()
  const files = openFiles(options.include, options.maxLength, problems)
  const root = files.parse({ file: options.file, text })
  if (root !== null && hasSettings(root)) return parseWithSettings(root, files, problems, options)
  return parseRecordMaps(root === null ? [] : [root], files, problems, options)
}

/** Reads several files that are one record map in octoDNS's layout; `options.file` is where the zone begins. */
export function parseFilesOfZone(sources: readonly IncludedFile[], options: ParseOptions): ParsedDefinition {
  const problems = collectDiagnostics()
  const files = openFiles(options.include, options.maxLength, problems)
  const roots = sources.flatMap((source) => files.parse(source) ?? [])
  return parseRecordMaps(roots, files, problems, options)
}

/** A plain string under `domain:` marks the layout with settings; in a record map a record or a list of them stands there. */
function hasSettings(root: YamlNode): root is YamlMapping {
  return root.kind === 'mapping' && lookUp(root, 'domain')?.kind === 'scalar'
}

function parseRecordMaps(
  roots: readonly YamlNode[],
  files: OpenFiles,
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
  const reading: ParseState = {
    ...newParseState('octodns', zone ?? NAMELESS, ttl.ok ? ttl.value : (OCTODNS_DEFAULT_TTL as Ttl), problems),
    escapesSemicolons: options.escapesSemicolons ?? true,
  }
  const first = new Map<string, DefinedRecord>()
  for (const root of roots) {
    const read = reading.records.length
    if (!reportStraySettings(root, problems)) readRecordMap(root, reading)
    if (roots.length > 1) reportShared(reading.records.slice(read), first, problems)
  }
  return {
    zone:
      zone === null || roots.length === 0 ? null : { ...DEFAULT_ZONE_OPTIONS, settings: {}, name: zone, at: start, ...resultsOf(reading) },
    layout: 'octodns',
    enabled: true,
    includes: [],
    includedFiles: files.included(),
    lenient: reading.lenient,
    extras: reading.extras,
    diagnostics: problems.diagnostics.sort(compareDiagnostics),
  }
}

/** Each file of a split zone has RRsets of its own (octoDNS refuses the second); `first` has those of the files before. */
function reportShared(records: readonly DefinedRecord[], first: Map<string, DefinedRecord>, problems: DiagnosticCollector): void {
  for (const [key, [record]] of groupRrsets(records)) {
    if (record === undefined) continue
    const earlier = first.get(key)
    if (earlier === undefined) first.set(key, record)
    else reportSplit(earlier, record, problems, 'Put them in one of the files.')
  }
}

function parseWithSettings(root: YamlMapping, files: OpenFiles, problems: DiagnosticCollector, options: ParseOptions): ParsedDefinition {
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
  const filling: VariableFilling = { left: options.maxLength ?? MAX_YAML_LENGTH, problems }
  for (const entry of includes) {
    const source = newSource('fragment', entry.at)
    sources.push(source)
    const told = problems.diagnostics.length
    readFragment(entry, files, { ...common, ...source, source }, filling)
    nameInclusion(problems.diagnostics, told, entry.at)
    if (filling.left < 0 || files.isFull()) break
  }
  const reading = { ...common, ...mergeSources(sources, problems) }
  if (settings.type === 'slave') checkSlave(root, reading)
  const desired: DesiredZone = { name: zone, at: domain.at, settings, ...rest, ...resultsOf(reading) }
  return {
    zone: name === null ? null : desired,
    layout: 'settings',
    enabled,
    includes,
    includedFiles: files.included(),
    lenient: reading.lenient,
    extras: reading.extras,
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

/** The first key of a record map that is no name of records but a setting. */
function straySetting(root: YamlNode): YamlScalar | undefined {
  if (root.kind !== 'mapping') return undefined
  return root.entries.find(({ key, value }) => {
    if (key.text === 'records') return value.kind === 'mapping' && lookUp(value, 'type')?.kind !== 'scalar'
    if (key.text === 'include') return value.kind === 'sequence' && value.items.some(({ kind }) => kind === 'scalar')
    return (SETTING_KEYS as readonly string[]).includes(key.text) && value.kind === 'scalar' && !isNull(value)
  })?.key
}

/** Faults of other files, from one on, say where those were included: with other variables they may be none. */
function nameInclusion(diagnostics: Diagnostic[], from: number, at: SourcePosition): void {
  for (const [index, one] of diagnostics.entries()) {
    if (index < from || one.at === undefined || one.at.file === at.file) continue
    diagnostics[index] = { ...one, related: [...(one.related ?? []), { message: 'included', at }] }
  }
}

/** Takes the records of a fragment into the zone. */
function readFragment(entry: IncludeEntry, files: OpenFiles, reading: ParseState, filling: VariableFilling): void {
  const { problems } = reading
  const refuse = (message: string): void => problems.report('include-invalid', entry.at, reading.zone, `${quoted(entry.path)} ${message}`)
  if (/\.(?:zone|db)$/i.test(entry.path)) {
    refuse('is a zone file; a fragment is a map of records in YAML, and $INCLUDE of zone files takes others')
    return
  }
  const tree = files.open(entry.path, entry.at)
  if (tree === null) return
  if (hasSettings(tree)) {
    refuse('is a definition of its own (it has domain:), not a fragment of records')
    return
  }
  const stray = straySetting(tree)
  if (stray !== undefined) {
    refuse(`has the setting ${quoted(stray.text)}; a fragment has records only, at its top`)
    return
  }
  const used = new Set<string>()
  const root = fillVariables(tree, entry.with, used, filling)
  for (const name of entry.with.keys()) {
    if (used.has(name)) continue
    problems.report('variable-unused', entry.at, reading.zone, `${quoted(entry.path)} does not use the variable ${quoted(name)}`, {
      severity: 'warning',
    })
  }
  readRecordMap(root, reading)
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
