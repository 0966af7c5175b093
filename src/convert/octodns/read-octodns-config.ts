/**
 * octoDNS's own configuration (`config/production.yaml`): where its zones are and where they go. What it says beside that is for the
 * caller to name; nothing is passed over in silence.
 */

import { collectDiagnostics } from '../../definition/parse/collect-diagnostics.ts'
import { openFiles } from '../../definition/parse/open-files.ts'
import type { ReadInclude } from '../../definition/parse/parse-options.ts'
import { plainValue } from '../../definition/yaml/plain-value.ts'
import { readYaml } from '../../definition/yaml/read-yaml.ts'
import { isNull, lookUp, type YamlEntry, type YamlMapping, type YamlNode } from '../../definition/yaml/yaml-node.ts'
import type { Diagnostic, SourcePosition } from '../../dns/diagnostic.ts'
import { type DomainName, parseDomainName } from '../../dns/domain-name.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import type { OctodnsProvider } from './octodns-provider.ts'
import { type ConvertedSafety, safetyOf } from './octodns-provider.ts'
import { globPattern, regexPattern, type ZonePattern } from './patterns.ts'

/** One entry of `zones:`. */
export interface OctodnsZoneEntry {
  /** Null for a dynamic entry (`*`), which stands for every zone of its sources that has no entry of its own. */
  readonly name: DomainName | null
  /** The zone whose records this one has. */
  readonly alias: DomainName | null
  /** Of a dynamic entry: which zones it takes; null for all. */
  readonly pattern: ZonePattern | null
  readonly sources: readonly string[]
  readonly targets: readonly string[]
  /** Names of its own processors. */
  readonly processors: readonly string[]
  /** Whether octoDNS plans it and never applies anything. */
  readonly isDryRun: boolean
  /** Limits of its own, which come before those of its targets. */
  readonly safety: ConvertedSafety
  readonly at: SourcePosition
}

export interface OctodnsConfig {
  readonly providers: ReadonlyMap<string, OctodnsProvider>
  readonly processors: ReadonlyMap<string, OctodnsProvider>
  /** Names of processors that all zones have before their own, and after them. */
  readonly everywhere: { readonly before: readonly string[]; readonly after: readonly string[] }
  readonly zones: readonly OctodnsZoneEntry[]
  /** Names of providers whose records take the place of those of sources before them. */
  readonly replacing: ReadonlySet<string>
  /** Names of what gives secrets beside the environment. */
  readonly secretHandlers: ReadonlySet<string>
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Whether a YAML text is a configuration and no zone: it has `providers:` with classes, or beside `zones:`. */
export function isOctodnsConfig(text: string): boolean {
  const { root } = readYaml(text, { file: '', resolveInclude: (_, at) => ({ kind: 'mapping', at, entries: [] }) })
  const providers = root?.kind === 'mapping' ? lookUp(root, 'providers') : undefined
  if (root?.kind !== 'mapping' || providers?.kind !== 'mapping' || lookUp(providers, 'type') !== undefined) return false
  if (lookUp(root, 'zones')?.kind === 'mapping') return true
  return providers.entries.some(({ value }) => value.kind === 'mapping' && lookUp(value, 'class') !== undefined)
}

/** Reads a configuration; `include` reads what it draws in with `!include`. Never throws on bad input. */
export function readOctodnsConfig(text: string, file: string, include?: ReadInclude): OctodnsConfig {
  const problems = collectDiagnostics()
  const root = openFiles(include, undefined, problems).parse({ file, text })
  const run: Run = {
    dropped: [],
    diagnostics: problems.diagnostics,
    providers: new Map(),
    processors: new Map(),
    everywhere: { before: [], after: [] },
    zones: [],
    replacing: new Set(),
    secretHandlers: new Set(),
  }
  if (root?.kind === 'mapping') {
    for (const entry of root.entries) readSection(entry, run)
  } else if (root !== null) fail(run, root.at, 'the configuration is a mapping with providers and zones')
  return run
}

interface Run {
  readonly dropped: UnsupportedFeature[]
  readonly diagnostics: Diagnostic[]
  readonly providers: Map<string, OctodnsProvider>
  readonly processors: Map<string, OctodnsProvider>
  readonly everywhere: { readonly before: string[]; readonly after: string[] }
  readonly zones: OctodnsZoneEntry[]
  readonly replacing: Set<string>
  readonly secretHandlers: Set<string>
}

const fail = (run: Pick<Run, 'diagnostics'>, at: SourcePosition, message: string): void =>
  void run.diagnostics.push({ severity: 'error', code: 'schema-type', message, at })

const lose = (run: Run, what: string, at: SourcePosition, zone: DomainName | null = null): void =>
  void run.dropped.push({ zone, name: null, type: null, what, at })

/** What octoDNS does or checks by itself, which changes no record. */
const tell = (run: Pick<Run, 'diagnostics'>, what: string, at: SourcePosition): void =>
  void run.diagnostics.push({ severity: 'warning', code: 'import-aside', message: `${what} is of octoDNS alone and is not taken over`, at })

/** How octoDNS runs, shows its plans and gets at secrets, and what of data it refuses. */
const OWN_KEYS = /^(?:manager\.(?:max_workers|enable_checksum|plan_outputs|validators)|validators\..*|secret_handlers\..*)$/s

function readSection({ key, value }: YamlEntry, run: Run): void {
  if (isNull(value)) return
  if (value.kind !== 'mapping') {
    lose(run, key.text, key.at)
    return
  }
  for (const entry of value.entries) {
    if (key.text === 'providers') readProvider(entry, 'provider', run)
    else if (key.text === 'processors') readProvider(entry, 'processor', run)
    else if (key.text === 'zones') readZone(entry, run)
    else if (key.text === 'manager' && MANAGER_PROCESSORS.has(entry.key.text)) readManagerProcessors(entry, run)
    else {
      if (key.text === 'secret_handlers') run.secretHandlers.add(entry.key.text)
      if (key.text === 'manager' && entry.key.text === 'auto_arpa' && isReplacing(entry.value)) run.replacing.add('auto-arpa')
      const name = `${key.text}.${entry.key.text}`
      if (OWN_KEYS.test(name)) tell(run, name, entry.key.at)
      else lose(run, name, entry.key.at)
    }
  }
}

const MANAGER_PROCESSORS: ReadonlySet<string> = new Set(['processors', 'post_processors', 'include_meta'])

/** What the manager adds to the processors of every zone; `include_meta` is one more, after all others. */
function readManagerProcessors({ key, value }: YamlEntry, { everywhere, ...run }: Run): void {
  if (key.text === 'processors') everywhere.before.push(...namesOf(value, run))
  else if (key.text === 'post_processors') everywhere.after.unshift(...namesOf(value, run))
  else if (isTrue(value)) {
    const settings = { record_name: 'octodns-meta' }
    run.processors.set('include_meta', { name: 'include_meta', className: 'octodns.processor.meta.MetaProcessor', settings, at: key.at })
    everywhere.after.push('include_meta')
  }
}

/** What Python takes for true, which is all but nothing: a quoted `false` too. octoDNS reads YAML 1.1, where `no` and `off` are false as well. */
function isTrue(node: YamlNode | undefined): boolean {
  if (node === undefined || isNull(node)) return false
  if (node.kind !== 'scalar') return (node.kind === 'mapping' ? node.entries : node.items).length > 0
  return node.text !== '' && !(node.plain && /^(?:false|no|off|[-+]?0+(?:\.0*)?)$/i.test(node.text))
}

const isReplacing = (node: YamlNode): boolean => node.kind === 'mapping' && isTrue(lookUp(node, 'populate_should_replace'))

function readProvider({ key, value }: YamlEntry, kind: 'provider' | 'processor', run: Run): void {
  const className = value.kind === 'mapping' ? lookUp(value, 'class') : undefined
  if (value.kind !== 'mapping' || className?.kind !== 'scalar') {
    fail(run, key.at, `the ${kind} ${JSON.stringify(key.text.slice(0, 60))} has no class`)
    return
  }
  const settings = new Map(
    value.entries.filter((entry) => entry.key.text !== 'class').map((entry) => [entry.key.text, plainValue(entry.value)]),
  )
  if (kind === 'provider' && isReplacing(value)) run.replacing.add(key.text)
  const all = kind === 'provider' ? run.providers : run.processors
  all.set(key.text, { name: key.text, className: className.text, settings: Object.fromEntries(settings), at: key.at })
}

const ZONE_KEYS: ReadonlySet<string> = new Set([
  'sources',
  'targets',
  'processors',
  'always-dry-run',
  'alias',
  'glob',
  'regex',
  'delete_pcent_threshold',
  'update_pcent_threshold',
])

/** What of a zone's data octoDNS refuses. */
const OWN_ZONE_KEYS: ReadonlySet<string> = new Set(['lenient', 'validators'])

function readZone({ key, value }: YamlEntry, run: Run): void {
  const isDynamic = key.text.startsWith('*')
  const name = isDynamic ? null : zoneNameOf(key.text)
  if (name === null && !isDynamic) {
    run.diagnostics.push({
      severity: 'error',
      code: 'zone-name',
      message: `${JSON.stringify(key.text.slice(0, 80))} is not the name of a zone`,
      at: key.at,
    })
    return
  }
  if (value.kind !== 'mapping') {
    fail(run, key.at, `the zone ${key.text.slice(0, 80)} is a mapping with sources and targets`)
    return
  }
  const pattern = isDynamic ? readPattern(value) : null
  if (pattern === 'foreign') {
    lose(run, `the zones of ${key.text}, which a regular expression chooses`, key.at)
    return
  }
  const loseKey = (what: string, at: SourcePosition): void => lose(run, isDynamic ? `${what} of the zones ${key.text}` : what, at, name)
  for (const entry of value.entries) {
    const isKnown = ZONE_KEYS.has(entry.key.text) && (isDynamic || (entry.key.text !== 'glob' && entry.key.text !== 'regex'))
    if (isKnown || isNull(entry.value)) continue
    if (OWN_ZONE_KEYS.has(entry.key.text)) tell(run, `${entry.key.text} of ${name ?? key.text}`, entry.key.at)
    else loseKey(describe(entry), entry.key.at)
  }
  run.zones.push({
    name,
    alias: readAlias(value, run),
    pattern,
    sources: namesOf(lookUp(value, 'sources'), run),
    targets: namesOf(lookUp(value, 'targets'), run),
    processors: namesOf(lookUp(value, 'processors'), run),
    isDryRun: isTrue(lookUp(value, 'always-dry-run')),
    safety: safetyOf(plainValue(value) as Record<string, unknown>, (what) => loseKey(what, key.at)),
    at: key.at,
  })
}

/** A key with the names it lists: `processors (meta, acme)`. */
function describe({ key, value }: YamlEntry): string {
  const names = value.kind === 'sequence' ? value.items.flatMap((item) => (item.kind === 'scalar' ? [item.text.slice(0, 60)] : [])) : []
  return names.length === 0 ? key.text : `${key.text} (${names.slice(0, 10).join(', ')}${names.length > 10 ? ', …' : ''})`
}

/** Which zones a dynamic entry takes: a glob comes before a regular expression, and without both it is all. */
function readPattern(zone: YamlMapping): ZonePattern | 'foreign' | null {
  const [glob = '', regex = ''] = ['glob', 'regex'].map((key) => {
    const node = lookUp(zone, key)
    return node === undefined || isNull(node) ? '' : node.kind === 'scalar' ? node.text : null
  })
  if (glob !== '') return glob === null ? 'foreign' : globPattern(glob)
  if (regex === '') return null
  return (regex === null ? null : regexPattern(regex)) ?? 'foreign'
}

function readAlias(zone: YamlMapping, run: Run): DomainName | null {
  const alias = lookUp(zone, 'alias')
  if (alias === undefined) return null
  const name = alias.kind === 'scalar' ? zoneNameOf(alias.text) : null
  if (name === null) fail(run, alias.at, 'alias is the name of a zone')
  return name
}

const zoneNameOf = (text: string): DomainName | null => {
  const name = parseDomainName(text.endsWith('.') ? text : `${text}.`)
  return name.ok ? name.value : null
}

function namesOf(node: YamlNode | undefined, run: Pick<Run, 'diagnostics'>): string[] {
  if (node === undefined || isNull(node)) return []
  const items = node.kind === 'sequence' ? node.items : [node]
  return items.flatMap((item) => {
    if (item.kind === 'scalar') return [item.text]
    fail(run, item.at, 'sources, targets and processors are lists of names')
    return []
  })
}
