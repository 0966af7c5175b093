/** From a definition to answers of real servers: BIND, NSD and Knot DNS serve a folder that `apply` writes, and secondaries follow its catalog zone. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Provider } from '../../../src/providers/provider.ts'
import type { ApplicableZone } from '../../../src/run/apply/apply-zones.ts'
import { withLastSerials } from '../../../src/run/apply/locked-run.ts'
import { expectEnd } from '../../support/cli.ts'
import { type DnsServer, startKnot, startServer, waitForZone } from '../../support/dns-servers.ts'
import { freePort } from '../../support/free-port.ts'
import {
  bindConsumer,
  bindOfFolder,
  type FolderServer,
  knotConsumer,
  knotOfFolder,
  nsdOfFolder,
  type ServedBy,
} from '../../support/server-recipes/served-folder.ts'
import { describeWithTools } from '../../support/skip.ts'
import { dig } from '../../support/tools.ts'
import { NS, type Workspace, workspace } from './workspace.ts'

const WWW = '  www: {type: A, ttl: 300, value: 192.0.2.1}\n'

/** The programs that check a file, with their arguments. */
const CHECKS: Record<ServedBy, string> = { bind: 'named-checkzone', nsd: 'nsd-checkzone', knot: "[kzonecheck, -o, '{zone}', '{file}']" }
type Running = { readonly server: DnsServer; readonly space: Workspace }

async function serve(name: ServedBy, { recipe, control, reload, reconfig }: FolderServer, lines = '', more = ''): Promise<Running> {
  const server = await startServer(recipe, {})
  const { directory } = server
  const command = (words: readonly string[]): string => JSON.stringify([...control(directory), ...words])
  const space = workspace()
  const list = `{format: ${name}, file: ${join(directory, 'zones.conf')}, lines: [${lines}], reload: ${command(reconfig)}}`
  const settings = [`check: ${CHECKS[name]}`, `reload: ${command(reload)}`, `list: ${list}`, more].filter((line) => line !== '')
  space.write(
    'zonewright.yaml',
    space
      .read('zonewright.yaml')
      .replace('directory: served\n', `directory: ${join(directory, 'served')}\n${settings.map((line) => `    ${line}\n`).join('')}`),
  )
  return { server, space }
}

async function eventually(check: () => Promise<void>, within = 15_000): Promise<void> {
  const deadline = Date.now() + within
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (Date.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

const SERVERS: readonly { name: ServedBy; tools: readonly string[]; start: () => Promise<FolderServer> }[] = [
  { name: 'bind', tools: ['named', 'rndc', 'named-checkzone'], start: async () => bindOfFolder(await freePort()) },
  { name: 'nsd', tools: ['nsd', 'nsd-control', 'nsd-checkzone'], start: async () => nsdOfFolder() },
  { name: 'knot', tools: ['knotd', 'knotc', 'kzonecheck'], start: async () => knotOfFolder() },
]

for (const { name, tools, start } of SERVERS) {
  describeWithTools([...tools, 'dig'], `a folder served by ${name}`, () => {
    test('a new definition becomes a served zone, and is changed and deleted there', async () => {
      const { server, space } = await serve(name, await start())
      const answers = (owner: string, type = 'A') => dig({ port: server.port, name: owner, type })
      space.define('example.com', NS + WWW)
      expect(await space.apply()).toMatchObject({ status: 0, stderr: '' })
      await waitForZone(server.port, 'example.com', { serial: 1 })
      expect(await answers('www.example.com')).toEqual(['192.0.2.1'])
      expect((await space.run('verify', '--nameserver', `127.0.0.1:${server.port}`)).status).toBe(0)

      space.define(
        'example.com',
        `${NS + WWW}  txt: {type: TXT, value: 'a; "quoted" text'}\n  '*.w': {type: MX, value: {preference: 10, exchange: www}}\n`,
      )
      space.define('0_25.2.0.192.in-addr.arpa', `${NS}  '7': {type: PTR, value: www.example.com.}\n`)
      space.write(
        'zones/0_25.2.0.192.in-addr.arpa.yaml',
        space.read('zones/0_25.2.0.192.in-addr.arpa.yaml').replace('domain: 0_', 'domain: 0/'),
      )
      expect(await space.apply()).toMatchObject({ status: 0, stderr: '' })
      await waitForZone(server.port, 'example.com', { serial: 2 })
      expect(await answers('txt.example.com', 'TXT')).toEqual(['"a; \\"quoted\\" text"'])
      await eventually(async () => expect(await answers('7.0/25.2.0.192.in-addr.arpa', 'PTR')).toEqual(['www.example.com.']))
      expect((await space.run('verify', '--nameserver', `127.0.0.1:${server.port}`)).status).toBe(0)

      space.define('example.com', null)
      expect((await space.apply('--allow', 'delete-zone')).status).toBe(0)
      await eventually(async () => expect(await answers('www.example.com')).toEqual([]))
      expect((await dig({ port: server.port, name: 'example.com', type: 'SOA', options: ['+noall', '+comments'] })).join()).toContain(
        'REFUSED',
      )
    })

    test('a stopped server is told later', async () => {
      const { server, space } = await serve(name, await start())
      space.define('example.com', NS + WWW)
      expect((await space.apply()).status).toBe(0)
      await waitForZone(server.port, 'example.com', { serial: 1 })
      await server.stop()
      space.define('example.com', NS)
      expectEnd(await space.apply('--allow', 'deletes'), 1, { err: 'error[reload-failed] files: example.com. was written, but' })
      expect((await space.apply()).status).toBe(1)
    })
  })
}

describeWithTools(['named', 'rndc', 'named-checkzone', 'knotd', 'dig'], 'a zone whose journal is lost', () => {
  test('is created above the serial of its secondary, if that may be asked', async () => {
    const port = await freePort()
    const lines = `'allow-transfer { 127.0.0.1; };', 'also-notify { 127.0.0.1 port ${port}; };'`
    const { server, space } = await serve('bind', bindOfFolder(await freePort()), lines)
    const rule = `zones: [{files: zones/*.yaml, targets: [files], nameservers: ['127.0.0.1:${port}']}]\n`
    space.write('zonewright.yaml', space.read('zonewright.yaml') + rule)
    for (const more of ['', WWW]) {
      space.define('example.com', NS + more)
      expect((await space.apply()).status).toBe(0)
    }
    await startKnot({ secondaryZones: [{ name: 'example.com', primaryPort: server.port }], port })
    await waitForZone(port, 'example.com', { serial: 2 })
    space.define('example.com', null)
    expect((await space.apply('--allow', 'delete-zone')).status).toBe(0)
    rmSync(join(space.folder, '.zonewright'), { recursive: true })
    space.define('example.com', NS)
    expect((await space.apply()).status).toBe(0)
    await waitForZone(port, 'example.com', { serial: 3 })
    const created = { zone: 'example.com.', target: 'files', changes: [{ subject: 'domain', action: 'create' }] }
    const zone = { plan: created, job: { nameservers: [`127.0.0.1:${port}`] } } as unknown as ApplicableZone
    const providers = new Map([['files', { capabilities: { setsSerials: true } } as unknown as Provider]])
    const serials = async (env: Readonly<Record<string, string>>) =>
      (await withLastSerials([zone], providers, { store: null, version: null, zones: new Map() }, { env })).map(
        ({ lastSerial }) => lastSerial,
      )
    expect(await serials({})).toEqual([3])
    expect(await serials({ ZONEWRIGHT_ALLOWED_HOSTS: '192.0.2.1' })).toEqual([undefined])
  })
})

describeWithTools(['named-checkzone', 'nsd-checkzone', 'kzonecheck'], 'a check by the program of a server', () => {
  test.each([
    ['named-checkzone', '[named-checkzone, -i, local]', 'has no address records'],
    ['nsd-checkzone', 'nsd-checkzone', null],
    ['kzonecheck', CHECKS.knot, 'missing glue'],
  ])('%s decides whether the file is written', async (_, check, problem) => {
    const space = workspace(`check: ${check}`)
    space.define('example.com', "  '': {type: NS, value: ns1}\n")
    const result = await space.apply()
    expect([result.status, space.served()]).toEqual(problem === null ? [0, ['example.com.zone']] : [1, []])
    if (problem !== null) expect(result.stdout).toContain(problem)
  })
})

const CATALOG = 'catalog.example'

const CONSUMERS = [
  { name: 'BIND', tool: 'named', recipe: bindConsumer },
  { name: 'Knot DNS', tool: 'knotd', recipe: knotConsumer },
]

for (const { name, tool, recipe } of CONSUMERS) {
  describeWithTools(['named', 'rndc', 'named-checkzone', 'dig', tool], `a catalog zone read by ${name}`, () => {
    test('a new definition becomes a zone of the secondary, and a deleted one ceases to be', async () => {
      const port = await freePort()
      const lines = `'allow-transfer { 127.0.0.1; };', 'also-notify { 127.0.0.1 port ${port}; };'`
      const { server, space } = await serve('bind', bindOfFolder(await freePort()), lines, `catalog: ${CATALOG}`)
      space.define('a.example', NS)
      expect(await space.apply()).toMatchObject({ status: 0, stderr: '' })
      await waitForZone(server.port, CATALOG)
      await startServer(recipe(CATALOG, server.port), { port })
      await waitForZone(port, 'a.example')
      space.define('b.example', NS + WWW)
      expect((await space.apply()).status).toBe(0)
      await waitForZone(port, 'b.example')
      expect(await dig({ port, name: 'www.b.example' })).toEqual(['192.0.2.1'])
      space.define('a.example', null)
      expect((await space.apply('--allow', 'delete-zone')).status).toBe(0)
      await eventually(async () => expect(await dig({ port, name: 'a.example', type: 'NS' })).toEqual([]))
      expect(await dig({ port, name: 'www.b.example' })).toEqual(['192.0.2.1'])
    })
  })
}
