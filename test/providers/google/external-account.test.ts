/** Signing in at Google with a token of another identity provider, as CI services do, and that no secret leaves the program. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createTestAccount } from '../../scripted/google/account.ts'
import { expectEnd } from '../../support/cli.ts'
import { findForeignClient } from '../../support/foreign-clients.ts'
import { describeWithTools } from '../../support/skip.ts'
import { runTool } from '../../support/tools.ts'
import { type GoogleScene, PROJECT, startGoogleScene } from './scene.ts'

const PLAN = ['plan', '--detailed-exitcode', '--no-color']
const RRSETS = ['www 3600 A 192.0.2.1']
const external = {
  audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/ci/providers/github',
  subjectToken: 'subject-token-of-the-ci-service',
  requestToken: 'request-token-of-the-ci-service',
}
const { account } = createTestAccount()
const SECRETS = [external.subjectToken, external.requestToken, 'issued-token']

/** Starts the services, and writes the file of credentials. */
async function start(source: (origin: string) => object, { known = true, impersonates = true, actsAs = account.email } = {}) {
  const scene = await startGoogleScene({
    definition: '  www: {type: A, value: 192.0.2.1}\n',
    rrsets: RRSETS,
    account: { ...account, ...(known && { external }) },
    settings: `credentials: file:key.json, project: ${PROJECT}`,
  })
  const { origin } = scene.server
  const file = {
    type: 'external_account',
    audience: external.audience,
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: `${origin}/v1/token`,
    ...(impersonates && { service_account_impersonation_url: `${origin}/v1/projects/-/serviceAccounts/${actsAs}:generateAccessToken` }),
    credential_source: source(origin),
  }
  writeFileSync(join(scene.folder, 'key.json'), JSON.stringify(file))
  mkdirSync(join(scene.folder, 'tokens'))
  writeFileSync(join(scene.folder, 'tokens/text'), `${external.subjectToken}\n`)
  writeFileSync(join(scene.folder, 'tokens/json'), JSON.stringify({ access: external.subjectToken }))
  return scene
}

/** The file that the sign-in action for GitHub writes. */
const GITHUB = (origin: string): object => ({
  url: `${origin}/idtoken?api-version=2.0&audience=${encodeURIComponent(external.audience)}`,
  headers: { Authorization: `Bearer ${external.requestToken}` },
  format: { type: 'json', subject_token_field_name: 'value' },
})
const TEXT_FILE = (): object => ({ file: 'tokens/text' })
const JSON_FILE = (): object => ({ file: 'tokens/json', format: { type: 'json', subject_token_field_name: 'access' } })

const pathsOf = ({ server }: GoogleScene): readonly string[] =>
  server.requests.map(({ path }) => path).filter((path) => !path.startsWith('/dns/'))

describe('a run signs in once', () => {
  const exchange = '/v1/token'
  const impersonation = `/v1/projects/-/serviceAccounts/${account.email}:generateAccessToken`
  test.each([
    ['with the token of a GitHub job', GITHUB, true, ['/idtoken', exchange, impersonation]],
    ['with a file', TEXT_FILE, true, [exchange, impersonation]],
    ['with a JSON file, without a service account', JSON_FILE, false, [exchange]],
  ])('%s', async (_, source, impersonates, paths) => {
    const scene = await start(source, { impersonates })
    expect(await scene.run(PLAN)).toMatchObject({ status: 0, stdout: 'No changes. 1 zone matches.\n' })
    expect(pathsOf(scene)).toEqual(paths)
  })

  test('with the file and the project that the sign-in action for GitHub names in the environment', async () => {
    const scene = await start(GITHUB)
    const config = `providers: {gcp: {type: google, base_url: '${scene.server.origin}'}}\n`
    writeFileSync(join(scene.folder, 'zonewright.yaml'), config)
    const env = { GOOGLE_APPLICATION_CREDENTIALS: 'key.json', GOOGLE_CLOUD_PROJECT: PROJECT }
    expect(await scene.run(PLAN, env)).toMatchObject({ status: 0 })
  })
})

test.each<readonly [string, () => Promise<GoogleScene>, RegExp]>([
  ['of the CI job', () => start((origin) => ({ ...GITHUB(origin), headers: { Authorization: 'Bearer other-request-token' } })), /401/],
  ['of the exchange', () => start(TEXT_FILE, { known: false }), /400 Invalid value for "audience".*workload identity pool/s],
  [
    'of the exchange, which repeats the token',
    async () => {
      const scene = await start(TEXT_FILE)
      writeFileSync(join(scene.folder, 'tokens/text'), 'wrong-token-of-the-ci-service')
      return scene
    },
    /could not be verified: \*\*\*/,
  ],
  ['of the service account', () => start(GITHUB, { actsAs: 'other@example.com' }), /signing in as the service account: 40[34]/],
  ['of a file that is missing', () => start(() => ({ file: 'tokens/none' })), /the file tokens\/none does not exist/],
  ['of a file without the field', () => start(() => ({ ...JSON_FILE(), file: 'tokens/text' })), /no JSON with a token under "access"/],
])('a refusal says what to check, and shows no secret: %s', async (_, prepare, message) => {
  const scene = await prepare()
  const run = await scene.run(['doctor'])
  expect([run.status, run.stdout + run.stderr]).toEqual([1, expect.stringMatching(message)])
  for (const secret of [...SECRETS, 'wrong-token', 'other-request-token']) expect(run.stdout + run.stderr).not.toContain(secret)
})

test('each address of the file must be an allowed host', async () => {
  const scene = await start(GITHUB)
  const { host } = new URL(scene.server.origin)
  const config = `providers: {gcp: {type: google, base_url: '${scene.server.origin}', token_url: '${scene.server.origin}/v1/token', project: p, credentials: file:key.json}}\n`
  writeFileSync(join(scene.folder, 'zonewright.yaml'), config)
  const foreign = { url: 'https://tokens.example.net/idtoken', headers: {} }
  const file = { type: 'external_account', audience: 'a', subject_token_type: 't', credential_source: foreign }
  writeFileSync(join(scene.folder, 'key.json'), JSON.stringify(file))
  expectEnd(await scene.run(PLAN, { ZONEWRIGHT_ALLOWED_HOSTS: host }), 1, { err: 'tokens.example.net:443 is not among the hosts' })
  expect(scene.server.requests).toEqual([])
})

test.each<readonly [string, object, string]>([
  ['a program', { executable: { command: '/bin/true' } }, 'runs a program, which Zonewright does not do'],
  ['AWS', { environment_id: 'aws1', url: 'http://169.254.169.254/x' }, 'with environment_id, which is not supported'],
  ['a certificate', { certificate: { use_default_certificate_config: true } }, 'with certificate, which is not supported'],
  ['plain HTTP', { url: 'http://tokens.example.net/' }, 'url is no https: address'],
  ['a password', { url: 'https://a:b@tokens.example.net/' }, 'url is no https: address'],
  ['a header that would be two', { url: 'https://tokens.example.net/', headers: { a: 'b\r\nc: d' } }, 'malformed header'],
  ['nothing', {}, 'no text "file"'],
])('a credential_source with %s is refused', async (_, source, message) => {
  const scene = await start(() => source)
  expectEnd(await scene.run(PLAN), 1, { err: message })
  expect(scene.server.requests).toEqual([])
})

const python = findForeignClient('cloud-clients')
const WALK = `import sys, google.auth.identity_pool, google.auth.transport.requests
credentials = google.auth.identity_pool.Credentials.from_file(sys.argv[1], scopes=['https://www.googleapis.com/auth/ndev.clouddns.readwrite'])
credentials.refresh(google.auth.transport.requests.Request())
print(credentials.token)`

describeWithTools([python], "Google's own library", () => {
  test('signs in at the scripted service with the same file', async () => {
    const scene = await start(GITHUB)
    const run = await runTool(python, ['-B', '-c', WALK, join(scene.folder, 'key.json')])
    expect([run.status, run.stdout, run.stderr]).toEqual([0, expect.stringMatching(/^issued-token-2/), expect.anything()])
    expect(pathsOf(scene)).toHaveLength(3)
  })
})
