/** Reads what `find-sources.ts` needs of a folder: names, and the beginnings of some files. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { relative, sep } from 'node:path'
import { resolveLinks } from '../../files/file-path.ts'
import { folderTree } from '../../files/folder-tree.ts'
import { hasHead, type SeenFile } from './find-sources.ts'

/** The deepest folder, and what is read of each file in octets. */
const MAX_DEPTH = 4
const HEAD = 65_536

/** The files below a folder. Runs nothing, and follows no link out of it. */
export async function lookAround(folder: string): Promise<readonly SeenFile[]> {
  const files: SeenFile[] = []
  const root = resolveLinks(folder)
  const tree = folderTree(root)
  await tree.walk(
    root,
    MAX_DEPTH,
    () => true,
    ({ path, isFolder, isOutside }) => {
      if (!isFolder && !isOutside) files.push({ path: relative(root, path).split(sep).join('/'), head: hasHead(path) ? headOf(path) : '' })
    },
  )
  return files
}

/** Empty for a link, for what is no regular file, and for what cannot be read. */
function headOf(path: string): string {
  let file: number | null = null
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const buffer = Buffer.alloc(HEAD)
    return fstatSync(file).isFile() ? buffer.toString('utf8', 0, readSync(file, buffer, 0, HEAD, 0)) : ''
  } catch {
    return ''
  } finally {
    if (file !== null) closeSync(file)
  }
}
