/** A pull request attacks the token: the built program must send nothing to the attacker's host. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Attacker, startAttacker } from '../support/attacker.ts'
import { builtProgram, startProgram } from '../support/built-program.ts'
import { cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { startRecordingProxy } from './recording-proxy.ts'
import { TOKEN, ZONE } from './scene.ts'
import { openServiceScene, type ServiceScene } from './service-scene.ts'

beforeAll(async () => void (await builtProgram()))

interface Ended {
  readonly status: number | null
  readonly output: string
}

async function run(cwd: string, env: Readonly<Record<string, string>>, ...args: string[]): Promise<Ended> {
  const program = await startProgram(args, { cwd, env: { ZONEWRIGHT_TOKEN: TOKEN, ...env } })
  const { status } = await program.ended
  const output = program.stdout() + program.stderr()
  expect(output).not.toContain(TOKEN)
  return { status, output }
}

/** The same in this process, ten times faster. */
async function runHere(cwd: string, env: Readonly<Record<string, string>>, ...args: string[]): Promise<Ended> {
  const { status, stdout, stderr } = await cli(args, { cwd, env: { ZONEWRIGHT_TOKEN: TOKEN, ...env } })
  return { status, output: stdout + stderr }
}

/** The hosts that the scene needs. */
const hostsOf = ({ proxy, service }: ServiceScene): string =>
  `${new URL(proxy.origin).host},${service.dnsAddress?.host}:${service.dnsAddress?.port}`

const allowing = (scene: ServiceScene, ...more: string[]) => ({ ZONEWRIGHT_ALLOWED_HOSTS: [hostsOf(scene), ...more].join(',') })

const configFor = (host: string, token = 'env:ZONEWRIGHT_TOKEN'): string =>
  `providers: {cloud: {type: cloud, base_url: 'http://${host}/v4', token: '${token}'}}\nnameservers: ['127.0.0.1:1']\n`

/** A scene with a saved plan and a run that can be rolled back. */
async function usedScene(): Promise<ServiceScene> {
  const scene = await openServiceScene()
  expect((await scene.run('apply', '--yes')).status).toBe(0)
  scene.write({ 'zones/example.com.yaml': ZONE.replace('192.0.2.2', '192.0.2.7') })
  expect((await scene.run('plan', '--out', 'plan.json')).status).toBe(0)
  return scene
}

const COMMANDS: readonly (readonly string[])[] = [
  ['plan'],
  ['plan', '--format', 'json'],
  ['apply', '--yes'],
  ['apply', 'plan.json', '--yes'],
  ['rollback', '--last', '--yes'],
  ['verify'],
  ['verify', '--no-dns'],
  ['verify', '--resolvers', 'us-east'],
  ['doctor'],
  ['import', '--from', 'cloud', '-o', 'imported'],
  ['import', '--from', 'cloud', 'example.net', '--clone', 'example.com', '--yes', '-o', 'imported'],
  ['import', '--from', 'cloud', 'example.net', '--via-service', '127.0.0.1', '--yes', '-o', 'imported'],
  ['history'],
  ['validate'],
  ['fmt', '--check'],
  ['export', 'json'],
  ['record', 'add', 'example.com', 'new', 'A', '192.0.2.9'],
]

describe('a changed base_url', () => {
  test.each([
    ['gets nothing from any command', 'env:ZONEWRIGHT_TOKEN', run],
    ['is refused before a secret is looked up', 'env:NOT_SET', runHere],
  ])('%s', async (_, token, start) => {
    const scene = await usedScene()
    const attacker = await startAttacker()
    scene.write({ 'zonewright.yaml': configFor(attacker.host, token) })
    for (const command of COMMANDS) {
      const { status, output } = await start(scene.folder, allowing(scene, '127.0.0.1:1', '127.0.0.1:53'), ...command)
      expect.soft(`${command.join(' ')}: ${output}`).toContain(`host-not-allowed`)
      expect.soft(output).toContain(`${attacker.host} is not among the hosts in ZONEWRIGHT_ALLOWED_HOSTS`)
      expect.soft(output).not.toContain('secret-missing')
      expect.soft({ command, status }).toEqual({ command, status: 1 })
    }
    expect(attacker.received()).toBe('')
  })

  test('gets nothing from init --from', async () => {
    const attacker = await startAttacker()
    const { status, output } = await run(
      temporaryDirectory(),
      { ZONEWRIGHT_ALLOWED_HOSTS: 'dns.example.net' },
      'init',
      '--from',
      `http://${attacker.host}/v4`,
    )
    expect(output).toContain('error[host-not-allowed]')
    expect(status).toBe(1)
    expect(attacker.received()).toBe('')
  })

  test('gets nothing if a second provider has it, even without zones', async () => {
    const scene = await openServiceScene()
    const attacker = await startAttacker()
    const config = scene.files()['zonewright.yaml'] as string
    const second = `  other: {type: cloud, base_url: 'http://${attacker.host}/v4', token: env:ZONEWRIGHT_TOKEN}\n`
    scene.write({ 'zonewright.yaml': config.replace('nameservers:', `${second}zones: [{targets: [cloud]}]\nnameservers:`) })
    for (const command of [['plan'], ['doctor']]) {
      const { status, output } = await run(scene.folder, allowing(scene), ...command)
      expect(output).toContain('error[host-not-allowed] providers.other.base_url')
      expect(status).toBe(1)
    }
    expect(attacker.received()).toBe('')
    expect(scene.proxy.requests).toEqual([])
  })

  test('gets nothing however it spells the allowed host', async () => {
    const scene = await openServiceScene()
    const attacker = await startAttacker()
    const port = attacker.host.split(':')[1]
    const allowed = new URL(scene.proxy.origin).host
    for (const host of [
      `${allowed}@${attacker.host}`,
      `0x7f.1:${port}`,
      `2130706433:${port}`,
      `127.1:${port}`,
      `localhost:${port}`,
      `[::ffff:127.0.0.1]:${port}`,
      `${attacker.host}/${allowed}`,
      `${attacker.host}#@${allowed}`,
      `${attacker.host}\\@${allowed}`,
    ]) {
      scene.write({ 'zonewright.yaml': configFor(host) })
      const { status, stdout, stderr } = await cli(['plan'], {
        cwd: scene.folder,
        env: { ZONEWRIGHT_TOKEN: TOKEN, ...allowing(scene, '127.0.0.1:1') },
      })
      expect.soft(`${host}: ${stdout}${stderr}`).toContain('error[host-not-allowed]')
      expect.soft({ host, status }).toEqual({ host, status: 1 })
    }
    expect(attacker.received()).toBe('')
  })

  test('works in every command if it is allowed', async () => {
    const scene = await openServiceScene()
    expect((await run(scene.folder, allowing(scene), 'apply', '--yes')).status).toBe(0)
    await scene.service.flush()
    for (const command of [['plan', '--detailed-exitcode'], ['verify'], ['doctor'], ['history'], ['validate']])
      expect({ command, status: (await run(scene.folder, allowing(scene), ...command)).status }).toEqual({ command, status: 0 })
  })

  test('with plain HTTP is refused in CI without a list, before a secret is looked up', async () => {
    const scene = await usedScene()
    scene.write({ 'zonewright.yaml': configFor('192.0.2.1', 'env:NOT_SET') })
    for (const command of COMMANDS.filter(([name]) => name !== 'import')) {
      const { status, output } = await runHere(scene.folder, { CI: 'true' }, ...command)
      expect.soft(`${command.join(' ')}: ${output}`).toContain('insecure-url')
      expect.soft(output).not.toContain('secret-missing')
      expect.soft(status).toBe(1)
    }
  })
})

test.each(['', 'https://dns.example.net', '127.0.0.1:0'])('every command refuses the list %j', async (list) => {
  const scene = await openServiceScene()
  for (const command of [['plan'], ['apply', '--yes'], ['validate'], ['verify', '--nameserver', '127.0.0.1:1']]) {
    const { status, stdout, stderr } = await cli(command, {
      cwd: scene.folder,
      env: { ZONEWRIGHT_TOKEN: TOKEN, ZONEWRIGHT_ALLOWED_HOSTS: list },
    })
    expect(stdout + stderr).toContain('error[allowed-hosts-invalid]')
    expect(status).toBe(1)
  }
  expect(scene.proxy.requests).toEqual([])
})

test('the list is read only from the environment', async () => {
  const scene = await openServiceScene()
  const attacker = await startAttacker()
  scene.write({ 'zonewright.yaml': configFor(attacker.host), '.env': `ZONEWRIGHT_ALLOWED_HOSTS=${attacker.host}\n` })
  expect((await run(scene.folder, allowing(scene, '127.0.0.1:1'), 'plan')).output).toContain('error[host-not-allowed]')
  scene.write({ 'zonewright.yaml': `allowed_hosts: ['${attacker.host}']\n${configFor(attacker.host)}` })
  expect((await run(scene.folder, allowing(scene, '127.0.0.1:1'), 'plan')).output).toContain('error[schema-unknown-key]')
  expect(attacker.received()).toBe('')
})

test.each([301, 302, 303, 307, 308])('does not follow a redirect (%i) of the allowed host', async (status) => {
  const attacker = await startAttacker()
  const scene = await openServiceScene({
    script: ({ path }) => ({ status, headers: { location: `http://${attacker.host}${path}`, refresh: `0; url=http://${attacker.host}/` } }),
  })
  for (const command of [['plan'], ['apply', '--yes'], ['doctor'], ['import', '--from', 'cloud', '-o', 'imported']]) {
    const ended = await run(scene.folder, allowing(scene), ...command)
    expect(ended.output).toContain(`the server redirects (${status}), which is not followed`)
    expect(ended.status).toBe(1)
  }
  expect(scene.proxy.requests.length).toBeGreaterThan(0)
  expect(attacker.received()).toBe('')
})

test('does not use the proxies of the environment', async () => {
  const attacker = await startAttacker()
  const scene = await openServiceScene()
  const proxy = `http://${attacker.host}`
  const names = [
    'http_proxy',
    'https_proxy',
    'all_proxy',
    'HTTP_PROXY',
    'HTTPS_PROXY',
    'ALL_PROXY',
    'npm_config_proxy',
    'GLOBAL_AGENT_HTTP_PROXY',
  ]
  const env = { ...Object.fromEntries(names.map((name) => [name, proxy])), NODE_USE_ENV_PROXY: '1', NO_PROXY: '' }
  expect((await run(scene.folder, { ...env, ...allowing(scene) }, 'apply', '--yes')).status).toBe(0)
  expect(attacker.received()).toBe('')
})

describe('never queries a name server that is not allowed', () => {
  async function expectRefused(scene: ServiceScene, attacker: Attacker, env: Readonly<Record<string, string>>, ...command: string[]) {
    const { status, output } = await run(scene.folder, env, ...command)
    expect(output).toContain('[host-not-allowed]')
    expect(output).not.toContain('secret-missing')
    expect(status).toBe(1)
    expect(attacker.received()).toBe('')
  }

  test.each(['config', 'rule', 'option'])('from %s', async (by) => {
    const scene = await openServiceScene()
    await scene.run('apply', '--yes')
    const attacker = await startAttacker()
    const config = scene.files()['zonewright.yaml'] as string
    if (by === 'config') scene.write({ 'zonewright.yaml': config.replace(/nameservers: .*/, `nameservers: ['${attacker.host}']`) })
    if (by === 'rule') scene.write({ 'zonewright.yaml': `${config}zones: [{nameservers: ['${attacker.host}']}]\n` })
    const requestsBefore = scene.proxy.requests.length
    const option = by === 'option' ? ['--nameserver', attacker.host] : []
    await expectRefused(scene, attacker, allowing(scene), 'verify', ...option)
    if (by !== 'option') await expectRefused(scene, attacker, allowing(scene), 'doctor')
    expect(scene.proxy.requests.length).toBe(requestsBefore)
  })

  test('from the NS records of a zone', async () => {
    const scene = await openServiceScene({ config: 'zones: [{apex_ns: manage}]\n' })
    scene.write({
      'zonewright.yaml': (scene.files()['zonewright.yaml'] as string).replace(/nameservers: .*\n/, ''),
      'zones/example.com.yaml': ZONE.replace(
        "'': {type: A, value: 192.0.2.1}",
        "'': [{type: A, value: 192.0.2.1}, {type: NS, value: ns1.evil.example.}]",
      ),
    })
    expect((await scene.run('apply', '--yes', '--allow', 'apex-ns')).status).toBe(0)
    await scene.service.flush()
    const { status, output } = await run(scene.folder, allowing(scene), 'verify')
    expect(output).toMatch(
      /^zones\/example\.com\.yaml:1:\d+: error\[host-not-allowed\] example\.com\. at cloud: ns1\.evil\.example:53 is not among /m,
    )
    expect(status).toBe(1)
  })

  test('as the resolver of a region', async () => {
    const attacker = await startAttacker()
    const region = {
      id: 'us-east',
      label: 'x',
      country: 'us',
      capabilities: [],
      status: 'ok',
      resolvers: { ipv4: attacker.host, ipv6: '' },
    }
    const scene = await openServiceScene({
      script: ({ path }) =>
        path.startsWith('/v4/regions/') ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(region) } : null,
    })
    await scene.run('apply', '--yes')
    await expectRefused(scene, attacker, allowing(scene), 'verify', '--resolvers', 'us-east')
  })

  test('as the source of a transfer with a key', async () => {
    const scene = await openServiceScene()
    const attacker = await startAttacker()
    const command = [
      'import',
      'axfr',
      attacker.host,
      'example.net',
      '--timeout',
      '2',
      '--tsig',
      'hmac-sha256:k.:env:NOT_SET',
      '-o',
      'imported',
    ]
    await expectRefused(scene, attacker, allowing(scene), ...command)
    await expectRefused(scene, attacker, allowing(scene), ...command.toSpliced(command.indexOf('--tsig'), 2))
  })

  test('as a primary in an import from a provider', async () => {
    const scene = await openServiceScene()
    const ended = await run(
      scene.folder,
      allowing(scene),
      ...['import', '--from', 'cloud', 'example.net', '--via-service', 'ns1.evil.example', '--yes', '-o', 'imported'],
    )
    expect(ended.output).toContain('error[host-not-allowed] --via-service: ns1.evil.example:53')
    expect(ended.status).toBe(1)
    expect(scene.proxy.requests).toEqual([])
  })
})

test('the demo uses only its own service, with any list', async () => {
  const zones = temporaryDirectory()
  mkdirSync(join(zones, 'zones'))
  writeFileSync(join(zones, 'zones', 'example.com.yaml'), ZONE)
  const { status } = await cli(['demo', '--zones', 'zones'], { cwd: zones, env: { ZONEWRIGHT_ALLOWED_HOSTS: 'dns.example.net' } })
  expect(status).toBe(0)
})

test('the allowed proxy receives the token, so the attacker tests are meaningful', async () => {
  const proxy = await startRecordingProxy(
    () => ({ status: 401, headers: { 'content-type': 'application/json' }, body: '{"errors":[]}' }),
    null,
  )
  const scene = await openServiceScene()
  scene.write({ 'zonewright.yaml': configFor(new URL(proxy.origin).host) })
  await run(scene.folder, { ZONEWRIGHT_ALLOWED_HOSTS: `${new URL(proxy.origin).host} 127.0.0.1:1` }, 'plan')
  await proxy.close()
  expect(proxy.requests[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`)
})
