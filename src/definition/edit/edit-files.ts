import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DesiredZone } from '../../dns/zone.ts'
import type { Config } from '../config/config.ts'
import { displayPath, realOr } from '../files/file-path.ts'
import { readText, readWholeText } from '../files/read-text.ts'
import { fileNameOf } from '../load/definition-name.ts'
import { sourcePolicy } from '../load/source-policy.ts'
import { soundTree } from '../yaml/edit-document.ts'
import { lookUp, type YamlNode } from '../yaml/yaml-node.ts'
import { editProblem } from './edit-problem.ts'
import { type EditedFile, editText } from './edit-text.ts'
import type { RecordEdit } from './read-record-edit.ts'
import { realPath } from './share-edit.ts'

/** A file with its text before an edit, empty for a new file, and after; absolute, without links. */
export interface FileEdit {
  readonly path: string
  readonly before: string
  readonly after: string
}

export type EditedFiles =
  | { readonly ok: true; readonly changes: readonly FileEdit[] }
  /** `isStale`: a file was changed since the zone was loaded. */
  | { readonly ok: false; readonly diagnostic: Diagnostic; readonly isStale?: true }

export const BYTE_ORDER_MARK = '\ufeff'

/** Makes the parts of an edit in the texts of their files. `seen` has texts as they were loaded. */
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
    const read = isNew ? ({ ok: true, text: '---\n' } as const) : await readWholeText(path, shown, policy)
    if (!read.ok) return { ok: false, diagnostic: { severity: 'error', ...read.problem } }
    const mark = read.text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : ''
    const text = read.text.slice(mark.length)
    const loaded = [...seen].find(([one]) => realOr(one) === path)?.[1] ?? text
    if (loaded !== text) return { ok: false, diagnostic: changedMeanwhile(shown), isStale: true }
    const ofOwner = zone.records.filter(({ name, at }) => name === edit.name && realPath(at.file, cwd) === path)
    const own = ofOwner.filter(({ type }) => type === edit.type)
    const isFragment = kind === 'settings' && path !== realPath(zone.at.file, cwd)
    const edited = editText({ text, kind, tree: kind === 'zone-file' ? null : treeOf(text), own, ofOwner, isFragment }, edit)
    if (!edited.ok) return { ok: false, diagnostic: editProblem(edit, 'edit-refused', edited.message, { at: own[0]?.at ?? zone.at }) }
    changes.push({ path, before: isNew ? '' : read.text, after: mark + edited.value })
  }
  return { ok: true, changes }
}

const changedMeanwhile = (file: string): Diagnostic => ({
  severity: 'error',
  code: 'file-unwritable',
  message: `${file} cannot be written: somebody else has changed it meanwhile; give the command again`,
  at: { file, line: 1, column: 1 },
})

/** How the files of a zone are written: fragments as the definition that includes them, split files in the layout of octoDNS. `main` is absolute. */
export async function kindOf(main: string, config: Config): Promise<EditedFile['kind']> {
  if (fileNameOf(basename(main))?.kind === 'zone-file') return 'zone-file'
  const read = await readText(main, main, sourcePolicy(config))
  const root = read.ok ? treeOf(read.text) : null
  return root?.kind === 'mapping' && lookUp(root, 'domain')?.kind === 'scalar' ? 'settings' : 'octodns'
}

function treeOf(text: string): YamlNode | null {
  const root = soundTree(text)
  return root.ok ? root.value : null
}
