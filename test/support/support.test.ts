import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { copyFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { freePort } from './free-port.ts'
import { describeWithTools } from './skip.ts'
import { temporaryDirectory } from './temp-directory.ts'
import { checkZone, findTool, runTool } from './tools.ts'

const root = resolve(import.meta.dirname, '../..')

test('a free port is free for TCP and UDP, and is not returned twice', async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, freePort))
  expect(new Set(ports).size).toBe(20)
  const [port] = ports
  const server = createServer().listen(port, '127.0.0.1')
  const socket = createSocket('udp4').bind(port, '127.0.0.1')
  await Promise.all([once(server, 'listening'), once(socket, 'listening')])
  server.close()
  socket.close()
})

test('runTool passes the input and returns status and output', async () => {
  expect(await runTool('sh', ['-c', 'cat; echo bad >&2; exit 3'], { input: 'in' })).toEqual({ status: 3, stdout: 'in', stderr: 'bad\n' })
  expect(await runTool('sh', ['-c', 'exit 0'], { input: 'x'.repeat(1_000_000) })).toMatchObject({ status: 0 })
  expect(findTool('a-missing-program')).toBe(null)
  expect(() => runTool('a-missing-program', [])).toThrow('is not installed')
})

describeWithTools(['named-checkzone'], 'named-checkzone', () => {
  test('accepts a valid zone and refuses an invalid one', async () => {
    const zone = '$TTL 300\n@ SOA ns hostmaster 1 2 3 4 5\n@ NS ns\nns A 192.0.2.1\n'
    expect(await checkZone('example.com', zone)).toMatchObject({ status: 0, stdout: expect.stringContaining('192.0.2.1') })
    expect(await checkZone('example.com', `${zone}@ CNAME ns\n`)).toMatchObject({ status: 1 })
  })
})

const summaryOf = async (folder: string, status: number | null): Promise<string[]> =>
  (await runTool(process.execPath, [join(root, 'scripts/test-summary.mjs'), folder, String(status)])).stdout
    .split('\n')
    .filter((line) => line !== '')

test('the summary adds up all results, and lists suites that were skipped', async () => {
  const folder = temporaryDirectory()
  const file = (status: string, ...states: string[]) => ({ status, assertionResults: states.map((state) => ({ status: state })) })
  const write = (name: string, ...testResults: object[]): void => writeFileSync(join(folder, name), JSON.stringify({ testResults }))
  write('servers.json', file('passed', 'passed', 'skipped'), file('failed', 'failed', 'passed'))
  // A file that failed before its first test.
  write('postgres.json', file('failed'))
  writeFileSync(join(folder, 'skipped'), 'a suite (needs named)\na suite (needs named)\n')
  const listed = ['!!! 1 suite was SKIPPED because programs are missing:', '!!!   a suite (needs named)']
  expect(await summaryOf(folder, 1)).toEqual([...listed, '2 passed, 2 failed, 1 skipped'])
  const empty = temporaryDirectory()
  expect(await summaryOf(empty, 0)).toEqual(['0 passed, 0 failed, 0 skipped'])
  expect(await summaryOf(empty, 1)).toEqual(['0 passed, 1 failed, 0 skipped'])
})

test('test:servers runs the files that it is given on PostgreSQL, too', async () => {
  const folder = temporaryDirectory()
  const program = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  }
  cpSync(join(root, 'scripts/test-servers.sh'), join(folder, 'scripts/test-servers.sh'))
  for (const name of ['dns-servers', 'octodns', 'foreign-clients'])
    program(`scripts/install-${name}.sh`, name === 'dns-servers' ? '' : 'echo /none')
  for (const path of ['bin/npm', 'bin/node', 'test/service/filter.test.ts']) program(path, '')
  program('node_modules/.bin/vitest', 'echo "$@"')
  const env = { PATH: `${join(folder, 'bin')}:${process.env['PATH']}`, ZONEWRIGHT_TEST_TAGS: '' }
  const { stdout } = await runTool('bash', [join(folder, 'scripts/test-servers.sh'), 'test/service/filter.test.ts'], { env })
  const unknown = await runTool('bash', [join(folder, 'scripts/test-servers.sh'), 'test/flter.test.ts'], { env })
  expect([unknown.status, unknown.stderr]).toEqual([1, 'There is no test/flter.test.ts.\n'])
  expect(stdout.match(/--project \w+ .*/g)).toEqual([
    '--project all --tags-filter servers && !long --passWithNoTests test/service/filter.test.ts',
    '--project postgres --tags-filter !long --passWithNoTests test/service/filter.test.ts',
  ])
})

test('only a CI or ZONEWRIGHT_INSTALL_SERVERS that is set, and not to 0 or false, installs programs and keeps files from being rewritten', async () => {
  const folder = temporaryDirectory()
  const nothing = {
    'scripts/install-octodns.sh': '',
    'scripts/install-foreign-clients.sh': '',
    'scripts/test-summary.mjs': '',
    'test/a.test.ts': '',
    npm: '#!/bin/sh\n',
  }
  const files = { ...nothing, 'scripts/install-dns-servers.sh': '[ $# = 0 ] || echo named', 'node_modules/.bin/vitest': '#!/bin/sh\n' }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text, { mode: 0o755 })
  }
  copyFileSync(join(root, 'scripts/test-servers.sh'), join(folder, 'scripts/test-servers.sh'))
  const isCi = `import { isCi } from ${JSON.stringify(join(root, 'scripts/is-ci.mjs'))}; process.exit(isCi ? 1 : 0)`
  const unset = { CI: '', ZONEWRIGHT_INSTALL_SERVERS: '', ZONEWRIGHT_REQUIRE_DNS_SERVERS: '', PATH: `${folder}:${process.env['PATH']}` }
  const cases: [string, string, boolean][] = [
    ['CI', '', false],
    ['CI', '0', false],
    ['CI', 'False', false],
    ['CI', 'true', true],
    ['ZONEWRIGHT_INSTALL_SERVERS', 'false', false],
    ['ZONEWRIGHT_INSTALL_SERVERS', '1', true],
  ]
  await Promise.all(
    cases.map(async ([name, value, isSet]) => {
      const env = { ...unset, [name]: value }
      const { status, stdout } = await runTool('bash', ['scripts/test-servers.sh', 'test/a.test.ts'], { cwd: folder, env })
      expect([name, value, status, stdout.includes('Installing')]).toEqual([name, value, 0, isSet])
      if (name === 'CI') expect((await runTool('node', ['--input-type=module', '-e', isCi], { env })).status).toBe(Number(isSet))
    }),
  )
})

/** Runs a suite that lacks a program in a separate vitest with the tags of ours. */
async function runNeedy(env: Record<string, string>): Promise<string[]> {
  const folder = temporaryDirectory()
  const text = `import { expect, test } from '${join(root, 'node_modules/vitest/dist/index.js')}'
import { describeWithTools } from '${join(root, 'test/support/skip.ts')}'
test('runs', () => expect(1).toBe(1))
describeWithTools(['sh', 'a-missing-program'], 'a suite', () => {
  test('one', () => expect(1).toBe(2))
})
`
  writeFileSync(join(folder, 'inner.test.ts'), text)
  writeFileSync(join(folder, 'vitest.config.mjs'), `export default { test: { include: ['inner.test.ts'], tags: [{ name: 'servers' }] } }`)
  const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder, '--config', join(folder, 'vitest.config.mjs')]
  const results = temporaryDirectory()
  const log = { ZONEWRIGHT_REQUIRE_DNS_SERVERS: '', ...env, ZONEWRIGHT_SKIP_LOG: join(results, 'skipped') }
  const { status } = await runTool(process.execPath, [...vitest, '--reporter=json', `--outputFile=${join(results, 'results.json')}`], {
    env: log,
  })
  return summaryOf(results, status)
}

test('a suite without its program is skipped and listed, or fails if programs are required', { tags: ['long'] }, async () => {
  const listed = ['!!! 1 suite was SKIPPED because programs are missing:', '!!!   a suite (needs a-missing-program)']
  expect(await runNeedy({})).toEqual([...listed, '1 passed, 0 failed, 1 skipped'])
  expect(await runNeedy({ ZONEWRIGHT_REQUIRE_DNS_SERVERS: '1' })).toEqual(['1 passed, 1 failed, 0 skipped'])
})
