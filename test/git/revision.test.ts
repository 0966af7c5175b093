import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openRevision } from '../../src/git/revision.ts'
import { filesBelow } from '../cli/scene.ts'
import { GIT_ENVIRONMENT, gitRepository } from '../support/git-repository.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

async function opened(folder: string, text: string) {
  const result = await openRevision(folder, text, GIT_ENVIRONMENT)
  if (!result.ok) throw new Error(result.diagnostic.message)
  onTestFinished(() => result.revision.close())
  return result.revision
}

async function problem(folder: string, text: string, env: Readonly<Record<string, string | undefined>> = GIT_ENVIRONMENT): Promise<string> {
  const result = await openRevision(folder, text, env)
  if (result.ok) throw new Error('opened')
  expect(result.diagnostic).toMatchObject({ severity: 'error', code: 'revision-unreadable', hint: expect.any(String) })
  return `${result.diagnostic.message} – ${result.diagnostic.hint}`
}

describeWithTools(['git'], 'openRevision', () => {
  test('copies the files of the merge base, and with two dots those of the revision itself', async () => {
    const { folder, git, commit } = gitRepository({ 'a.yaml': '1\n', 'zones/ä b.yaml': '\u00e4\n', 'empty.yaml': '' })
    git('checkout', '-qb', 'topic')
    commit({ 'a.yaml': 'topic\n' })
    git('checkout', '-q', 'main')
    commit({ 'a.yaml': '2\n', 'zones/ä b.yaml': null })
    git('checkout', '-q', 'topic')
    const base = await opened(folder, 'main')
    expect(filesBelow(base.folder)).toEqual({ 'a.yaml': '1\n', 'zones/ä b.yaml': '\u00e4\n', 'empty.yaml': '' })
    const exact = await opened(folder, 'main..')
    expect(filesBelow(exact.folder)).toEqual({ 'a.yaml': '2\n', 'empty.yaml': '' })
    exact.close()
    expect(existsSync(exact.folder)).toBe(false)
  })

  test('copies only the folder, not its neighbours', async () => {
    const { folder } = gitRepository({ 'dns/a.yaml': '1\n', 'dns-more/b.yaml': '2\n', 'c.yaml': '3\n' })
    expect(filesBelow((await opened(join(folder, 'dns'), 'HEAD')).folder)).toEqual({ 'a.yaml': '1\n' })
  })

  test('takes the repository of the folder, also in a hook, and runs none of its programs', async () => {
    const { folder, git } = gitRepository({ 'a.yaml': '1\n', '.gitattributes': '* filter=evil diff=evil\n' })
    const mark = join(temporaryDirectory(), 'mark')
    for (const key of ['core.fsmonitor', 'filter.evil.clean', 'filter.evil.smudge', 'diff.evil.textconv'])
      git('config', key, `touch ${mark}; cat`)
    writeFileSync(join(folder, '.git/hooks/post-checkout'), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 })
    execFileSync('rm', ['-f', mark])
    const env = { ...GIT_ENVIRONMENT, GIT_DIR: '/nonexistent', GIT_INDEX_FILE: '/nonexistent', GIT_EXTERNAL_DIFF: `touch ${mark}` }
    const result = await openRevision(folder, 'HEAD', env)
    expect(result.ok && readFileSync(join(result.revision.folder, 'a.yaml'), 'utf8')).toBe('1\n')
    if (result.ok) result.revision.close()
    expect(existsSync(mark)).toBe(false)
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
    const copy = (await opened(folder, 'HEAD')).folder
    expect(readFileSync(join(copy, 'zones/inside.yaml'), 'utf8')).toBe('2\n')
    expect([existsSync(join(copy, 'zones/outside.yaml')), existsSync(join(copy, 'zones/up'))]).toEqual([false, false])
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
    expect((await openRevision(folder, 'main..', GIT_ENVIRONMENT)).ok).toBe(true)
  })

  test('a folder without a repository', async () => {
    expect(await problem(temporaryDirectory(), 'HEAD')).toContain('is not in a git repository')
  })
})
