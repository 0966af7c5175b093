/** Programs that use the hosting service, unchanged: linode-cli, Ansible, lego and external-dns. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { findForeignClient } from '../../support/foreign-clients.ts'
import { describeWithTools, LONG_SERVERS } from '../../support/skip.ts'
import { runTool } from '../../support/tools.ts'
import { connect, LOOPBACK, MASTER, temporaryDirectory } from '../harness.ts'
import { isServed, runClient, startBehindProxy, startClientService } from './client-service.ts'
import { expectRow, pinnedVersion } from './client-table.ts'

const python = findForeignClient('command-clients')
const lego = findForeignClient('lego')
const externalDns = findForeignClient('external-dns')

/** Only `npm run test:long` installs these programs. */
const describeLong = (tools: readonly string[], name: string, suite: () => void): void =>
  describeWithTools(tools, name, suite, LONG_SERVERS)

describeLong([python], 'linode-cli', () => {
  const program = fileURLToPath(new URL('command-clients/linode_cli_walk.py', import.meta.url))
  const run = (mode: string, env?: Readonly<Record<string, string>>) => runClient(python, ['-B', program, mode], env)

  test.each(['v4', 'v4beta'])('every command for the service succeeds under %s', async (version) => {
    const operations: Record<string, string> = await run('operations')
    const { environment } = await startClientService()
    const { used, problems } = await run('walk', { ...environment, VERSION: version })
    expect(problems).toEqual([])
    const served = Object.keys(operations).filter((name) => isServed(operations[name] as string))
    expect(served.filter((name) => !used.includes(name))).toEqual([])
    expectRow('linode-cli', pinnedVersion('command-clients/requirements.txt', 'linode-cli'), served.length)
  })
})

/** A text as the inventory prints it: templates in it are not expanded. */
const plain = (text: unknown) => ({ __ansible_unsafe: text })

describeLong([python, 'openssl'], "Ansible's module and inventory of the hosting service", () => {
  test('instances are created once, listed, and deleted once', async () => {
    const { environment, pass } = await startBehindProxy()
    const folder = temporaryDirectory()
    const run = (command: string, ...args: string[]) =>
      runTool(python, ['-m', 'ansible', command, ...args], {
        cwd: folder,
        env: {
          ...environment,
          LC_ALL: 'C.UTF-8',
          ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED: 'true',
          ANSIBLE_INVENTORY_ENABLED: 'community.general.linode,host_list',
          ANSIBLE_HOME: folder,
          ANSIBLE_STDOUT_CALLBACK: 'ansible.posix.json',
          ANSIBLE_PYTHON_INTERPRETER: python,
          LINODE_ACCESS_TOKEN: environment['TOKEN'],
        },
      })
    /** Runs tasks of the module; returns their results. */
    const play = async (...tasks: object[]) => {
      const file = join(folder, 'play.yaml')
      const own = tasks.map((task) => ({ 'community.general.linode_v4': task }))
      writeFileSync(file, JSON.stringify([{ hosts: 'localhost', connection: 'local', gather_facts: false, tasks: own }]))
      const { stdout, stderr } = await run('playbook', '-i', 'localhost,', file)
      try {
        return JSON.parse(stdout).plays[0].tasks.map((task: { hosts: { localhost: object } }) => task.hosts.localhost)
      } catch {
        throw new Error(stdout + stderr)
      }
    }
    const inventory = async (options: object) => {
      const file = join(folder, 'linode.yaml')
      writeFileSync(file, JSON.stringify({ plugin: 'community.general.linode', ...options }))
      const { stdout, stderr } = await run('inventory', '-i', file, '--list')
      return stdout.startsWith('{') ? JSON.parse(stdout) : stderr
    }

    const web = {
      ...{
        label: 'web',
        state: 'present',
        type: 'g6-nanode-1',
        region: 'us-east',
        image: 'linode/debian12',
        root_pass: 'correct horse 9',
      },
      ...{ tags: ['blue'], private_ip: true },
    }
    const instance = { label: 'web', type: 'g6-nanode-1', region: 'us-east', image: 'linode/debian12', tags: ['blue'] }
    const [created, again] = await play(web, web)
    expect(created).toMatchObject({ changed: true, instance })
    expect(again).toMatchObject({ changed: false, instance: { ...instance, id: created.instance.id } })
    await pass(30)
    const { blue, _meta: found } = await inventory({ keyed_groups: [{ key: 'tags', separator: '' }] })
    expect(blue).toEqual({ hosts: ['web'] })
    expect(found.hostvars.web).toMatchObject({
      id: created.instance.id,
      status: plain('running'),
      ipv4: [created.instance.ipv4[0], expect.stringMatching(/^192\.168\./)].map(plain),
    })
    const only = { regions: ['us-east'], types: ['g6-nanode-1'], tags: ['blue'] }
    expect((await inventory(only)).ungrouped).toEqual({ hosts: ['web'] })
    expect(await inventory({ ip_style: 'api' })).toContain('Not found')
    const gone = { label: 'web', state: 'absent' }
    expect((await play(gone, gone)).map(({ changed }: { changed: boolean }) => changed)).toEqual([true, false])
    const version = pinnedVersion('command-clients/requirements.txt', 'ansible')
    expectRow("Ansible's `linode_v4` and inventory", version, 4, ['ip_style: api'])
  })
})

/** A service with the zone `walk.example`, the environment of a client that uses linodego, and the records of the zone. */
async function startWithZone() {
  const { service, environment, pass } = await startClientService({ dns: LOOPBACK })
  const { client } = connect(service.baseUrl, environment['TOKEN'] as string)
  const { id } = await client.ok('POST', '/domains', { domain: 'walk.example', ...MASTER })
  await pass(30)
  const { host, port } = service.dnsAddress as { host: string; port: number }
  const env = { LINODE_URL: environment['SERVICE'] as string, LINODE_TOKEN: environment['TOKEN'] as string, RESOLVER: `${host}:${port}` }
  const records = async (): Promise<string[]> => {
    const { data } = await client.ok('GET', `/domains/${id}/records`)
    return data.map(({ type, name, target }: Readonly<Record<string, string>>) => `${type} ${name} ${target}`)
  }
  return { env, records }
}

describeLong([lego], 'lego', () => {
  test('adds the records of a certificate for a name and its wildcard, and removes them', async () => {
    const { env, records } = await startWithZone()
    // The certificate authority asks for the name itself in both cases.
    const proofs = ['www.walk.example', 'www.walk.example']
    await runClient(lego, ['linode', 'present', ...proofs], env)
    expect(await records()).toEqual(proofs.map(() => expect.stringMatching(/^TXT _acme-challenge\.www /)))
    await runClient(lego, ['linode', 'cleanup', ...proofs], env)
    expect(await records()).toEqual([])
    expectRow('lego', pinnedVersion('lego/go.mod', 'lego/v5'), 2)
  })
})

describeLong([externalDns], 'external-dns', () => {
  test('creates, updates and deletes records, and then finds nothing to change', async () => {
    const { env, records } = await startWithZone()
    const reconcile = async (...wanted: object[]): Promise<string[]> => {
      const round = () => runClient(externalDns, ['walk.example'], env, JSON.stringify(wanted.map((one) => ({ ttl: 300, ...one }))))
      const changes: string[] = await round()
      expect(await round()).toEqual([])
      return changes.sort()
    }
    const www = { name: 'www.walk.example', type: 'A', targets: ['192.0.2.1'] }
    const alias = { name: 'alias.walk.example', type: 'CNAME', targets: ['www.walk.example'] }
    const six = { name: 'six.walk.example', type: 'AAAA', targets: ['2001:db8::1'] }
    expect(await reconcile(www, alias, six)).toEqual([
      'create A www.walk.example',
      'create AAAA six.walk.example',
      'create CNAME alias.walk.example',
    ])
    expect(await reconcile({ ...www, targets: ['192.0.2.2'] }, alias)).toEqual([
      'delete AAAA six.walk.example',
      'update A www.walk.example',
    ])
    const kept = (await records()).filter((one) => !one.startsWith('TXT'))
    expect(kept.sort()).toEqual(['A www 192.0.2.2', 'CNAME alias www.walk.example'])
    await reconcile()
    expect(await records()).toEqual([])
    expectRow('external-dns', pinnedVersion('external-dns/go.mod', 'external-dns'), 4)
  })
})
