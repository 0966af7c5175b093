import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { existsInRevision, fetchBranch, openRepository, withRevision } from '../../src/git/revision.ts'
import { filesBelow } from '../cli/scene.ts'
import { GIT_ENVIRONMENT, gitRepository } from '../support/git-repository.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

async function filesAt(folder: string, text: string, env: Readonly<Record<string, string | undefined>> = GIT_ENVIRONMENT) {
  const result = await withRevision(folder, text, env, async ({ copy }) => filesBelow(await copy()))
  if (!result.ok) throw new Error(result.diagnostic.message)
  return result.value
}

async function problem(folder: string, text: string, env: Readonly<Record<string, string | undefined>> = GIT_ENVIRONMENT): Promise<string> {
  const result = await withRevision(folder, text, env, async () => null)
  if (result.ok) throw new Error('opened')
  expect(result.diagnostic).toMatchObject({ severity: 'error', code: 'revision-unreadable', hint: expect.any(String) })
  return `${result.diagnostic.message} – ${result.diagnostic.hint}`
}

describeWithTools(['git'], 'withRevision', () => {
  test('copies the files of the merge base, and with two dots those of the revision itself', async () => {
    const { folder, git, commit } = gitRepository({ 'a.yaml': '1\n', 'zones/ä b.yaml': '\u00e4\n', 'empty.yaml': '' })
    git('checkout', '-qb', 'topic')
    commit({ 'a.yaml': 'topic\n' })
    git('checkout', '-q', 'main')
    commit({ 'a.yaml': '2\n', 'zones/ä b.yaml': null })
    git('checkout', '-q', 'topic')
    expect(await filesAt(folder, 'main')).toEqual({ 'a.yaml': '1\n', 'zones/ä b.yaml': '\u00e4\n', 'empty.yaml': '' })
    expect(await filesAt(folder, 'main..')).toEqual({ 'a.yaml': '2\n', 'empty.yaml': '' })
  })

  test('removes the copy at the end', async () => {
    const { folder } = gitRepository({ 'a.yaml': '1\n', 'b.yaml': '2\n' })
    let copied = ''
    await withRevision(folder, 'HEAD', GIT_ENVIRONMENT, async ({ copy }) => {
      copied = await copy((path) => path === 'a.yaml')
      expect(filesBelow(copied)).toEqual({ 'a.yaml': '1\n' })
      expect(filesBelow(await copy())).toEqual({ 'a.yaml': '1\n', 'b.yaml': '2\n' })
    })
    expect([copied === '', existsSync(copied)]).toEqual([false, false])
  })

  test.each(['sha1', 'sha256'])('finds the files that changed, but for their line ends, by their %s', async (format) => {
    const folder = temporaryDirectory()
    execFileSync('git', ['init', '-q', `--object-format=${format}`, folder], { env: GIT_ENVIRONMENT })
    const { git, commit, write } = gitRepository({}, folder)
    symlinkSync('same.yaml', join(folder, 'link.yaml'))
    commit({ 'same.yaml': '1\n', 'ends.yaml': '1\n2\n', 'changed.yaml': '1\n', 'removed.yaml': '1\n', 'other.yaml': '1\n' })
    write({ 'ends.yaml': '1\r\n2\r\n', 'changed.yaml': '2\n', 'removed.yaml': null, 'new.yaml': '1\n' })
    const files = ['same.yaml', 'ends.yaml', 'changed.yaml', 'removed.yaml', 'new.yaml', 'link.yaml']
    const changedOf = async (...more: string[]) => {
      const seen: string[] = []
      const paths = [...files, ...more].map((file) => join(folder, file))
      const changed = await withRevision(folder, 'HEAD', GIT_ENVIRONMENT, (revision) => revision.changed(paths, (path) => seen.push(path)))
      return { changed: changed.ok && [...changed.value].map((path) => basename(path)), seen: seen.map((path) => basename(path)) }
    }
    expect(await changedOf()).toEqual({ changed: ['removed.yaml', 'new.yaml', 'changed.yaml'], seen: ['same.yaml'] })
    git('rm', '-q', '--cached', 'link.yaml')
    git('commit', '-qm', 'link')
    expect(await changedOf()).toEqual({ changed: ['removed.yaml', 'new.yaml', 'link.yaml', 'changed.yaml'], seen: ['same.yaml'] })
  })

  test('copies only the folder, not its neighbours', async () => {
    const { folder } = gitRepository({ 'dns/a.yaml': '1\n', 'dns-more/b.yaml': '2\n', 'c.yaml': '3\n' })
    expect(await filesAt(join(folder, 'dns'), 'HEAD')).toEqual({ 'a.yaml': '1\n' })
  })

  test('keeps the repository that it has found, whatever appears in the checkout', async () => {
    const { folder } = gitRepository({ 'dns/a.yaml': '1\n' })
    const dns = join(folder, 'dns')
    for (const files of [{ 'a.yaml': '1\n' }, { 'a.yaml': '1\n' }]) {
      expect(await filesAt(dns, 'HEAD')).toEqual(files)
      gitRepository({ 'a.yaml': '2\n' }, dns)
    }
  })

  test('takes the outermost repository of the job in CI, where a pull request may have added a submodule', async () => {
    const { folder } = gitRepository({ 'dns/a.yaml': '1\n' })
    const dns = join(folder, 'dns')
    gitRepository({ 'a.yaml': '2\n' }, dns)
    const inCi = async (more: Readonly<Record<string, string>>) => filesAt(dns, 'HEAD', { ...GIT_ENVIRONMENT, CI: 'true', ...more })
    expect(await inCi({})).toEqual({ 'a.yaml': '1\n' })
    expect(await inCi({ GITHUB_WORKSPACE: folder })).toEqual({ 'a.yaml': '1\n' })
    expect(await inCi({ CI_PROJECT_DIR: dns })).toEqual({ 'a.yaml': '2\n' })
    expect(await filesAt(dns, 'HEAD')).toEqual({ 'a.yaml': '2\n' })
  })

  test('takes the branch of the remote, not a tag or branch of its name, which a pull request can bring', async () => {
    const { folder, git, commit } = gitRepository({ 'a.yaml': '1\n' })
    git('update-ref', 'refs/remotes/origin/main', 'HEAD')
    commit({ 'a.yaml': '2\n' })
    git('tag', 'origin/main')
    git('branch', 'origin/main')
    expect(await filesAt(folder, 'origin/main..')).toEqual({ 'a.yaml': '1\n' })
  })

  test('refuses a folder of the checkout that holds the files of a bare repository', async () => {
    const other = gitRepository({ 'a.yaml': 'other\n' })
    const { folder } = gitRepository({ 'dns/a.yaml': '1\n' })
    for (const part of ['HEAD', 'objects', 'refs']) cpSync(join(other.folder, '.git', part), join(folder, 'dns', part), { recursive: true })
    writeFileSync(
      join(folder, 'dns/config'),
      `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ${join(folder, 'dns')}\n`,
    )
    expect(await problem(join(folder, 'dns'), 'HEAD')).toMatch(/cannot read the repository of .*bare/)
  })

  test('keeps links inside the folder, and leaves out those that lead outside', async () => {
    const { folder, git } = gitRepository({ 'zones/a.yaml': '1\n', 'shared/b.yaml': '2\n' })
    symlinkSync('../shared/b.yaml', join(folder, 'zones/inside.yaml'))
    symlinkSync('/etc/passwd', join(folder, 'zones/outside.yaml'))
    symlinkSync('../../../etc', join(folder, 'zones/up'))
    git('add', '-A')
    git('commit', '-qm', 'links')
    await withRevision(folder, 'HEAD', GIT_ENVIRONMENT, async ({ copy }) => {
      const copied = await copy()
      expect(readFileSync(join(copied, 'zones/inside.yaml'), 'utf8')).toBe('2\n')
      expect([existsSync(join(copied, 'zones/outside.yaml')), existsSync(join(copied, 'zones/up'))]).toEqual([false, false])
    })
    expect.assertions(2)
  })

  test.each([
    ['a branch that does not exist', 'no-such-branch', 'no revision "no-such-branch" – "git fetch"'],
    ['an option', '--upload-pack=x', 'is not a revision'],
    ['a range', 'main..topic', 'is not a revision'],
    ['nothing', '', 'is not a revision'],
    ['a file', 'HEAD:a.yaml', 'no revision'],
    ['a control character', 'main\nHEAD', 'is not a revision'],
  ])('refuses %s', async (_, text, expected) => {
    const { folder } = gitRepository({ 'a.yaml': '1\n' })
    expect(await problem(folder, text)).toContain(expected)
  })

  test('says what to do in a shallow clone', async () => {
    const { folder, commit } = gitRepository({ 'a.yaml': '1\n' })
    const first = commit({ 'a.yaml': '2\n' })
    commit({ 'a.yaml': '3\n' })
    const clone = temporaryDirectory()
    execFileSync('git', ['clone', '-q', '--depth', '1', `file://${folder}`, clone], { env: GIT_ENVIRONMENT, stdio: 'ignore' })
    expect(await problem(clone, first)).toContain('fetch-depth: 0')
  })

  test('says what to do about unrelated histories', async () => {
    const { folder, git } = gitRepository({ 'a.yaml': '1\n' })
    git('checkout', '-q', '--orphan', 'other')
    git('commit', '-qm', 'other')
    expect(await problem(folder, 'main')).toContain('no common ancestor – to compare with the revision itself, write main..')
    expect((await withRevision(folder, 'main..', GIT_ENVIRONMENT, async () => null)).ok).toBe(true)
  })

  test('a folder without a repository', async () => {
    expect(await problem(temporaryDirectory(), 'HEAD')).toContain('is not in a git repository')
  })
})

/** Names of hooks that git runs when it fetches, or reads or writes refs and the index. */
const HOOKS = ['reference-transaction', 'post-checkout', 'pre-auto-gc', 'post-index-change', 'fsmonitor-watchman']

describeWithTools(['git'], 'no call of git', () => {
  test.each<[what: string, config: string[], ofCheckout: string, control: string[] | null, env?: Readonly<Record<string, string>>]>([
    ['a hook in the checkout', ['core.hooksPath=hooks'], '', ['branch', 'x']],
    ['a hook of the repository', [], '.git/', ['branch', 'x']],
    ['a monitor of files', ['core.fsmonitor=TOOL'], '', ['status']],
    // Git starts it only in a terminal.
    ['a pager', ['core.pager=TOOL', 'pager.fetch=true', 'pager.ls-tree=true', 'pager.cat-file=true'], '', null],
    ['an external diff', ['diff.external=TOOL'], '', ['diff', 'HEAD~']],
    ['a command for diffs', ['diff.evil.command=TOOL'], '', ['diff', 'HEAD~']],
    ['a text converter', ['diff.evil.textconv=TOOL'], '', ['show']],
    ['a filter', ['filter.evil.clean=TOOL', 'filter.evil.smudge=TOOL'], '', ['checkout', 'HEAD~', '--', 'dns']],
    ['a process that filters', ['filter.evil.process=TOOL'], '', ['checkout', 'HEAD~', '--', 'dns']],
    ['a program of the environment', [], '', ['diff', 'HEAD~'], { GIT_EXTERNAL_DIFF: 'TOOL', GIT_PAGER: 'TOOL', GIT_SSH_COMMAND: 'TOOL' }],
  ])('runs %s', async (_, config, hooks, control, given = {}) => {
    const origin = gitRepository({ 'dns/a.yaml': '1\n', '.gitattributes': '* filter=evil diff=evil\n' })
    const [folder, mark] = [temporaryDirectory(), join(temporaryDirectory(), 'mark')]
    const tool = join(folder, 'tool')
    const script = { tool: `#!/bin/sh\ntouch ${mark}\ncat\n` }
    origin.write(script)
    for (const hook of HOOKS) origin.write({ [`hooks/${hook}`]: script.tool })
    execFileSync('chmod', ['-R', '+x', 'tool', 'hooks'], { cwd: origin.folder })
    origin.commit({ 'dns/a.yaml': '2\n' })
    execFileSync('git', ['clone', '-q', `file://${origin.folder}`, folder], { env: GIT_ENVIRONMENT, stdio: 'ignore' })
    if (hooks !== '') cpSync(join(folder, 'hooks'), join(folder, hooks, 'hooks'), { recursive: true })
    const program = (args: readonly string[], env = {}): unknown =>
      execFileSync('git', args, { cwd: folder, env: { ...GIT_ENVIRONMENT, ...env }, stdio: 'ignore' })
    for (const setting of config) program(['config', ...setting.replace('TOOL', tool).split('=')])
    const env = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, value.replace('TOOL', tool)]))
    origin.commit({ 'dns/a.yaml': '3\n' })

    const ours = { ...GIT_ENVIRONMENT, ...env, GIT_DIR: '/nonexistent', GIT_INDEX_FILE: '/nonexistent', GIT_WORK_TREE: '/' }
    const dns = join(folder, 'dns')
    expect(await fetchBranch(dns, 'main', ours)).toBeNull()
    expect(await filesAt(dns, 'origin/main..', ours)).toEqual({ 'a.yaml': '3\n' })
    expect(await existsInRevision(dns, 'HEAD', 'a.yaml', ours)).toBe(true)
    const { git } = await openRepository(dns, ours)
    expect((await git(['ls-files', '-z'])).stdout.toString()).toBe('a.yaml\0')
    expect(existsSync(mark)).toBe(false)

    // The same program runs where git is called without care.
    if (control === null) return
    spawnSync('git', control, { cwd: folder, env: { ...GIT_ENVIRONMENT, ...env }, stdio: 'ignore' })
    expect(existsSync(mark)).toBe(true)
  })
})
