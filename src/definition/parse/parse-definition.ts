/** Parses a definition in either layout. */
import { compareDiagnostics, type Diagnostic, isError, type SourcePosition } from '../../base/diagnostic.ts'
import { failure } from '../../base/result.ts'
import { quoted } from '../../base/text.ts'
import { type DomainName, parseDomainName, ROOT } from '../../dns/domain-name.ts'
import { type DefinedRecord, groupRrsets, rrsetKey } from '../../dns/record.ts'
import { networkZone } from '../../dns/reverse-name.ts'
import { hostOfUrl } from '../../dns/server-address.ts'
import { type Ttl, ttlFromSeconds } from '../../dns/ttl.ts'
import { DEFAULT_ZONE_OPTIONS, type DesiredZone } from '../../dns/zone.ts'
import { MAX_YAML_LENGTH } from '../yaml/read-yaml.ts'
import { isBroken, isNull, lookUp, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts'
import { createFileLoader, type FileLoader, type ReadInclude, type SourceFile } from './file-loader.ts'
import { hasSettings, nameInclusion, readFragment, straySetting, type VariableExpansion } from './fragments.ts'
import {
  collectDiagnostics,
  type DiagnosticCollector,
  type Layout,
  newParseState,
  newSource,
  type ParseState,
  type RecordSource,
  type RefusedRrset,
  type SourceContents,
  type UnsupportedKey,
} from './parse-state.ts'
import { readRecordMap } from './read-record-map.ts'
import { type DefinitionSettings, type IncludeEntry, readSettings } from './read-settings.ts'
import { checkSettings } from './schema-check.ts'

/** octoDNS's TTL for records without `ttl`, in seconds. */
const OCTODNS_DEFAULT_TTL = 3600

/** Stands in for the zone of a file that names none, so that the rest of the file can be checked. */
const NAMELESS = 'zone.invalid.' as DomainName

export interface ParseOptions {
  /** The name of the file in positions and diagnostics. */
  readonly file: string
  /** The zone that the file is named after; used if the file has no `domain:`. */
  readonly zoneName?: DomainName | null | undefined
  /** The TTL in seconds of records without `ttl` in octoDNS's layout; 3600 if absent. */
  readonly octodnsDefaultTtl?: number | undefined
  /** In octoDNS's layout, whether `\;` in a text means `;`; true if absent. */
  readonly escapesSemicolons?: boolean | undefined
  /** Reads included files; if absent, including one is an error. */
  readonly include?: ReadInclude | undefined
  /** Maximum length of a file in characters; 10 Mi if absent. */
  readonly maxLength?: number | undefined
}

export interface ParsedDefinition {
  /** Null if the file does not yield a zone. If there are errors, the zone lacks what they are about. */
  readonly zone: DesiredZone | null
  readonly layout: Layout
  /** False with `enabled: false`: the definition is skipped. */
  readonly enabled: boolean
  /** The entries of `include:`; already merged into the zone. */
  readonly includes: readonly IncludeEntry[]
  /** Every other file that was read, by `file`, sorted. */
  readonly includedFiles: readonly string[]
  /** RRsets with `octodns: {lenient: true}`, by `rrsetKey`. */
  readonly lenient: ReadonlySet<string>
  /** Lenient RRsets with invalid data, whose errors are among `diagnostics`. */
  readonly refusedLenient: readonly RefusedRrset[]
  /** Keys of records that no target supports, each also reported as `record-extra`. */
  readonly unsupportedKeys: readonly UnsupportedKey[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Parses a definition in either layout. Every problem of the file becomes a diagnostic with its position; never throws on bad input. */
export function parseDefinition(text: string, options: ParseOptions): ParsedDefinition {
  const problems = collectDiagnostics()
  const files = createFileLoader(options.include, options.maxLength, problems)
  const root = files.parse({ file: options.file, text })
  if (root !== null && hasSettings(root)) return parseWithSettings(root, files, problems, options)
  return parseRecordMaps(root === null ? [] : [root], files, problems, options)
}

/** Parses the tree of a definition that no file has, but a program made. */
export function parseTree(root: YamlMapping, options: ParseOptions): ParsedDefinition {
  const problems = collectDiagnostics()
  return parseWithSettings(root, createFileLoader(options.include, options.maxLength, problems), problems, options)
}

/** Parses several files that form one record map in octoDNS's layout. `options.file` becomes the position of the zone. */
function parseFilesOfZone(sources: readonly SourceFile[], options: ParseOptions): ParsedDefinition {
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
    problems.report('zone-name', start, '', 'the file does not say which zone it defines', { hint })
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
    if (roots.length > 1) reportSharedRrsets(state.records.slice(read), first, problems)
  }
  return {
    zone:
      zone === null || roots.length === 0 || problems.isTooLarge()
        ? null
        : { ...DEFAULT_ZONE_OPTIONS, settings: {}, name: zone, at: start, skipsProviderTypes: true, ...resultsOf(state) },
    layout: 'octodns',
    enabled: true,
    includes: [],
    includedFiles: files.includedFiles(),
    lenient: state.lenient,
    refusedLenient: state.refusedLenient,
    unsupportedKeys: state.unsupportedKeys,
    diagnostics: problems.diagnostics.sort(compareDiagnostics),
  }
}

/** Reports RRsets that an earlier file of a split zone has, too, as octoDNS does. Adds the new ones to `first`. */
function reportSharedRrsets(records: readonly DefinedRecord[], first: Map<string, DefinedRecord>, problems: DiagnosticCollector): void {
  for (const [key, [record]] of groupRrsets(records)) {
    if (record === undefined) continue
    const earlier = first.get(key)
    if (earlier === undefined) first.set(key, record)
    else reportConflictingSources(earlier, record, problems, 'Move the records to one of the files.')
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
  const expansion: VariableExpansion = { charactersLeft: options.maxLength ?? MAX_YAML_LENGTH, problems }
  for (const entry of includes) {
    const source = newSource('fragment', entry.at)
    sources.push(source)
    const reported = problems.diagnostics.length
    readFragment(entry, files, { ...common, ...source, source }, expansion)
    nameInclusion(problems.diagnostics, reported, entry.at)
    if (expansion.charactersLeft < 0 || files.isFull() || problems.isTooLarge()) break
  }
  const state = { ...common, ...mergeSources(problems.isTooLarge() ? [own] : sources, problems) }
  if (settings.type === 'slave') checkSlave(root, state)
  const desired: DesiredZone = { name: zone, at: domain.at, settings, ...rest, ...defaultTtlOf(root, defaultTtl), ...resultsOf(state) }
  return {
    zone: name === null || problems.isTooLarge() ? null : desired,
    layout: 'settings',
    enabled,
    includes,
    includedFiles: files.includedFiles(),
    lenient: state.lenient,
    refusedLenient: state.refusedLenient,
    unsupportedKeys: state.unsupportedKeys,
    diagnostics: problems.diagnostics.sort(compareDiagnostics),
  }
}

function defaultTtlOf(root: YamlMapping, ttl: Ttl | null): Pick<DesiredZone, 'defaultTtl'> {
  const at = lookUp(root, 'default_ttl')?.at
  return ttl === null || at === undefined ? {} : { defaultTtl: { ttl, at } }
}

/** Reads the settings after the schema check. Reports the deferred schema errors only if the reader finds no error itself. */
function readCheckedSettings(
  root: YamlMapping,
  zone: DomainName,
  invalid: Set<YamlNode>,
  problems: DiagnosticCollector,
): DefinitionSettings {
  const deferred = checkSettings(root, zone, invalid, problems)
  const reported = problems.diagnostics.length
  const settings = readSettings(root, zone, invalid, problems)
  if (deferred.length > 0 && !problems.diagnostics.slice(reported).some(isError)) {
    for (const problem of deferred) problems.report('schema-value', problem.node.at, problem.subject, problem.message)
  }
  return settings
}

const resultsOf = ({
  records,
  sourced,
  providerSpecific,
  rrsetTargets,
}: ParseState): Pick<DesiredZone, 'records' | 'sourced' | 'providerSpecific' | 'rrsetTargets'> => ({
  records,
  ...(sourced.length > 0 && { sourced }),
  providerSpecific,
  rrsetTargets,
})

function readZoneName(node: YamlNode, problems: DiagnosticCollector): DomainName | null {
  if (node.kind !== 'scalar' || isBroken(node)) return null
  if (isNull(node)) {
    problems.report('zone-name', node.at, '', 'domain: is empty', { hint: 'Write the name of the zone, such as example.com.' })
    return null
  }
  const network = networkZone(node.text)
  const host = network === null ? hostOfUrl(node.text) : null
  const url = host === null ? null : failure(`${quoted(node.text)} is a URL, but a name is needed: write ${host}`)
  const name = network ?? url ?? parseDomainName(node.text, ROOT)
  if (name.ok) return name.value
  problems.report('zone-name', node.at, '', `domain: ${name.message}`)
  return null
}

/** Reports a record map with settings, which lacks `domain:`, once instead of for every setting. */
function reportStraySettings(root: YamlNode, problems: DiagnosticCollector): boolean {
  const stray = straySetting(root)
  if (stray === undefined) return false
  const message = `${quoted(stray.text)} is a setting of a zone, but the file has no domain: above its settings`
  problems.report('schema-missing-key', stray.at, '', message, { hint: 'Write domain: example.com as the first line.' })
  return true
}

/** Reports a slave zone with records or without masters: it transfers its records from them. */
function checkSlave(root: YamlMapping, { zone, records, problems }: ParseState): void {
  const [first] = records
  if (first) {
    const at = root.entries.find(({ key }) => key.text === 'records')?.key.at ?? first.at
    problems.report('setting-invalid', at, zone, 'a slave zone cannot define records: it transfers them from its masters', {
      hint: 'Remove the records, or write type: master.',
    })
  }
  const masters = lookUp(root, 'master_ips')
  if (masters === undefined || (masters.kind === 'sequence' && masters.items.length === 0)) {
    const at = root.entries.find(({ key }) => key.text === 'type')?.key.at ?? root.at
    problems.report('schema-missing-key', at, zone, 'a slave zone needs master_ips, the servers that it is transferred from', {
      hint: 'Write master_ips: [192.0.2.53], or type: master.',
    })
  }
}

interface SplitZoneOptions extends Omit<ParseOptions, 'file' | 'zoneName'> {
  /** The zone that the folder is named after. */
  readonly zoneName: DomainName
  /** The path of the folder, used as the position of the zone. */
  readonly folder?: string | undefined
}

/**
 * Parses an octoDNS split folder (`split_extension`): every file in it is a record map of the same zone, `$ZONE.yaml` by convention that
 * of the apex and wildcard. The files are read in the order of their paths, as octoDNS does.
 */
export function parseSplitZone(files: readonly SourceFile[], options: SplitZoneOptions): ParsedDefinition {
  const sorted = [...files].sort((a, b) => (a.file < b.file ? -1 : 1))
  return parseFilesOfZone(sorted, { ...options, file: options.folder ?? sorted[0]?.file ?? options.zoneName })
}

// Merges the records of a definition and its fragments.

/** The records of an RRset in one source. */
interface Contribution {
  readonly source: RecordSource
  readonly name: DomainName
  readonly type: string
  readonly at: SourcePosition
  /** TTL and data of each record, as text. */
  readonly contents: string[]
}

/**
 * Merges the sources of a zone. An RRset must come from a single source, unless the definition overrides that of the fragments, or all
 * sources but one mark theirs with `merge`. Everything else is reported with both positions. Overridden RRsets are removed entirely.
 */
function mergeSources(sources: readonly RecordSource[], problems: DiagnosticCollector): SourceContents {
  const [own, ...fragments] = sources
  if (own === undefined) return newSource('definition')
  if (fragments.length === 0 && own.overriding.size === 0) return own
  const contributions = contributionsOf(sources)
  const replaced = new Set<string>()
  for (const [key, at] of own.overriding) {
    const from = contributions.get(key) ?? []
    if (from.some(({ source }) => source !== own)) replaced.add(key)
    reportUnusedOverride(key, at, from, problems)
  }
  for (const [key, from] of contributions) if (!replaced.has(key)) reportUnmerged(key, from, problems)
  const isKept = (one: Named): boolean => !replaced.has(rrsetKey(one))
  const all = <T extends Named>(listOf: (source: RecordSource) => readonly T[]): T[] => [
    ...listOf(own),
    ...fragments.flatMap((source) => (replaced.size === 0 ? listOf(source) : listOf(source).filter(isKept))),
  ]
  return {
    records: all(({ records }) => records),
    sourced: all(({ sourced }) => sourced),
    providerSpecific: all(({ providerSpecific }) => providerSpecific),
    rrsetTargets: all(({ rrsetTargets }) => rrsetTargets),
    unsupportedKeys: all(({ unsupportedKeys }) => unsupportedKeys),
    lenient: new Set([...own.lenient, ...fragments.flatMap(({ lenient }) => [...lenient].filter((key) => !replaced.has(key)))]),
  }
}

interface Named {
  readonly name: DomainName
  readonly type: string
}

/** Warns of an override without effect: there is nothing to override, or the records are the same. */
function reportUnusedOverride(key: string, at: SourcePosition, from: readonly Contribution[], problems: DiagnosticCollector): void {
  const own = from.find(({ source }) => source.kind === 'definition')
  const others = from.filter((one) => one !== own)
  const warn = (message: string, related?: { message: string; at: SourcePosition }[]): void =>
    problems.report('override-unused', at, key, message, { severity: 'warning', hint: 'Remove override.', related })
  const [other] = others
  if (other === undefined) warn('override has no effect: no included file has these records')
  else if (own !== undefined && others.length === 1 && contentsOf(own, key) === contentsOf(other, key))
    warn(`override has no effect: ${other.at.file} has the same records`, [{ message: 'the same records', at: other.at }])
}

/** The content of an RRset in a source as comparable text. An RRset from a source differs from any other by its position. */
const contentsOf = ({ source, contents }: Contribution, key: string): string =>
  JSON.stringify([[...contents].sort(), scopeOf(source, key), source.lenient.has(key)])

const scopeOf = ({ rrsetTargets }: RecordSource, key: string): string =>
  JSON.stringify(rrsetTargets.filter((scope) => rrsetKey(scope) === key))

function contributionsOf(sources: readonly RecordSource[]): Map<string, Contribution[]> {
  const contributions = new Map<string, Contribution[]>()
  for (const source of sources) {
    for (const record of [...source.records, ...source.sourced]) {
      const { name, type, at } = record
      const key = rrsetKey(record)
      const known = contributions.get(key)
      const last = known?.at(-1)
      const content =
        'data' in record
          ? `${record.ttl} ${record.data} ${record.autoPtr} ${record.owner} ${record.expires} ${JSON.stringify([record.providerSettings, record.ignore])}`
          : JSON.stringify(record)
      if (last?.source === source) last.contents.push(content)
      else if (known === undefined) contributions.set(key, [{ source, name, type, at, contents: [content] }])
      else known.push({ source, name, type, at, contents: [content] })
    }
  }
  return contributions
}

function reportUnmerged(key: string, from: readonly Contribution[], problems: DiagnosticCollector): void {
  if (from.length < 2) return
  const [first, second] = from.filter(({ source }) => !source.merged.has(key))
  if (first !== undefined && second !== undefined) {
    const [again, once] = [second.source.includedAt, first.source.includedAt]
    if (again !== null && once !== null && first.at.file === second.at.file) {
      const message = `${second.at.file} is included twice, so these records come from two inclusions`
      const hint = 'Include it once, or write merge: true at the records to combine both.'
      problems.report('rrset-split', again, key, message, { hint, related: [{ message: 'the other inclusion', at: once }] })
      return
    }
    const hint =
      first.source.kind === 'definition'
        ? 'Write override: true in the definition to replace the records of the fragment, or merge: true in the fragment to combine both.'
        : 'Write merge: true in one of the fragments to combine both.'
    reportConflictingSources(first, second, problems, hint)
    return
  }
  const [one, ...others] = from as [Contribution, ...Contribution[]]
  const different = others.find((other) => scopeOf(other.source, key) !== scopeOf(one.source, key))
  if (different === undefined) return
  const message = `the merged records of ${one.at.file} and ${different.at.file} are for different targets`
  const hint = 'Write the same targets under octodns: in both files.'
  problems.report('rrset-split', different.at, key, message, { hint, related: [{ message: 'the other records', at: one.at }] })
}

/** Reports an RRset with records in two files, neither of which says how to combine them. */
function reportConflictingSources(
  first: Pick<Contribution, 'at'>,
  second: Pick<Contribution, 'name' | 'type' | 'at'>,
  problems: DiagnosticCollector,
  hint: string,
): void {
  const message = `both ${first.at.file} and ${second.at.file} have these records, and neither says how to combine them`
  problems.report('rrset-split', second.at, `${second.name} ${second.type}`, message, {
    hint,
    related: [{ message: 'the other records', at: first.at }],
  })
}
