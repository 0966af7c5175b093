/** Reads a revision of a folder's git repository. The working tree is not changed. */
import { hash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { type Diagnostic, oneLine } from '../base/diagnostic.ts'
import { isCi } from '../base/environment.ts'
import { excerpt, quoted } from '../base/text.ts'
import type { PathScope } from '../files/allowed-paths.ts'
import { displayPath, isInside, relativePath, resolveLinks, withSlashes } from '../files/file-path.ts'
import { findProgram, NO_PROGRAM, repositoryOf } from '../files/find-program.ts'
import { MAX_FILE_OCTETS, readOctets } from '../files/read-text.ts'
import { cleanAtExit } from '../files/temporary-file.ts'

type Environment = PathScope['env']

/** The files that a folder has at a revision. Its functions throw `RevisionError`. */
export interface Revision {
  /**
   * The commit with these files: the merge base of HEAD and the revision that the user named, or that revision itself if `..` follows its name. Before the
   * first commit, the empty tree.
   */
  readonly commit: string
  /**
   * Copies the files to the same temporary folder each time, and returns it. `wanted` selects them by their paths, relative to the folder with `/`; all are
   * copied if there are links, which may lead to others.
   */
  readonly copy: (wanted?: (path: string) => boolean) => Promise<string>
  /**
   * Those of absolute paths below the folder whose files differ from those of the revision, or do not exist. Line ends do not matter. `visit` gets the octets of
   * most of the others.
   */
  readonly changed: (paths: readonly string[], visit?: (path: string, octets: Buffer) => void) => Promise<ReadonlySet<string>>
}

/** Maximum number of files, and their maximum octets in total. */
const MAX_FILES = 100_000
const MAX_OCTETS = 256 * 1024 * 1024

/** Maximum octets of git's list of the files. */
const MAX_LIST_OCTETS = 32 * 1024 * 1024

/**
 * Calls `work` with the files that a folder had at a revision. `text` is the user's argument: a revision, meaning its merge base with
 * HEAD (as in `git diff REV...`), or a revision and `..`, meaning the revision itself. Leaves out submodules, files too large for a definition, and
 * links that lead outside the folder. Returns a diagnostic if the revision cannot be read.
 */
export async function withRevision<T>(
  folder: string,
  text: string,
  env: Environment,
  work: (revision: Revision) => Promise<T>,
): Promise<{ readonly ok: true; readonly value: T } | { readonly ok: false; readonly diagnostic: Diagnostic }> {
  let close: (() => void) | null = null
  try {
    const { git, prefix, workTree } = await openRepository(folder, env)
    const commit = await commitOf(git, text)
    const files = await filesOf(git, commit, prefix, workTree)
    if (files.size > MAX_FILES || octetsOf(files.values()) > MAX_OCTETS) throw tooLarge(text, folder)
    const hasLinks = [...files.values()].some(({ isLink }) => isLink)
    const copied = new Set<TreeFile>()
    let place = ''
    const copy: Revision['copy'] = async (wanted = () => true) => {
      const missing = [...files.values()].filter((file) => !copied.has(file) && (hasLinks || wanted(file.path)))
      const contents = await contentsOf(git, missing)
      if (close === null) {
        place = mkdtempSync(join(resolveLinks(tmpdir()), 'zonewright-revision-'))
        const remove = (): void => rmSync(place, { recursive: true, force: true })
        const cancel = cleanAtExit(remove)
        close = () => {
          cancel()
          remove()
        }
      }
      writeCopy(place, missing, contents)
      for (const file of missing) copied.add(file)
      return place
    }
    const changed: Revision['changed'] = async (paths, visit) => {
      const differing = new Map<string, TreeFile>()
      const found = new Set<string>()
      for (const path of paths) {
        const now = readOctets(path)
        const file = files.get(withSlashes(relativePath(folder, path)))
        if (now === null || file === undefined || file.isLink) found.add(path)
        else if (objectOf(now, file.object) !== file.object) differing.set(path, file)
        else visit?.(path, now)
      }
      const contents = await contentsOf(git, [...differing.values()])
      for (const [index, path] of [...differing.keys()].entries())
        if (withoutReturns(readOctets(path)) !== withoutReturns(contents[index] as Buffer)) found.add(path)
      if (!hasLinks) return found
      const before = await copy()
      const isSame = (path: string): boolean => {
        const now = readOctets(path)
        return now !== null && withoutReturns(now) === withoutReturns(readOctets(resolve(before, relative(folder, path))))
      }
      return new Set([...found].filter((path) => !isSame(path)))
    }
    return { ok: true, value: await work({ commit, copy, changed }) }
  } catch (error) {
    if (error instanceof RevisionError) return { ok: false, diagnostic: error.diagnostic }
    throw error
  } finally {
    ;(close as (() => void) | null)?.()
  }
}

const withoutReturns = (octets: Buffer | null): string | null =>
  octets === null ? null : octets.toString('latin1').replaceAll('\r\n', '\n')

/** The name that git gives to octets, with the hash of another name. */
const objectOf = (octets: Buffer, other: string): string =>
  hash(other.length === 40 ? 'sha1' : 'sha256', Buffer.concat([Buffer.from(`blob ${octets.length}\0`), octets]))

const octetsOf = (files: Iterable<TreeFile>): number => [...files].reduce((sum, { octets }) => sum + octets, 0)

/** Whether a folder has a file or link with this name at a revision; null if there is no repository or no such revision. */
export async function existsInRevision(folder: string, text: string, name: string, env: Environment): Promise<boolean | null> {
  try {
    const { git } = await openRepository(folder, env)
    const commit = await commitOf(git, text)
    return (await git(['cat-file', '-e', `${commit}:./${name}`])).status === 0
  } catch (error) {
    if (error instanceof RevisionError) return null
    throw error
  }
}

/**
 * In words, the commit that wrote a line of a file; null if the line is not committed. Only objects of the repository are read, not the work tree, so no filter of its
 * config runs. Throws `RevisionError`.
 */
export async function commitOfLine(folder: string, path: string, text: string, line: number, env: Environment): Promise<string | null> {
  const { git, prefix } = await openRepository(folder, env)
  const file = displayPath(resolveLinks(path), resolveLinks(folder))
  const shown = await git(['cat-file', 'blob', `HEAD:${prefix}${file}`], { maxOctets: MAX_FILE_OCTETS })
  const lines = shown.status === 0 ? shown.stdout.toString('utf8').split('\n') : []
  const wanted = text.split('\n')[line - 1]
  const same = lines.flatMap((one, index) => (one === wanted ? index + 1 : []))
  // In a changed file, a line is where its text is, if that is only one place.
  const at = same.includes(line) ? line : same.length === 1 ? same[0] : undefined
  if (at === undefined) return null
  const { status, stdout, stderr } = await git(['blame', '--no-textconv', '--porcelain', '-L', `${at},${at}`, 'HEAD', '--', file])
  const [head = '', ...fields] = stdout.toString('utf8').split('\n')
  const field = (name: string): string => fields.find((one) => one.startsWith(`${name} `))?.slice(name.length + 1) ?? ''
  if (status !== 0) throw new RevisionError(`git cannot say who wrote line ${line}: ${stderr}`)
  const day = new Date(Number(field('author-time')) * 1000).toISOString().slice(0, 10)
  return `commit ${head.slice(0, 12)}, ${day}, ${field('author')}: ${field('summary')}`
}

/**
 * The links to a folder, or to one above it, that HEAD has and a revision has not: through them, a path leads to files that had another one. Paths from the top
 * of the repository; null if they cannot be found.
 */
export async function newLinksTo(folder: string, text: string, env: Environment): Promise<readonly string[] | null> {
  try {
    const { git, workTree } = await openRepository(folder, env)
    const compared = ['diff-tree', '-r', '-z', '--no-renames', await commitOf(git, text), 'HEAD', '--']
    const { status, stdout } = await git(compared, { maxOctets: MAX_LIST_OCTETS })
    if (status !== 0) return null
    // Pairs of `:MODE MODE …` and a path.
    const fields = stdout.toString('utf8').split('\0')
    const links = fields.filter((_, index) => index % 2 === 1 && /^:\d+ 120000 /.test(fields[index - 1] ?? ''))
    return links.filter((path) => isInside(resolveLinks(folder), resolveLinks(join(workTree, path))))
  } catch (error) {
    if (error instanceof RevisionError) return null
    throw error
  }
}

/** Fetches a branch of the remote `origin`, `isWhole` with its history even if the clone is shallow. Returns the problem if that fails, otherwise null. */
export async function fetchBranch(folder: string, branch: string, env: Environment, isWhole = false): Promise<string | null> {
  try {
    const { git } = await openRepository(folder, env, true)
    const depth = isWhole && (await isShallow(git)) ? ['--unshallow'] : []
    const refs = `+refs/heads/${branch}:refs/remotes/origin/${branch}`
    const { status, stderr } = await git(['fetch', '--quiet', '--no-tags', '--no-recurse-submodules', ...depth, 'origin', refs])
    return status === 0 ? null : stderr
  } catch (error) {
    if (error instanceof RevisionError) return error.diagnostic.message
    throw error
  }
}

const tooLarge = (text: string, folder: string): RevisionError =>
  new RevisionError(
    `${quoted(text)} has more than ${MAX_FILES} files or ${MAX_OCTETS / 1024 / 1024} MiB below ${folder}`,
    'put the config into a folder with the definitions and little else',
  )

interface Repository {
  /** Absolute. */
  readonly gitDir: string
  /** Absolute, without links. */
  readonly workTree: string
}

/** By the folder where the search began. */
const found = new Map<string, Repository>()

/**
 * Finds the repository of a folder once, so that nothing that appears in the checkout later can replace it. In CI it is the outermost one below the job's folder:
 * a pull request can add a submodule, and the runner's own files may be in a repository.
 */
async function findRepository(folder: string, env: Environment): Promise<Repository> {
  const start = isCi(env) ? repositoryOf(folder, env['GITHUB_WORKSPACE'] ?? env['CI_PROJECT_DIR']) : folder
  const known = found.get(start)
  if (known !== undefined) return known
  const { status, stdout, stderr } = await runGit(['-C', start], ['rev-parse', '--absolute-git-dir', '--show-toplevel'], { folder, env })
  const [gitDir = '', workTree = '', ...rest] = stdout.toString('utf8').split('\n')
  if (status === 0 && rest.length === 1) {
    found.set(start, { gitDir, workTree })
    return { gitDir, workTree }
  }
  if (stderr.includes('dubious ownership'))
    throw new RevisionError(
      `git refuses the repository of ${folder}, which belongs to another user`,
      `allow it: git config --global --add safe.directory ${folder}`,
    )
  throw stderr.includes('not a git repository')
    ? noRepository(folder)
    : new RevisionError(`git cannot read the repository of ${folder}: ${stderr}`, NEED_CHECKOUT)
}

const NEED_CHECKOUT = 'run the command in a checkout of the repository, or select zones by name, path or glob'

const noRepository = (folder: string): RevisionError => new RevisionError(`${folder} is not in a git repository`, NEED_CHECKOUT)

/** `git` runs in the folder, and may contact the remote if `isOnline`. `prefix` is the path in the work tree, with a final slash; empty at the top. `workTree` is absolute. Throws `RevisionError`. */
export async function openRepository(
  folder: string,
  env: Environment,
  isOnline = false,
): Promise<{ readonly git: Git; readonly prefix: string; readonly workTree: string }> {
  const { gitDir, workTree } = await findRepository(folder, env)
  const place = resolveLinks(folder)
  if (!isInside(place, workTree)) throw noRepository(folder)
  const where = [`--git-dir=${gitDir}`, `--work-tree=${workTree}`, '-C', folder]
  return {
    git: (args, options) => runGit(where, args, { folder, env, isOnline, ...options }),
    prefix: `${displayPath(place, workTree)}/`.replace(/^\.\/$/, ''),
    workTree,
  }
}

/** The commit of a user's argument (see `withRevision`). */
async function commitOf(git: Git, text: string): Promise<string> {
  const isExact = text.endsWith('..')
  const name = isExact ? text.slice(0, -2) : text
  if (name === '' || name.startsWith('-') || name.includes('..') || name.length > 500 || /\p{Cc}/u.test(name))
    throw new RevisionError(`${quoted(text)} is not a revision`, 'name a branch, tag or commit, such as origin/main')
  const commit = await resolveCommit(git, name)
  const head = await resolveCommit(git, 'HEAD')
  if (head === null && name === 'HEAD' && (await git(['symbolic-ref', '--quiet', 'HEAD'])).status === 0) return emptyTree(git)
  if (commit === null || head === null) {
    const missing = commit === null ? quoted(name) : 'HEAD'
    const shallow = await shallowHint(git)
    throw new RevisionError(
      `the repository has no revision ${missing}`,
      shallow ?? '"git fetch" gets the branches of the remote: name one as origin/main',
    )
  }
  if (isExact) return commit
  const { status, stdout } = await git(['merge-base', commit, head])
  const [base = ''] = stdout.toString('utf8').split('\n')
  if (status === 0 && isObject(base)) return base
  const hint = (await shallowHint(git)) ?? `to compare with the revision itself, write ${name}..`
  throw new RevisionError(`${quoted(name)} and HEAD have no common ancestor`, hint)
}

/** The tree without files. It replaces `HEAD` before the first commit, so that a hook that checks the changes since `HEAD` checks all files. */
const emptyTree = async (git: Git): Promise<string> => (await git(['hash-object', '-t', 'tree', '--stdin'])).stdout.toString('utf8').trim()

const isObject = (text: string): boolean => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text)

/** A branch of a remote comes before a tag or branch of the same name: anybody who may push can add those. */
async function resolveCommit(git: Git, name: string): Promise<string | null> {
  for (const full of name.includes('/') ? [`refs/remotes/${name}`, name] : [name]) {
    const { status, stdout } = await git(['rev-parse', '--verify', '--quiet', '--end-of-options', `${full}^{commit}`])
    const commit = stdout.toString('utf8').trim()
    if (status === 0 && isObject(commit)) return commit
  }
  return null
}

const isShallow = async (git: Git): Promise<boolean> =>
  (await git(['rev-parse', '--is-shallow-repository'])).stdout.toString('utf8').trim() === 'true'

/** A hint for shallow clones; null if the clone is complete. */
async function shallowHint(git: Git): Promise<string | null> {
  if (!(await isShallow(git))) return null
  return 'the clone is shallow: check out the whole history ("fetch-depth: 0" of actions/checkout, "GIT_DEPTH: 0" of GitLab), or run "git fetch --unshallow"'
}

interface TreeFile {
  /** Relative to the folder, with `/`. */
  readonly path: string
  readonly object: string
  readonly isLink: boolean
  readonly octets: number
}

/** By the commit and the folder, which never change. */
const trees = new Map<string, ReadonlyMap<string, TreeFile>>()

/** The files and links that a commit has below a folder, by their paths, without files that are too large. */
async function filesOf(git: Git, commit: string, prefix: string, workTree: string): Promise<ReadonlyMap<string, TreeFile>> {
  const key = `${commit} ${workTree} ${prefix}`
  const known = trees.get(key)
  if (known !== undefined) return known
  const limit = prefix === '' ? [] : ['--', prefix]
  const listed = await git(['ls-tree', '-r', '-l', '-z', '--full-tree', commit, ...limit], { maxOctets: MAX_LIST_OCTETS })
  if (listed.status !== 0) throw new RevisionError(`git cannot list the files of ${commit}: ${listed.stderr}`)
  const files = new Map<string, TreeFile>()
  for (const line of listed.stdout.toString('utf8').split('\0')) {
    const [, mode = '', object = '', size = '', whole = ''] = /^([0-7]{6}) blob ([0-9a-f]+) +([0-9]+)\t(.*)$/s.exec(line) ?? []
    const path = whole.slice(prefix.length)
    // A crafted tree may have names that lead outside the folder.
    const isSafe =
      path !== '' && !path.includes('\\') && path.split('/').every((part) => !['', '.', '..', '.git'].includes(part.toLowerCase()))
    if (isSafe && whole.startsWith(prefix) && Number(size) <= MAX_FILE_OCTETS)
      files.set(path, { path, object, isLink: mode === '120000', octets: Number(size) })
  }
  trees.set(key, files)
  return files
}

/** The contents of the files, in the same order. */
async function contentsOf(git: Git, files: readonly TreeFile[]): Promise<Buffer[]> {
  if (files.length === 0) return []
  const input = files.map(({ object }) => `${object}\n`).join('')
  const { status, stdout, stderr } = await git(['cat-file', '--batch'], { input, maxOctets: octetsOf(files) + files.length * 128 })
  const incomplete = (): RevisionError =>
    new RevisionError(
      `git cannot read the files of the revision${stderr === '' ? '' : `: ${stderr}`}`,
      'a partial clone needs all files: clone without --filter',
    )
  if (status !== 0) throw incomplete()
  let at = 0
  return files.map(({ object, octets }) => {
    const end = stdout.indexOf(10, at)
    if (stdout.toString('latin1', at, end) !== `${object} blob ${octets}`) throw incomplete()
    at = end + 1 + octets + 1
    return stdout.subarray(end + 1, end + 1 + octets)
  })
}

/** Writes the files to a folder, and the links after all files, so that no file is written through a link. */
function writeCopy(folder: string, files: readonly TreeFile[], contents: readonly Buffer[]): void {
  try {
    const folders = new Set<string>()
    for (const isLink of [false, true])
      for (const [index, file] of files.entries()) {
        if (file.isLink !== isLink) continue
        const path = join(folder, file.path)
        if (!folders.has(dirname(path))) mkdirSync(dirname(path), { recursive: true })
        folders.add(dirname(path))
        const content = contents[index] as Buffer
        if (!isLink) writeFileSync(path, content, { flag: 'wx', mode: 0o600 })
        else if (isInside(resolve(dirname(path), content.toString('utf8')), folder)) symlinkSync(content.toString('utf8'), path)
      }
  } catch (error) {
    throw new RevisionError(`the files of the revision cannot be written to ${folder}: ${(error as Error).message}`)
  }
}

// Runs `git` without a shell and without the secrets of the environment, and limits its time and output. Only a fetch may use the network.

/** Milliseconds after which git is killed, and after which a fetch is. */
const TIMEOUT = 60_000
const FETCH_TIMEOUT = 600_000

/** The variables that git gets. Git's own variables, such as GIT_DIR, are left out: in a hook they name another folder. */
const VARIABLES = /^(?:PATH|HOME|XDG_CONFIG_HOME|USERPROFILE|SYSTEMROOT|TMPDIR|GIT_CONFIG_.*)$/
const NETWORK_VARIABLES = /^(?:(?:https?|all|no)_proxy|GIT_SSL_.*|SSH_AUTH_SOCK)$/i

/** A problem that prevents reading a revision. */
export class RevisionError extends Error {
  readonly diagnostic: Diagnostic
  constructor(message: string, hint?: string) {
    super(message)
    this.diagnostic = { severity: 'error', code: 'revision-unreadable', message, hint }
  }
}

interface GitOutput {
  readonly status: number
  readonly stdout: Buffer
  readonly stderr: string
}

interface GitOptions {
  readonly input?: string
  readonly maxOctets?: number
}

type Git = (args: readonly string[], options?: GitOptions) => Promise<GitOutput>

/**
 * Options that keep git from running programs that the repository's config names, and (git 2.38 or later) from treating a folder of the checkout as a bare
 * repository.
 */
const SAFE = [
  ...['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'safe.bareRepository=explicit'].flatMap((setting) => ['-c', setting]),
  ...['--no-replace-objects', '--no-optional-locks'],
]

const INSTALL_GIT = 'install git, or select zones by name, path or glob instead of by revision'

const ONLINE = { GIT_ALLOW_PROTOCOL: 'https:http:ssh:file' }
/** Allows no protocol, so that git fetches nothing for a partial clone. */
const OFFLINE = { GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none' }

/** Runs a command of git, after options that say where. */
async function runGit(
  place: readonly string[],
  args: readonly string[],
  { folder, env, isOnline = false, input = '', maxOctets = 65_536 }: GitOptions & PathScope & { readonly isOnline?: boolean },
): Promise<GitOutput> {
  // Most runs need no git, and loading the module takes time.
  const { spawn } = await import('node:child_process')
  return new Promise((done, fail) => {
    const own = Object.entries(env).filter(([name]) => VARIABLES.test(name) || (isOnline && NETWORK_VARIABLES.test(name)))
    const program = findProgram('git', { folder, env })
    if (program === null) return fail(new RevisionError(`git ${NO_PROGRAM}`, INSTALL_GIT))
    const child = spawn(program, [...SAFE, ...place, ...args], {
      env: { ...Object.fromEntries(own), LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', ...(isOnline ? ONLINE : OFFLINE) },
      stdio: 'pipe',
      timeout: isOnline ? FETCH_TIMEOUT : TIMEOUT,
      killSignal: 'SIGKILL',
    })
    const chunks: Buffer[] = []
    let octets = 0
    let stderr = ''
    child.stdout.on('data', (chunk: Buffer) => {
      octets += chunk.length
      if (octets <= maxOctets) chunks.push(chunk)
      else child.kill('SIGKILL')
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(0, 4096)
    })
    // Git may end before it has read all input.
    child.stdin.on('error', () => undefined).end(input)
    child.once('error', (error: NodeJS.ErrnoException) =>
      fail(new RevisionError(`git cannot be started (${error.code ?? error.message})`, INSTALL_GIT)),
    )
    child.once('close', (status, signal) => {
      if (octets > maxOctets)
        return fail(new RevisionError(`the output of git ${args[0]} is too large`, 'put the config into a smaller folder'))
      if (status === null) return fail(new RevisionError(`git ${args[0]} was ended by ${signal}`))
      done({ status, stdout: Buffer.concat(chunks), stderr: excerpt(oneLine(stderr.trim().split('\n', 1)[0] ?? ''), 300) })
    })
  })
}
