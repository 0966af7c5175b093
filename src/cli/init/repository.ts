/** The git repository that a folder belongs to, judged by its files. */
import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { existingText } from './add-files.ts'

/** The sites whose CI has a template. */
export const CI_SITES = ['github', 'gitlab'] as const
export type CiSite = (typeof CI_SITES)[number]

export interface Repository {
  /** Absolute. The folder itself if it belongs to no repository. */
  readonly root: string
  /** The folder in the repository, with `/`; empty for its root. */
  readonly below: string
  readonly site: CiSite
  /** Whether the command line or the repository names the site. */
  readonly isSiteKnown: boolean
  /** The branch that changes are merged into. */
  readonly branch: string
}

/** The nearest folder with a git repository; the folder itself if there is none. */
export function repositoryRoot(folder: string): string {
  for (let path = folder; ; path = dirname(path)) {
    if (existsSync(join(path, '.git'))) return path
    if (dirname(path) === path) return folder
  }
}

export function repositoryOf(folder: string): Repository {
  const root = repositoryRoot(folder)
  // A worktree or submodule has a file that names the folder of its git data; a worktree shares the data of another.
  const data = resolve(root, /^gitdir: (.+)/.exec(existingText(root, '.git') ?? '')?.[1] ?? '.git')
  const shared = resolve(data, existingText(data, 'commondir')?.trim() ?? '')
  const branchIn = (place: string, path: string): string | undefined =>
    /^ref: refs\/(?:remotes\/origin|heads)\/([A-Za-z][\w./-]*)\s*$/.exec(existingText(place, path) ?? '')?.[1]
  const settings = existingText(shared, 'config') ?? ''
  const isGitlab = existingText(root, '.gitlab-ci.yml') !== null || /^\s*url\s*=.*\bgitlab\b/m.test(settings)
  return {
    root,
    below: relative(root, folder).split(sep).join('/'),
    site: isGitlab ? 'gitlab' : 'github',
    isSiteKnown: isGitlab || /^\s*url\s*=.*\bgithub\b/m.test(settings) || existsSync(join(root, '.github')),
    // Another branch that is checked out may be for one change.
    branch: branchIn(shared, 'refs/remotes/origin/HEAD') ?? (branchIn(data, 'HEAD') === 'master' ? 'master' : 'main'),
  }
}
