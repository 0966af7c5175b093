/** octoDNS's config (`config/production.yaml`): where zones come from and where they go. Everything else in it is reported. */
import type { Diagnostic, SourcePosition } from '../../base/diagnostic.ts'
import { quoted } from '../../base/text.ts'
import type { ReadInclude } from '../../definition/parse/file-loader.ts'
import { createFileLoader } from '../../definition/parse/file-loader.ts'
import { collectDiagnostics } from '../../definition/parse/parse-state.ts'
import { toJsonValue } from '../../definition/yaml/plain-scalars.ts'
import { readYaml } from '../../definition/yaml/read-yaml.ts'
import { isNull, lookUp, type YamlEntry, type YamlMapping, type YamlNode } from '../../definition/yaml/yaml-node.ts'
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import type { OctodnsProvider } from './octodns-provider.ts'
import { type ConvertedSafety, readSafety } from './octodns-provider.ts'
import { fileGlobOf, globPattern, nameGlobOf, regexPattern, type ZonePattern } from './patterns.ts'

/** One entry of `zones:`. */
export interface OctodnsZoneEntry {
  /** Null for a dynamic entry (`*`), which applies to every zone of its sources without its own entry. */
  readonly name: DomainName | null
  /** The zone whose records this one copies. */
  readonly alias: DomainName | null
  /** The zones of a dynamic entry; null for all. */
  readonly pattern: ZonePattern | null
  /** The glob of ours for the same names, with the final dot if it does not end in `*`; null if there is none. */
  readonly nameGlob: string | null
  readonly sources: readonly string[]
  readonly targets: readonly string[]
  /** Names of the processors of the zone alone. */
  readonly processors: readonly string[]
  /** Whether octoDNS only plans it and never applies. */
  readonly isDryRun: boolean
  /** Limits of the zone, which override those of its targets. */
  readonly safety: ConvertedSafety
  readonly at: SourcePosition
}

export interface OctodnsConfig {
  readonly providers: ReadonlyMap<string, OctodnsProvider>
  readonly processors: ReadonlyMap<string, OctodnsProvider>
  /** Names of processors that run for all zones, before and after each zone's own. */
  readonly globalProcessors: { readonly before: readonly string[]; readonly after: readonly string[] }
  readonly zones: readonly OctodnsZoneEntry[]
  /** Names of providers whose records replace those of earlier sources. */
  readonly replacingProviders: ReadonlySet<string>
  /** Names of secret handlers other than the environment. */
  readonly secretHandlers: ReadonlySet<string>
  /** The settings of `manager.auto_arpa`, which adds PTR records; null if it is off. It is among `dropped`. */
  readonly autoArpa: Readonly<Record<string, unknown>> | null
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Whether a YAML text is a config, not a zone: it has `providers:` with classes, or `providers:` and `zones:`. */
export function isOctodnsConfig(text: string): boolean {
  const { root } = readYaml(text, { file: '', resolveInclude: (_, at) => ({ kind: 'mapping', at, entries: [] }) })
  const providers = root?.kind === 'mapping' ? lookUp(root, 'providers') : undefined
  if (root?.kind !== 'mapping' || providers?.kind !== 'mapping' || lookUp(providers, 'type') !== undefined) return false
  if (lookUp(root, 'zones')?.kind === 'mapping') return true
  return providers.entries.some(({ value }) => value.kind === 'mapping' && lookUp(value, 'class') !== undefined)
}

/** Reads a config; `include` reads files for `!include`. Never throws on bad input. */
export function readOctodnsConfig(text: string, file: string, include?: ReadInclude): OctodnsConfig {
  const problems = collectDiagnostics()
  const root = createFileLoader(include, undefined, problems).parse({ file, text })
  const state: ReadState = {
    dropped: [],
    diagnostics: problems.diagnostics,
    providers: new Map(),
    processors: new Map(),
    globalProcessors: { before: [], after: [] },
    zones: [],
    replacingProviders: new Set(),
    secretHandlers: new Set(),
    autoArpa: null,
  }
  if (root?.kind === 'mapping') {
    for (const entry of root.entries) readSection(entry, state)
  } else if (root !== null) fail(state, root.at, 'the config must be a mapping with providers and zones')
  return state
}

interface ReadState {
  readonly dropped: UnsupportedFeature[]
  readonly diagnostics: Diagnostic[]
  readonly providers: Map<string, OctodnsProvider>
  readonly processors: Map<string, OctodnsProvider>
  readonly globalProcessors: { readonly before: string[]; readonly after: string[] }
  readonly zones: OctodnsZoneEntry[]
  readonly replacingProviders: Set<string>
  readonly secretHandlers: Set<string>
  autoArpa: Readonly<Record<string, unknown>> | null
}

const fail = (state: Pick<ReadState, 'diagnostics'>, at: SourcePosition, message: string): void =>
  void state.diagnostics.push({ severity: 'error', code: 'schema-type', message, at })

const drop = (state: ReadState, what: string, at: SourcePosition, zone: DomainName | null = null): void =>
  void state.dropped.push({ zone, name: null, type: null, what, at })

/** Warns of a key that only affects octoDNS's own run or checks and changes no record. */
const warn = (state: Pick<ReadState, 'diagnostics'>, what: string, at: SourcePosition): void =>
  void state.diagnostics.push({
    severity: 'warning',
    code: 'import-aside',
    message: `${what} only affects octoDNS and is not imported`,
    at,
  })

/** Keys for how octoDNS runs, prints plans, finds secrets and validates data. */
const OCTODNS_KEYS = /^(?:manager\.(?:max_workers|enable_checksum|plan_outputs|validators)|validators\..*|secret_handlers\..*)$/s

/** The keys that octoDNS reads. It ignores others, which often hold anchors. */
const SECTIONS: ReadonlySet<string> = new Set(['manager', 'processors', 'providers', 'secret_handlers', 'validators', 'zones'])

function readSection({ key, value }: YamlEntry, state: ReadState): void {
  if (isNull(value) || !SECTIONS.has(key.text)) return
  if (value.kind !== 'mapping') {
    drop(state, key.text, key.at)
    return
  }
  for (const entry of value.entries) {
    if (key.text === 'providers') readProvider(entry, 'provider', state)
    else if (key.text === 'processors') readProvider(entry, 'processor', state)
    else if (key.text === 'zones') readZone(entry, state)
    else if (key.text === 'manager' && MANAGER_PROCESSORS.has(entry.key.text)) readManagerProcessors(entry, state)
    else {
      if (key.text === 'secret_handlers') state.secretHandlers.add(entry.key.text)
      const name = `${key.text}.${entry.key.text}`
      if (name === AUTO_ARPA) {
        if (isReplacing(entry.value)) state.replacingProviders.add(AUTO_ARPA_SOURCE)
        if (isTrue(entry.value))
          state.autoArpa = entry.value.kind === 'mapping' ? (toJsonValue(entry.value) as Record<string, unknown>) : {}
      }
      if (OCTODNS_KEYS.test(name)) warn(state, name, entry.key.at)
      else drop(state, name, entry.key.at)
    }
  }
}

/** The key with which octoDNS adds PTR records. */
export const AUTO_ARPA = 'manager.auto_arpa'

/** The name under which zones use it as a source. */
export const AUTO_ARPA_SOURCE = 'auto-arpa'

const MANAGER_PROCESSORS: ReadonlySet<string> = new Set(['processors', 'post_processors', 'include_meta'])

/** Reads the processors that run for every zone. `include_meta` is one more, after all others. */
function readManagerProcessors({ key, value }: YamlEntry, { globalProcessors, ...state }: ReadState): void {
  if (key.text === 'processors') globalProcessors.before.push(...namesOf(value, state))
  else if (key.text === 'post_processors') globalProcessors.after.unshift(...namesOf(value, state))
  else if (isTrue(value)) {
    const settings = { record_name: 'octodns-meta' }
    state.processors.set('include_meta', { name: 'include_meta', className: 'octodns.processor.meta.MetaProcessor', settings, at: key.at })
    globalProcessors.after.push('include_meta')
  }
}

/**
 * Whether Python treats the value as true: everything except empty values, so even a quoted `false`. octoDNS reads YAML 1.1, in which `no`
 * and `off` are false too.
 */
function isTrue(node: YamlNode | undefined): boolean {
  if (node === undefined || isNull(node)) return false
  if (node.kind !== 'scalar') return (node.kind === 'mapping' ? node.entries : node.items).length > 0
  return node.text !== '' && !(node.plain && /^(?:false|no|off|[-+]?0+(?:\.0*)?)$/i.test(node.text))
}

const isReplacing = (node: YamlNode): boolean => node.kind === 'mapping' && isTrue(lookUp(node, 'populate_should_replace'))

/** The packages whose names differ from those of the modules that octoDNS itself had before version 1. */
const PACKAGES: Readonly<Record<string, string>> = { axfr: 'bind', azuredns: 'azure', etc_hosts: 'etchosts', fastdns: 'edgedns' }

/** The class in its package of today: `octodns_route53.Route53Provider` for `octodns.provider.route53.Route53Provider`. */
const currentClass = (name: string): string =>
  name.replace(
    /^octodns\.(?:provider\.(?!(?:base|plan|yaml)\.)|source\.(?=axfr\.))([a-z0-9_]+)(?=\.)/,
    (_, module: string) => `octodns_${PACKAGES[module] ?? module}`,
  )

function readProvider({ key, value }: YamlEntry, kind: 'provider' | 'processor', state: ReadState): void {
  const className = value.kind === 'mapping' ? lookUp(value, 'class') : undefined
  if (value.kind !== 'mapping' || className?.kind !== 'scalar') {
    fail(state, key.at, `the ${kind} ${quoted(key.text)} has no class`)
    return
  }
  const settings = new Map(
    value.entries.filter((entry) => entry.key.text !== 'class').map((entry) => [entry.key.text, toJsonValue(entry.value)]),
  )
  if (kind === 'provider' && isReplacing(value)) state.replacingProviders.add(key.text)
  const all = kind === 'provider' ? state.providers : state.processors
  all.set(key.text, { name: key.text, className: currentClass(className.text), settings: Object.fromEntries(settings), at: key.at })
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

/** Zone keys that only affect octoDNS's validation. */
const OCTODNS_ZONE_KEYS: ReadonlySet<string> = new Set(['lenient', 'validators'])

function readZone({ key, value }: YamlEntry, state: ReadState): void {
  const isDynamic = key.text.startsWith('*')
  const name = isDynamic ? null : zoneNameOf(key.text)
  if (name === null && !isDynamic) {
    state.diagnostics.push({
      severity: 'error',
      code: 'zone-name',
      message: `${JSON.stringify(key.text.slice(0, 80))} is not the name of a zone`,
      at: key.at,
    })
    return
  }
  if (value.kind !== 'mapping') {
    fail(state, key.at, `the zone ${key.text.slice(0, 80)} must be a mapping with sources and targets`)
    return
  }
  const pattern = isDynamic ? readPattern(value) : null
  if (pattern === 'unsupported') {
    drop(state, `the zones of ${key.text}, which a regular expression selects`, key.at)
    return
  }
  const dropKey = (what: string, at: SourcePosition): void => drop(state, isDynamic ? `${what} of the zones ${key.text}` : what, at, name)
  for (const entry of value.entries) {
    const isKnown = ZONE_KEYS.has(entry.key.text) && (isDynamic || (entry.key.text !== 'glob' && entry.key.text !== 'regex'))
    if (isKnown || isNull(entry.value)) continue
    if (OCTODNS_ZONE_KEYS.has(entry.key.text)) warn(state, `${entry.key.text} of ${name ?? key.text}`, entry.key.at)
    else dropKey(describe(entry), entry.key.at)
  }
  state.zones.push({
    name,
    alias: readAlias(value, state),
    pattern: pattern?.matches ?? null,
    nameGlob: isDynamic ? (pattern === null ? '*' : pattern.glob) : null,
    sources: namesOf(lookUp(value, 'sources'), state),
    targets: namesOf(lookUp(value, 'targets'), state),
    processors: namesOf(lookUp(value, 'processors'), state),
    isDryRun: isTrue(lookUp(value, 'always-dry-run')),
    safety: readSafety(toJsonValue(value) as Record<string, unknown>, (what) => dropKey(what, key.at)),
    at: key.at,
  })
}

/** A key with the names in its list: `processors (meta, acme)`. */
function describe({ key, value }: YamlEntry): string {
  const names = value.kind === 'sequence' ? value.items.flatMap((item) => (item.kind === 'scalar' ? [item.text.slice(0, 60)] : [])) : []
  return names.length === 0 ? key.text : `${key.text} (${names.slice(0, 10).join(', ')}${names.length > 10 ? ', …' : ''})`
}

/** The pattern of a dynamic entry: a glob takes precedence over a regular expression; without both, null for all zones. */
function readPattern(zone: YamlMapping): { readonly matches: ZonePattern; readonly glob: string | null } | 'unsupported' | null {
  const [glob = '', regex = ''] = ['glob', 'regex'].map((key) => {
    const node = lookUp(zone, key)
    return node === undefined || isNull(node) ? '' : node.kind === 'scalar' ? node.text : null
  })
  if (glob !== '') return glob === null ? 'unsupported' : { matches: globPattern(glob), glob: fileGlobOf(glob) }
  if (regex === '') return null
  const matches = regex === null ? null : regexPattern(regex)
  if (regex === null || matches === null) return 'unsupported'
  const same = nameGlobOf(`/${regex}/`)
  return { matches, glob: same === null ? null : fileGlobOf(same) }
}

function readAlias(zone: YamlMapping, state: ReadState): DomainName | null {
  const alias = lookUp(zone, 'alias')
  if (alias === undefined) return null
  const name = alias.kind === 'scalar' ? zoneNameOf(alias.text) : null
  if (name === null) fail(state, alias.at, 'alias must be the name of a zone')
  return name
}

const zoneNameOf = (text: string): DomainName | null => {
  const name = parseAbsoluteName(text)
  return name.ok ? name.value : null
}

function namesOf(node: YamlNode | undefined, state: Pick<ReadState, 'diagnostics'>): string[] {
  if (node === undefined || isNull(node)) return []
  const items = node.kind === 'sequence' ? node.items : [node]
  return items.flatMap((item) => {
    if (item.kind === 'scalar') return [item.text]
    fail(state, item.at, 'sources, targets and processors must be lists of names')
    return []
  })
}
