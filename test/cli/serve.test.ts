/** The options of `serve`: what a running service does with them, and why it does not start. */
import { spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { encode } from 'dns-packet'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { CommandOptions } from '../../src/service/index.ts'
import { folderWith } from '../definition/files.ts'
import { handledAll } from '../service/nameserver/udp-client.ts'
import { type ProgramRun, startProgram } from '../support/built-program.ts'
import { selfSigned } from '../support/certificate.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { waitForZone } from '../support/dns-servers.ts'
import { freePort } from '../support/free-port.ts'
import { describeWithRight, describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { runTool, type TsigKey, transferZone } from '../support/tools.ts'
import { filesBelow } from './scene.ts'

const TOKEN = 'token-of-the-administrator'
const SERVE = ['serve', '--listen', '127.0.0.1:0', '--dns', 'none']
const TYPE = { 'content-type': 'application/json' }
const LONG = { tags: ['long'] }
const WITH_DNS = ['--dns', '127.0.0.1:0']

/** Runs `serve` until the end of the test. `call` sends a request over HTTP, and `port` is that of the name server. */
async function serve(cwd: string, args: readonly string[], env: Readonly<Record<string, string | undefined>> = {}, before: string[] = []) {
  const run = await startProgram([...SERVE, ...args], { cwd, env: { ZONEWRIGHT_BOOTSTRAP_TOKEN: TOKEN, ...env }, before })
  onTestFinished(() => run.kill('SIGKILL'))
  await run.until('listening')
  const { http, dns } = JSON.parse(run.stdout())
  const call = (method: string, path: string, body?: object, token = TOKEN) =>
    fetch(http + path, { method, headers: { ...TYPE, authorization: `Bearer ${token}` }, ...(body && { body: JSON.stringify(body) }) })
  return { run, http, port: Number(dns?.split(':')[1]), call }
}

const SEED = `accounts:
  - users:
      - username: somebody
        email: somebody@example.com
        tokens: [{ token: token-of-somebody }]
`

const secret = (octet: number): string => Buffer.alloc(32, octet).toString('base64')
const key = (name: string, octet: number): TsigKey => ({ name, algorithm: 'hmac-sha256', secret: secret(octet) })

describe('a running service', () => {
  test('prints one line of JSON when ready and the token once, keeps its folder to itself, and exits with 0', async () => {
    const folder = temporaryDirectory()
    const { run, http } = await serve(folder, [...WITH_DNS, '--operations', '127.0.0.1:0'], { ZONEWRIGHT_BOOTSTRAP_TOKEN: undefined })
    const ready = JSON.parse(run.stdout())
    expect(ready).toEqual({
      event: 'listening',
      http: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v4$/),
      dns: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      operations: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    })
    for (const path of ['/readyz', '/metrics', '/usage']) expect((await fetch(ready.operations + path)).status).toBe(200)
    const token = /shown this once: (\S+)$/m.exec(run.stderr())?.[1] as string
    expect((await fetch(`${http}/domains`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200)
    expectEnd(await cli(SERVE, { cwd: folder }), 1, { err: /^error\[service-start\] the service cannot start: the data folder .* is/ })
    run.kill('SIGTERM')
    expect(await run.ended).toEqual({ status: 0, signal: null })
    expect(Object.values(filesBelow(folder)).some((text) => text.includes(token))).toBe(false)
    expect((await serve(folder, [], { ZONEWRIGHT_BOOTSTRAP_TOKEN: undefined })).run.stderr()).not.toMatch(/token/i)
  })

  test('has the users of --seed, whom --rate-limit limits', LONG, async () => {
    const cwd = folderWith({ 'seed.yaml': SEED })
    const { run, call } = await serve(cwd, ['--seed', 'seed.yaml', '--rate-limit', '2'], { ZONEWRIGHT_BOOTSTRAP_TOKEN: undefined })
    const answers: Response[] = []
    for (let request = 0; request < 3; request += 1) answers.push(await call('GET', '/profile', undefined, 'token-of-somebody'))
    expect(answers.map(({ status, headers }) => [status, headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')])).toEqual([
      [200, '2', '1'],
      [200, '2', '0'],
      [429, '2', '0'],
    ])
    expect(await answers[0]?.json()).toMatchObject({ username: 'somebody' })
    expect(Number(answers[2]?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(run.stdout() + run.stderr()).not.toContain('token-of-somebody')
  })

  test('uses the token of the environment, and the given quotas, resolvers, image folder, URL and sink of messages', async () => {
    const folder = folderWith({
      'resolvers.yaml': 'eu-west: {ipv4: [192.0.2.53]}\n',
      'images.yaml': "own1: {label: Own 1, vendor: Own, size: 500, created: '2026-01-31T00:00:00'}\n",
    })
    const { run, call } = await serve(
      folder,
      [
        ...['--quotas', 'scripts=1,domains=none', '--region-resolvers', 'resolvers.yaml', '--image-data', 'disks'],
        ...['--public-images', 'images.yaml'],
        ...['--public-url', 'https://dns.example.net', '--sms-sink', 'file:sms.jsonl', '--log-level', 'debug'],
      ],
      { ZONEWRIGHT_SECRETS_KEY: 'k'.repeat(44) },
    )
    const scripts: unknown[] = []
    for (const label of ['first', 'second']) {
      const answer = await call('POST', '/compute/scripts', { label, images: ['any/all'], script: '#!/bin/sh' })
      scripts.push([answer.status, ((await answer.json()) as { errors?: unknown }).errors])
    }
    expect(scripts).toEqual([
      [200, undefined],
      [400, [{ field: null, reason: 'An account can have at most 1 scripts.' }]],
    ])

    const resolversOf = async (region: string) => {
      const answer = await call('GET', `/regions/${region}`)
      expect(answer.headers.get('x-ratelimit-limit')).toBe('800')
      return ((await answer.json()) as { resolvers: { ipv4: string; ipv6: string } }).resolvers
    }
    expect(await resolversOf('eu-west')).toEqual({ ipv4: '192.0.2.53', ipv6: '' })
    expect((await call('GET', '/images/public/own1')).status).toBe(200)
    expect((await resolversOf('us-east')).ipv4.split(',')).toHaveLength(10)
    expect(existsSync(join(folder, 'disks'))).toBe(true)
    const upload = await (await call('POST', '/images/upload', { label: 'image', region: 'eu-west' })).json()
    expect((upload as { upload_to: string }).upload_to).toMatch(/^https:\/\/dns\.example\.net\/uploads\//)

    // A code is only in the file of the sink.
    expect((await call('POST', '/profile/phone-number', { iso_code: 'US', phone_number: '201-555-0123' })).status).toBe(200)
    const { to, text } = JSON.parse(readFileSync(join(folder, 'sms.jsonl'), 'utf8'))
    const code = /\d{6}/.exec(text)?.[0] as string
    expect((await call('POST', '/profile/phone-number/verify', { otp_code: code })).status).toBe(200)
    expect(await (await call('GET', '/profile')).json()).toMatchObject({ verified_phone_number: to })
    expect(JSON.parse(run.stdout()).dns).toBeNull()
    for (const hidden of [code, TOKEN]) expect(run.stdout() + run.stderr()).not.toContain(hidden)
  })

  test('is administered by commands, which find it by its folder or address, and its audit log names the run of apply', async () => {
    const cwd = temporaryDirectory()
    const adminToken = { ZONEWRIGHT_ADMIN_TOKEN: 'x'.repeat(32) }
    const { run, http } = await serve(cwd, ['--data', 'd'])
    const admin = (...args: string[]) => cli(['serve', ...args, '--data', 'd'], { cwd })
    const token = expectEnd(await admin('account', 'add', 'alice', '--email', 'a@example.com', '--quotas', 'domains=1'), 0).stdout.trim()
    expectEnd(await admin('account', 'add', 'bob', '--email', 'b@example.com', '--account', 'alice', '--restricted'), 0)
    expectEnd(await admin('account', 'list'), 0, { out: '2\talice,bob\t0 domains\tactive\tdomains=1\n' })
    // A wrong scope leaves no user.
    expectEnd(await admin('account', 'add', 'carol', '--email', 'c@example.com', '--scopes', 'zones'), 1, { err: 'not a list of scopes' })
    expect((await admin('account', 'list')).stdout).not.toContain('carol')
    expectEnd(await admin('account', 'quota', 'alice', 'domains=7,images=none'), 0, { out: 'domains=7,images=none' })
    expectEnd(await admin('account', 'quota', 'alice', 'zones=7'), 1, { err: 'error[service-store]' })
    expectEnd(await admin('account', 'suspend', 'nobody'), 1, { err: 'error[service-store] Not found' })

    const config = `providers: {cloud: {type: cloud, base_url: '${http}', token: env:TOKEN}}\n`
    const files = {
      'zonewright.yaml': config,
      'zones/a.yaml': "domain: a.example\nsoa_email: a@example.com\nrecords: {'': {type: TXT, value: hello}}\n",
    }
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(cwd, name)), { recursive: true })
      writeFileSync(join(cwd, name), text)
    }
    expectEnd(await cli(['apply', '--yes'], { cwd, env: { TOKEN: token } }), 0)
    const runs = readdirSync(join(cwd, '.zonewright/runs'))
    const entries = linesOf((await admin('audit', '--account', 'bob', '--object', 'record')).stdout)
    expect(entries).toMatchObject([
      { actor: 'user', user: 'alice', run: runs[0], action: 'create', after: { type: 'TXT', target: 'hello' } },
    ])

    expectEnd(await admin('account', 'suspend', 'alice'), 0, { out: 'suspended since' })
    expectEnd(await cli(['plan'], { cwd, env: { TOKEN: token } }), 1, { said: 'This account is suspended' })
    run.kill('SIGTERM')
    await run.ended
    // Without a running service, and at an address.
    const elsewhere = await cli(['serve', 'account', 'list', '--data', 'elsewhere'], { cwd })
    expectEnd(elsewhere, 1, { err: /^error\[service-store\] there is no database in .*elsewhere: name the folder/ })
    expect(existsSync(join(cwd, 'elsewhere'))).toBe(false)
    expectEnd(await admin('account', 'remove', 'bob'), 0)
    const removed = linesOf((await admin('audit', '--account', '2', '--object', 'record')).stdout)
    expect(removed.at(-1)).toMatchObject({ actor: 'operator', action: 'delete', before: { target: 'hello' }, after: null })
    expectEnd(await admin('account', 'add', 'alice', '--email', 'a@example.com'), 0)
    const other = await serve(cwd, ['--data', 'd', '--admin', '127.0.0.1:0'], adminToken)
    const env = { ...adminToken, ZONEWRIGHT_ADMIN: JSON.parse(other.run.stdout()).admin }
    const revoked = await cli(['serve', 'account', 'token', 'alice', '--revoke', '4'], { cwd, env })
    expectEnd(revoked, 0)
    expectEnd(await cli(['serve', 'account', 'list'], { cwd, env: { ...env, ZONEWRIGHT_ADMIN_TOKEN: '' } }), 1, { err: 'Invalid Token' })
    for (const shown of [run.stderr(), (await cli(['serve', 'audit'], { cwd, env })).stdout]) expect(shown).not.toContain(token)
  })

  const QUERIES = 300
  /** As many as fit into the receive buffer of the server. */
  const BATCH = 50

  /** The number of full responses to equal queries, and the number of rate-limit seconds that they span. */
  async function answeredOf(port: number): Promise<{ readonly whole: number; readonly seconds: number }> {
    const socket = createSocket('udp4')
    socket.connect(port, '127.0.0.1')
    await once(socket, 'connect')
    let whole = 0
    socket.on('message', (answer) => {
      if ((answer.readUInt16BE(2) & 0x0200) === 0) whole += 1
    })
    const begun = performance.now()
    for (let from = 0; from < QUERIES; from += BATCH) {
      for (let id = from; id < from + BATCH; id += 1)
        socket.send(encode({ type: 'query', id, questions: [{ type: 'A', name: 'example.org' }] }))
      await handledAll(port)
    }
    const seconds = Math.ceil((performance.now() - begun) / 1000) + 1
    socket.close()
    return { whole, seconds }
  }

  test.each([
    ['--dns-rate-limit 10 --rate-limit none', 10, 10],
    ['--dns-rate-limit off --rate-limit off', QUERIES, QUERIES],
    ['--rate-limit 0', 200, 200],
  ])('%s limits equal responses over UDP, and no requests over HTTP', LONG, async (args, least, ofSecond) => {
    const { port, call } = await serve(temporaryDirectory(), [...WITH_DNS, ...args.split(' ')])
    const { whole, seconds } = await answeredOf(port)
    expect(whole).toBeGreaterThanOrEqual(least)
    expect(whole).toBeLessThanOrEqual(Math.min(QUERIES, ofSecond * seconds))
    const { status, headers } = await call('GET', '/profile')
    expect([status, headers.get('x-ratelimit-limit')]).toEqual([200, null])
  })

  const masterFor = (address: string) => ({ domain: 'example.com', type: 'master', soa_email: 'a@example.com', axfr_ips: [address] })

  test('sends NOTIFY to --peer-port', LONG, async () => {
    const peerPort = await freePort()
    const socket = createSocket('udp4').bind(peerPort, '127.0.0.2')
    onTestFinished(() => void socket.close())
    const notified = once(socket, 'message', { signal: AbortSignal.timeout(30_000) })
    const { call } = await serve(temporaryDirectory(), [...WITH_DNS, '--peer-port', String(peerPort)])
    expect((await call('POST', '/domains', masterFor('127.0.0.2'))).status).toBe(200)
    const [octets] = (await notified) as [Buffer]
    // Opcode NOTIFY and AA.
    expect(octets.readUInt16BE(2)).toBe(0x2400)
  })

  describeWithTools(['dig'], 'with --tsig-keys', () => {
    test('transfers zones with the keys of the file, and with new keys after SIGHUP', async () => {
      const folder = temporaryDirectory()
      const write = (text: string): void => writeFileSync(join(folder, 'keys.yaml'), `keys:\n  - ${text}\n`, { mode: 0o600 })
      write('{name: one.example, account: admin, secret: env:TRANSFER_SECRET}')
      writeFileSync(join(folder, 'secret'), `${secret(2)}\n`, { mode: 0o600 })
      const options = [...WITH_DNS, '--peer-port', '1', '--tsig-keys', 'keys.yaml']
      const { run, port, call } = await serve(folder, options, { TRANSFER_SECRET: secret(1) })
      await call('POST', '/domains', masterFor('127.0.0.1'))
      await waitForZone(port, 'example.com')
      const given = async (signed?: TsigKey): Promise<boolean> =>
        (await transferZone({ port, name: 'example.com', ...(signed && { key: signed }) })).length > 1
      expect([await given(), await given(key('one.example.', 1)), await given(key('two.example.', 2))]).toEqual([false, true, false])

      write('{name: two.example, account: nobody, secret: file:secret}')
      run.kill('SIGHUP')
      await run.until('The new transfer keys cannot be used, so the previous ones stay: the key two.example. belongs')
      write('{name: two.example, account: admin, secret: file:nothing}')
      run.kill('SIGHUP')
      await run.until('The previous transfer keys stay.\n')
      expect(await given(key('one.example.', 1))).toBe(true)

      write('{name: two.example, account: admin, secret: file:secret}')
      run.kill('SIGHUP')
      await run.until('The transfer keys have been read again.')
      expect([await given(), await given(key('one.example.', 1)), await given(key('two.example.', 2))]).toEqual([false, false, true])
      expect(run.stdout() + run.stderr()).not.toMatch(new RegExp(`${secret(1).slice(0, 20)}|${secret(2).slice(0, 20)}`))
      expect(run.stderr()).not.toContain('tsig-keys-readable')
    })
  })
})

test('a SIGHUP does not end a service without a terminal, even if it has no file to read again', async () => {
  const { run, call } = await serve(temporaryDirectory(), [])
  run.kill('SIGHUP')
  expect((await call('GET', '/domains')).status).toBe(200)
  run.kill('SIGTERM')
  expect(await run.ended).toEqual({ status: 0, signal: null })
})

test('a SIGHUP while the modules load does not end a service that reads files at SIGHUP', async () => {
  const cwd = folderWith({ 'signal.cjs': "setImmediate(() => process.kill(process.pid, 'SIGHUP'))\n" })
  const run = await startProgram([...SERVE, '--tls-cert', 'none.pem', '--tls-key', 'none.pem'], {
    cwd,
    env: { NODE_OPTIONS: '--require ./signal.cjs' },
  })
  expect(await run.ended).toEqual({ status: 1, signal: null })
  expect(run.stderr()).toContain('--tls-cert')
})

describeWithTools(['openssl', 'mkfifo'], 'with --tls-cert', () => {
  test('a SIGHUP during the start does not end it; a named pipe is read at the start and blocks nothing afterwards', async () => {
    const { cert, key: pem } = selfSigned('dns.example')
    const cwd = folderWith({ 'cert.pem': cert })
    const pipe = join(cwd, 'key.pem')
    await runTool('mkfifo', [pipe])
    const run = await startProgram([...SERVE, '--tls-cert', 'cert.pem', '--tls-key', 'key.pem'], { cwd })
    onTestFinished(() => run.kill('SIGKILL'))
    // Resolves when the program has opened it, too.
    const writer = await open(pipe, 'w')
    run.kill('SIGHUP')
    await writer.write(pem)
    await writer.close()
    await run.until('--tls-key key.pem is not a regular file')
    await run.until('The previous certificate stays.')
    rmSync(pipe)
    writeFileSync(pipe, pem)
    run.kill('SIGHUP')
    await run.until('The certificate has been read again.')
  })

  test('an expired certificate is a warning at the start', async () => {
    const { cert, key: pem } = selfSigned('dns.example')
    const cwd = folderWith({ 'cert.pem': cert, 'key.pem': pem })
    const renew = ['x509', '-in', 'cert.pem', '-signkey', 'key.pem', '-days', '-1', '-out', 'expired.pem']
    expect((await runTool('openssl', renew, { cwd })).status).toBe(0)
    const { run, http } = await serve(cwd, ['--tls-cert', 'expired.pem', '--tls-key', 'key.pem'])
    expect(http).toMatch(/^https:/)
    expect(run.stderr()).toMatch(/"level":"warn".*"subject":"CN=dns\.example".*"certificate has expired"/)
  })
})

test('an option that the command forgets, or that the service lacks, does not compile', () => {
  // @ts-expect-error: an option is missing
  const forget = ({ observability: _, ...rest }: CommandOptions): CommandOptions => rest
  // @ts-expect-error: an option is unknown
  const invent = (all: CommandOptions): CommandOptions => ({ ...all, operations: null })
  expect([typeof forget, typeof invent]).toEqual(['function', 'function'])
})

/** A way to have no space: a script that runs the program with and without space in the folder `full`, and what gives and takes it meanwhile. */
interface FullDisk {
  readonly full: string
  readonly empty: string
  free(run: ProgramRun, folder: string): unknown
  fill(run: ProgramRun, folder: string): unknown
}

const mayMount = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', temporaryDirectory()]).status === 0

/** Only the process sees this file system. */
const FILE_SYSTEM: FullDisk = {
  full: 'exec unshare -m sh -c \'mount -t tmpfs -o size=2m none full && cp -a data/. full && cat /dev/zero >full/fill 2>/dev/null; exec "$@"\' sh "$@"',
  empty: 'exec unshare -m sh -c \'mount -t tmpfs -o size=3m none full; exec "$@"\' sh "$@"',
  free: ({ pid }, folder) => rmSync(`/proc/${pid}/root${folder}/fill`),
  // All data is in the log, and there is no space for it in the database.
  fill: ({ pid }, folder) =>
    expect(() => writeFileSync(`/proc/${pid}/root${folder}/fill`, Buffer.alloc(3 * 1024 * 1024))).toThrow('ENOSPC'),
}

const limitFiles = ({ pid }: ProgramRun, octets: string) => runTool('prlimit', [`--pid=${pid}`, `--fsize=${octets}`])

/** The process may write no file beyond 512 octets, which needs no right. SQLite reports it as it reports a quota. */
const LIMIT: FullDisk = {
  full: 'cp -a data/. full; ulimit -S -f 1; exec "$@"',
  empty: 'exec "$@"',
  free: (run) => limitFiles(run, 'unlimited'),
  fill: (run) => limitFiles(run, '512:unlimited'),
}

// biome-ignore lint/suspicious/noExplicitAny: entries have objects of all kinds
const linesOf = (text: string): any[] => text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))

function fullDiskTests({ full, empty, free, fill }: FullDisk, options: { tags?: string[] } = {}): void {
  test('starts, says so, reads and serves; changes fail until there is space', options, async () => {
    const cwd = temporaryDirectory()
    mkdirSync(join(cwd, 'full'))
    const first = await serve(cwd, ['--data', 'data'])
    const post = (call: typeof first.call, domain: string) =>
      call('POST', '/domains', { domain, type: 'master', soa_email: 'a@example.com' })
    await post(first.call, 'example.com')
    first.run.kill('SIGTERM')
    await first.run.ended
    const { run, call, port } = await serve(cwd, [...WITH_DNS, '--data', 'full'], {}, ['sh', '-c', full, 'sh'])
    expect(run.stderr()).toContain('the disk is full: data is read and served, and changes fail until there is space')
    expect(await (await call('GET', '/domains')).json()).toMatchObject({ results: 1 })
    const resolver = new Resolver()
    resolver.setServers([`127.0.0.1:${port}`])
    expect(await resolver.resolveSoa('example.com')).toMatchObject({ hostmaster: 'a.example.com' })
    expect((await post(call, 'example.net')).status).toBe(500)
    await free(run, join(cwd, 'full'))
    expect((await post(call, 'example.net')).status).toBe(200)
    run.kill('SIGTERM')
    expect(await run.ended).toEqual({ status: 0, signal: null })
    // Another process does not see the mounted file system.
    if (!existsSync(join(cwd, 'full/service.db'))) return
    const { stdout } = await cli(['serve', 'audit', '--data', 'full', '--object', 'domain'], { cwd })
    expect(linesOf(stdout).map(({ after }) => after.domain)).toEqual(['example.com', 'example.net'])
  })

  test('ends if there is no space at the end', options, async () => {
    const cwd = temporaryDirectory()
    mkdirSync(join(cwd, 'full'))
    const { run } = await serve(cwd, ['--data', 'full'], {}, ['sh', '-c', empty, 'sh'])
    await fill(run, join(cwd, 'full'))
    run.kill('SIGTERM')
    expect(await run.ended).toEqual({ status: 0, signal: null })
    expect(run.stderr()).not.toContain('program error')
  })
}

describeWithRight(mayMount, 'the right to mount', 'on a full disk', () => fullDiskTests(FILE_SYSTEM, { tags: ['long'] }))
describeWithTools(['prlimit'], 'at the limit of what it may write', () => fullDiskTests(LIMIT))

/** Texts that no message may contain. */
const HIDDEN = new RegExp(['token-of-', 'hidden', secret(1).slice(0, 20)].join('|'))
const start = (text: string): RegExp => new RegExp(`^error\\[service-start\\] the service cannot start: ${text}`)
const certificate = (file: string): string[] => ['--tls-cert', file, '--tls-key', '/dev/null']
type Files = Readonly<Record<string, string>>

describe('does not start', () => {
  test.each<[string, Files, readonly string[], RegExp]>([
    ['with a missing seed', {}, ['--seed', 'seed.yaml'], /^error\[file-unreadable\] seed\.yaml does not exist\n$/],
    ['a bad seed', { 'seed.yaml': SEED.replace('somebody@', '') }, ['--seed', 'seed.yaml'], /^seed\.yaml:4:16: error\[seed-invalid\] /],
    ['with a seed that is not YAML', { 'seed.yaml': 'accounts: [' }, ['--seed', 'seed.yaml'], /^seed\.yaml:1:\d+: error\[yaml-syntax\] /],
    [
      'with a seed whose lines contain tokens',
      { 'seed.yaml': 'accounts: [{ users: [{ username: u, tokens: [{ token: token-of-nobody, scopes: x }] }] }]' },
      ['--verbose', '--seed', 'seed.yaml'],
      /accounts\.users\.email is required/,
    ],
    ['with an unknown quota', {}, ['--quotas', 'domain=5'], start('"domain=5" is not a quota such as domains=1000')],
    ['with an endless certificate', {}, certificate('/dev/zero'), /--tls-cert \/dev\/zero is larger than 1000000 octets\n$/],
    ['with a missing certificate', {}, certificate('nothing.pem'), /^error\[service-start\] --tls-cert nothing\.pem does not exist\n$/],
    ['with a folder as certificate', {}, certificate('.'), /^error\[service-start\] --tls-cert \. is a folder\n$/],
    ['with an empty certificate', {}, certificate('/dev/null'), start('the certificate is empty\n$')],
    ['with missing resolvers', {}, ['--region-resolvers', 'r.yaml'], /^error\[file-unreadable\] r\.yaml does not exist\n$/],
    ['with invalid resolvers', { 'r.yaml': 'nowhere: {}' }, ['--region-resolvers', 'r.yaml'], /^r\.yaml:1:1: error\[resolvers-invalid\] /],
    ['with invalid images', { i: 'own1: {size: 1}' }, ['--public-images', 'i'], /^i:1:7: error\[images-invalid\] own1\.\w+ is required/],
    ['with a URL that is none', {}, ['--public-url', 'dns.example.net'], /"dns\.example\.net" is not a service URL/],
    ['with an invalid sink', {}, ['--sms-sink', 'stdout'], start('.*destination of messages must be "log", "file:PATH" or a URL')],
    ['with a sink without TLS', {}, ['--sms-sink', 'http://sms.example.com/'], start('.*a webhook without TLS must be on this machine')],
    ['with an invalid name', {}, [...WITH_DNS, '--ns-names', 'a..b'], /^error\[service-start\] /],
    ['with errors in keys', { keys: 'keys: [{name: a.example, account: a}]' }, ['--tsig-keys', 'keys'], /^keys:1:8: error\[tsig-keys-inv/],
    [
      'with a key whose secret is not in the environment',
      { 'keys.yaml': 'keys: [{name: a.example, account: admin, secret: env:NOT_SET}]' },
      ['--tsig-keys', 'keys.yaml'],
      /error\[secret-missing\] secret of the key a\.example: the environment variable NOT_SET is not set/,
    ],
    [
      'with a key of an unknown user',
      { 'keys.yaml': `keys: [{name: a.example, account: nobody, secret: ${secret(1)}}]` },
      [...WITH_DNS, '--tsig-keys', 'keys.yaml'],
      start('the key a\\.example\\. belongs to the account of the user "nobody", which does not exist\\n$'),
    ],
    ...['-1', '1.5', 'many', ''].map((value): [string, Files, string[], RegExp] => [
      `with --rate-limit ${JSON.stringify(value)}`,
      {},
      ['--rate-limit', value],
      /^error\[usage\] .*It must be a whole number from 1, or off\.\n$/,
    ]),
    ...['0', '65536', '-1', '5.3', 'dns', ''].map((value): [string, Files, string[], RegExp] => [
      `with --peer-port ${JSON.stringify(value)}`,
      {},
      ['--peer-port', value],
      /^error\[usage\] .*It must be a port from 1 to 65535\.\n$/,
    ]),
  ])('%s', async (_, files, args, message) => {
    const cwd = folderWith(files)
    for (const file of readdirSync(cwd)) chmodSync(join(cwd, file), 0o600)
    expect(expectEnd(await cli([...SERVE, ...args], { cwd }), 1, { err: message, out: '' }).stderr).not.toMatch(HIDDEN)
  })

  test('with too short a key', async () => {
    const { status, stderr } = await cli(SERVE, { cwd: temporaryDirectory(), env: { ZONEWRIGHT_SECRETS_KEY: 'hidden' } })
    expect([status, stderr]).toEqual([1, expect.stringMatching(start('.*needs at least 32 characters'))])
    expect(stderr).not.toMatch(HIDDEN)
  })

  test('at an address in use; the token is still for the next start', LONG, async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    onTestFinished(() => void taken.close())
    const cwd = temporaryDirectory()
    const { status, stderr } = await cli([...SERVE, '--listen', `127.0.0.1:${(taken.address() as { port: number }).port}`], { cwd })
    expect(status).toBe(1)
    expect(stderr).toMatch(start('.*EADDRINUSE.* \\(give another address with --listen or --dns; port 0 picks a free one\\)\\n$'))
    expect((await serve(cwd, [], { ZONEWRIGHT_BOOTSTRAP_TOKEN: undefined })).run.stderr()).toMatch(/shown this once: \S+/)
  })
})

test('warns of a key file that other users can read', async () => {
  const cwd = folderWith({ 'keys.yaml': 'keys: [{}]' })
  chmodSync(join(cwd, 'keys.yaml'), 0o644)
  const { stderr } = await cli([...SERVE, '--tsig-keys', 'keys.yaml'], { cwd })
  expect(stderr).toContain('warning[tsig-keys-readable] keys.yaml has the mode 0644: other users of this machine may read it')
  expect(stderr).toContain('chmod 600 keys.yaml')
})
