/** Gives all records at a name another name, in the texts of their files. Nothing else in the files changes, and no other record. */
import { type Diagnostic, hasErrors, type SourcePosition } from '../../base/diagnostic.ts'
import { listed } from '../../base/english.ts'
import { failure, ok, type Result } from '../../base/result.ts'
import type { Config } from '../../config/config.ts'
import { readValidTree } from '../../definition/yaml/editable-yaml.ts'
import { isUnambiguousText } from '../../definition/yaml/plain-scalars.ts'
import { lookUp, type YamlScalar } from '../../definition/yaml/yaml-node.ts'
import { type DomainName, parseDomainName, relativeName } from '../../dns/domain-name.ts'
import { targetName } from '../../dns/rdata/canonical.ts'
import { type DefinedRecord, groupRrsets } from '../../dns/record.ts'
import { renameOwner } from '../../dns/zone-file/edit-zone-file.ts'
import { parseZoneFile } from '../../dns/zone-file/parse-zone-file.ts'
import { displayPath } from '../../files/file-path.ts'
import { readTextWithMark } from '../../files/read-text.ts'
import { sourcePolicy } from '../../files/source-policy.ts'
import { loadDefinitions } from '../load-definitions.ts'
import {
  besideRecords,
  countDifferences,
  type EditedDefinition,
  type EditOptions,
  findZone,
  haveSameRecords,
  MAX_DIFFERENCES,
  otherZones,
  refused,
  refusedOrStale,
  sharedFileProblem,
  textsOf,
} from './edit-definition.ts'
import { BYTE_ORDER_MARK, definitionKind, type FileEdit, realPathOf } from './edit-files.ts'
import type { EditedFile } from './edit-text.ts'
import { editProblem, type NameEdit, noSuchRecords } from './record-edit.ts'

/**
 * Renames the owner of all records at a name, without writing the files. Records elsewhere that point at the previous name stay as they are. The
 * definitions are loaded and validated before and after; the zone may differ in nothing but the owner of these records.
 */
export async function renameRecord(
  edit: NameEdit,
  config: Config,
  { allZones, target }: Pick<EditOptions, 'allZones' | 'target'>,
): Promise<EditedDefinition> {
  const found = await findZone(edit, config, { target })
  if (!('loaded' in found)) return found
  const { zone, diagnostics: knownBefore } = found.loaded
  const { cwd } = config
  if (edit.name === edit.newName) return { changes: [], others: [], diagnostics: [] }
  const problem = problemOf(edit, zone)
  if (problem !== null) return refused(problem)
  const own = zone.records.filter(({ name }) => name === edit.name)
  const main = realPathOf(zone.at.file, cwd)
  const kind = await definitionKind(main, config)
  if (kind === 'zone-file' && edit.name === edit.zone)
    return refused(editProblem(edit, 'edit-refused', 'a zone file has its SOA record at this name; edit it by hand', { at: own[0]?.at }))
  const changes: FileEdit[] = []
  const refusal = (...diagnostics: Diagnostic[]) => refusedOrStale(refused(...diagnostics), zone, config)
  for (const path of new Set(own.map(({ at }) => realPathOf(at.file, cwd)))) {
    const read = await readTextWithMark(path, displayPath(path, cwd), sourcePolicy(config))
    if (!read.ok) return refused({ severity: 'error', ...read.problem })
    const mark = read.text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : ''
    const text = read.text.slice(mark.length)
    const places = own.flatMap(({ at }) => (realPathOf(at.file, cwd) === path ? at : []))
    const renamed = kind === 'zone-file' ? renameInZoneFile(text, edit, places) : renameInYaml(text, edit, kind, path === main)
    const at = places[0]
    if (!renamed.ok) return refusal(editProblem(edit, 'edit-refused', renamed.message, { at }))
    changes.push({ path, before: read.text, after: mark + renamed.value })
  }
  const isShared = changes.some(({ path }) => path !== main)
  const only = isShared ? undefined : [edit.zone]
  const before = isShared ? await loadDefinitions(config, { autoPtr: false }) : null
  const after = await loadDefinitions(config, { autoPtr: false, zones: only, texts: textsOf(changes, cwd) })
  if (hasErrors(after.diagnostics)) return refusal(...after.diagnostics.filter(({ severity }) => severity === 'error'))
  const now = after.zones.find((one) => one.zone.name === edit.zone && one.zone.at.file === zone.at.file)?.zone
  const rename = <T extends { readonly name: DomainName }>(all: readonly T[]): T[] =>
    all.map((one) => (one.name === edit.name ? { ...one, name: edit.newName } : one))
  const expected = { ...zone, records: rename(zone.records), providerSpecific: rename(zone.providerSpecific) }
  const unexpected = haveSameRecords(expected.records, now?.records ?? []) ? [] : countDifferences(expected.records, now?.records ?? [])
  if (besideRecords(expected) !== besideRecords(now)) unexpected.push('something other than its records would change in the zone')
  if (unexpected.length > 0) {
    const effects = unexpected.slice(0, MAX_DIFFERENCES).join('; ')
    const message = `the edit would have other effects because of the form of the file: ${effects}; edit it by hand`
    return refusal(editProblem(edit, 'edit-refused', message, { at: own[0]?.at }))
  }
  const others = before === null ? [] : otherZones(before, after, zone)
  if (others.length > 0 && !allZones) return refused(sharedFileProblem(edit, changes, others, { cwd, at: own[0]?.at }))
  const known = new Set([...knownBefore, ...(before?.diagnostics ?? [])].map(({ code, message }) => `${code} ${message}`))
  const fresh = after.diagnostics.filter(
    ({ code, message }) => !known.has(`${code} ${message}`) && !message.includes(` points to ${edit.name},`),
  )
  return { changes, others, diagnostics: [...fresh, ...pointingWarnings(edit, now?.records ?? [])] }
}

/** A warning per record set that still points at the previous name, with the command that corrects it. */
function pointingWarnings({ zone, name, newName }: NameEdit, records: readonly DefinedRecord[]): Diagnostic[] {
  const pointsThere = ({ type, data }: DefinedRecord): boolean => targetName(type, data) === name
  return [...groupRrsets(records).values()].flatMap((set): Diagnostic[] => {
    const first = set.find(pointsThere)
    if (first === undefined) return []
    const values = set.map((one) => `'${pointsThere(one) ? one.data.slice(0, -name.length) + newName : one.data}'`)
    const hint = `zonewright record set ${zone} ${relativeName(first.name, zone) || '@'} ${first.type} ${values.join(' ')}`
    const message = `${first.name} ${first.type} still points to ${name}`
    return [{ severity: 'warning', code: 'target-nonexistent', message, at: first.at, hint }]
  })
}

/** Why the name cannot be renamed; null if it can. */
function problemOf(
  edit: NameEdit,
  { records, sourced, providerSpecific }: { readonly records: readonly Owned[] } & Others,
): Diagnostic | null {
  const isAt = (name: DomainName) => (one: Owned) => one.name === name
  const all = [...records, ...providerSpecific, ...(sourced ?? [])]
  if (sourced?.some(isAt(edit.name)))
    return editProblem(edit, 'edit-refused', 'its values are read when the zone is planned; edit it by hand')
  if (!records.some(isAt(edit.name))) return noSuchRecords(edit)
  const taken = all.filter(isAt(edit.newName))
  if (taken.length === 0) return null
  const types = listed([...new Set(taken.map(({ type }) => type))].sort())
  const isCname = [...taken, ...all.filter(isAt(edit.name))].some(({ type }) => type === 'CNAME')
  const reason = isCname ? ', and a name with a CNAME cannot have other records' : ''
  const hint = isCname
    ? `choose another name, or first remove the records of ${edit.newName}`
    : 'add the records there with "zonewright record add", and remove them here with "zonewright record remove"'
  return editProblem(edit, 'edit-refused', `${edit.newName} already has records (${types})${reason}`, { at: taken[0]?.at, hint })
}

type Owned = { readonly name: DomainName; readonly type: string; readonly at?: Diagnostic['at'] }
interface Others {
  readonly providerSpecific: readonly Owned[]
  readonly sourced?: readonly Owned[] | undefined
}

/** Replaces the keys of the name, in their style. */
function renameInYaml(text: string, edit: NameEdit, kind: EditedFile['kind'], isMain: boolean): Result<string> {
  const root = readValidTree(text)
  if (!root.ok) return root
  const map = kind === 'settings' && isMain && root.value.kind === 'mapping' ? lookUp(root.value, 'records') : root.value
  const keys =
    map?.kind === 'mapping' ? map.entries.map(({ key }) => key).filter(({ text: key }) => ownerOf(key, edit.zone) === edit.name) : []
  const starts = lineStarts(text)
  const places = new Map(keys.map((key) => [(starts[key.at.line - 1] ?? 0) + key.at.column - 1, key]))
  if (places.size === 0)
    return failure(`${edit.name} is not written there by its own name but by a variable or an included file; ${BY_HAND}`)
  let [renamed, end] = ['', 0]
  for (const [place, key] of [...places].sort(([a], [b]) => a - b)) {
    const length = lengthOfKey(text, place, key)
    if (length === null) return failure(`the name is written in a form that cannot be edited; ${BY_HAND}`)
    renamed += text.slice(end, place) + keyText(relativeName(edit.newName, edit.zone), key.plain)
    end = place + length
  }
  return ok(renamed + text.slice(end))
}

const BY_HAND = 'edit it by hand'

const ownerOf = (key: string, zone: DomainName): DomainName | null => {
  const name = key === '' ? ok(zone) : parseDomainName(key, zone)
  return name.ok ? name.value : null
}

function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

/** The length of a key with its quotes; null if it is not at that place, as with an anchor or a tag. */
function lengthOfKey(text: string, place: number, key: YamlScalar): number | null {
  if (key.plain) return key.text !== '' && text.startsWith(key.text, place) ? key.text.length : null
  const quoted = /'(?:[^'\n]|'')*'|"(?:[^"\\\n]|\\.)*"/y
  quoted.lastIndex = place
  return quoted.exec(text)?.[0].length ?? null
}

const keyText = (name: string, isPlain: boolean): string =>
  isPlain && /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(name) && isUnambiguousText(name) ? name : `'${name.replaceAll("'", "''")}'`

/** Replaces the owners of the records at these places, and of records that repeat them. The origin of an included file may be another one. */
function renameInZoneFile(text: string, { zone, name, newName }: NameEdit, places: readonly SourcePosition[]): Result<string> {
  const written = [...parseZoneFile(text, { origin: zone, file: '' }).records].filter((one) => one.name === name)
  return renameOwner(text, new Set([...places, ...written.map(({ at }) => at)].map(({ line }) => line)), name, newName)
}
