import { beforeAll, expect, test } from 'vitest'
import { validate } from '../../generated/doctor-schema.js'
import { expectEnd } from '../support/cli.ts'
import { freePort } from '../support/free-port.ts'
import { type FolderScene, ZONE } from './scene.ts'
import { openFileScene, openServiceScene, openWireScene, type ServiceScene } from './service-scene.ts'

/** Findings as `SUBJECT CHECK STATUS MESSAGE`, from a document that must match its schema. */
async function findingsOf(scene: FolderScene, env: Readonly<Record<string, string>> = {}): Promise<{ status: number; findings: string[] }> {
  const { status, stdout } = await scene.runWith(env, 'doctor', '--format', 'json')
  const document = JSON.parse(stdout)
  validate(document)
  expect(validate.errors ?? []).toEqual([])
  const findings: { subject: string; check: string; status: string; message: string }[] = document.findings
  return { status, findings: findings.map((one) => `${one.subject} ${one.check} ${one.status} ${one.message}`) }
}

const SEED = `accounts:
  - domains: [{domain: example.com, type: master, soa_email: hostmaster@example.com}]
    users:
      - username: owner
        email: owner@example.com
        tokens:
          - {token: owner-all-0123456789, label: ci}
          - {token: owner-reads-0123456789, label: reads, scopes: 'domains:read_only account:read_only'}
          - {token: owner-blind-0123456789, label: blind, scopes: 'domains:read_write'}
          - {token: owner-soon-0123456789, label: soon, expiry: '${isoIn(3)}'}
          - {token: owner-hours-0123456789, label: hours, expiry: '${isoIn(0.2)}'}
          - {token: owner-twin-000000-0123456789, label: twin}
          - {token: owner-twin-000000-1, label: other twin}
          - {token: owner-later-0123456789, label: later, expiry: '${isoIn(100)}'}
          - {token: owner-bare-0123456789, label: bare, scopes: 'domains:read_write account:read_only'}
          - {token: owner-exact-0123456789, label: exact, scopes: 'domains:read_write'}
          - {token: owner-plans-0123456789, label: plans, scopes: 'domains:read_only'}
          - {token: owner-wide-0123456789, label: wide, scopes: 'domains:read_write account:read_write linodes:read_only'}
      - username: writer
        email: writer@example.com
        restricted: true
        tokens: [{token: writer-0123456789, label: w}]
        grants: {global: {account_access: read_only}, domain: [{domain: example.com, permissions: read_write}]}
      - username: reader
        email: reader@example.com
        restricted: true
        tokens: [{token: reader-0123456789, label: r}]
        grants: {global: {account_access: read_only}, domain: [{domain: example.com, permissions: read_only}]}
      - username: founder
        email: founder@example.com
        restricted: true
        tokens: [{token: founder-0123456789, label: f}]
        grants: {global: {account_access: read_only, add_domains: true}}
`

function isoIn(days: number): string {
  return new Date(Date.now() + days * 86_400_000 + 3_600_000).toISOString().slice(0, 19)
}

const as = (token: string) => ({ ZONEWRIGHT_TOKEN: `${token}-0123456789` })

/** A service for all tests that do not change it. */
let shared: ServiceScene

beforeAll(async () => {
  shared = await openFileScene({ seed: SEED })
})

test('reports a zone that can be changed, as text and JSON', async () => {
  expectEnd(await shared.runWith(as('owner-bare'), 'doctor'), 0, {
    err: '',
    out: [
      /^zonewright\.yaml\n {2}ok {6}config {5}1 zone defined\ncloud\n/,
      '  ok      scopes     the token has domains:read_write account:read_only\n',
      /\nEverything is in order\.\n$/,
    ],
  })
  expect((await findingsOf(shared, as('owner-bare'))).findings).toEqual([
    'zonewright.yaml config ok 1 zone defined',
    expect.stringMatching(/^cloud connection ok http:\/\/127\.0\.0\.1:\d+\/v4 responds$/),
    'cloud user ok owner, unrestricted',
    'cloud token ok the token "bare" does not expire',
    'cloud scopes ok the token has domains:read_write account:read_only',
    'cloud scopes ok plan needs domains:read_only; beyond that the token has account:read_only domains:read_write',
    'cloud scopes ok verify needs domains:read_only; beyond that the token has account:read_only domains:read_write',
    'cloud scopes ok apply needs domains:read_write; beyond that the token has account:read_only',
    'cloud zones ok 1 of 1 zone exists',
    expect.stringMatching(/^127\.0\.0\.1:\d+ nameserver ok answers for example\.com\.$/),
  ])
  expect(shared.proxy.mutations()).toEqual([])
})

const MAY_ONLY_READ = 'the token has domains:read_only account:read_only; changing zones needs domains:read_write'
const SAME_PREFIX = 'the expiry of the token is unknown: 2 tokens of the user begin with the same characters'

test.each([
  ['a token that may only read', 'owner-reads', 1, `scopes error ${MAY_ONLY_READ}`],
  ['a token that may not list tokens', 'owner-blind', 0, 'token warning the expiry of the token is unknown: it may not list tokens'],
  ['the scopes of such a token, from the headers', 'owner-blind', 0, 'scopes ok the token has domains:read_write'],
  ['a token that expires soon', 'owner-soon', 0, /token warning the token "soon" expires on \d{4}-\d\d-\d\dT[\d:]{8} UTC, in 3 days$/],
  ['a token that expires today', 'owner-hours', 0, /token warning the token "hours" expires on .* UTC, in 5 hours$/],
  ['a token with the same prefix as another one', 'owner-twin-000000', 0, `token warning ${SAME_PREFIX}`],
  ['a token that expires later', 'owner-later', 0, /token ok the token "later" expires on .* in 100 days$/],
  ['a user who may change the domain', 'writer', 0, 'grants ok every zone is granted'],
  ['a user who may only read the domain', 'reader', 1, 'grants error the user may not change example.com.'],
  ['a user who may create domains', 'founder', 0, 'zones ok 0 of 1 zone exists; an apply would create example.com.'],
  ['an invalid token', 'nobody', 1, 'token error cloud: reading the profile: 401 Invalid Token'],
])('reports %s', async (_, token, status, expected) => {
  const found = await findingsOf(shared, as(token))
  const findings = found.findings.filter((line) => line.startsWith('cloud ')).map((line) => line.slice(6))
  expect(findings).toContainEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected))
  expect(found.status).toBe(status)
})

const WIDE = ['account:read_write', 'domains:read_write', 'linodes:read_only']

test.each([
  ['owner-exact', [['domains:read_write'], ['domains:read_write'], []], 'ok'],
  ['owner-all', [['*'], ['*'], ['*']], 'warning'],
  ['owner-wide', [WIDE, WIDE, ['account:read_write', 'linodes:read_only']], 'warning'],
  ['owner-plans', [[], [], []], 'ok'],
])('lists the scopes of %s that plan, verify and apply do not need', async (token, excess, ofApply) => {
  const { stdout } = await shared.runWith(as(token), 'doctor', '--format', 'json')
  const findings: { status: string; hint: string | null; scopes: { command: string } | null }[] = JSON.parse(stdout).findings
  const found = findings.filter(({ scopes }) => scopes !== null)
  expect(found.map(({ scopes }) => scopes)).toEqual([
    { command: 'plan', needed: ['domains:read_only'], excess: excess[0] },
    { command: 'verify', needed: ['domains:read_only'], excess: excess[1] },
    { command: 'apply', needed: ['domains:read_write'], excess: excess[2] },
  ])
  expect(found.map(({ status }) => status)).toEqual(['ok', 'ok', ofApply])
  if (ofApply === 'warning') expect(found[2]?.hint).toContain('only domains:read_write')
})

test('the named scopes are sufficient for the commands', async () => {
  const scene = await openServiceScene({ seed: SEED, files: { 'zones/example.net.yaml': ZONE.replaceAll('example.com', 'example.net') } })
  scene.write({ 'zones/example.com.yaml': ZONE })
  expect((await scene.runWith(as('owner-plans'), 'plan', '--detailed-exitcode')).status).toBe(2)
  expectEnd(await scene.runWith(as('owner-plans'), 'apply', '--yes'), 1, { out: 'domains:read_write' })
  expect((await scene.runWith(as('owner-exact'), 'apply', '--yes')).status).toBe(0)
  expect((await scene.runWith(as('owner-plans'), 'plan', '--detailed-exitcode')).status).toBe(0)
  expect((await scene.runWith(as('owner-plans'), 'verify')).status).toBe(0)
  expect((await scene.runWith(as('owner-plans'), 'import', '--from', 'cloud', '-o', 'imported')).status).toBe(0)
  const clone = ['import', '--from', 'cloud', 'example.org', '--clone', 'example.com', '--yes', '-o', 'cloned']
  expect((await scene.runWith(as('owner-plans'), ...clone)).status).toBe(1)
  expect((await scene.runWith(as('owner-exact'), ...clone)).status).toBe(0)
  scene.write({ 'zones/example.com.yaml': ZONE.replace('192.0.2.2', '192.0.2.7') })
  expect((await scene.runWith(as('owner-exact'), 'apply', '--yes', 'example.com')).status).toBe(0)
  expect((await scene.runWith(as('owner-plans'), 'rollback', '--last', '--yes')).status).toBe(1)
  expect((await scene.runWith(as('owner-exact'), 'rollback', '--last', '--yes')).status).toBe(0)
})

test('reports a user who may neither see nor create the domain', async () => {
  const scene = await openServiceScene({ seed: SEED, files: { 'zones/example.net.yaml': ZONE.replaceAll('example.com', 'example.net') } })
  const { status, findings } = await findingsOf(scene, as('writer'))
  expect(findings).toContainEqual('cloud grants error the user cannot see example.net. and may not create domains')
  expect(status).toBe(1)
})

test('knows the scopes for addresses from an inventory', async () => {
  const from = (kind: string): string => `${ZONE}  pool: {type: A, from: {${kind}: {tag: web}}}\n`
  const scene = await openServiceScene({ seed: SEED, files: { 'zones/example.com.yaml': from('instances') } })
  const bare = async () => (await findingsOf(scene, as('owner-bare'))).findings.filter((line) => line.includes(' scopes '))
  const perCommand = (...inventory: string[]) => [
    expect.stringContaining(` plan needs domains:read_only ${inventory[0]}; beyond that the token has ${inventory[1]}`),
    expect.stringContaining(` verify needs domains:read_only ${inventory[0]}; beyond that the token has ${inventory[1]}`),
    expect.stringContaining(` apply needs domains:read_write ${inventory[0]}; beyond that the token has ${inventory[2]}`),
  ]
  const has = 'the token has domains:read_write account:read_only'
  expect(await bare()).toEqual([
    `cloud scopes error ${has}; reading the addresses of instances needs instances:read_only`,
    ...perCommand('instances:read_only', 'account:read_only domains:read_write', 'account:read_only'),
  ])
  scene.write({ 'zones/example.com.yaml': from('loadbalancers') })
  expect(await bare()).toEqual([`cloud scopes ok ${has}`, ...perCommand('account:read_only', 'domains:read_write', 'no other scope')])
  expect((await findingsOf(scene, as('writer'))).findings).toContainEqual(expect.stringMatching(/^cloud inventory warning .*only granted/))
})

test('reports a missing server, an unset token and invalid definitions, and completes the other checks', async () => {
  const provider = `type: cloud, base_url: 'http://127.0.0.1:${await freePort()}/v4', timeout: 1`
  const scene = await openWireScene(() => null, {
    files: {
      'zones/example.com.yaml': 'domain: example.com\nrecords: {www: {type: A, valu: 192.0.2.1}}\n',
      'zonewright.yaml': `providers:
  gone: {${provider}, token: 'env:ZONEWRIGHT_TOKEN'}
  bare: {${provider}, token: 'env:NOT_SET'}
`,
    },
  })
  const { status, findings } = await findingsOf(scene)
  expect(status).toBe(1)
  expect(findings).toEqual([
    expect.stringMatching(/^zonewright\.yaml config error \d errors? in config and definitions$/),
    expect.stringMatching(/^gone connection error .*127\.0\.0\.1/),
    expect.stringMatching(/^bare token error .*NOT_SET/),
  ])
})

test('warns of a server clock that is off by an hour; an invalid response is an error', async () => {
  let nonsense = false
  const headers = { 'content-type': 'application/json', date: new Date(Date.now() - 3_600_000).toUTCString() }
  const scene = await openWireScene(({ path }) => {
    const body = path === '/v4/profile' ? { username: 'a', restricted: false } : { data: [], page: 1, pages: 1, results: 0 }
    return { headers, body: nonsense ? '[]' : JSON.stringify(body) }
  })
  expect((await findingsOf(scene)).findings).toContainEqual(expect.stringMatching(/^cloud clock warning .* differ by 3[56]\d\d s$/))
  nonsense = true
  const { status, findings } = await findingsOf(scene)
  expect(findings).toContainEqual(expect.stringMatching(/^cloud connection error /))
  expect(status).toBe(1)
})
