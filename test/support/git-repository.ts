import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporaryDirectory } from './temp-directory.ts'

/** The environment of git in tests: no configuration of the machine, and a fixed author. */
export const GIT_ENVIRONMENT = {
  ...{ PATH: process.env['PATH'], HOME: '/nonexistent' },
  ...{ GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' },
}

const AUTHOR = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((role) => [
    [`GIT_${role}_NAME`, 'tester'],
    [`GIT_${role}_EMAIL`, 'tester@example.com'],
    [`GIT_${role}_DATE`, '2026-01-02T03:04:05Z'],
  ]),
)

export interface GitRepository {
  readonly folder: string
  git(...args: string[]): string
  /** Writes files (null removes one) and commits all changes. */
  commit(files: Readonly<Record<string, string | null>>): string
  write(files: Readonly<Record<string, string | null>>): void
}

/** Creates a repository with one commit on the branch `main`. */
export function gitRepository(files: Readonly<Record<string, string>>, folder = temporaryDirectory()): GitRepository {
  const env = { ...GIT_ENVIRONMENT, ...AUTHOR }
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: folder, encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'pipe'] }).trim()
  const write: GitRepository['write'] = (some) => {
    for (const [path, text] of Object.entries(some)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      if (text === null) rmSync(join(folder, path))
      else writeFileSync(join(folder, path), text)
    }
  }
  const commit: GitRepository['commit'] = (some) => {
    write(some)
    git('add', '-A')
    git('commit', '-q', '--allow-empty', '-m', 'change')
    return git('rev-parse', 'HEAD')
  }
  git('init', '-q', '-b', 'main')
  commit(files)
  return { folder, git, commit, write }
}
