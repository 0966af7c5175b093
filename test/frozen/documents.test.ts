/**
 * A folder as version 0.2.0 left it: definitions, a saved plan, a snapshot, and a journal with a run that was killed after it had sent a change. The next major
 * version may refuse it; until then this version goes on with it.
 */
import { cpSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

test.each(readdirSync(import.meta.dirname).filter((name) => /^\d/.test(name)))('what %s left is read and gone on with', async (version) => {
  const cwd = temporaryDirectory()
  cpSync(join(import.meta.dirname, version), cwd, { recursive: true })
  renameSync(join(cwd, 'journal'), join(cwd, '.zonewright'))
  const run = async (status: number, ...args: string[]): Promise<string> => {
    const ended = await cli(args, { cwd })
    expect(`${ended.status} ${ended.stderr}`).toMatch(new RegExp(`^${status} `))
    return ended.stdout
  }
  const served = (): string => readFileSync(join(cwd, 'live/example.com.zone'), 'utf8')

  await run(0, 'validate', '--strict')
  const saved = JSON.parse(readFileSync(join(cwd, 'plan.json'), 'utf8'))
  const planned = JSON.parse(await run(0, 'plan', '--snapshot', 'snapshot.json', '--max-age', '20000d', '--format', 'json'))
  expect(planned.summary).toEqual(saved.summary)
  expect(planned.zones[0].changes).toEqual(saved.zones[0].changes)

  expect(await run(0, 'history')).toMatch(/ apply {2}interrupted\n {2}nothing done; 4 unknown in example\.com\./)
  expect(served()).toContain('192.0.2.3\n')
  expect(await run(0, 'apply', 'plan.json', '--yes')).toContain('Applied: 1 created, 2 updated, 1 deleted in 1 zone')
  expect(served()).not.toContain('192.0.2.3\n')
  const [interrupted] = /^\S+(?= .* interrupted$)/m.exec(await run(0, 'history')) ?? []
  await run(0, 'rollback', String(interrupted), '--yes')
  expect(served()).toContain('192.0.2.3\n')
})
