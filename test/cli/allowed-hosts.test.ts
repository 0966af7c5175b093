/** A pull request attacks the token: the program must send nothing to the attacker's host. */
import { describe, expect, test } from 'vitest'
import { type Attacker, startAttacker } from '../support/attacker.ts'
import { startProgram } from '../support/built-program.ts'
import { type CliResult, cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { type FolderScene, openScene, TOKEN, withoutToken, ZONE } from './scene.ts'
import { openServiceScene, openWireScene, type ServiceScene } from './service-scene.ts'

const endedOf = ({ status, stdout, stderr }: CliResult) => ({ status, output: stdout + stderr })

/** In this process, with the provider types of the config. */
async function run(cwd: string, env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  return endedOf(withoutToken(await cli(args, { cwd, env: { ZONEWRIGHT_TOKEN: TOKEN, ...env } })))
}

/** The same as a process. */
async function runProgram(cwd: string, env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const program = await startProgram(args, { cwd, env: { ZONEWRIGHT_TOKEN: TOKEN, ...env } })
  const { status } = await program.ended
  return endedOf(withoutToken({ status: status ?? -1, stdout: program.stdout(), stderr: program.stderr() }))
}

const allowing = (...hosts: string[]) => ({ ZONEWRIGHT_ALLOWED_HOSTS: hosts.join(',') })

/** The hosts that a scene with a service needs. */
const hostsOf = ({ proxy, service }: ServiceScene) =>
  allowing(new URL(proxy.origin).host, `${service.dnsAddress?.host}:${service.dnsAddress?.port}`)

const configOf = (scene: FolderScene): string => scene.config()

const configFor = (host: string, token = 'env:ZONEWRIGHT_TOKEN'): string =>
  `providers: {cloud: {type: cloud, base_url: 'http://${host}/v4', token: '${token}'}}\nnameservers: ['127.0.0.1:1']\n`

/** A folder with a saved plan and a run that can be rolled back. */
async function usedScene(): Promise<FolderScene> {
  const scene = openScene()
  expect((await scene.run('apply', '--yes')).status).toBe(0)
  scene.write({ 'zones/example.com.yaml': ZONE.replace('192.0.2.2', '192.0.2.7') })
  expect((await scene.run('plan', '--out', 'plan.json')).status).toBe(0)
  return scene
}

const COMMANDS = `plan
plan --format json
apply --yes
apply plan.json --yes
rollback --last --yes
verify
verify --no-dns
verify --resolvers us-east
doctor
import --from cloud -o imported
import --from cloud example.net --clone example.com --yes -o imported
import --from cloud example.net --via-service 127.0.0.1 --yes -o imported
history
validate
fmt --check
export json
record add example.com new A 192.0.2.9`
  .split('\n')
  .map((line) => line.split(' '))

describe('a changed base_url', () => {
  test.each([
    ['gets nothing from any command', 'env:ZONEWRIGHT_TOKEN', COMMANDS, run],
    ['is refused before a secret is looked up', 'env:NOT_SET', COMMANDS, run],
    ['gets nothing from the built program', 'env:ZONEWRIGHT_TOKEN', [['apply', '--yes']], runProgram],
  ])('%s', async (_, token, commands, start) => {
    const scene = await usedScene()
    const attacker = await startAttacker()
    scene.write({ 'zonewright.yaml': configFor(attacker.host, token) })
    for (const command of commands) {
      const { status, output } = await start(scene.folder, allowing('127.0.0.1:1', '127.0.0.1:53'), ...command)
      expect.soft(`${command.join(' ')}: ${output}`).toContain(`host-not-allowed`)
      expect.soft(output).toContain(`${attacker.host} is not among the hosts in ZONEWRIGHT_ALLOWED_HOSTS`)
      expect.soft(output).not.toContain('secret-missing')
      expect.soft({ command, status }).toEqual({ command, status: 1 })
    }
    expect(attacker.received()).toBe('')
  })

  test('gets nothing from init --from', async () => {
    const attacker = await startAttacker()
    const ended = await run(temporaryDirectory(), allowing('dns.example.net'), 'init', '--from', `http://${attacker.host}/v4`)
    expect(ended).toEqual({ status: 1, output: expect.stringContaining('error[host-not-allowed]') })
    expect(attacker.received()).toBe('')
  })

  test('gets nothing if a second provider has it, even without zones', async () => {
    const scene = openScene({ config: 'zones: [{targets: [cloud]}]\n', also: ['other'] })
    const attacker = await startAttacker()
    const second = `  other: {type: cloud, base_url: 'http://${attacker.host}/v4', token: env:ZONEWRIGHT_TOKEN}\n`
    scene.write({ 'zonewright.yaml': configOf(scene).replace('zones:', `${second}zones:`) })
    for (const command of ['plan', 'doctor']) {
      const ended = endedOf(await scene.runWith(allowing('127.0.0.1:9'), command))
      expect(ended).toEqual({ status: 1, output: expect.stringContaining('error[host-not-allowed] providers.other.base_url') })
    }
    expect(attacker.received()).toBe('')
    expect(scene.memory.requests).toEqual([])
  })

  test('gets nothing however it spells the allowed host', async () => {
    const scene = openScene()
    const attacker = await startAttacker()
    const port = attacker.host.split(':')[1]
    const allowed = '127.0.0.1:9'
    for (const host of [
      ...[`${allowed}@${attacker.host}`, `${attacker.host}/${allowed}`, `${attacker.host}#@${allowed}`, `${attacker.host}\\@${allowed}`],
      ...['0x7f.1', '2130706433', '127.1', 'localhost', '[::ffff:127.0.0.1]'].map((name) => `${name}:${port}`),
    ]) {
      scene.write({ 'zonewright.yaml': configFor(host) })
      const { status, output } = await run(scene.folder, allowing(allowed, '127.0.0.1:1'), 'plan')
      expect.soft(`${host}: ${output}`).toContain('error[host-not-allowed]')
      expect.soft({ host, status }).toEqual({ host, status: 1 })
    }
    expect(attacker.received()).toBe('')
  })

  test('works in every command if it is allowed, without the proxies of the environment', async () => {
    const scene = await openServiceScene()
    const attacker = await startAttacker()
    const names = ['http', 'https', 'all'].flatMap((name) => [`${name}_proxy`, `${name}_proxy`.toUpperCase()])
    const proxies = [...names, 'npm_config_proxy', 'GLOBAL_AGENT_HTTP_PROXY'].map((name) => [name, `http://${attacker.host}`])
    const env = { ...Object.fromEntries(proxies), NODE_USE_ENV_PROXY: '1', NO_PROXY: '' }
    // Node reads the variables when it starts.
    expect(await runProgram(scene.folder, { ...env, ...hostsOf(scene) }, 'apply', '--yes')).toMatchObject({ status: 0 })
    expect(attacker.received()).toBe('')
    await scene.service.flush()
    for (const command of [['plan', '--detailed-exitcode'], ['verify'], ['doctor'], ['history'], ['validate']])
      expect({ command, status: (await run(scene.folder, hostsOf(scene), ...command)).status }).toEqual({ command, status: 0 })
  })

  test('with plain HTTP is refused in CI without a list, before a secret is looked up', async () => {
    const scene = await usedScene()
    scene.write({ 'zonewright.yaml': configFor('192.0.2.1', 'env:NOT_SET') })
    for (const command of COMMANDS.filter(([name]) => name !== 'import')) {
      const { status, output } = await run(scene.folder, { CI: 'true' }, ...command)
      expect.soft(`${command.join(' ')}: ${output}`).toContain('insecure-url')
      expect.soft(output).not.toContain('secret-missing')
      expect.soft(status).toBe(1)
    }
  })
})

test.each(['', 'https://dns.example.net', '127.0.0.1:0'])('every command refuses the list %j', async (list) => {
  const scene = openScene()
  for (const command of [['plan'], ['apply', '--yes'], ['validate'], ['verify', '--nameserver', '127.0.0.1:1']]) {
    const ended = endedOf(await scene.runWith({ ZONEWRIGHT_ALLOWED_HOSTS: list }, ...command))
    expect(ended).toEqual({ status: 1, output: expect.stringContaining('error[allowed-hosts-invalid]') })
  }
  expect(scene.memory.requests).toEqual([])
})

test('the list is read only from the environment', async () => {
  const scene = openScene()
  const attacker = await startAttacker()
  scene.write({ 'zonewright.yaml': configFor(attacker.host), '.env': `ZONEWRIGHT_ALLOWED_HOSTS=${attacker.host}\n` })
  expect((await run(scene.folder, allowing('127.0.0.1:1'), 'plan')).output).toContain('error[host-not-allowed]')
  scene.write({ 'zonewright.yaml': `allowed_hosts: ['${attacker.host}']\n${configFor(attacker.host)}` })
  expect((await run(scene.folder, allowing('127.0.0.1:1'), 'plan')).output).toContain('error[schema-unknown-key]')
  expect(attacker.received()).toBe('')
})

test.each([301, 302, 303, 307, 308])('does not follow a redirect (%i) of the allowed host', async (status) => {
  const attacker = await startAttacker()
  const evil = `http://${attacker.host}`
  const scene = await openWireScene(({ path }) => ({ status, headers: { location: evil + path, refresh: `0; url=${evil}/` } }))
  const allowed = allowing(new URL(scene.proxy.origin).host, '127.0.0.1:9')
  for (const command of [['plan'], ['apply', '--yes'], ['doctor'], ['import', '--from', 'cloud', '-o', 'imported']])
    expect(await run(scene.folder, allowed, ...command)).toEqual({ status: 1, output: expect.stringContaining(`redirects (${status})`) })
  // The allowed host does receive the token, so the tests of the attacker are meaningful.
  expect(scene.proxy.requests[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`)
  expect(attacker.received()).toBe('')
})

describe('never queries a name server that is not allowed', () => {
  async function expectRefused(scene: FolderScene, attacker: Attacker, env: Readonly<Record<string, string>>, ...command: string[]) {
    const { status, output } = endedOf(await scene.runWith(env, ...command))
    expect(output).toContain('[host-not-allowed]')
    expect(output).not.toContain('secret-missing')
    expect(status).toBe(1)
    expect(attacker.received()).toBe('')
  }

  test.each(['config', 'rule', 'option'])('from %s', async (by) => {
    const scene = openScene()
    const attacker = await startAttacker()
    const more = { config: `nameservers: ['${attacker.host}']\n`, rule: `zones: [{nameservers: ['${attacker.host}']}]\n` }[by] ?? ''
    scene.write({ 'zonewright.yaml': configOf(scene) + more })
    const option = by === 'option' ? ['--nameserver', attacker.host] : []
    await expectRefused(scene, attacker, allowing('127.0.0.1:9'), 'verify', ...option)
    if (by !== 'option') await expectRefused(scene, attacker, allowing('127.0.0.1:9'), 'doctor')
    expect(scene.memory.requests).toEqual([])
  })

  test('from the NS records of a zone', async () => {
    const records = "'': [{type: A, value: 192.0.2.1}, {type: NS, value: ns1.evil.example.}]"
    const zone = ZONE.replace("'': {type: A, value: 192.0.2.1}", records)
    const scene = openScene({ files: { 'zones/example.com.yaml': zone }, config: 'zones: [{apex_ns: manage}]\n' })
    expect((await scene.run('apply', '--yes', '--allow', 'apex-ns')).status).toBe(0)
    const { status, output } = endedOf(await scene.runWith(allowing('127.0.0.1:9'), 'verify'))
    const notice =
      /^zones\/example\.com\.yaml:1:\d+: notice\[nameservers-skipped\] example\.com\. at cloud: not queried, .*: ns1\.evil\.example:53/m
    expect(output).toMatch(notice)
    expect(output).toContain('Verified: 1 of 1 zone as defined, 0 record sets queried.')
    expect(status).toBe(0)
  })

  test('as the resolver of a region', async () => {
    const attacker = await startAttacker()
    const region = { ...{ id: 'us-east', label: 'x', country: 'us', capabilities: [], status: 'ok' }, resolvers: { ipv4: attacker.host } }
    const headers = { 'content-type': 'application/json' }
    const reply = { headers, body: JSON.stringify(region) }
    const scene = await openServiceScene({ script: ({ path }) => (path.startsWith('/v4/regions/') ? reply : null) })
    await scene.run('apply', '--yes')
    await expectRefused(scene, attacker, hostsOf(scene), 'verify', '--resolvers', 'us-east')
  })

  test.each([[[]], [['--tsig', 'hmac-sha256:k.:env:NOT_SET']]])('as the source of a transfer, with %j', async (key) => {
    const attacker = await startAttacker()
    const command = ['import', 'axfr', attacker.host, 'example.net', '--timeout', '2', ...key, '-o', 'imported']
    await expectRefused(openScene(), attacker, allowing('127.0.0.1:9'), ...command)
  })

  test('as a primary in an import from a provider', async () => {
    const scene = await openWireScene(() => null)
    const command = ['import', '--from', 'cloud', 'example.net', '--via-service', 'ns1.evil.example', '--yes', '-o', 'imported']
    const ended = endedOf(await scene.runWith(allowing(new URL(scene.proxy.origin).host, '127.0.0.1:9'), ...command))
    expect(ended).toEqual({ status: 1, output: expect.stringContaining('error[host-not-allowed] --via-service: ns1.evil.example:53') })
    expect(scene.proxy.requests).toEqual([])
  })
})

test('the demo uses only its own service, with any list', async () => {
  const { folder } = openScene()
  expect((await run(folder, allowing('dns.example.net'), 'demo', '--zones', 'zones')).status).toBe(0)
})
