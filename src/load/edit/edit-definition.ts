/** Edits one RRset of a zone in the files that define it. */
import { type Diagnostic, hasErrors, type SourcePosition } from '../../base/diagnostic.ts'
import { listed } from '../../base/english.ts'
import type { Config } from '../../config/config.ts'
import type { LoadedZone } from '../../config/configured-zone.ts'
import { type DomainName, relativeName } from '../../dns/domain-name.ts'
import type { DefinedRecord, ResourceRecord } from '../../dns/record.ts'
import { displayPath, fromDisplayPath, resolveLinks } from '../../files/file-path.ts'
import { isProgramName } from '../definition-name.ts'
import { type LoadedDefinitions, loadDefinitions } from '../load-definitions.ts'
import { BYTE_ORDER_MARK, definitionKind, editFiles, type FileEdit, isOldPlace, realPathOf, splitEditByFile } from './edit-files.ts'
import { desiredData } from './edit-text.ts'
import { type EditSubject, editProblem, noSuchRecords, type RecordEdit } from './record-edit.ts'

export interface EditedDefinition {
  /** The files with their texts before and after the edit; empty if there is nothing to change or the diagnostics contain an error. */
  readonly changes: readonly FileEdit[]
  /** Other zones that change because they include one of the files. */
  readonly others: readonly DomainName[]
  readonly diagnostics: readonly Diagnostic[]
  /** Another process changed a file during the edit, so the edit should be repeated. */
  readonly isStale?: true
}

export interface EditOptions {
  /** The file for new values, absolute; null to choose it automatically. */
  readonly file: string | null
  /** The target of the definition to edit; null if the zone has only one definition. */
  readonly target: string | null
  /** Whether other zones that include a file may change. */
  readonly allZones: boolean
}

/**
 * Changes one RRset in the texts of its files, without writing them. The definitions are loaded and validated before and after; the zone may differ in
 * nothing but the RRset.
 */
export async function editDefinition(asked: RecordEdit, config: Config, options: EditOptions): Promise<EditedDefinition> {
  const found = await findZone(asked, config, options)
  if (!('loaded' in found)) return found
  const { loaded } = found
  const own = loaded.zone.records.filter(({ name, type }) => name === asked.name && type === asked.type)
  const edit = options.file === null ? asked : withinFile(asked, own, resolveLinks(options.file), config.cwd)
  if (loaded.zone.sourced?.some(({ name, type }) => name === edit.name && type === edit.type))
    return refused(editProblem(edit, 'edit-refused', 'its values are read when the zone is planned; edit it by hand'))
  const unknown = missingValues(edit, own, loaded)
  if (unknown.length > 0) return refused(...unknown)
  if (isAsWanted(edit, own)) return { changes: [], others: [], diagnostics: [] }
  const edited = await editAndCheck(edit, own, found, config, options)
  // New values take the TTL of existing values in other files.
  const ttl = edit.ttl === null && own.length > 0 && own.every((one) => one.ttl === own[0]?.ttl) ? (own[0]?.ttl ?? null) : null
  if (ttl === null || edited.newTtls.every((one) => one === ttl)) return edited
  return editAndCheck({ ...edit, ttl }, own, found, config, options)
}

export const refused = (...diagnostics: Diagnostic[]): Checked => ({ changes: [], others: [], diagnostics, newTtls: [] })

/** The refusal to remove records of a name without a type, with the types that the name has. */
export async function refuseWithoutType({ zone, name }: EditSubject, config: Config, options: Pick<EditOptions, 'target'>) {
  const edit = { zone, name }
  const found = await findZone(edit, config, options)
  if (!('loaded' in found)) return found
  const types = new Set(found.loaded.zone.records.flatMap((one) => (one.name === name ? one.type : [])))
  if (types.size === 0) return refused(noSuchRecords(edit))
  return refused(editProblem(edit, 'usage', `name the type to remove; the name has ${listed([...types].sort())}`))
}

/** With a file, removing all values removes all values of that file. */
function withinFile(edit: RecordEdit, own: readonly DefinedRecord[], file: string, cwd: string): RecordEdit {
  const there = own.filter(({ at }) => realPathOf(at.file, cwd) === file)
  return edit.action === 'remove' && edit.data.length === 0 ? { ...edit, data: there.map(({ data }) => data) } : edit
}

export interface FoundZone {
  readonly loaded: LoadedZone
  /** The texts of definitions as they were loaded, by path. */
  readonly seen: ReadonlyMap<string, string>
}

/** The definition of the zone of an edit; otherwise the reason why there is none. With split horizon, the target or the file selects it. */
export async function findZone(
  edit: EditSubject,
  config: Config,
  { target, file = null }: Pick<EditOptions, 'target'> & Partial<EditOptions>,
): Promise<FoundZone | EditedDefinition> {
  const seen = new Map<string, string>()
  const { zones, diagnostics } = await loadDefinitions(config, { autoPtr: false, zones: [edit.zone], textsRead: seen })
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  if (errors.length > 0 || zones.length === 0) {
    // Errors that have changed by now came from files of which another process had replaced only some.
    const again = await loadDefinitions(config, { autoPtr: false, zones: [edit.zone] })
    const isStale = JSON.stringify(again.diagnostics) !== JSON.stringify(diagnostics)
    return isStale ? { ...refused(...errors), isStale } : refused(...errors)
  }
  const ofTarget = target === null ? zones : zones.filter(({ targets }) => targets.includes(target))
  const ofFile = ofTarget.filter(({ files }) => file !== null && files.some((one) => realPathOf(one, config.cwd) === resolveLinks(file)))
  const [loaded, ...others] = ofFile.length === 1 ? ofFile : ofTarget
  if (loaded !== undefined && others.length === 0)
    return isProgramName(loaded.zone.at.file) ? refused(madeByProgram(edit, loaded)) : { loaded, seen }
  const related = zones.map(({ zone }) => ({ message: 'a definition of the zone', at: zone.at }))
  const known = [...new Set(zones.flatMap(({ targets }) => targets))]
  const [code, message] =
    loaded === undefined
      ? (['target-missing', `no definition of ${edit.zone} has the target ${target}`] as const)
      : (['edit-refused', `${edit.zone} has several definitions`] as const)
  return refused(
    editProblem(edit, code, message, { related, hint: `choose one with ${known.map((name) => `--target ${name}`).join(' or ')}` }),
  )
}

/** The refusal to edit a program, with the lines that make the records. */
function madeByProgram(edit: EditSubject, { zone }: LoadedZone): Diagnostic {
  const atName = zone.records.filter(({ name }) => name === edit.name)
  const ofType = atName.filter(({ type }) => edit.type === undefined || type === edit.type)
  const own = ofType.length > 0 ? ofType : atName
  const at = own[0]?.at ?? zone.at
  const record = ofType.length > 0 ? 'the record' : `the ${own[0]?.type} record of the name`
  const what = own.length === 0 ? `the zone is made by ${zone.at.file}` : `${record} is made at ${at.file}:${at.line}`
  const related = own.slice(1).map((record) => ({ message: 'made here, too', at: record.at }))
  return editProblem(edit, 'edit-refused', `${what}, a program, which only people edit`, { at, related, hint: `change line ${at.line}` })
}

/** Values to be removed that do not exist. */
function missingValues(edit: RecordEdit, own: readonly DefinedRecord[], { zone }: LoadedZone): Diagnostic[] {
  if (edit.action !== 'remove') return []
  if (own.length === 0)
    return [noSuchRecords(edit, [...new Set(zone.records.flatMap(({ name, type }) => (name === edit.name ? type : [])))])]
  const present = new Set(own.map(({ data }) => data))
  return edit.data
    .filter((data) => !present.has(data))
    .map((data) => editProblem(edit, 'record-unknown', `no record has the value ${data}`))
}

function isAsWanted(edit: RecordEdit, own: readonly DefinedRecord[]): boolean {
  const wanted = desiredData(edit, own)
  const present = new Set(own.map(({ data }) => data))
  const isSame = wanted.length === own.length && wanted.every((data) => present.has(data))
  return isSame && (edit.ttl === null || own.every(({ ttl }) => ttl === edit.ttl))
}

export interface Checked extends EditedDefinition {
  /** The TTLs of new records. */
  readonly newTtls: readonly DefinedRecord['ttl'][]
}

async function editAndCheck(
  edit: RecordEdit,
  own: readonly DefinedRecord[],
  { loaded, seen }: FoundZone,
  config: Config,
  { file, allZones }: EditOptions,
): Promise<Checked> {
  const { zone, files } = loaded
  const { cwd } = config
  const main = realPathOf(zone.at.file, cwd)
  const kind = await definitionKind(main, config)
  const parts = await splitEditByFile(edit, own, { zone, files, cwd, isMerged: kind !== 'settings' }, file)
  if ('severity' in parts) return refused(parts)
  const edited = await editFiles(parts, { zone, seen, config, kind })
  const refusal = (...found: Diagnostic[]) => refusedOrStale(refused(...found), zone, config)
  if (!edited.ok) return edited.isStale ? { ...refused(edited.diagnostic), isStale: true } : refusal(edited.diagnostic)
  const { changes } = edited
  const texts = textsOf(changes, cwd)
  const isShared = changes.some(({ path }) => path !== main)
  const only = isShared ? undefined : [edit.zone]
  const [before, after] = [
    isShared ? await loadDefinitions(config, { autoPtr: false }) : null,
    await loadDefinitions(config, { autoPtr: false, zones: only, texts }),
  ]
  // The texts were read after the zone was loaded, so another process may have changed them in between.
  const recordsNow = before?.zones.find((one) => one.zone.at.file === zone.at.file)?.zone.records ?? []
  if (before !== null && !haveSameRecords(zone.records, recordsNow))
    return {
      ...refused(editProblem(edit, 'file-unwritable', 'another process has changed its files; run the command again')),
      isStale: true,
    }
  const at = own[0]?.at ?? zone.at
  if (hasErrors(after.diagnostics)) {
    const near = (own[0] ?? zone.records.find(({ name }) => name === edit.name) ?? zone).at
    const isOld = (place: SourcePosition): boolean => isOldPlace(place, changes, cwd)
    const placed = ({ at: found, related, ...one }: Diagnostic): Diagnostic => ({
      ...one,
      at: found && !isOld(found) ? near : found,
      related: related?.filter((other) => isOld(other.at)),
    })
    return refusal(...after.diagnostics.map((one) => withRemoval(edit, zone.records, asRefusal(edit, own, placed(one)))))
  }
  const now = after.zones.find((one) => one.zone.name === edit.zone && one.zone.at.file === zone.at.file)
  const unexpected = unexpectedChanges(edit, zone.records, now?.zone.records ?? [], desiredData(edit, own))
  if (besideRecords(zone) !== besideRecords(now?.zone)) unexpected.push('something other than its records would change in the zone')
  if (unexpected.length > 0) {
    const message = `the edit would have other effects because of the form of the file: ${unexpected.join('; ')}; edit it by hand`
    return refusal(editProblem(edit, 'edit-refused', message, { at }))
  }
  const others = before === null ? [] : otherZones(before, after, zone)
  if (others.length > 0 && !allZones) return refused(sharedFileProblem(edit, changes, others, { cwd, at }))
  const present = new Set(own.map(({ data }) => data))
  const fresh = (now?.zone.records ?? []).filter(({ name, type, data }) => name === edit.name && type === edit.type && !present.has(data))
  const known = new Set(loaded.diagnostics.map(({ code, message }) => `${code} ${message}`))
  for (const { code, message } of before?.diagnostics ?? []) known.add(`${code} ${message}`)
  const diagnostics = after.diagnostics.filter(({ code, message }) => !known.has(`${code} ${message}`))
  return { changes, others, diagnostics, newTtls: fresh.map(({ ttl }) => ttl) }
}

/** Marks a refusal as stale if another process has changed the zone since, which may be the reason for it. */
export async function refusedOrStale(refusal: Checked, zone: LoadedZone['zone'], config: Config): Promise<Checked> {
  const { zones } = await loadDefinitions(config, { autoPtr: false, zones: [zone.name] })
  const now = zones.find((one) => one.zone.at.file === zone.at.file)?.zone
  const isSame = now !== undefined && haveSameRecords(zone.records, now.records) && besideRecords(zone) === besideRecords(now)
  return isSame ? refusal : { ...refusal, isStale: true }
}

/** By real path, and by the path through the working directory. */
export const textsOf = (changes: readonly FileEdit[], cwd: string): ReadonlyMap<string, string> =>
  new Map(
    changes.flatMap(({ path, after }) => {
      const text = after.startsWith(BYTE_ORDER_MARK) ? after.slice(BYTE_ORDER_MARK.length) : after
      return [[path, text] as const, [fromDisplayPath(displayPath(path, cwd), cwd), text] as const]
    }),
  )

/** The zones, except `own`, whose records differ. */
export function otherZones(before: LoadedDefinitions, after: LoadedDefinitions, own: LoadedZone['zone']): DomainName[] {
  const records = new Map(after.zones.map(({ zone }) => [zone.at.file, zone.records]))
  const changed = before.zones.filter(
    ({ zone }) => zone.at.file !== own.at.file && !haveSameRecords(zone.records, records.get(zone.at.file) ?? []),
  )
  return [...new Set(changed.map(({ zone }) => zone.name))].sort()
}

/** Maximum number of zones that a message lists. */
const MAX_ZONES = 10

export function sharedFileProblem(
  edit: EditSubject,
  changes: readonly FileEdit[],
  others: readonly DomainName[],
  { cwd, at }: { readonly cwd: string; readonly at: Diagnostic['at'] },
): Diagnostic {
  const names = listed(others, MAX_ZONES)
  const files = changes.map(({ path }) => displayPath(path, cwd)).join(', ')
  const hint = `change it for all of them with --all-zones, or write the record in the definition with override: true`
  return editProblem(edit, 'record-elsewhere', `a change of ${files} would also change other zones: ${names}`, { at, hint })
}

/**
 * Rewords errors of the edited text: the edit removed an anchor that other entries use, or added values to
 * the definition for an RRset of a fragment.
 */
function asRefusal(edit: RecordEdit, own: readonly DefinedRecord[], found: Diagnostic): Diagnostic {
  const [first] = own
  if (found.code === 'rrset-split' && first !== undefined) {
    const hint = `add it there with --file ${first.at.file}, write merge: true there, or override: true in the definition`
    return editProblem(edit, 'record-elsewhere', `is defined in ${first.at.file}`, { at: first.at, hint })
  }
  if (found.severity !== 'error' || !/^yaml-|^zonefile-/.test(found.code)) return found
  const message = `other entries of the file depend on it (${found.message}); edit it by hand`
  return editProblem(edit, 'edit-refused', message, { at: found.at })
}

/** Adds the commands that remove what keeps the name from being or having a CNAME. */
function withRemoval({ zone, name, type }: RecordEdit, records: readonly DefinedRecord[], found: Diagnostic): Diagnostic {
  if (found.code !== 'cname-not-alone') return found
  const types = new Set(records.flatMap((one) => (one.name === name && one.type !== type ? one.type : [])))
  const isInTheWay = (one: string): boolean => type === 'CNAME' || one === 'CNAME'
  const owner = relativeName(name, zone) || '@'
  const subject = `${zone.slice(0, -1)} ${owner.includes('*') ? `'${owner}'` : owner}`
  const commands = [...types].filter(isInTheWay).map((one) => `"zonewright record remove ${subject} ${one}"`)
  return commands.length === 0 ? found : { ...found, hint: `to replace it, first run ${listed(commands)}` }
}

/** A zone without its records, as comparable text without positions. */
export const besideRecords = (zone: LoadedZone['zone'] | undefined): string =>
  JSON.stringify({ ...zone, records: null, rrsetTargets: null, settingPositions: null }, (key, value: unknown) =>
    key === 'at' ? undefined : value,
  )

/** Maximum number of differences that a message lists. */
export const MAX_DIFFERENCES = 5

/**
 * Describes the effects of an edit beyond those intended; empty if there are none. A new record without an explicit TTL may have any TTL that the file
 * gives it.
 */
function unexpectedChanges(
  edit: RecordEdit,
  before: readonly ResourceRecord[],
  after: readonly ResourceRecord[],
  wanted: readonly string[],
): string[] {
  const isOwn = ({ name, type }: ResourceRecord): boolean => name === edit.name && type === edit.type
  const [beside, besideAfter] = [before.filter((record) => !isOwn(record)), after.filter((record) => !isOwn(record))]
  // Usually even their order is the same.
  const others = haveSameRecords(beside, besideAfter) ? [] : countDifferences(beside, besideAfter)
  const ttls = new Map(before.filter(isOwn).map(({ data, ttl }) => [data, ttl]))
  const own = countDifferences(
    wanted.map((data) => ({ ...edit, data, ttl: edit.ttl ?? ttls.get(data) ?? null })),
    after.filter(isOwn).map((record) => (edit.ttl === null && !ttls.has(record.data) ? { ...record, ttl: null } : record)),
  )
  return [...others, ...own].slice(0, MAX_DIFFERENCES)
}

/** Whether two lists have the same records in the same order. */
export const haveSameRecords = (records: readonly ResourceRecord[], others: readonly ResourceRecord[]): boolean =>
  records.length === others.length &&
  records.every((record, index) => {
    const other = others[index] as ResourceRecord
    return record.name === other.name && record.type === other.type && record.ttl === other.ttl && record.data === other.data
  })

/** The differences of two lists of records, without regard to their order. */
export function countDifferences(expected: readonly ResourceRecord[], found: readonly ResourceRecord[]): string[] {
  const counts = new Map<string, number>()
  for (const [records, by] of [[expected, 1] as const, [found, -1] as const]) {
    for (const { name, ttl, type, data } of records) {
      const key = `${name} ${ttl ?? 'no TTL'} ${type} ${data}`
      counts.set(key, (counts.get(key) ?? 0) + by)
    }
  }
  return [...counts]
    .filter(([, count]) => count !== 0)
    .map(([key, count]) => (count > 0 ? `there would be no ${key}` : `there would be ${key}`))
}
