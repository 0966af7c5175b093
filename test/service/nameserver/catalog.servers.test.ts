/** Secondaries that follow the catalog zone of the service: a suspended account's zones are refused there, too, until it is resumed. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { openAdmin } from '../../../src/service/admin/admin-client.ts'
import { startServer, waitForZone } from '../../support/dns-servers.ts'
import { freePort } from '../../support/free-port.ts'
import { nsd } from '../../support/server-recipes/nsd.ts'
import type { ServerRecipe } from '../../support/server-recipes/recipe.ts'
import { bindConsumer, knotConsumer } from '../../support/server-recipes/served-folder.ts'
import { describeWithTools } from '../../support/skip.ts'
import { connect, LOOPBACK, MASTER, startForTest, temporaryDirectory } from '../harness.ts'
import { eventually } from '../transfers/eventually.ts'

const CATALOG = 'catalog.invalid'
const run = promisify(execFile)

/** The configuration of the documentation for NSD before 4.9, which a script keeps up to date. */
const nsdConsumer = (_catalog: string, primary: number): ServerRecipe => ({
  ...nsd,
  tools: ['nsd', 'nsd-control', 'dig'],
  files: (setup) => ({
    'nsd.conf': `${nsd.files(setup)['nsd.conf']}`
      .replace('control-enable: no', `control-enable: yes\n    control-interface: "${setup.directory}/control"`)
      .concat(`
pattern:
    name: zonewright
    request-xfr: 127.0.0.1@${primary} NOKEY
    allow-notify: 127.0.0.1 NOKEY
    zonefile: "%s.zone"
`),
  }),
})

const CONSUMERS = [
  { name: 'Knot', tools: ['knotd'], recipe: knotConsumer, script: false },
  { name: 'BIND', tools: ['named'], recipe: bindConsumer, script: false },
  { name: 'NSD', tools: ['nsd', 'nsd-control'], recipe: nsdConsumer, script: true },
]

describeWithTools(['dig'], 'a catalog zone', () => {
  for (const { name, tools, recipe, script } of CONSUMERS) {
    describeWithTools(tools, `read by ${name}`, () => {
      test('a suspension is followed, and its end', async () => {
        const peerPort = await freePort()
        const admin = { path: join(temporaryDirectory(), 'admin.sock') }
        const { service, client } = await startForTest({ dns: LOOPBACK, peerPort, admin, secondaries: ['127.0.0.1'], catalogZone: CATALOG })
        const operator = await openAdmin({ admin: admin.path, token: null })
        await operator.request('POST', '/accounts', { users: [{ username: 'alice', email: 'alice@example.com' }] })
        const { token } = await operator.request('POST', '/accounts/alice/tokens')
        const alice = connect(service.baseUrl, token).client
        const primary = service.dnsAddress?.port as number
        await client.ok('POST', '/domains', { ...MASTER, domain: 'kept.example' })
        await service.flush()
        const server = await startServer(recipe(CATALOG, primary), { port: peerPort })
        const follow = async () => {
          await service.flush()
          if (script)
            await run('examples/service/nsd-catalog.sh', [CATALOG, '127.0.0.1', String(primary), join(server.directory, 'nsd.conf')])
        }
        await follow()
        await waitForZone(peerPort, 'kept.example')
        await alice.ok('POST', '/domains', { ...MASTER, domain: 'a.example' })
        await follow()
        await waitForZone(peerPort, 'a.example')
        for (let round = 0; round < 2; round += 1) {
          await operator.request('POST', '/accounts/alice/suspend')
          await follow()
          for (const port of [primary, peerPort]) await eventually(async () => expect(await rcodeOf(port, 'a.example')).toBe('REFUSED'))
          expect(await rcodeOf(peerPort, 'kept.example')).toBe('NOERROR')
          await operator.request('POST', '/accounts/alice/resume')
          await follow()
          await waitForZone(peerPort, 'a.example')
        }
      })
    })
  }
})

const rcodeOf = async (port: number, name: string): Promise<string> => {
  const { stdout } = await run('dig', ['+time=2', '+tries=1', '-p', String(port), '@127.0.0.1', name, 'SOA']).catch((error) => error)
  return /status: (\w+)/.exec(stdout)?.[1] ?? ''
}
