import { readdirSync } from 'node:fs'
import { expect, onTestFinished, test, vi } from 'vitest'
import { cli, expectEnd } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { ZONE } from './scene.ts'
import { openServiceScene } from './service-scene.ts'

test('shows all steps and every query once, each query with its response, and leaves no files', async () => {
  // A new folder: other demos may run at the same time.
  const folder = temporaryDirectory()
  const cwd = temporaryDirectory()
  vi.stubEnv('TMPDIR', folder)
  onTestFinished(() => void vi.unstubAllEnvs())
  const { stdout } = expectEnd(await cli(['demo'], { cwd }), 0, { err: '' })
  expect(readdirSync(folder)).toEqual([])

  const headings = [...stdout.matchAll(/^== (\d+)\. .*$/gm)].map(([, number]) => Number(number))
  expect(headings).toEqual([1, 2, 3, 4, 5, 6, 7])
  for (const [, heading] of stdout.matchAll(/\n(== .*)/g)) expect(stdout).toContain(`\n\n${heading}\n\n`)
  expect(stdout).toMatch(/^Plan: \d+ to create, 0 to update, 0 to delete in 4 zones/m)
  expect(stdout).toMatch(/^Applied: \d+ created, 0 updated, 0 deleted in 4 zones/m)
  expect(stdout).toMatch(/^No changes\. 4 zones match\.$/m)
  expect(stdout).toMatch(/^Verified: 4 of 4 zones as defined, /m)
  expect(stdout.match(/^ +\+ ns1\.shop /gm)).toHaveLength(1)
  for (const command of ['init', 'serve', '--help']) expect(stdout).toMatch(new RegExp(`^ +zonewright ${command} `, 'm'))

  const questions = [...stdout.matchAll(/^ {2}\$ dig @127\.0\.0\.1 -p \d+ (\S+ \S+)\n((?: {2}\S.*\n)+)/gm)]
  expect(questions.length).toBeGreaterThanOrEqual(5)
  expect(new Set(questions.map(([, question]) => question)).size).toBe(questions.length)
  for (const [, , answer = ''] of questions) expect(answer).toMatch(/^ {2}\S+ {2}\d+ {2}IN {2}/)
  const answers = new Map(questions.map(([, question, answer]) => [question, answer]))
  expect(answers.get('www.example.com. A')).toMatch(/IN {2}CNAME {2}example\.com\.\n(?:.*IN {2}A {2}.*\n){2}/)
  expect(answers.get('anything.example.net. A')).toContain('IN  A  192.0.2.20')
})

test('uses given definitions, and reports invalid ones', async () => {
  const scene = await openServiceScene({ files: { 'zones/example.com.yaml': ZONE, 'faulty/example.com.yaml': 'a: [' } })
  expectEnd(await scene.run('demo', '--zones', 'zones'), 0, { out: '== 2. The changes for the definitions in zones' })
  expectEnd(await scene.run('demo', '--zones', 'faulty'), 1, { err: /^faulty\/example\.com\.yaml:1:\d+: error\[yaml-syntax\]/ })
  expect(scene.proxy.requests).toEqual([])
})
