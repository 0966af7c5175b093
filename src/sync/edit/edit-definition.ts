import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Config } from '../../definitions/config.ts'
import type { LoadedZone } from '../../definitions/configured-zone.ts'
import { fileNameOf } from '../../definitions/definition-name.ts'
import { displayPath, fromDisplayPath, realOr } from '../../definitions/file-path.ts'
import { loadDefinitions } from '../../definitions/load-definitions.ts'
import { readText, readWholeText } from '../../definitions/read-text.ts'
import { soundTree } from '../../formats/yaml/edit-document.ts'
import { lookUp, type YamlNode } from '../../formats/yaml/yaml-node.ts'
import { zoneFileName } from '../../formats/zone-file/zone-file-name.ts'
import { type Diagnostic, hasErrors } from '../../model/diagnostic.ts'
import { parentOf, relativeName } from '../../model/domain-name.ts'
import type { DefinedRecord } from '../../model/record.ts'
import { type EditedFile, editText, wantedData } from './edit-text.ts'
import { unexpectedChanges } from './expected-records.ts'
import type { RecordEdit } from './read-record-edit.ts'

export interface EditedDefinition {
  /** The file with its text before and after; null where there is nothing to change, or an error among the diagnostics. */
  readonly change: { readonly path: string; readonly before: string; readonly after: string } | null
  readonly diagnostics: readonly Diagnostic[]
  /** The file was changed by somebody else in the middle of it: the edit may be begun again. */
  readonly isStale?: true
}

/**
 * Changes one RRset in the text of the file that has it, or in `file` (absolute), without writing anything. The zone is loaded before and
 * after, with every rule, and must differ in nothing but the RRset.
 */
export async function editDefinition(edit: RecordEdit, config: Config, file: string | null): Promise<EditedDefinition> {
  const found = await findZone(edit, config)
  if (!('loaded' in found)) return found
  const { loaded, seen } = found
  const own = loaded.zone.records.filter(({ name, type }) => name === edit.name && type === edit.type)
  if (loaded.zone.inventory?.some(({ name, type }) => name === edit.name && type === edit.type)) {
    return refused(fault(edit, 'edit-refused', 'its addresses are looked up when the zone is planned; edit it by hand'))
  }
  const unknown = missingValues(edit, own)
  if (unknown.length > 0) return refused(...unknown)
  if (isAsWanted(edit, own)) return { change: null, diagnostics: [] }
  const place = await placeOf(edit, loaded, own, config, file)
  if (typeof place !== 'string') return refused(place)
  return changeFile(edit, loaded, own, place, { config, seen })
}

const refused = (...diagnostics: Diagnostic[]): EditedDefinition => ({ change: null, diagnostics })

const fault = (edit: RecordEdit, code: Diagnostic['code'], message: string, more: Partial<Diagnostic> = {}): Diagnostic => ({
  severity: 'error',
  code,
  message: `${edit.name} ${edit.type}: ${message}`,
  ...more,
})

interface FoundZone {
  readonly loaded: LoadedZone
  /** Texts of definitions as they were loaded, by path. */
  readonly seen: ReadonlyMap<string, string>
}

async function findZone(edit: RecordEdit, config: Config): Promise<FoundZone | EditedDefinition> {
  const seen = new Map<string, string>()
  const { zones, diagnostics } = await loadDefinitions(config, { zones: [edit.zone], seen })
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  const [loaded, ...others] = zones
  if (errors.length > 0 || loaded === undefined) return refused(...errors)
  if (others.length === 0) return { loaded, seen }
  const related = zones.map(({ zone }) => ({ message: 'a definition of the zone', at: zone.at }))
  return refused(fault(edit, 'edit-refused', `${edit.zone} has several definitions; edit them by hand`, { related }))
}

/** What is to be removed and is not there. */
function missingValues(edit: RecordEdit, own: readonly DefinedRecord[]): Diagnostic[] {
  if (edit.action !== 'remove') return []
  if (own.length === 0) return [fault(edit, 'record-unknown', 'the definition has no such records')]
  const present = new Set(own.map(({ data }) => data))
  return edit.data.filter((data) => !present.has(data)).map((data) => fault(edit, 'record-unknown', `no record has the value ${data}`))
}

function isAsWanted(edit: RecordEdit, own: readonly DefinedRecord[]): boolean {
  const wanted = wantedData(edit, own)
  const present = new Set(own.map(({ data }) => data))
  const isSame = wanted.length === own.length && wanted.every((data) => present.has(data))
  return isSame && (edit.ttl === null || own.every(({ ttl }) => ttl === edit.ttl))
}

/** The file to change, absolute; or why there is none. */
async function placeOf(
  edit: RecordEdit,
  { zone, files }: LoadedZone,
  own: readonly DefinedRecord[],
  config: Config,
  asked: string | null,
): Promise<string | Diagnostic> {
  const pathOf = (name: string): string => realOr(fromDisplayPath(name, config.cwd))
  const main = pathOf(zone.at.file)
  const holders = new Set(own.map(({ at }) => pathOf(at.file)))
  const isSplit = await stat(main).then(
    (facts) => facts.isDirectory(),
    () => false,
  )
  if (asked !== null && !files.some((name) => pathOf(name) === realOr(asked))) {
    return fault(edit, 'record-elsewhere', `${displayPath(asked, config.cwd)} is no file of ${edit.zone}`, { at: zone.at })
  }
  const [holder = null] = holders
  const target = asked !== null ? realOr(asked) : isSplit ? (holder ?? splitPart(edit, zone.records, main, pathOf)) : main
  const elsewhere = own.find(({ at }) => pathOf(at.file) !== target)
  if (elsewhere === undefined) return target
  const hint =
    holders.size > 1
      ? 'its values come from several files: edit them by hand'
      : `change it for all zones that include the file with --file ${elsewhere.at.file}`
  return fault(edit, 'record-elsewhere', `stands in ${elsewhere.at.file}, not in ${displayPath(target, config.cwd)}`, {
    at: elsewhere.at,
    hint,
  })
}

/** Where new records of a split zone go: to the others of their owner, else to a file named after it, apex and wildcard to the one of the zone. */
function splitPart(edit: RecordEdit, records: readonly DefinedRecord[], folder: string, pathOf: (name: string) => string): string {
  const ofOwner = records.find(({ name }) => name === edit.name)
  if (ofOwner) return pathOf(ofOwner.at.file)
  const isOfZone = edit.name === edit.zone || (parentOf(edit.name) === edit.zone && edit.name.startsWith('*.'))
  const name = isOfZone
    ? `$${edit.zone.slice(0, -1)}.yaml`
    : zoneFileName(`${relativeName(edit.name, edit.zone)}.` as typeof edit.name, new Set(), 'yaml')
  return join(folder, name)
}

const BYTE_ORDER_MARK = '\ufeff'

async function changeFile(
  edit: RecordEdit,
  loaded: LoadedZone,
  own: readonly DefinedRecord[],
  path: string,
  { config, seen }: { readonly config: Config } & Pick<FoundZone, 'seen'>,
): Promise<EditedDefinition> {
  const shown = displayPath(path, config.cwd)
  const isNew = await stat(path).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  )
  const read = isNew ? ({ ok: true, text: '---\n' } as const) : await readWholeText(path, shown)
  if (!read.ok) return refused({ severity: 'error', ...read.fault })
  const mark = read.text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : ''
  const before = read.text.slice(mark.length)
  const loadedText = [...seen].find(([one]) => realOr(one) === path)?.[1] ?? before
  if (loadedText !== before) return { ...refused(changedMeanwhile(shown)), isStale: true }
  const ofOwner = loaded.zone.records.filter(({ name, at }) => name === edit.name && realOr(fromDisplayPath(at.file, config.cwd)) === path)
  const main = realOr(fromDisplayPath(loaded.zone.at.file, config.cwd))
  const edited = editText({ text: before, ...(await kindOf(path, before, main)), own, ofOwner }, edit)
  if (!edited.ok) return refused(fault(edit, 'edit-refused', edited.message, { at: own[0]?.at ?? loaded.zone.at }))
  const after = edited.value
  const isFragment = path !== main
  const texts = new Map([
    [path, after],
    [fromDisplayPath(shown, config.cwd), after],
  ])
  const reloaded = await loadDefinitions(config, { zones: isFragment ? undefined : [edit.zone], texts })
  if (hasErrors(reloaded.diagnostics)) return { change: null, diagnostics: reloaded.diagnostics.map((one) => asRefusal(edit, one)) }
  const now = reloaded.zones.find(({ zone }) => zone.name === edit.zone)
  const unexpected = unexpectedChanges(edit, loaded.zone.records, now?.zone.records ?? [], wantedData(edit, own))
  if (besideRecords(loaded.zone) !== besideRecords(now?.zone)) unexpected.push('the zone would be another beside its records')
  if (unexpected.length > 0) {
    const message = `the file has a form in which the edit would do more, or less: ${unexpected.join('; ')}; edit it by hand`
    return refused(fault(edit, 'edit-refused', message, { at: own[0]?.at ?? loaded.zone.at }))
  }
  const known = new Set(loaded.diagnostics.map(({ code, message }) => `${code} ${message}`))
  const fresh = reloaded.diagnostics.filter(({ code, message }) => !known.has(`${code} ${message}`))
  return { change: { path, before: isNew ? '' : read.text, after: mark + after }, diagnostics: fresh }
}

/** What the new text could not even be read for has no place in the file as it is: an anchor that others need went with the record. */
function asRefusal(edit: RecordEdit, found: Diagnostic): Diagnostic {
  if (found.severity !== 'error' || !/^yaml-|^zonefile-/.test(found.code)) return found
  const message = `others in the file need what stands there (${found.message}); edit it by hand`
  return fault(edit, 'edit-refused', message, { at: found.at })
}

/** What is said of a zone beside its records, wherever it stands. */
const besideRecords = (zone: LoadedZone['zone'] | undefined): string =>
  JSON.stringify({ ...zone, records: null, scopes: null, settingsAt: null }, (key, value: unknown) => (key === 'at' ? undefined : value))

const changedMeanwhile = (file: string): Diagnostic => ({
  severity: 'error',
  code: 'file-unwritable',
  message: `${file} cannot be written: somebody else has changed it meanwhile; give the command again`,
  at: { file, line: 1, column: 1 },
})

/** How the file is written: a fragment as the definition that includes it, split files in the layout of octoDNS. */
async function kindOf(path: string, text: string, main: string): Promise<Pick<EditedFile, 'kind' | 'tree'>> {
  if (fileNameOf(basename(path))?.kind === 'zone-file') return { kind: 'zone-file', tree: null }
  const treeOf = (yaml: string): YamlNode | null => {
    const root = soundTree(yaml)
    return root.ok ? root.value : null
  }
  const tree = treeOf(text)
  const ofZone = path === main ? null : await readText(main, main)
  const root = ofZone === null ? tree : ofZone.ok ? treeOf(ofZone.text) : null
  const isSettings = root?.kind === 'mapping' && lookUp(root, 'domain')?.kind === 'scalar'
  return { kind: isSettings ? 'settings' : 'octodns', tree }
}
