/** Signing in at Google with each kind of credentials, and that no secret leaves the program. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createAccessTokens } from '../../../src/providers/access-tokens.ts'
import { createTestAccount } from '../../scripted/google/account.ts'
import { startScriptedServer } from '../../scripted/scripted-server.ts'
import { expectEnd } from '../../support/cli.ts'
import { startGoogleScene as openScene } from './scene.ts'

const PLAN = ['plan', '--detailed-exitcode', '--no-color']
const DEFINITION = '  www: {type: A, value: 192.0.2.1}\n'
const RRSETS = ['www 3600 A 192.0.2.1']
const { account, keyFile } = createTestAccount('https://unused.example/token')
const person = {
  type: 'authorized_user',
  client_id: 'client.apps.googleusercontent.com',
  client_secret: 'secret-of-the-client',
  refresh_token: 'refresh-token-of-a-person',
}
const known = { ...account, refreshToken: person.refresh_token, clientSecret: person.client_secret }
/** Lines of the private key, and the other secrets. */
const SECRETS = [...JSON.parse(keyFile).private_key.split('\n').slice(1, 4), person.client_secret, person.refresh_token, 'issued-token']

const CASES: readonly (readonly [string, string, Readonly<Record<string, string>>])[] = [
  ['a key file', 'credentials: file:key.json', {}],
  ['a key in a variable', 'credentials: env:KEY', { KEY: keyFile }],
  ['the file of GOOGLE_APPLICATION_CREDENTIALS', '', { GOOGLE_APPLICATION_CREDENTIALS: 'key.json' }],
  ['the file that gcloud writes', 'project: test-project', { CLOUDSDK_CONFIG: '.' }],
  ['the metadata server', 'project: test-project, credentials: metadata', {}],
]

describe.each(CASES)('%s', (_, settings, env) => {
  const tokenUrl = settings.includes('metadata') ? 'ORIGIN/computeMetadata/v1/instance/service-accounts/default/token' : 'ORIGIN/token'
  const start = async (refused = false) => {
    const scene = await openScene({
      definition: DEFINITION,
      rrsets: RRSETS,
      ...(!refused && { account: known }),
      settings: [settings, `token_url: '${tokenUrl}'`].filter((part) => part !== '').join(', '),
    })
    writeFileSync(join(scene.folder, 'key.json'), keyFile)
    writeFileSync(join(scene.folder, 'application_default_credentials.json'), JSON.stringify(person))
    return scene
  }

  test('signs in once per run', async () => {
    const scene = await start()
    expect(await scene.run(PLAN, env)).toMatchObject({ status: 0, stdout: 'No changes. 1 zone matches.\n' })
    expect(scene.server.requests.filter(({ path }) => path.endsWith('/token'))).toHaveLength(1)
  })

  // The metadata server knows no wrong credentials.
  if (settings.includes('metadata')) return
  test('is refused without showing a secret', async () => {
    const scene = await start(true)
    const run = expectEnd(await scene.run(['doctor'], env), 1, { out: 'signing in: 400' })
    for (const secret of SECRETS) expect(run.stdout + run.stderr).not.toContain(secret)
  })
})

test('a lost answer to the sign-in is no uncertain change: it is queried again', async () => {
  const scene = await openScene({
    definition: DEFINITION,
    account: known,
    settings: "credentials: file:key.json, token_url: 'ORIGIN/token'",
  })
  writeFileSync(join(scene.folder, 'key.json'), keyFile)
  scene.server.loseAnswers(1)
  expect(await scene.run(['apply', '--yes', '--no-color'])).toMatchObject({ status: 0, stderr: '' })
  expect(scene.server.requests.filter(({ path }) => path === '/token')).toHaveLength(2)
  expect(scene.lines()).toEqual(RRSETS)
})

test.each([0, 270, 280, 285, 290])(
  'a server that repeats a secret after %i characters does not bring a part of it into messages',
  async (before) => {
    const scene = await openScene({ definition: DEFINITION, settings: "project: p, credentials: file:key.json, token_url: 'ORIGIN/wrong'" })
    writeFileSync(join(scene.folder, 'key.json'), JSON.stringify(person))
    const echo = await startScriptedServer(({ body }) => ({
      status: 400,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        error: 'invalid_grant',
        error_description: `${'x'.repeat(before)}${new URLSearchParams(body).get('client_secret')} ${decodeURIComponent(body)}`,
      }),
    }))
    const config = readFileSync(join(scene.folder, 'zonewright.yaml'), 'utf8')
    writeFileSync(join(scene.folder, 'zonewright.yaml'), config.replace(`${scene.server.origin}/wrong`, `${echo.origin}/token`))
    const run = expectEnd(await scene.run(['doctor']), 1, { out: 'signing in: 400' })
    for (const secret of SECRETS) expect(run.stdout + run.stderr).not.toContain(secret.slice(0, 8))
  },
)

test.each([
  ['no JSON', 'key', 'is no JSON file with credentials of Google'],
  ['null', 'null', 'is no JSON file with credentials of Google'],
  ['another type', '{"type": "gdch_service_account"}', 'a type that is not supported'],
  ['no key', '{"type": "service_account", "client_email": "a@b"}', 'has no "private_key"'],
  ['a key that is none', '{"type": "service_account", "client_email": "a@b", "private_key": "x"}', 'has a private key that cannot be read'],
])('credentials with %s', async (_, text, message) => {
  const scene = await openScene({ definition: DEFINITION, settings: 'project: p, credentials: file:key.json' })
  writeFileSync(join(scene.folder, 'key.json'), text)
  expectEnd(await scene.run(PLAN), 1, { err: message })
})

test.each([
  ['no credentials', '', 'set credentials to a key file'],
  ['no project', 'credentials: metadata', 'is missing, and the credentials name none'],
  ['a token and credentials', 'project: p, token: env:TOKEN, credentials: metadata', 'remove one of them'],
  ['plain HTTP', "project: p, credentials: metadata, token_url: 'http://192.0.2.1/token'", 'without TLS'],
])('settings with %s', async (_, settings, message) => {
  const scene = await openScene({ definition: DEFINITION, settings: settings || 'timeout: 5' })
  expectEnd(await scene.run(PLAN, { HOME: scene.folder }), 1, { err: message })
})

test('the host of the sign-in must be allowed too', async () => {
  const scene = await openScene({ definition: DEFINITION, settings: 'credentials: file:key.json' })
  writeFileSync(join(scene.folder, 'key.json'), keyFile)
  expectEnd(await scene.run(PLAN, { ZONEWRIGHT_ALLOWED_HOSTS: new URL(scene.server.origin).host }), 1, { err: 'oauth2.googleapis.com' })
  expect(scene.server.requests).toEqual([])
})

test('a token is fetched once for requests at the same time, and again before it expires', async () => {
  let time = 0
  let fetched = 0
  const seen: string[] = []
  const tokens = createAccessTokens({
    fetch: async () => ({ token: `token-${++fetched}`, lifetime: 3600 }),
    now: () => time,
    onToken: (token) => seen.push(token),
    close: async () => undefined,
  })
  expect(await Promise.all([tokens.get(), tokens.get()])).toEqual(['token-1', 'token-1'])
  time = 3_400_000
  expect(await tokens.get()).toBe('token-1')
  time = 3_500_000
  expect(await tokens.get()).toBe('token-2')
  expect([tokens.current, seen]).toEqual(['token-2', ['token-1', 'token-2']])
})
