/** Signing in at Azure with each kind of credentials, and that no secret leaves the program. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { folderWith } from '../../definition/files.ts'
import { cli, expectEnd } from '../../support/cli.ts'
import { hostSet, startAzureScene } from './scene.ts'

const PLAN = ['plan', '--detailed-exitcode', '--no-color']
const DEFINITION = '  www: {type: A, value: 192.0.2.1}\n'
const TENANT = '22222222-2222-4222-8222-222222222222'
const CLIENT = '33333333-3333-4333-8333-333333333333'
const SECRET = 'secret-of-the-application'
const ASSERTION = 'assertion-of-another-provider'
const application = { tenant: TENANT, clientId: CLIENT, clientSecret: SECRET, assertion: ASSERTION }
const TOKEN_URL = `token_url: 'ORIGIN/${TENANT}/oauth2/v2.0/token'`
const IDENTITY = `tenant: ${TENANT}, client_id: ${CLIENT}`
const VARIABLES = { AZURE_TENANT_ID: TENANT, AZURE_CLIENT_ID: CLIENT }

const CASES: readonly (readonly [string, string, Readonly<Record<string, string>>])[] = [
  ['the secret of an application', `${IDENTITY}, client_secret: env:SECRET, ${TOKEN_URL}`, { SECRET }],
  ['a token of another identity provider', `${IDENTITY}, client_assertion: file:assertion, ${TOKEN_URL}`, {}],
  ["the variables of Azure's tools", TOKEN_URL, { ...VARIABLES, AZURE_CLIENT_SECRET: SECRET }],
  ['the variables of a workload identity', TOKEN_URL, { ...VARIABLES, AZURE_FEDERATED_TOKEN_FILE: 'assertion' }],
  ['a managed identity', "credentials: managed-identity, token_url: 'ORIGIN/metadata/identity/oauth2/token'", {}],
]

test.each(['AZURE_TENANT_ID', 'AZURE_CLIENT_ID'])('an empty %s is a missing one', async (variable) => {
  const scene = await startAzureScene({ definition: DEFINITION, settings: TOKEN_URL })
  const { status, stderr } = await scene.run(PLAN, { ...VARIABLES, AZURE_CLIENT_SECRET: SECRET, [variable]: '' })
  expect([status, stderr]).toEqual([1, expect.stringMatching(new RegExp(`${variable} is not set`))])
  expect(scene.server.requests).toHaveLength(0)
})

const NAMES = ['AZURE_SUBSCRIPTION_ID', 'AZURE_TENANT_ID', 'AZURE_CLIENT_ID', 'AZURE_CLIENT_SECRET']

test.each([
  'client_secret: env:AZURE_CLIENT_SECRET',
  'subscription: env:AZURE_SUBSCRIPTION_ID, tenant: env:AZURE_TENANT_ID, client_id: env:AZURE_CLIENT_ID, client_secret: env:AZURE_CLIENT_SECRET',
])('all missing variables are in one report: %s', async (settings) => {
  const cwd = folderWith({
    'zonewright.yaml': `providers: {dns: {type: azure, resource_group: g, ${settings}}}\n`,
    'example.com.yaml': 'records: {}\n',
  })
  const { stderr } = expectEnd(await cli(['plan'], { cwd }), 1)
  expect(NAMES.filter((name) => stderr.includes(`${name} is not set`))).toEqual(NAMES)
})

describe.each(CASES)('%s', (_, settings, env) => {
  const start = async (known: typeof application | undefined) => {
    const scene = await startAzureScene({
      definition: DEFINITION,
      sets: [hostSet('www', '192.0.2.1')],
      ...(known && { application: known }),
      settings,
    })
    writeFileSync(join(scene.folder, 'assertion'), ASSERTION)
    return scene
  }

  test('signs in once per run', async () => {
    const scene = await start(application)
    expect(await scene.run(PLAN, env)).toMatchObject({ status: 0, stdout: 'No changes. 1 zone matches.\n' })
    expect(scene.server.requests.filter(({ path }) => path.endsWith('/token'))).toHaveLength(1)
  })

  // A managed identity has no credentials that could be wrong.
  if (settings.includes('managed-identity')) return
  test('is refused without showing a secret', async () => {
    const scene = await start({ ...application, clientSecret: 'another', assertion: 'another' })
    const run = expectEnd(await scene.run(['doctor'], env), 1, { out: 'signing in: 401 AADSTS7000215' })
    for (const secret of [SECRET, ASSERTION, 'issued-token']) expect(run.stdout + run.stderr).not.toContain(secret)
  })
})

test.each([
  ['no credentials', 'timeout: 5', {}, 'AZURE_CLIENT_SECRET'],
  ['no secret', IDENTITY, {}, 'the environment variable AZURE_CLIENT_SECRET is not set'],
  ['two kinds of credentials', 'token: env:TOKEN, credentials: managed-identity', {}, 'there is token too: remove one of them'],
  ['plain HTTP', `${IDENTITY}, client_secret: env:TOKEN, token_url: 'http://192.0.2.1/token'`, {}, 'without TLS'],
  ['another host', `${IDENTITY}, client_secret: env:TOKEN`, { ZONEWRIGHT_ALLOWED_HOSTS: 'other.example' }, 'login.microsoftonline.com'],
])('settings with %s', async (_, settings, env, message) => {
  const scene = await startAzureScene({ definition: DEFINITION, settings })
  expectEnd(await scene.run(PLAN, env), 1, { err: message })
  expect(scene.server.requests).toEqual([])
})
