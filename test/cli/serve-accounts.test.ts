import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startProgram } from '../support/built-program.ts'
import { cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const SEED = `accounts:
  - users:
      - username: somebody
        email: somebody@example.com
        tokens: [{ token: token-of-somebody }]
`

test('serve --seed creates the users of the file, --rate-limit limits them', async () => {
  const folder = temporaryDirectory()
  writeFileSync(join(folder, 'seed.yaml'), SEED)
  const args = ['serve', '--listen', '127.0.0.1:0', '--dns', 'none', '--seed', 'seed.yaml', '--rate-limit', '2']
  const run = await startProgram(args, { cwd: folder, env: { ZONEWRIGHT_BOOTSTRAP_TOKEN: undefined } })
  onTestFinished(() => run.kill('SIGKILL'))
  await run.until('listening')
  const { http } = JSON.parse(run.stdout())
  const answers = []
  for (let request = 0; request < 3; request += 1) {
    answers.push(await fetch(`${http}/profile`, { headers: { authorization: 'Bearer token-of-somebody' } }))
  }
  expect(answers.map(({ status, headers }) => [status, headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')])).toEqual([
    [200, '2', '1'],
    [200, '2', '0'],
    [429, '2', '0'],
  ])
  expect(await answers[0]?.json()).toMatchObject({ username: 'somebody' })
  expect(Number(answers[2]?.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(run.stdout() + run.stderr()).not.toContain('token-of-somebody')
})

test.each<[string, string | null, string[], RegExp]>([
  ['that is missing', null, [], /^error\[file-unreadable\] seed\.yaml does not exist\n$/],
  [
    'with errors',
    SEED.replace('somebody@', ''),
    [],
    /^seed\.yaml:4:16: error\[seed-invalid\] accounts\.users\.email: not an email address\n$/,
  ],
  ['that is not YAML', 'accounts: [', [], /^seed\.yaml:1:\d+: error\[yaml-syntax\] /],
])('serve does not start with a seed %s', async (_name, text, more, message) => {
  const folder = temporaryDirectory()
  if (text !== null) writeFileSync(join(folder, 'seed.yaml'), text)
  const { status, stdout, stderr } = await cli(['serve', '--listen', '127.0.0.1:0', '--dns', 'none', '--seed', 'seed.yaml', ...more], {
    cwd: folder,
  })
  expect([status, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(message)
})

test('does not show lines of a seed, since they contain tokens', async () => {
  const folder = temporaryDirectory()
  writeFileSync(join(folder, 'seed.yaml'), 'accounts: [{ users: [{ username: u, tokens: [{ token: token-of-nobody, scopes: x }] }] }]')
  const { status, stderr } = await cli(['serve', '--verbose', '--listen', '127.0.0.1:0', '--dns', 'none', '--seed', 'seed.yaml'], {
    cwd: folder,
  })
  expect(status).toBe(1)
  expect(stderr).toContain('accounts.users.email is required')
  expect(stderr).not.toContain('token-of-nobody')
})

test.each<[string, readonly string[], string | null]>([
  ['800 by default', [], '800'],
  ['off', ['--rate-limit', 'off'], null],
  ['off with none', ['--rate-limit', 'none'], null],
  ['off with 0', ['--rate-limit', '0'], null],
])('the rate limit of serve is %s', async (_name, options, limit) => {
  const run = await startProgram(['serve', '--listen', '127.0.0.1:0', '--dns', 'none', ...options], { cwd: temporaryDirectory() })
  onTestFinished(() => run.kill('SIGKILL'))
  await run.until('listening')
  const { headers } = await fetch(`${JSON.parse(run.stdout()).http}/regions`)
  expect(headers.get('x-ratelimit-limit')).toBe(limit)
})

test('serve --quotas limits the objects of an account', async () => {
  const args = ['serve', '--listen', '127.0.0.1:0', '--dns', 'none', '--quotas', 'scripts=1,domains=none']
  const run = await startProgram(args, { cwd: temporaryDirectory(), env: { ZONEWRIGHT_BOOTSTRAP_TOKEN: 'token-of-somebody' } })
  onTestFinished(() => run.kill('SIGKILL'))
  await run.until('listening')
  const { http } = JSON.parse(run.stdout())
  const answers: unknown[] = []
  for (const label of ['first', 'second']) {
    const body = JSON.stringify({ label, images: ['any/all'], script: '#!/bin/sh' })
    const headers = { authorization: 'Bearer token-of-somebody', 'content-type': 'application/json' }
    const answer = await fetch(`${http}/compute/scripts`, { method: 'POST', headers, body })
    answers.push([answer.status, ((await answer.json()) as { errors?: unknown }).errors])
  }
  expect(answers).toEqual([
    [200, undefined],
    [400, [{ field: null, reason: 'An account can have at most 1 scripts.' }]],
  ])
})

test('refuses an unknown name in --quotas', async () => {
  const args = ['serve', '--listen', '127.0.0.1:0', '--dns', 'none', '--quotas', 'domain=5']
  const { status, stderr } = await cli(args, { cwd: temporaryDirectory() })
  expect(status).toBe(1)
  expect(stderr).toMatch(
    /^error\[service-start\] the service cannot start: "domain=5" is not a quota such as domains=1000; the quotas are domains, /,
  )
})

test.each(['-1', '1.5', 'many', ''])('refuses --rate-limit %j', async (value) => {
  const { status, stderr } = await cli(['serve', '--rate-limit', value], { cwd: temporaryDirectory() })
  expect(status).toBe(1)
  expect(stderr).toMatch(/^error\[usage\] .*It must be a whole number from 1, or off\.\n$/)
})
