import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Diagnostic, SourcePosition } from '../../base/diagnostic.ts'
import type { Config } from '../../config/config.ts'
import { readValidTree } from '../../definition/yaml/editable-yaml.ts'
import { lookUp, type YamlNode } from '../../definition/yaml/yaml-node.ts'
import { parentOf, relativeName } from '../../dns/domain-name.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import type { DesiredZone } from '../../dns/zone.ts'
import { zoneFileName } from '../../dns/zone-file/zone-file-name.ts'
import { displayPath, fromDisplayPath, resolveLinks } from '../../files/file-path.ts'
import { readText, readTextWithMark } from '../../files/read-text.ts'
import { sourcePolicy } from '../../files/source-policy.ts'
import { parseFileName } from '../definition-name.ts'
import { desiredData, type EditedFile, editText } from './edit-text.ts'
import type { RecordEdit } from './record-edit.ts'
import { editProblem } from './record-edit.ts'

/** A file (absolute, without links) with its text before the edit, empty for a new file, and after it. */
export interface FileEdit {
  readonly path: string
  readonly before: string
  readonly after: string
}

export type EditedFiles =
  | { readonly ok: true; readonly changes: readonly FileEdit[] }
  /** `isStale`: a file has changed since the zone was loaded. */
  | { readonly ok: false; readonly diagnostic: Diagnostic; readonly isStale?: true }

export const BYTE_ORDER_MARK = '\ufeff'

/** Applies the parts of an edit to the texts of their files. `seen` holds the texts as they were loaded. */
export async function editFiles(
  parts: ReadonlyMap<string, RecordEdit>,
  { zone, seen, config, kind }: { zone: DesiredZone; seen: ReadonlyMap<string, string>; config: Config; kind: EditedFile['kind'] },
): Promise<EditedFiles> {
  const { cwd } = config
  const policy = sourcePolicy(config)
  const changes: FileEdit[] = []
  for (const [path, edit] of parts) {
    const shown = displayPath(path, cwd)
    const isNew = await stat(path).then(
      () => false,
      (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
    )
    const read = isNew ? ({ ok: true, text: '---\n' } as const) : await readTextWithMark(path, shown, policy)
    if (!read.ok) return { ok: false, diagnostic: { severity: 'error', ...read.problem } }
    const mark = read.text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : ''
    const text = read.text.slice(mark.length)
    const loaded = [...seen].find(([one]) => resolveLinks(one) === path)?.[1] ?? text
    if (loaded !== text) return { ok: false, diagnostic: changedSinceLoaded(shown), isStale: true }
    const ofOwner = zone.records.filter(({ name, at }) => name === edit.name && realPathOf(at.file, cwd) === path)
    const own = ofOwner.filter(({ type }) => type === edit.type)
    const isFragment = kind === 'settings' && path !== realPathOf(zone.at.file, cwd)
    const edited = editText({ text, kind, tree: kind === 'zone-file' ? null : treeOf(text), own, ofOwner, isFragment }, edit)
    if (!edited.ok) return { ok: false, diagnostic: editProblem(edit, 'edit-refused', edited.message, { at: own[0]?.at ?? zone.at }) }
    changes.push({ path, before: isNew ? '' : read.text, after: mark + edited.value })
  }
  return { ok: true, changes }
}

const changedSinceLoaded = (file: string): Diagnostic => ({
  severity: 'error',
  code: 'file-unwritable',
  message: `${file} cannot be written: another process has changed it; run the command again`,
  at: { file, line: 1, column: 1 },
})

/** The format of a zone's files. Fragments have that of the definition that includes them, split files that of octoDNS. `main` is absolute. */
export async function definitionKind(main: string, config: Config): Promise<EditedFile['kind']> {
  if (parseFileName(basename(main))?.kind === 'zone-file') return 'zone-file'
  const read = await readText(main, main, sourcePolicy(config))
  const root = read.ok ? treeOf(read.text) : null
  return root?.kind === 'mapping' && lookUp(root, 'domain')?.kind === 'scalar' ? 'settings' : 'octodns'
}

function treeOf(text: string): YamlNode | null {
  const root = readValidTree(text)
  return root.ok ? root.value : null
}

/** A zone with its files. */
interface ZoneFiles {
  readonly zone: DesiredZone
  /** Paths as in messages. */
  readonly files: readonly string[]
  readonly cwd: string
  /** Whether an RRset of an included file replaces the definition's own. */
  readonly isMerged: boolean
}

/** The absolute path, with links resolved, of a file named as in messages. */
export const realPathOf = (file: string, cwd: string): string => resolveLinks(fromDisplayPath(file, cwd))

/** Whether a place in the texts after an edit is the same in those before it. */
export function isOldPlace({ file, line }: SourcePosition, changes: readonly FileEdit[], cwd: string): boolean {
  const change = changes.find(({ path }) => path === realPathOf(file, cwd))
  const upTo = (text: string): string => text.split('\n', line).join('\n')
  return change === undefined || upTo(change.before) === upTo(change.after)
}

/**
 * Splits an edit into one per file, by path. Existing values are kept or removed in their own files. New values go to the file `asked`; if that is null,
 * to the definition or to the only file with the values that they replace. Files that do not change are left out.
 */
export async function splitEditByFile(
  edit: RecordEdit,
  own: readonly DefinedRecord[],
  { zone, files, cwd, isMerged }: ZoneFiles,
  asked: string | null,
): Promise<ReadonlyMap<string, RecordEdit> | Diagnostic> {
  const main = realPathOf(zone.at.file, cwd)
  const named = asked === null ? null : resolveLinks(asked)
  if (named !== null && !files.some((file) => realPathOf(file, cwd) === named))
    return editProblem(edit, 'record-elsewhere', `${displayPath(named, cwd)} is not a file of ${edit.zone}`, { at: zone.at })
  const holders = new Set(own.map(({ at }) => realPathOf(at.file, cwd)))
  const wanted = new Set(desiredData(edit, own))
  const present = new Set(own.map(({ data }) => data))
  const added = [...wanted].filter((data) => !present.has(data))
  const elsewhere = own.find(({ at, data }) => named !== null && !wanted.has(data) && realPathOf(at.file, cwd) !== named)
  if (edit.action === 'remove' && elsewhere) {
    const message = `${elsewhere.data} is in ${elsewhere.at.file}, not in ${displayPath(named ?? main, cwd)}`
    return editProblem(edit, 'record-elsewhere', message, { at: elsewhere.at })
  }
  let target = named ?? main
  if (named === null && added.length > 0) {
    const isSplit = await isFolder(main)
    const [holder = null, ...others] = holders
    const replacesValues = edit.action === 'set' || isMerged || isSplit
    if (holder === null) target = isSplit ? splitPart(edit, zone, main, cwd) : main
    else if (!holders.has(main) && replacesValues && others.length > 0) return unclear(edit, own)
    else if (!holders.has(main) && replacesValues) target = holder
  }
  const parts = new Map<string, RecordEdit>()
  for (const path of new Set([...holders, target])) {
    const there = own.filter(({ at }) => realPathOf(at.file, cwd) === path)
    const stays = there.map(({ data }) => data).filter((data) => wanted.has(data))
    const data = path === target ? [...stays, ...added] : stays
    const isSame = data.length === there.length && stays.length === data.length
    if (isSame && (edit.ttl === null || there.every(({ ttl }) => ttl === edit.ttl))) continue
    parts.set(path, { ...edit, action: 'set', data, ttl: data.length === 0 ? null : edit.ttl })
  }
  return parts
}

function unclear(edit: RecordEdit, own: readonly DefinedRecord[]): Diagnostic {
  const files = [...new Set(own.map(({ at }) => at.file))]
  const hint = `name the file for the new values with --file, such as --file ${files[0]}`
  return editProblem(edit, 'record-elsewhere', `its values come from several files: ${files.join(', ')}`, { at: own[0]?.at, hint })
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (facts) => facts.isDirectory(),
    () => false,
  )

/** The file for new records of a split zone: that of the owner's other records, otherwise one named after the owner; for the apex and its wildcard, the file of the zone. */
function splitPart(edit: RecordEdit, { records }: DesiredZone, folder: string, cwd: string): string {
  const ofOwner = records.find(({ name }) => name === edit.name)
  if (ofOwner) return realPathOf(ofOwner.at.file, cwd)
  const isOfZone = edit.name === edit.zone || (parentOf(edit.name) === edit.zone && edit.name.startsWith('*.'))
  const name = isOfZone
    ? `$${edit.zone.slice(0, -1)}.yaml`
    : zoneFileName(`${relativeName(edit.name, edit.zone)}.` as typeof edit.name, new Set(), 'yaml')
  return join(folder, name)
}
