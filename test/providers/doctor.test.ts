/** `doctor` with every type of provider: a right and a wrong key, no server, no zone, missing permissions, providers that only read. */
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PROVIDER_TYPES } from '../../src/providers/registry.ts'
import { startProgram } from '../support/built-program.ts'
import { cli } from '../support/cli.ts'
import { type DnsServer, startPowerDns, startServer, TEST_KEY } from '../support/dns-servers.ts'
import { freePort } from '../support/free-port.ts'
import { bind } from '../support/server-recipes/bind.ts'
import { knot } from '../support/server-recipes/knot.ts'
import { nsd } from '../support/server-recipes/nsd.ts'
import { powerdns } from '../support/server-recipes/powerdns.ts'
import type { ServerRecipe } from '../support/server-recipes/recipe.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { dig } from '../support/tools.ts'
import { testPermissions } from '../support/unprivileged.ts'

const ZONE = '$TTL 3600\n@ SOA ns1.example.net. hostmaster.example.com. 7 14400 14400 1209600 300\n@ NS ns1.example.net.\nwww A 192.0.2.1\n'
const WRONG_SECRET = Buffer.alloc(32, 7).toString('base64')

/** A folder with one provider, `live`, and definitions of these zones. */
function workspace(entry: string, zones: readonly string[] = ['example.com']): string {
  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'zones'))
  writeFileSync(join(folder, 'zonewright.yaml'), `providers:\n  live: ${entry}\ndefaults: {soa_email: hostmaster@example.com}\n`)
  for (const zone of zones)
    writeFileSync(join(folder, `zones/${zone}.yaml`), `domain: ${zone}\nrecords: {www: {type: A, value: 192.0.2.1}}\n`)
  return folder
}

/** The findings about the provider as `CHECK STATUS MESSAGE (HINT)`. */
const findingsIn = (stdout: string): string[] =>
  JSON.parse(stdout)
    .findings.filter(({ subject }: { subject: string }) => subject === 'live')
    .map(
      ({ check, status, message, hint }: Record<string, string | null>) =>
        `${check} ${status} ${message}${hint === null ? '' : ` (${hint})`}`,
    )

async function doctor(folder: string, env: Readonly<Record<string, string>> = {}): Promise<{ status: number; findings: string[] }> {
  const { status, stdout } = await cli(['doctor', '--format', 'json'], { cwd: folder, env: { PATH: process.env['PATH'] ?? '', ...env } })
  return { status, findings: findingsIn(stdout) }
}

/** The recipe with one part of its configuration replaced. */
const withConfig = (recipe: ServerRecipe, file: string, from: string, to: string): ServerRecipe => ({
  ...recipe,
  files(setup) {
    const files = recipe.files(setup)
    const text = files[file] ?? ''
    if (!text.includes(from)) throw new Error(`${file} does not have ${from}`)
    return { ...files, [file]: text.replaceAll(from, to) }
  },
})

const start = (recipe: ServerRecipe): Promise<DnsServer> =>
  startServer(recipe, { zones: [{ name: 'example.com', text: ZONE }], key: TEST_KEY, unsignedTransfer: false })

const entryOf = (type: string, port: number): string =>
  `{type: ${type}, timeout: 5, server: '127.0.0.1:${port}', tsig: {name: ${TEST_KEY.name}, secret: env:KEY}}`

const KEY = { KEY: TEST_KEY.secret }

const SERVERS = [
  { name: 'BIND', tools: ['named'], recipe: bind },
  { name: 'Knot DNS', tools: ['knotd'], recipe: knot },
  { name: 'PowerDNS', tools: ['pdns_server', 'pdnsutil'], recipe: powerdns },
]

describe.each(SERVERS)('$name', ({ name, tools, recipe }) =>
  describeWithTools([...tools, 'dig'], name, () => {
    let server: DnsServer
    beforeAll(async () => {
      server = await start(typeof recipe === 'function' ? recipe(await freePort()) : recipe)
    })
    afterAll(() => server.stop())

    test('rfc2136 with the right key tries an update, which changes nothing', async () => {
      const serial = () => dig({ port: server.port, name: 'example.com', type: 'SOA' })
      const before = await serial()
      const { status, findings } = await doctor(workspace(entryOf('rfc2136', server.port)), KEY)
      expect([status, findings]).toEqual([
        0,
        [
          `connection ok 127.0.0.1 port ${server.port} responds`,
          'zones ok example.com.: 2 records by transfer',
          'grants ok example.com.: the server accepts updates',
        ],
      ])
      expect(await serial()).toEqual(before)
    })

    test('axfr says that zones can only be read', async () => {
      const { status, findings } = await doctor(workspace(entryOf('axfr', server.port)), KEY)
      expect([status, findings.at(-1)]).toEqual([0, 'grants ok example.com.: can only be read'])
    })

    test.each(['rfc2136', 'axfr'])('%s with a wrong key', async (type) => {
      const { status, findings } = await doctor(workspace(entryOf(type, server.port)), { KEY: WRONG_SECRET })
      expect([status, findings]).toEqual([1, [expect.stringMatching(/^token error /)]])
      expect(findings.join()).not.toContain(WRONG_SECRET)
    })

    test.each([
      ['rfc2136', 'create the zones on the server: dynamic update cannot'],
      ['axfr', 'correct "server", or the targets of the zones'],
    ])('%s without the zone, beside one that works', async (type, hint) => {
      const { status, findings } = await doctor(workspace(entryOf(type, server.port), ['example.com', 'missing.example']), KEY)
      expect(status).toBe(1)
      expect(findings).toContain(`zones error 127.0.0.1 port ${server.port} does not have missing.example. (${hint})`)
      expect(findings).toContain('zones ok example.com.: 2 records by transfer')
    })
  }),
)

const REFUSING = [
  { name: 'BIND', tools: ['named'], recipe: withConfig(bind, 'named.conf', 'allow-update { key "upd"; };', 'allow-update { none; };') },
  { name: 'Knot DNS', tools: ['knotd'], recipe: withConfig(knot, 'knot.conf', 'action: [transfer, update]', 'action: transfer') },
  { name: 'NSD', tools: ['nsd'], recipe: nsd },
]

describe.each(REFUSING)('$name that refuses updates', ({ name, tools, recipe }) =>
  describeWithTools(tools, name, () => {
    test('is found before an apply', async () => {
      const server = await start(recipe)
      const { status, findings } = await doctor(workspace(entryOf('rfc2136', server.port)), KEY)
      expect([status, findings]).toEqual([
        1,
        [
          expect.stringMatching(/^connection ok /),
          'zones ok example.com.: 2 records by transfer',
          expect.stringMatching(/^grants error .*(?:allow updates with this key|no dynamic update|does not know the key)/),
        ],
      ])
    })
  }),
)

describeWithTools(['named'], 'BIND that refuses transfers', () => {
  test('is found, and updates are tried nevertheless', async () => {
    const server = await start(withConfig(bind, 'named.conf', 'allow-transfer { key "upd"; };', 'allow-transfer { none; };'))
    const { status, findings } = await doctor(workspace(entryOf('rfc2136', server.port)), KEY)
    expect([status, findings]).toEqual([
      1,
      [
        expect.stringMatching(/^connection ok /),
        expect.stringMatching(/^grants error .*allow the transfer to this host or key/),
        'grants ok example.com.: the server accepts updates',
      ],
    ])
  })
})

describeWithTools(['pdns_server', 'pdnsutil'], 'powerdns', () => {
  test('reports the server, its key, and zones to create; a wrong key', async () => {
    const server = await startPowerDns({ zones: [{ name: 'example.com', text: ZONE }] })
    const entry = `{type: powerdns, base_url: '${new URL(server.api.url).origin}', api_key: env:KEY}`
    const folder = workspace(entry, ['example.com', 'missing.example'])
    const right = await doctor(folder, { KEY: server.api.key })
    expect([right.status, right.findings]).toEqual([
      0,
      [
        expect.stringMatching(/^connection ok .*PowerDNS Authoritative/),
        'token ok the server accepts the key, which may change every zone',
        'zones ok 1 of 2 zones exist; an apply would create missing.example.',
      ],
    ])
    const wrong = await doctor(folder, { KEY: 'a-wrong-key' })
    expect([wrong.status, wrong.findings]).toEqual([1, [expect.stringMatching(/^token error /)]])
    expect(wrong.findings.join()).not.toContain('a-wrong-key')
  })
})

test.each([
  ['axfr', (port: number) => `{type: axfr, server: '127.0.0.1:${port}'}`],
  ['cloud', (port: number) => `{type: cloud, base_url: 'http://127.0.0.1:${port}/v4', token: env:KEY, timeout: 1}`],
  ['powerdns', (port: number) => `{type: powerdns, base_url: 'http://127.0.0.1:${port}', api_key: env:KEY, timeout: 1}`],
  ['rfc2136', (port: number) => entryOf('rfc2136', port)],
])('%s without a server', async (_, entry) => {
  const { status, findings } = await doctor(workspace(entry(await freePort())), KEY)
  expect([status, findings]).toEqual([1, [expect.stringMatching(/^connection error /)]])
})

const FOLDERS = [
  { type: 'zonefile', file: 'example.com.zone', text: ZONE },
  { type: 'octodns', file: 'example.com.yaml', text: 'www: {type: A, value: 192.0.2.1, ttl: 3600}\n' },
]

describe.each(FOLDERS)('$type', ({ type, file, text }) => {
  function folderWith(content: string, settings = ''): string {
    const folder = workspace(`{type: ${type}, directory: served${settings}}`)
    mkdirSync(join(folder, 'served'))
    writeFileSync(join(folder, 'served', file), content)
    return folder
  }

  test('reports the folder, and changes nothing in it', async () => {
    const folder = folderWith(text)
    expect(await doctor(folder)).toMatchObject({ status: 0, findings: [expect.stringMatching(/^connection ok .*has 1 zone file$/)] })
    expect(readdirSync(join(folder, 'served'))).toEqual([file])
  })

  test('without the folder', async () => {
    const { status, findings } = await doctor(workspace(`{type: ${type}, directory: missing}`))
    expect([status, findings]).toEqual([1, [expect.stringMatching(/^connection error .*missing/)]])
  })

  test('with a file that would lose its comments', async () => {
    const { status, findings } = await doctor(folderWith(`${text}${type === 'zonefile' ? ';' : '#'} ours\n`))
    expect([status, findings.at(-1)]).toEqual([0, expect.stringMatching(/^zones warning example\.com\. cannot be changed: .*ours/)])
  })

  test('with a file that is no zone', async () => {
    const { status, findings } = await doctor(folderWith('{ this is no zone'))
    expect([status, findings.at(-1)]).toEqual([1, expect.stringMatching(/^zones error /)])
  })

  testPermissions('with a folder that cannot be written', async (words) => {
    const folder = folderWith(text)
    chmodSync(join(folder, 'served'), 0o555)
    const program = await startProgram(['doctor', '--format', 'json'], { cwd: folder, before: words })
    expect((await program.ended).status).toBe(1)
    chmodSync(join(folder, 'served'), 0o755)
    expect(findingsIn(program.stdout())).toContainEqual(
      expect.stringMatching(/^connection error .*cannot be written \(give this user the permission/),
    )
  })
})

test.each(['check', 'reload'])('zonefile without the program of %s', async (setting) => {
  const folder = workspace(`{type: zonefile, directory: served, ${setting}: no-such-program}`)
  mkdirSync(join(folder, 'served'))
  const { status, findings } = await doctor(folder)
  expect([status, findings]).toEqual([
    1,
    expect.arrayContaining([expect.stringMatching(new RegExp(`^config error ${setting}: the program no-such-program is not installed`))]),
  ])
})

test.each(['axfr', 'rfc2136'])('%s without zones asks for nothing', async (type) => {
  const { findings } = await doctor(workspace(entryOf(type, await freePort()), []), KEY)
  expect(findings).toEqual(['zones ok no selected zone is there, so the server was not asked'])
})

test('every type of provider is examined here, in test/cli/doctor.test.ts or in the folder of its tests', () => {
  expect([...PROVIDER_TYPES].sort()).toEqual([
    'axfr',
    'azure',
    'cloud',
    'cloudflare',
    'desec',
    'digitalocean',
    'gandi',
    'google',
    'hetzner',
    'lexicon',
    'octodns',
    'ovh',
    'porkbun',
    'powerdns',
    'rfc2136',
    'route53',
    'scaleway',
    'vultr',
    'zonefile',
  ])
})
