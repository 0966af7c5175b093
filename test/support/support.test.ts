import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
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
  expect(await runTool('sh', ['-c', 'cat; echo bad >&2; exit 3'], { input: 'text' })).toEqual({
    status: 3,
    stdout: 'text',
    stderr: 'bad\n',
  })
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

/** Runs a test file with this text in a separate vitest, as scripts/test.sh does, and returns the summary lines. */
async function runSuite(text: string, env: Record<string, string> = {}): Promise<{ status: number | null; summary: string[] }> {
  const directory = temporaryDirectory()
  writeFileSync(join(directory, 'inner.test.ts'), text.replaceAll('SUPPORT', join(root, 'test/support')))
  writeFileSync(join(directory, 'vitest.config.mjs'), `export default { test: { include: ['inner.test.ts'], pool: 'forks' } }`)
  const results = join(directory, 'results.json')
  const log = join(directory, 'skipped')
  const assignments = Object.entries({ ZONEWRIGHT_REQUIRE_DNS_SERVERS: '', ...env, ZONEWRIGHT_SKIP_LOG: log }).map(
    ([key, value]) => `${key}=${value}`,
  )
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const args = ['run', '--root', directory, '--config', join(directory, 'vitest.config.mjs'), '--reporter=json', `--outputFile=${results}`]
  const { status } = await runTool('env', [...assignments, process.execPath, vitest, ...args])
  const summary = await runTool(process.execPath, [join(root, 'scripts/test-summary.mjs'), results, log, String(status)])
  if (existsSync(log)) expect(readFileSync(log, 'utf8')).toMatch(/\n$/)
  return { status, summary: summary.stdout.split('\n').filter((line) => line !== '') }
}

const NEEDY = `import { expect, test } from '${join(root, 'node_modules/vitest/dist/index.js')}'
import { describeWithTools } from 'SUPPORT/skip.ts'
test('runs', () => expect(1).toBe(1))
describeWithTools(['sh', 'a-missing-program'], 'a suite', () => {
  test('one', () => expect(1).toBe(2))
  test('two', () => expect(1).toBe(2))
})
`

test('a suite without its program is skipped, listed and counted', async () => {
  expect(await runSuite(NEEDY)).toEqual({
    status: 0,
    summary: [
      '!!! 1 suite was SKIPPED because programs are missing:',
      '!!!   a suite (needs a-missing-program)',
      '1 passed, 0 failed, 2 skipped',
    ],
  })
})

test('a suite without its program fails if programs are required', async () => {
  expect(await runSuite(NEEDY, { ZONEWRIGHT_REQUIRE_DNS_SERVERS: '1' })).toEqual({ status: 1, summary: ['1 passed, 1 failed, 0 skipped'] })
})

test('a file that cannot be loaded is a failure', async () => {
  expect(await runSuite(`import './nowhere.ts'`)).toEqual({ status: 1, summary: ['0 passed, 1 failed, 0 skipped'] })
})
