/** What a folder has that `init` can take over, judged by the names of files and their first characters. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { relative, sep } from 'node:path'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { listed } from '../../base/english.ts'
import { CONFIG_FILE } from '../../config/config.ts'
import { USUAL_FILE_NAMES } from '../../dns/zone-file/zone-file-name.ts'
import { escapeGlob } from '../../files/file-glob.ts'
import { resolveLinks } from '../../files/file-path.ts'
import { folderTree, type TreeProblem } from '../../files/folder-tree.ts'

/** A regular file: its path relative to the folder, with `/`, and its beginning, which is empty if `hasHead` is false for the path. */
export interface SeenFile {
  readonly path: string
  readonly head: string
}

export interface Source {
  /** The format of an import. A raw state is refused with the command that makes the right file. */
  readonly kind: 'octodns' | 'dnscontrol' | 'terraform' | 'zonefile'
  /** A file, or for `zonefile` the folder of all zone files; `.` for the folder itself. */
  readonly path: string
}

/** The names of files whose beginning says what they are. */
const hasHead = (path: string): boolean => /\.(?:ya?ml|json|zone|db)$|(?:^|\/)db\.[^/]+$/i.test(path)

/** The deepest folder, and what is read of each file in octets. */
const MAX_DEPTH = 4
const HEAD = 65_536

/** The files below a folder, and warnings of those that cannot be read. Runs nothing, and follows no link out of it. */
export async function lookAround(
  folder: string,
): Promise<{ readonly seen: readonly SeenFile[]; readonly diagnostics: readonly Diagnostic[] }> {
  const seen: SeenFile[] = []
  const root = resolveLinks(folder)
  const tree = folderTree(root)
  const problems: TreeProblem[] = []
  const shown = (path: string): string => relative(root, path).split(sep).join('/')
  await tree.walk(
    root,
    MAX_DEPTH,
    () => true,
    ({ path, isFolder, isOutside }) => {
      if (isFolder || isOutside) return
      const head = hasHead(path) ? headOf(path) : ''
      if (head === null) problems.push({ path, message: 'cannot be read: permission denied' })
      seen.push({ path: shown(path), head: head ?? '' })
    },
  )
  const diagnostics = [...tree.problems, ...problems].map(
    ({ path, message }): Diagnostic => ({ severity: 'warning', code: 'file-unreadable', message: `${shown(path) || '.'} ${message}` }),
  )
  return { seen, diagnostics }
}

/** Empty for a link and for what is no regular file; null for what this user may not read. */
function headOf(path: string): string | null {
  let file: number | null = null
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const buffer = Buffer.alloc(HEAD)
    return fstatSync(file).isFile() ? buffer.toString('utf8', 0, readSync(file, buffer, 0, HEAD, 0)) : ''
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? null : ''
  } finally {
    if (file !== null) closeSync(file)
  }
}

/** What can be imported, configs of other tools first. `below` limits it to a path and everything below. */
export function findSources(files: readonly SeenFile[], below = '.'): readonly Source[] {
  const seen = files.filter(({ path }) => below === '.' || path === below || path.startsWith(`${below}/`))
  const of = (kind: Source['kind'], test: (file: SeenFile) => boolean): Source[] => seen.filter(test).map(({ path }) => ({ kind, path }))
  const zoneFiles = seen.filter(isZoneFile)
  // DNSControl and octoDNS can write zone files, and other parts of a repository may have a state.
  const tools = [...of('octodns', isOctodnsConfig), ...of('dnscontrol', ({ path }) => /(?:^|\/)dnsconfig\.js$/.test(path))]
  if (tools.length > 0) return tools
  const shown = of('terraform', isShownState)
  const states = shown.length > 0 ? shown : of('terraform', ({ path }) => /\.tfstate$/.test(path))
  if (zoneFiles.length === 0) return states
  const only = zoneFiles.length === 1 && zoneFiles[0]?.path === below
  return [...states, { kind: 'zonefile', path: only ? below : commonFolder(zoneFiles.map(({ path }) => path)) }]
}

const isOctodnsConfig = ({ path, head }: SeenFile): boolean =>
  /\.ya?ml$/i.test(path) &&
  !path.endsWith(CONFIG_FILE) &&
  /^["']?providers["']?:/m.test(head) &&
  (/\bclass["']?:\s*["']?octodns[._]/.test(head) || (/^["']?zones["']?:/m.test(head) && /\b(?:sources|targets)["']?:/.test(head)))

/** What `show -json` prints of a state, not of a plan. */
const isShownState = ({ path, head }: SeenFile): boolean =>
  /\.json$/i.test(path) && /^\s*\{\s*"format_version"\s*:/.test(head) && !/"(?:planned_values|resource_changes)"/.test(head)

const isZoneFile = ({ path, head }: SeenFile): boolean =>
  /(?:\.(?:zone|db)|(?:^|\/)db\.[^/]+)$/i.test(path) && /\sSOA\s/i.test(head) && !head.includes('\0')

/** Whether a file is a definition in the layout of Zonewright. */
const isDefinition = ({ path, head }: SeenFile): boolean => /\.ya?ml$/i.test(path) && /^domain:/m.test(head) && /^records:/m.test(head)

export const hasDefinitions = (files: readonly SeenFile[]): boolean => files.some(isDefinition)

/** A glob for all definitions. */
export const definitionsGlob = (files: readonly SeenFile[]): string =>
  `${escapeGlob(commonFolder(files.filter(isDefinition).map(({ path }) => path)))}/**/*`.replace(/^\.\//, '')

function commonFolder(paths: readonly string[]): string {
  const [first = [], ...others] = paths.map((path) => path.split('/').slice(0, -1))
  const differs = first.findIndex((part, depth) => others.some((other) => other[depth] !== part))
  return (differs < 0 ? first : first.slice(0, differs)).join('/') || '.'
}

/** Why `fileNameOf` is null, for a message: the files that the naming of most zones lacks. */
export function missingNames(zones: readonly string[], names: ReadonlySet<string>): string {
  const without = USUAL_FILE_NAMES.map((template) => {
    return zones.map((zone) => template.replace('{zone}', () => zone)).filter((name) => !names.has(name))
  })
  const [fewest = []] = without.sort((a, b) => a.length - b.length)
  return fewest.length === zones.length ? 'none has the name of its zone' : `no file ${listed(fewest, 3)}`
}

/** How zone files are named after their zones (without the final dot), as `file_name` of a provider; null if that is none of the usual ways. */
export const fileNameOf = (zones: readonly string[], names: ReadonlySet<string>): string | null =>
  USUAL_FILE_NAMES.find((template) => zones.every((zone) => names.has(template.replace('{zone}', () => zone)))) ?? null
