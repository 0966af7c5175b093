/** Reads what `find-sources.ts` needs of a folder: names, and the beginnings of some files. Follows no link and runs nothing. */
import { closeSync, constants, openSync, readdirSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { hasHead, type SeenFile } from './find-sources.ts'

/** The deepest folder, the entries in total, the files that are opened, and what is read of each in octets. */
const MAX_DEPTH = 4
const MAX_ENTRIES = 20_000
const MAX_OPENED = 2_000
const HEAD = 65_536

/** The regular files below a folder, those of each folder before those of the folders below it. `isComplete` is false if there are more. */
export function lookAround(folder: string): { readonly files: readonly SeenFile[]; readonly isComplete: boolean } {
  const files: SeenFile[] = []
  const folders = [{ path: '', depth: 0 }]
  let [entries, opened] = [0, 0]
  for (const { path: above, depth } of folders) {
    for (const entry of listOf(join(folder, above))) {
      const path = `${above}${entry.name}`
      entries += 1
      if (entries > MAX_ENTRIES) return { files, isComplete: false }
      if (entry.isDirectory() && depth < MAX_DEPTH && !/^(?:\.|node_modules$)/.test(entry.name))
        folders.push({ path: `${path}/`, depth: depth + 1 })
      if (!entry.isFile()) continue
      const isOpened = hasHead(path) && opened < MAX_OPENED
      if (isOpened) opened += 1
      files.push({ path, head: isOpened ? headOf(join(folder, path)) : '' })
    }
  }
  return { files, isComplete: opened < MAX_OPENED }
}

function listOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    return []
  }
}

/** Empty for a file that cannot be read, and for a link that has taken its place. */
function headOf(path: string): string {
  let file: number | null = null
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const buffer = Buffer.alloc(HEAD)
    return buffer.toString('utf8', 0, readSync(file, buffer, 0, HEAD, 0))
  } catch {
    return ''
  } finally {
    if (file !== null) closeSync(file)
  }
}
