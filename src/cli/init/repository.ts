/** The git repository that a folder belongs to, judged by its files. */
import { existsSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
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
  /** The branch that changes are merged into. */
  readonly branch: string
}

export function repositoryOf(folder: string): Repository {
  let root = folder
  while (!existsSync(join(root, '.git')) && root !== dirname(root)) root = dirname(root)
  if (!existsSync(join(root, '.git'))) root = folder
  const text = (path: string): string => existingText(root, path) ?? ''
  const branchIn = (path: string): string | undefined =>
    /^ref: refs\/(?:remotes\/origin|heads)\/([A-Za-z][\w./-]*)\s*$/.exec(text(path))?.[1]
  const isGitlab = existingText(root, '.gitlab-ci.yml') !== null || /^\s*url\s*=.*\bgitlab\b/m.test(text('.git/config'))
  return {
    root,
    below: relative(root, folder).split(sep).join('/'),
    site: isGitlab ? 'gitlab' : 'github',
    // Another branch that is checked out may be for one change.
    branch: branchIn('.git/refs/remotes/origin/HEAD') ?? (branchIn('.git/HEAD') === 'master' ? 'master' : 'main'),
  }
}
