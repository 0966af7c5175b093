import type { Dirent } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isInside } from './file-path.ts'
import { describeReadError } from './read-text.ts'

/** Folders that may stand in one another. */
const MAX_DEPTH = 32

/** Entries that may be looked at in all. */
const MAX_ENTRIES = 500_000

export interface TreeEntry {
  /** Absolute, as it was reached. */
  readonly path: string
  readonly name: string
  readonly isFolder: boolean
  /** A symbolic link to a place outside the folder that the tree is confined to. It is not to be gone into or read. */
  readonly isOutside: boolean
}

/** A folder that could not be read, or a tree that was left half-read. */
export interface TreeProblem {
  readonly path: string
  readonly message: string
}

/** Lists folders; what was listed once is remembered. */
export interface FolderTree {
  /** The entries of a folder in the order of their names. Symbolic links are what they lead to; a dangling one is a file that cannot be read. */
  list(path: string): Promise<readonly TreeEntry[]>
  /**
   * Visits everything below a folder, each folder before what is in it. `enter` says whether to go into a folder. Folders that
   * begin with a dot and `node_modules` are passed over; a folder that is reached again through a link is not gone into.
   */
  walk(path: string, depth: number, enter: (entry: TreeEntry) => boolean, visit: (entry: TreeEntry) => void): Promise<void>
  readonly problems: readonly TreeProblem[]
}

/** A view of folders that are confined to `root`, absolute and without symbolic links in it; to nothing where that is null. */
export function folderTree(root: string | null): FolderTree {
  const listed = new Map<string, Promise<readonly TreeEntry[]>>()
  const problems: TreeProblem[] = []
  let entries = 0

  const read = async (path: string): Promise<readonly TreeEntry[]> => {
    if (entries > MAX_ENTRIES) return []
    try {
      const found = await readdir(path, { withFileTypes: true })
      entries += found.length
      if (entries > MAX_ENTRIES) {
        problems.push({ path, message: `more than ${MAX_ENTRIES} files and folders are searched` })
        return []
      }
      const resolved = await Promise.all(found.map((entry) => resolveEntry(path, entry, root)))
      return resolved.filter((entry): entry is TreeEntry => entry !== null).sort((a, b) => (a.name < b.name ? -1 : 1))
    } catch (error) {
      problems.push({ path, message: describeReadError(error) })
      return []
    }
  }
  const list = (path: string): Promise<readonly TreeEntry[]> => {
    let entriesOf = listed.get(path)
    if (!entriesOf) {
      entriesOf = read(path)
      listed.set(path, entriesOf)
    }
    return entriesOf
  }
  const walk: FolderTree['walk'] = async (path, depth, enter, visit) => {
    const above = new Set<string>()
    const descend = async (folder: string, left: number): Promise<void> => {
      const real = await realpath(folder).catch(() => folder)
      if (above.has(real)) return
      above.add(real)
      for (const entry of await list(folder)) {
        visit(entry)
        if (!entry.isFolder || entry.isOutside || left <= 0 || entry.name.startsWith('.') || entry.name === 'node_modules') continue
        if (enter(entry)) await descend(entry.path, left - 1)
      }
      above.delete(real)
    }
    await descend(path, Math.min(depth, MAX_DEPTH))
  }
  return { list, walk, problems }
}

async function resolveEntry(folder: string, entry: Dirent, root: string | null): Promise<TreeEntry | null> {
  const path = join(folder, entry.name)
  if (!entry.isSymbolicLink()) {
    return entry.isFile() || entry.isDirectory() ? { path, name: entry.name, isFolder: entry.isDirectory(), isOutside: false } : null
  }
  const facts = await stat(path).catch(() => null)
  if (facts === null) return { path, name: entry.name, isFolder: false, isOutside: false }
  const isOutside = root !== null && !isInside(await realpath(path).catch(() => path), root)
  return facts.isFile() || facts.isDirectory() ? { path, name: entry.name, isFolder: facts.isDirectory(), isOutside } : null
}
