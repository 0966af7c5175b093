import { readFileSync } from 'node:fs'
import { dirname, relative, sep } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { fileError } from './file-error.ts'
import { isInside } from './file-path.ts'
import type { FileChange } from './inspect-destination.ts'
import { ATTEMPTS, PAUSE, writeEdited } from './write-edited.ts'
import { writeSet } from './write-files.ts'
import { holdFolder, openWriteFolder, type Writer } from './write-folder.ts'
import { writeTarget } from './write-target.ts'

/** A file, absolute, with the text that it has, empty for none, and the one that it is to have. */
export interface TextChange {
  readonly path: string
  readonly before: string
  readonly after: string
}

/** As `writeEdited`, for files that are replaced all or none. */
export async function writeEditedSet(changes: readonly TextChange[], writer: Writer): Promise<Diagnostic | null> {
  const [first] = changes
  if (changes.length === 1 && first) return writeEdited(first.path, first, writer)
  for (let attempt = 1; ; attempt += 1) {
    const inTheWay = await tryToWrite(changes, writer)
    if (inTheWay === null || attempt >= ATTEMPTS) return inTheWay
    await wait(PAUSE)
  }
}

async function tryToWrite(changes: readonly TextChange[], writer: Writer): Promise<Diagnostic | null> {
  const paths = changes.map(({ path }) => writeTarget(path).path)
  const folders = [...new Set(paths.map((path) => dirname(path)))].sort()
  const folder = folderOfAll(folders)
  const taken: (() => void)[] = []
  try {
    for (const one of folders.filter((each) => each !== folder)) {
      const held = holdFolder(one, writer)
      if ('diagnostic' in held) return held.diagnostic
      taken.push(held.release)
    }
    const area = openWriteFolder(folder, writer)
    if ('diagnostic' in area) return area.diagnostic
    taken.push(area.close)
    const files = changes.map((change, index) => fileChange(change, paths[index] as string, folder))
    const outcome = await writeSet(
      area,
      files.map(({ file }) => file),
      { changes: files, unchanged: [] },
    )
    if (outcome.state === 'failed') throw outcome.error
    return null
  } finally {
    for (const release of taken.toReversed()) release()
  }
}

function fileChange({ path, before, after }: TextChange, target: string, folder: string): FileChange {
  const { facts } = writeTarget(path)
  if (facts === null ? before !== '' : !readFileSync(target).equals(Buffer.from(before))) throw fileError('ECHANGED')
  const file = { path: relative(folder, target).split(sep).join('/'), text: after }
  return { file, path: target, mode: facts === null ? null : facts.mode & 0o7777 }
}

/** The folder that all are in. */
function folderOfAll(folders: readonly string[]): string {
  let folder = folders[0] ?? ''
  while (!folders.every((one) => isInside(one, folder))) folder = dirname(folder)
  return folder
}
