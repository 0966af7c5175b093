/** Adds, removes and renames the definition of a zone, without writing the files. */
import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { type Diagnostic, isError } from '../../base/diagnostic.ts'
import { listed } from '../../base/english.ts'
import type { Config } from '../../config/config.ts'
import { createRuleLookup, type LoadedZone, ruleFor, targetsOf } from '../../config/configured-zone.ts'
import { readValidTree } from '../../definition/yaml/editable-yaml.ts'
import { isUnambiguousText } from '../../definition/yaml/plain-scalars.ts'
import { printEntry, type YamlData } from '../../definition/yaml/print-yaml.ts'
import { lookUp } from '../../definition/yaml/yaml-node.ts'
import { type DomainName, isAtOrBelow } from '../../dns/domain-name.ts'
import { zoneFileName } from '../../dns/zone-file/zone-file-name.ts'
import { compileGlobs } from '../../files/file-glob.ts'
import { displayPath } from '../../files/file-path.ts'
import { readTextWithMark } from '../../files/read-text.ts'
import { sourcePolicy } from '../../files/source-policy.ts'
import { parseFileName } from '../definition-name.ts'
import { type LoadedDefinitions, loadDefinitions } from '../load-definitions.ts'
import { findZone } from './edit-definition.ts'
import { definitionKind, realPathOf } from './edit-files.ts'

export interface EditedZone {
  /** In the order in which they are written; empty if there is nothing to change or the diagnostics contain an error. `after` is null to remove the file. */
  readonly changes: readonly { readonly path: string; readonly before: string; readonly after: string | null }[]
  readonly others: readonly DomainName[]
  readonly diagnostics: readonly Diagnostic[]
  readonly isStale?: true
  /** The zone after the edit, or with `absent: true` before it. */
  readonly loaded?: LoadedZone
  /** After a rename, records whose data still has the previous name, as `FILE:LINE: NAME TYPE DATA`. */
  readonly pointing?: readonly string[]
  /** After a rename, the targets of the previous zone. */
  readonly previousTargets?: readonly string[]
}

const refused = (...diagnostics: Diagnostic[]): EditedZone => ({ changes: [], others: [], diagnostics })

const problem = (code: Diagnostic['code'], message: string, more: Partial<Diagnostic> = {}): EditedZone =>
  refused({ severity: 'error', code, message, ...more })

interface NewZone {
  readonly name: DomainName
  readonly target: string | null
  /** Absolute paths. */
  readonly include: readonly string[]
  /** The absolute path of the definition; null to derive it from the rules of the config. */
  readonly file: string | null
}

/** Writes a definition without records, where a rule of the config finds it. */
export async function addZone(zone: NewZone, config: Config): Promise<EditedZone> {
  const { name, target, include } = zone
  const before = await loadDefinitions(config, { lints: false })
  const taken = refusalOfName(name, before)
  if (taken !== null) return taken
  if (target !== null && !config.providers.has(target)) return problem('provider-unknown', `the config has no provider ${target}`)
  const place = placeOf(zone, config)
  if (typeof place !== 'string') return place
  if (parseFileName(basename(place))?.kind !== 'yaml')
    return problem('edit-refused', `${displayPath(place, config.cwd)} would be a zone file, which needs an SOA record: write it by hand`)
  const rule = createRuleLookup(config)(place, { name })
  const isUsual = rule === null || target === null || String(targetsOf({ targets: null }, rule, config)) === target
  const sibling = before.zones.find((one) => dirname(realPathOf(one.zone.at.file, config.cwd)) === dirname(place))?.zone
  const isOctodns = sibling !== undefined && (await definitionKind(realPathOf(sibling.at.file, config.cwd), config)) === 'octodns'
  const needsEmail =
    config.defaults.settings.soa_email === undefined && before.zones.some((one) => one.zone.settings.soa_email !== undefined)
  const settings: Readonly<Record<string, YamlData>> = {
    domain: name.slice(0, -1),
    ...(!isUsual && { targets: [target] }),
    ...(needsEmail && { soa_email: `hostmaster@${name.slice(0, -1)}` }),
    ...(include.length > 0 && { include: include.map((path) => displayPath(path, dirname(place))) }),
    records: {},
  }
  const isBare = isOctodns && isUsual && include.length === 0
  const entries = Object.entries(settings).map(([key, value]) => printEntry(key, value, 0))
  return checked(name, config, [{ path: place, before: '', after: isBare ? '---\n{}\n' : entries.join('') }])
}

/** Why a zone of this name must not be made; null if it may. */
function refusalOfName(name: DomainName, { described, zones, diagnostics }: LoadedDefinitions): EditedZone | null {
  const known = zones.find(({ zone }) => zone.name === name)?.zone.at
  if (known !== undefined || described.names.has(name))
    return problem('zone-duplicate', `${name} is already defined${known ? ` in ${known.file}` : ''}`, {
      at: known,
      hint: 'change its records with "zonewright record", or its name with "zonewright zone rename"',
    })
  return described.isUncertain ? refused(...diagnostics.filter(isError)) : null
}

const stemOf = (name: DomainName): string => zoneFileName(name, new Set(), '').slice(0, -1)

/** The path of a new definition: the only one that a rule for the zone finds. */
function placeOf({ name, target, file }: NewZone, config: Config): string | EditedZone {
  const ruleAt = createRuleLookup(config)
  const shown = (path: string): string => displayPath(path, config.cwd)
  if (file !== null)
    return ruleAt(file, { name }) === null ? problem('edit-refused', `no rule of the config finds ${shown(file)} for ${name}`) : file
  const rules = config.zoneRules.filter((rule) => rule.enabled && ruleFor({ name }, [rule]) !== null)
  const paths = rules.flatMap((rule) => {
    if (target !== null && rule.targets !== null && !rule.targets.includes(target)) return []
    const isFor = (path: string): boolean => {
      const named = parseFileName(basename(path))
      return named !== null && (named.zone === name || rule.zoneName === name) && ruleAt(path, { name })?.at === rule.at
    }
    return compileGlobs(rule.files, config.folder).starts.flatMap(({ path, literal }) => {
      const names = literal ? [''] : ['yaml', 'yml', 'zone', 'db'].map((ending) => `${stemOf(name)}.${ending}`)
      return names.map((one) => resolve(config.folder, path, one)).find(isFor) ?? []
    })
  })
  const [path, ...more] = new Set(paths)
  if (path === undefined)
    return problem('edit-refused', `no rule of the config says where a YAML definition of ${name} would be`, {
      hint: 'name it with --file; a program is only edited by people',
    })
  return more.length === 0
    ? path
    : problem('edit-refused', `several rules could take ${name}: ${listed([path, ...more].map(shown))}`, {
        hint: `choose one: --file ${shown(path)}`,
      })
}

const notFound = (name: DomainName, path: string, { cwd }: Config): EditedZone => {
  const hint = `first add ${displayPath(path, cwd)}, or a glob, to the "files" of a rule`
  return problem('edit-refused', `no rule of the config would find the definition of ${name}`, { hint })
}

/** The edit, if the zone can then be loaded without an error. */
async function checked(name: DomainName, config: Config, changes: EditedZone['changes']): Promise<EditedZone> {
  const taken = changes.find(({ path, before }) => before === '' && existsSync(path))
  if (taken !== undefined)
    return problem('file-exists', `${displayPath(taken.path, config.cwd)} exists already, and does not define ${name}`)
  const texts = new Map(changes.flatMap(({ path, after }) => (after === null ? [] : [[path, after] as const])))
  const without = new Set(changes.flatMap(({ path, after }) => (after === null ? path : [])))
  const loaded = await loadDefinitions(config, { autoPtr: false, zones: [name], texts, without })
  const zone = loaded.zones.find((one) => one.zone.name === name && texts.has(realPathOf(one.zone.at.file, config.cwd)))
  const errors = loaded.diagnostics.filter(isError)
  if (errors.length > 0) return refused(...errors)
  if (zone === undefined) return notFound(name, changes[0]?.path ?? '', config)
  return { changes, others: [], diagnostics: zone.diagnostics, loaded: zone }
}

/** The text of the only definition of a zone, if it has settings or needs none; otherwise the refusal. */
async function openDefinition(name: DomainName, config: Config, target: string | null, needsSettings: boolean) {
  const found = await findZone({ zone: name, name }, config, { target })
  if (!('loaded' in found)) return { edited: found satisfies EditedZone } as const
  const { at } = found.loaded.zone
  const path = realPathOf(at.file, config.cwd)
  const read = await readTextWithMark(path, at.file, sourcePolicy(config))
  const kind = await definitionKind(path, config)
  if (!read.ok) return { edited: problem('edit-refused', read.problem.message, { at }) } as const
  if (kind === 'settings' || !needsSettings) return { edited: null, loaded: found.loaded, path, text: read.text, kind } as const
  const hint = 'to delete the zone, set "delete_removed: true" in the config and remove the file'
  return {
    edited: problem('edit-refused', `${at.file} cannot say "absent: true", which is a setting of definitions with "domain:"`, { at, hint }),
  } as const
}

/** The text with a value of a setting, which follows `domain` if it is new; null if the text has another form. */
function withSetting(text: string, key: string, value: string): string | null {
  const root = readValidTree(text.replace(/^\ufeff/, ''))
  if (!root.ok || root.value.kind !== 'mapping') return null
  const known = lookUp(root.value, key)
  const place = known ?? lookUp(root.value, 'domain')
  const lines = text.split('\n')
  const at = (place?.at.line ?? 0) - 1
  const [, head, rest = ''] =
    /^(\ufeff?["']?[a-z_]+["']? *: *)(?:"[^"\\]*"|'[^']*'|[^\s#'"&*!|>{[]\S*)( *(?:#.*)?\r?)$/.exec(lines[at] ?? '') ?? []
  if (head === undefined) return null
  if (known === undefined) lines.splice(at + 1, 0, `${key}: ${value}${rest.endsWith('\r') ? '\r' : ''}`)
  else lines[at] = `${head}${value}${rest}`
  return lines.join('\n')
}

const inOtherForm = (name: DomainName, { zone }: LoadedZone): EditedZone =>
  problem('edit-refused', `${name}: the form of the file cannot be edited; edit it by hand`, { at: zone.at })

/** Sets `absent: true` in the definition of a zone. */
export async function removeZone(name: DomainName, target: string | null, config: Config): Promise<EditedZone> {
  const opened = await openDefinition(name, config, target, true)
  if (opened.edited !== null) return opened.edited
  const { loaded, path, text } = opened
  if (loaded.zone.absent) return { changes: [], others: [], diagnostics: [], loaded }
  const after = withSetting(text, 'absent', 'true')
  const edited = after === null ? null : await checked(name, config, [{ path, before: text, after }])
  if (edited === null || edited.loaded?.zone.absent === false) return inOtherForm(name, loaded)
  return edited.loaded === undefined ? edited : { ...edited, loaded }
}

interface ZoneRename {
  readonly name: DomainName
  readonly newName: DomainName
  readonly target: string | null
  /** Whether the definition stays, with `absent: true`. */
  readonly absent: boolean
}

/** The name of a file that is named after a zone, for another zone. */
function renamedFile(file: string, name: DomainName, newName: DomainName): string {
  const renamed = file.replace(stemOf(name), () => stemOf(newName))
  // It may have capitals, or be in Unicode.
  return renamed === file ? file.replace(/^.+(?=\.[a-z]+$)/i, () => stemOf(newName)) : renamed
}

/** Moves the definition of a zone to another name. Relative names move with it; absolute names stay as they are. */
export async function renameZone({ name, newName, target, absent }: ZoneRename, config: Config): Promise<EditedZone> {
  if (newName === name) return problem('usage', `the new name of ${name} is the same as the old one`, { hint: 'give it another name' })
  const before = await loadDefinitions(config, { lints: false })
  const opened = await openDefinition(name, config, target, absent)
  if (opened.edited !== null) return refusalOfName(newName, before) ?? opened.edited
  const { loaded, path, text, kind } = opened
  if (loaded.zone.absent) return problem('edit-refused', `${name} is to be deleted; remove "absent: true" first`, { at: loaded.zone.at })
  const isNamed = parseFileName(basename(path))?.zone === name
  const newPath = isNamed ? join(dirname(path), renamedFile(basename(path), name, newName)) : path
  const domain = newName.slice(0, -1)
  const renamed = kind === 'settings' ? withSetting(text, 'domain', isUnambiguousText(domain) ? domain : JSON.stringify(domain)) : text
  const previous = absent ? withSetting(text, 'absent', 'true') : null
  // A run that was killed may have written the new file.
  const there = await readTextWithMark(newPath, newPath, sourcePolicy(config))
  const isWritten = newPath !== path && there.ok && there.text === renamed
  const taken = isWritten ? null : refusalOfName(newName, before)
  if (taken !== null) return taken
  if (renamed === null || (absent && previous === null)) return inOtherForm(name, loaded)
  if (newPath === path && (absent || kind !== 'settings'))
    return problem('edit-refused', `${loaded.zone.at.file} is not named after the zone, so it cannot be moved; edit it by hand`, {
      at: loaded.zone.at,
    })
  const moved = { path: newPath, before: newPath === path ? text : isWritten ? renamed : '', after: renamed }
  const edited = await checked(newName, config, newPath === path ? [moved] : [moved, { path, before: text, after: previous }])
  if (edited.diagnostics.some(({ code }) => code === 'zone-unknown'))
    return createRuleLookup(config)(newPath, { name: newName }) === null
      ? notFound(newName, newPath, config)
      : // The file names its zone, such as by $ORIGIN.
        inOtherForm(name, loaded)
  if (edited.loaded === undefined) return edited
  const { records } = edited.loaded.zone
  if (records.length !== loaded.zone.records.length) return inOtherForm(name, loaded)
  const outside = records.find((one) => !isAtOrBelow(one.name, newName))
  if (outside !== undefined) return problem('edit-refused', `${outside.name} is not in ${newName}; edit it by hand`, { at: outside.at })
  const others = before.zones.filter(({ zone }) => zone.name !== name && zone.name !== newName)
  const pointing = [edited.loaded, ...others].flatMap(({ zone }) =>
    zone.records
      .filter(({ data }) => namesIn(data).some((one) => isAtOrBelow(one, name) && !isAtOrBelow(one, newName)))
      .map((one) => `${one.at.file}:${one.at.line}: ${one.name} ${one.type} ${one.data}`),
  )
  return { ...edited, pointing, previousTargets: loaded.targets }
}

/** Words of a record's data that may be names, also in texts such as those of SPF. */
const namesIn = (data: string): DomainName[] =>
  data
    .toLowerCase()
    .split(/[^a-z0-9_.-]+/)
    .map((word) => `${word.replace(/\.$/, '')}.` as DomainName)
