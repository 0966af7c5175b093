/** The config that `ci apply` takes approvals from is that before the push, wherever the push has put another. */
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { noSecrets } from '../../src/base/secret-guard.ts'
import { withTrustedConfig } from '../../src/cli/ci/trusted-config.ts'
import { createOutput } from '../../src/cli/output.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { git } from '../support/workflow-runner.ts'

const CONFIG = 'providers: {files: {type: zonefile, directory: served}}\n'
const FORMER = `${CONFIG}approvals: {needed: 0}\n`

describeWithTools(['git'], 'the trusted config of ci apply', () => {
  const push = (
    before: string | null,
    after: string,
    more: Readonly<Record<string, string>> = {},
  ): { readonly folder: string; readonly commit: string } => {
    const folder = temporaryDirectory()
    git(folder, 'init', '-q', '.')
    mkdirSync(join(folder, 'dns'))
    writeFileSync(join(folder, 'dns/readme'), '')
    if (before !== null) writeFileSync(join(folder, before), FORMER)
    for (const [path, text] of Object.entries(more)) {
      mkdirSync(join(folder, path, '..'))
      writeFileSync(join(folder, path), text)
    }
    git(folder, 'add', '-A')
    git(folder, 'commit', '-q', '-m', 'before')
    const commit = git(folder, 'rev-parse', 'HEAD')
    if (before !== null) renameSync(join(folder, before), join(folder, after))
    writeFileSync(join(folder, after), CONFIG)
    git(folder, 'add', '-A')
    git(folder, 'commit', '-q', '-m', 'after')
    return { folder, commit }
  }

  const trustedAfter = async (folder: string, commit: string, config: string | undefined) => {
    const said: string[] = []
    const io = {
      env: { PATH: process.env['PATH'], HOME: folder },
      cwd: join(folder, 'dns'),
      now: () => new Date(0),
      secrets: noSecrets(),
      stdout: { write: () => true },
      stderr: { write: (text: string) => said.push(text) },
      stdin: process.stdin,
    }
    const job = { before: commit } as Parameters<typeof withTrustedConfig>[0]['job']
    const found: (string | null)[] = []
    await withTrustedConfig({ io, job, output: createOutput(io, {}) }, { ...(config !== undefined && { config }) }, async (trusted) => {
      found.push(trusted.isKnown ? (trusted.file === undefined ? null : readFileSync(trusted.file, 'utf8')) : 'unknown')
      return 0
    })
    return { found, said: said.join('') }
  }

  test.each([false, true])('is unknown if the push replaces its folder by a link to another (with a config: %s)', async (hasConfig) => {
    const { folder, commit } = push('dns/zonewright.yaml', 'dns/zonewright.yaml', hasConfig ? { 'other/zonewright.yaml': CONFIG } : {})
    if (hasConfig) rmSync(join(folder, 'dns'), { recursive: true })
    else renameSync(join(folder, 'dns'), join(folder, 'other'))
    symlinkSync('other', join(folder, 'dns'))
    // The list of changes has this name before the link.
    writeFileSync(join(folder, 'a:000000 120000 x'), '')
    git(folder, 'add', '-A')
    git(folder, 'commit', '-q', '-m', 'link')
    for (const config of [undefined, 'zonewright.yaml', '../dns/zonewright.yaml']) {
      const { found, said } = await trustedAfter(folder, commit, config)
      expect([found, said]).toEqual([['unknown'], expect.stringMatching(/Nothing is applied.*dns is a new link to it/)])
    }
  })

  test.each<[string, string | null, string, string | undefined, string | null]>([
    ['is that of the commit before', 'zonewright.yaml', 'zonewright.yaml', undefined, FORMER],
    ['is found if the push moves it to a folder above', 'dns/zonewright.yaml', 'zonewright.yaml', undefined, FORMER],
    ['is found if the push puts another into a folder below', 'zonewright.yaml', 'dns/zonewright.yaml', undefined, FORMER],
    ['is that of --config', 'other.yaml', 'other.yaml', '../other.yaml', FORMER],
    ['is that of the push if there was none', null, 'zonewright.yaml', undefined, null],
  ])('%s', async (_, before, after, config, expected) => {
    const { folder, commit } = push(before, after)
    expect(await trustedAfter(folder, commit, config)).toEqual({ found: [expected], said: '' })
  })
})
