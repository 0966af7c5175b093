/**
 * A folder as version 0.2.0 left it: definitions, a saved plan, a snapshot, a journal with a run that was killed after it had sent a change, and a provider
 * package. A version that breaks one of them (docs/decisions/0025-what-is-stable.md) may refuse it; until then every version goes on with it.
 */
import { cpSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checksumOf } from '../../src/stored/plans/plan-json.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const VERSIONS = readdirSync(import.meta.dirname).filter((name) => /^\d/.test(name))

test.each(VERSIONS)('what %s left is read and gone on with', async (version) => {
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
  const changesIn = ({ zones }: { zones: readonly { zone: string; changes: unknown }[] }): unknown =>
    zones.map(({ zone, changes }) => [zone, changes])
  expect(changesIn(planned)).toEqual(changesIn(saved))

  expect(await run(0, 'history')).toMatch(/ apply {2}interrupted\n {2}nothing done; 4 unknown in example\.com\./)
  expect(served()).toContain('192.0.2.3\n')
  expect(await run(0, 'apply', 'plan.json', '--yes')).toContain('Applied: 1 created, 2 updated, 1 deleted in 1 zone')
  expect(served()).not.toContain('192.0.2.3\n')
  const [interrupted] = /^\S+(?= .* interrupted$)/m.exec(await run(0, 'history')) ?? []
  await run(0, 'rollback', String(interrupted), '--yes')
  expect(served()).toContain('192.0.2.3\n')
})

test.each(VERSIONS)('a provider package written for %s loads and is used', async (version) => {
  const [cwd, packages] = [temporaryDirectory(), temporaryDirectory()]
  cpSync(join(import.meta.dirname, version, 'provider'), join(packages, 'node_modules/zonewright-provider-json-folder'), {
    recursive: true,
  })
  writeFileSync(
    join(cwd, 'zonewright.yaml'),
    'providers: {files: {type: npm:json-folder, folder: stored}}\nzones: [{files: "*.zone.yaml"}]\n',
  )
  const [file, definition] = [
    join(cwd, 'example.com.zone.yaml'),
    'domain: example.com\nrecords:\n  www: {type: A, values: [192.0.2.1, 192.0.2.2]}\n',
  ]
  const apply = () => cli(['apply', '--yes'], { cwd, env: { ZONEWRIGHT_PACKAGES_DIR: packages } })
  for (const [text, said] of [
    [definition, '3 created, 0 updated, 0 deleted'],
    [definition.replace('.2]', '.3]'), '0 created, 1 updated, 0 deleted'],
    [definition.replace('A, values: [192.0.2.1, 192.0.2.2]', 'AAAA, value: "2001:db8::1"'), '1 created, 0 updated, 2 deleted'],
  ] as const) {
    writeFileSync(file, text)
    expect(await apply()).toMatchObject({ status: 0, stdout: expect.stringContaining(`Applied: ${said} in 1 zone`) })
  }
  expect(JSON.parse(readFileSync(join(cwd, 'stored/example.com.json'), 'utf8'))).toEqual([
    { name: 'www.example.com.', type: 'AAAA', ttl: 3600, data: ['2001:db8::1'] },
  ])
})

test.each(VERSIONS)('what a later version than %s writes is refused by its name', async (version) => {
  const cwd = temporaryDirectory()
  cpSync(join(import.meta.dirname, version), cwd, { recursive: true })
  renameSync(join(cwd, 'journal'), join(cwd, '.zonewright'))
  const change = (file: string, alter: (text: string) => string): void => {
    const path = join(cwd, file)
    writeFileSync(path, alter(readFileSync(path, 'utf8')))
  }
  const sealed = (later: object) => (text: string) => {
    const document = { ...JSON.parse(text), tool: 'zonewright 99.0.0', ...later }
    return JSON.stringify({ ...document, checksum: checksumOf(document) })
  }
  const refused = async (said: RegExp, ...args: string[]) => expectEnd(await cli(args, { cwd }), 1, { err: said })

  change('plan.json', sealed({ later: 1 }))
  await refused(
    /^error\[plan-file-invalid\] .*"later".*"zonewright 99\.0\.0" made it, and this is zonewright .*: use that version, or create it again/,
    'apply',
    'plan.json',
  )
  change('plan.json', sealed({ version: 99 }))
  await refused(/^error\[plan-file-version\] plan\.json has version 99 /, 'apply', 'plan.json')
  change('snapshot.json', sealed({ later: 1 }))
  await refused(/^error\[snapshot-invalid\] .*"later".*"zonewright 99\.0\.0" made it, /, 'plan', '--snapshot', 'snapshot.json')
  const runs = readdirSync(join(cwd, '.zonewright/runs')).sort()
  const last = String(runs.at(-1))
  change(`.zonewright/runs/${last}/journal.jsonl`, (text) => text.replace('"version":', '"version":9'))
  const unreadable = new RegExp(`error\\[journal-unreadable\\] run ${last}: its journal has version 9\\d*; this program reads version `)
  for (const args of [['history'], ['report', last], ['rollback', last, '--yes'], ['report', '--last']]) await refused(unreadable, ...args)
  expect((await cli(['history'], { cwd })).stdout).toContain(runs[0])
  expect((await cli(['report', '--last'], { cwd })).stdout).toContain('Applied: 27 created')
})
