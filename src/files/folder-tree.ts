/** Walks folders. */
import type { Dirent } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isInside } from './file-path.ts'
import { describeReadError } from './read-text.ts'

/** The deepest nesting of folders that is searched. */
const MAX_DEPTH = 32

/** Maximum number of entries that are searched in total. */
const MAX_ENTRIES = 500_000

export interface TreeEntry {
  /** Absolute; symbolic links on the way are kept. */
  readonly path: string
  readonly name: string
  readonly isFolder: boolean
  /** A symbolic link that points outside the roots of the tree. Callers must not follow or read it. */
  readonly isOutside: boolean
}

/** A folder that could not be read, or a tree that is too large to be read completely. */
export interface TreeProblem {
  readonly path: string
  readonly message: string
}

/** Lists folders and caches the lists. */
export interface FolderTree {
  /** The entries of a folder, sorted by name. A symbolic link counts as its target; a dangling one as a file, which cannot be read. */
  list(path: string): Promise<readonly TreeEntry[]>
  /**
   * Visits everything below a folder, each folder before its contents. `enter` decides whether to descend into a folder. Folders whose name begins
   * with a dot, `node_modules`, and links back to a parent folder are never entered.
   */
  walk(path: string, depth: number, enter: (entry: TreeEntry) => boolean, visit: (entry: TreeEntry) => void): Promise<void>
  readonly problems: readonly TreeProblem[]
}

/** A view of folders whose links may not point outside all of `roots`, absolute paths without symbolic links. */
export function folderTree(...roots: readonly string[]): FolderTree {
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
      const resolved = await Promise.all(found.map((entry) => resolveEntry(path, entry, roots)))
      return resolved.filter((entry): entry is TreeEntry => entry !== null).sort((a, b) => (a.name < b.name ? -1 : 1))
    } catch (error) {
      problems.push({ path, message: describeReadError(error) })
      return []
    }
  }
  const list = (path: string): Promise<readonly TreeEntry[]> => {
    let known = listed.get(path)
    if (!known) {
      known = read(path)
      listed.set(path, known)
    }
    return known
  }
  const walk: FolderTree['walk'] = async (path, depth, enter, visit) => {
    const parents = new Set<string>()
    const descend = async (folder: string, depthLeft: number): Promise<void> => {
      const real = await realpath(folder).catch(() => folder)
      if (parents.has(real)) return
      parents.add(real)
      for (const entry of await list(folder)) {
        visit(entry)
        if (!entry.isFolder || entry.isOutside || depthLeft <= 0 || entry.name.startsWith('.') || entry.name === 'node_modules') continue
        if (enter(entry)) await descend(entry.path, depthLeft - 1)
      }
      parents.delete(real)
    }
    await descend(path, Math.min(depth, MAX_DEPTH))
  }
  return { list, walk, problems }
}

async function resolveEntry(folder: string, entry: Dirent, roots: readonly string[]): Promise<TreeEntry | null> {
  const path = join(folder, entry.name)
  if (!entry.isSymbolicLink()) {
    return entry.isFile() || entry.isDirectory() ? { path, name: entry.name, isFolder: entry.isDirectory(), isOutside: false } : null
  }
  const facts = await stat(path).catch(() => null)
  if (facts === null) return { path, name: entry.name, isFolder: false, isOutside: false }
  const real = await realpath(path).catch(() => path)
  const isOutside = !roots.some((root) => isInside(real, root))
  return facts.isFile() || facts.isDirectory() ? { path, name: entry.name, isFolder: facts.isDirectory(), isOutside } : null
}
