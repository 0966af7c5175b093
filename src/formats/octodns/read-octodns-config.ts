/**
 * octoDNS's own configuration (`config/production.yaml`): where its zones are and where they go. What it says beside that is for the
 * caller to name; nothing is passed over in silence.
 */
import type { Diagnostic, SourcePosition } from '../../model/diagnostic.ts'
import { type DomainName, parseDomainName } from '../../model/domain-name.ts'
import type { LostItem } from '../../model/exchange.ts'
import { collectFaults } from '../definition/faults.ts'
import { openFiles } from '../definition/open-files.ts'
import type { ReadInclude } from '../definition/parse-options.ts'
import { plainValue } from '../yaml/plain-value.ts'
import { readYaml } from '../yaml/read-yaml.ts'
import { isNull, lookUp, type YamlEntry, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts'

/** One entry of `providers:`. */
export interface OctodnsProvider {
  readonly name: string
  /** The Python class, such as `octodns.provider.yaml.YamlProvider`. */
  readonly className: string
  /** All keys but `class`, as JSON values. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly at: SourcePosition
}

/** One entry of `zones:`. */
export interface OctodnsZoneEntry {
  /** Null for a dynamic entry (`*`), which stands for every zone of its sources that has no entry of its own. */
  readonly name: DomainName | null
  /** The zone whose records this one has. */
  readonly alias: DomainName | null
  /** Of a dynamic entry: which zones it takes; null for all. */
  readonly glob: string | null
  readonly sources: readonly string[]
  readonly targets: readonly string[]
  readonly at: SourcePosition
}

export interface OctodnsConfig {
  readonly providers: ReadonlyMap<string, OctodnsProvider>
  readonly zones: readonly OctodnsZoneEntry[]
  readonly lost: readonly LostItem[]
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
  const faults = collectFaults()
  const root = openFiles(include, undefined, faults).parse({ file, text })
  const run: Run = { lost: [], diagnostics: faults.diagnostics, providers: new Map(), zones: [] }
  if (root?.kind === 'mapping') {
    for (const entry of root.entries) readSection(entry, run)
  } else if (root !== null) fail(run, root.at, 'the configuration is a mapping with providers and zones')
  return run
}

interface Run {
  readonly lost: LostItem[]
  readonly diagnostics: Diagnostic[]
  readonly providers: Map<string, OctodnsProvider>
  readonly zones: OctodnsZoneEntry[]
}

const fail = (run: Run, at: SourcePosition, message: string): void =>
  void run.diagnostics.push({ severity: 'error', code: 'schema-type', message, at })

const lose = (run: Run, what: string, at: SourcePosition, zone: DomainName | null = null): void =>
  void run.lost.push({ zone, name: null, type: null, what, at })

function readSection({ key, value }: YamlEntry, run: Run): void {
  if (isNull(value)) return
  if (value.kind !== 'mapping') {
    lose(run, key.text, key.at)
    return
  }
  for (const entry of value.entries) {
    if (key.text === 'providers') readProvider(entry, run)
    else if (key.text === 'zones') readZone(entry, run)
    else lose(run, `${key.text}.${entry.key.text}`, entry.key.at)
  }
}

function readProvider({ key, value }: YamlEntry, run: Run): void {
  const className = value.kind === 'mapping' ? lookUp(value, 'class') : undefined
  if (value.kind !== 'mapping' || className?.kind !== 'scalar') {
    fail(run, key.at, `the provider ${JSON.stringify(key.text.slice(0, 60))} has no class`)
    return
  }
  const settings = new Map(
    value.entries.filter((entry) => entry.key.text !== 'class').map((entry) => [entry.key.text, plainValue(entry.value)]),
  )
  run.providers.set(key.text, { name: key.text, className: className.text, settings: Object.fromEntries(settings), at: key.at })
}

const ZONE_KEYS: ReadonlySet<string> = new Set(['sources', 'targets', 'alias', 'glob'])

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
  if (isDynamic && lookUp(value, 'regex') !== undefined) {
    lose(run, `the zones of ${key.text}, which a regular expression chooses`, key.at)
    return
  }
  for (const entry of value.entries) {
    const what = isDynamic ? `${entry.key.text} of the zones ${key.text}` : entry.key.text
    if (!ZONE_KEYS.has(entry.key.text)) lose(run, what, entry.key.at, name)
  }
  const glob = lookUp(value, 'glob')
  run.zones.push({
    name,
    alias: readAlias(value, run),
    glob: glob?.kind === 'scalar' ? glob.text : null,
    sources: namesOf(lookUp(value, 'sources'), run),
    targets: namesOf(lookUp(value, 'targets'), run),
    at: key.at,
  })
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

function namesOf(node: YamlNode | undefined, run: Run): string[] {
  if (node === undefined || isNull(node)) return []
  const items = node.kind === 'sequence' ? node.items : [node]
  return items.flatMap((item) => {
    if (item.kind === 'scalar') return [item.text]
    fail(run, item.at, 'sources and targets are lists of names of providers')
    return []
  })
}
