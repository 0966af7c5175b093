/** A catalog zone that `apply` keeps up to date by dynamic update: BIND serves it, and BIND and Knot DNS as secondaries follow it. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli, expectEnd } from '../../support/cli.ts'
import { type DnsServer, startBind, startKnot, startServer, TEST_KEY, waitForZone } from '../../support/dns-servers.ts'
import { freePort } from '../../support/free-port.ts'
import { bindConsumer, knotConsumer } from '../../support/server-recipes/served-folder.ts'
import { describeWithTools } from '../../support/skip.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { dig, nsupdate, transferZone } from '../../support/tools.ts'

const CATALOG = 'catalog.example'
const ZONE = '$TTL 300\n@ SOA ns1.example.net. hostmaster.example.com. 1 14400 14400 1209600 300\n@ NS ns1.example.net.\n'
const EMPTY_CATALOG = '@ 0 SOA invalid. invalid. 1 3600 600 2147483646 0\n@ 0 NS invalid.\n'

/** A folder with a config for the server, and a function that writes or removes a definition. */
function workspace(port: number, catalog = CATALOG) {
  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'zones'))
  const config = `providers:\n  lab: {type: rfc2136, server: '127.0.0.1:${port}', tsig: {name: ${TEST_KEY.name}, secret: env:LAB_KEY}, catalog: ${catalog}}\n`
  const configure = (more: string): void => writeFileSync(join(folder, 'zonewright.yaml'), config + more)
  configure('')
  return {
    configure,
    define(zone: string, records: string | null): void {
      const file = join(folder, `zones/${zone}.yaml`)
      if (records === null) rmSync(file)
      else writeFileSync(file, `domain: ${zone}\nrecords: ${records}\n`)
    },
    run: (...args: string[]) => cli([...args, '--no-color'], { cwd: folder, env: { LAB_KEY: TEST_KEY.secret } }),
  }
}

const start = (zones: readonly string[], notify: readonly number[] = [], catalog: string | null = EMPTY_CATALOG): Promise<DnsServer> =>
  startBind({
    zones: [...zones.map((name) => ({ name, text: ZONE })), ...(catalog === null ? [] : [{ name: CATALOG, text: catalog }])],
    key: TEST_KEY,
    notify,
  })

const members = async (port: number): Promise<string[]> =>
  (await transferZone({ port, name: CATALOG }))
    .filter((line) => /\sPTR\s/.test(line))
    .map((line) => line.split(/\s+/)[4] ?? '')
    .sort()

/** Makes BIND forget a zone, as an administrator does. */
async function removeZone(server: DnsServer, zone: string): Promise<void> {
  const file = join(server.directory, 'named.conf')
  writeFileSync(file, readFileSync(file, 'utf8').replace(new RegExp(`^zone "${zone}" .*$`, 'm'), ''))
  server.reload()
  await expect.poll(() => dig({ port: server.port, name: zone, type: 'SOA' })).toEqual([])
}

const APPROVALS =
  "approvals: {needed: 1, keys: {alice: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKdpcBdmDbKpNcXcRhbGWLVLv2ZqSvVTqKWmuGL5hIPV'}}\n"

const A = '{www: {type: A, ttl: 300, value: 192.0.2.1}}'

const CONSUMERS = [
  { name: 'BIND', tool: 'named', recipe: bindConsumer },
  { name: 'Knot DNS', tool: 'knotd', recipe: knotConsumer },
]

for (const { name, tool, recipe } of CONSUMERS) {
  describeWithTools(['named', 'dig', tool], `a catalog zone read by ${name}`, () => {
    test('a new definition becomes a zone of the secondary, and a zone that the primary lost ceases to be', async () => {
      const port = await freePort()
      const server = await start(['a.example', 'b.example'], [port])
      const space = workspace(server.port)
      space.define('a.example', A)
      expectEnd(await space.run('apply', '--yes'), 0, { err: `lab: ${CATALOG}.: 1 zone added, 0 removed.` })
      await startServer(recipe(CATALOG, server.port), { port })
      await waitForZone(port, 'a.example')

      space.define('b.example', A)
      expect((await space.run('apply', '--yes')).status).toBe(0)
      await waitForZone(port, 'b.example')
      expect(await dig({ port, name: 'www.b.example' })).toEqual(['192.0.2.1'])

      await removeZone(server, 'a.example')
      space.define('a.example', null)
      const stays = `warning[zone-list] lab: a.example. stays in ${CATALOG}., although 127.0.0.1 port ${server.port} does not serve it`
      for (const args of [['plan'], ['apply', '--yes']]) {
        const kept = await space.run(...args)
        expect([kept.status, kept.stderr.split(stays)]).toEqual([0, [expect.any(String), expect.stringContaining('--allow delete-zone')]])
      }
      expect(await members(server.port)).toEqual(['a.example.', 'b.example.'])
      const shown = await space.run('plan', '--allow', 'delete-zone')
      expect(shown.stderr).toContain(`notice[zone-list] lab: ${CATALOG}. loses a.example.: 127.0.0.1 port ${server.port} does not serve it`)
      // Nobody has approved that, since no plan has it.
      space.configure(APPROVALS)
      expect((await space.run('apply', '--yes', '--allow', 'delete-zone')).stderr).toContain(stays)
      expect(await members(server.port)).toEqual(['a.example.', 'b.example.'])
      space.configure('')
      expect((await space.run('apply', '--yes', '--allow', 'delete-zone')).status).toBe(0)
      expect(await members(server.port)).toEqual(['b.example.'])
      await expect.poll(() => dig({ port, name: 'www.a.example' })).toEqual([])
      expect(await dig({ port, name: 'www.b.example' })).toEqual(['192.0.2.1'])
    })
  })
}

describeWithTools(['named', 'nsupdate', 'dig'], 'the catalog zone of a server', () => {
  test('is changed only if it differs; members of other clients stay, and a zone is listed once', async () => {
    const server = await start(['a.example', 'b.example'])
    const space = workspace(server.port)
    const update = `zone ${CATALOG}\nupdate add x.zones.${CATALOG} 0 PTR a.example.\nupdate add y.zones.${CATALOG} 0 PTR gone.example.`
    expect((await nsupdate(server.port, update, TEST_KEY)).status).toBe(0)
    space.define('a.example', '{}')
    space.define('b.example', '{}')
    expect(await space.run('apply', '--yes')).toMatchObject({ status: 0 })
    expect(await members(server.port)).toEqual(['a.example.', 'b.example.', 'gone.example.'])
    const [soa] = await transferZone({ port: server.port, name: CATALOG })
    expect(await transferZone({ port: server.port, name: CATALOG })).toContainEqual(
      expect.stringMatching(/^version\S+\s+0\s+IN\s+TXT\s+"2"$/),
    )
    expect(await space.run('apply', '--yes')).toMatchObject({ status: 0, stderr: '' })
    expect((await transferZone({ port: server.port, name: CATALOG }))[0]).toBe(soa)
    expect((await space.run('doctor')).stdout).toContain(`${CATALOG}.: the catalog zone can be updated`)
  })

  test('a run for one zone keeps the others, and plan changes nothing', async () => {
    const server = await start(['a.example', 'b.example'])
    const space = workspace(server.port)
    space.define('a.example', '{}')
    space.define('b.example', '{}')
    expectEnd(await space.run('plan'), 0, { err: `notice[zone-list] lab: ${CATALOG}. gets 2 members: a.example. and b.example.` })
    expect(JSON.parse((await space.run('plan', '--format', 'json')).stdout).diagnostics).toMatchObject([{ code: 'zone-list' }])
    expect(await members(server.port)).toEqual([])
    expect((await space.run('apply', '--yes')).status).toBe(0)
    expect((await space.run('apply', 'a.example', '--yes')).status).toBe(0)
    expect(await members(server.port)).toEqual(['a.example.', 'b.example.'])
  })

  test.each([
    ['does not exist', null, `does not have ${CATALOG}.`],
    ['has another version', `${EMPTY_CATALOG}version 0 TXT "1"\n`, 'is not a catalog zone of version 2'],
  ])('one error if it %s; the records are applied', async (_, text, message) => {
    const server = await start(['a.example'], [], text)
    const space = workspace(server.port)
    space.define('a.example', A)
    expectEnd(await space.run('plan'), 0, { err: /warning\[provider-(?:not-found|rejected)\] lab: / })
    expect(expectEnd(await space.run('apply', '--yes'), 1, { err: message }).stderr.match(/error\[/g)).toHaveLength(1)
    expect(await dig({ port: server.port, name: 'www.a.example' })).toEqual(['192.0.2.1'])
    if (text === null) expect((await space.run('doctor')).stdout).toContain(`does not have ${CATALOG}.`)
  })

  test('160 new zones, more than BIND takes connections and one message takes members', async () => {
    const zones = Array.from({ length: 160 }, (_, index) => `z${index}.example`)
    const server = await start(zones)
    const space = workspace(server.port)
    for (const zone of zones) space.define(zone, '{}')
    expectEnd(await space.run('apply', '--yes'), 0, { err: '160 zones added, 0 removed' })
    expect(await members(server.port)).toHaveLength(160)
  })
})

describeWithTools(['knotd', 'nsupdate', 'dig'], 'a catalog zone at Knot DNS', () => {
  test('is updated as at BIND', async () => {
    const zones = ['a.example', 'b.example'].map((name) => ({ name, text: ZONE }))
    const server = await startKnot({ zones: [...zones, { name: CATALOG, text: EMPTY_CATALOG }], key: TEST_KEY })
    const space = workspace(server.port)
    space.define('a.example', '{}')
    space.define('b.example', '{}')
    expect(await space.run('apply', '--yes')).toMatchObject({ status: 0 })
    expect(await members(server.port)).toEqual(['a.example.', 'b.example.'])
    expect((await space.run('apply', '--yes')).stderr).toBe('')
  })
})

test.each(['a..b', '.'])('a catalog zone named %s is refused', async (name) => {
  const space = workspace(1, JSON.stringify(name))
  space.define('a.example', '{}')
  expectEnd(await space.run('validate'), 1, { out: `providers.lab.catalog: "${name}" is not a domain name` })
})
