/** A clean-up removes three names that look unused, and somebody still asks for one of them: real queries to our name server and to BIND. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { validate as isPlan } from '../../generated/plan-schema.js'
import { openServiceScene } from '../cli/service-scene.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { startServer, TEST_KEY } from '../support/dns-servers.ts'
import { bind } from '../support/server-recipes/bind.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { dig, runTool } from '../support/tools.ts'

const KEPT = `domain: example.com
soa_email: hostmaster@example.com
default_ttl: 300
records:
  www: {type: A, value: 192.0.2.1}
  mail: {type: A, value: 192.0.2.2}
`

const OLD = `${KEPT}  old: {type: A, value: 192.0.2.3}
  shop: {type: CNAME, value: www}
  former: {type: TXT, value: token}
`

/** The deletions of a plan as `NAME TYPE STATE COUNT`, without the zone. */
const states = ({ zones }: { zones: readonly { usage: { deletions: Record<string, string | number>[] } }[] }): string[] =>
  zones[0]?.usage.deletions.map(({ name, type, state, count }) => `${String(name).split('.')[0]} ${type} ${state} ${count}`) ?? []

describeWithTools(['dig'], 'at the name server of the service', () => {
  test('the name in use is refused in every report, and lifted by name', async () => {
    let offset = -30 * 3600_000
    const scene = await openServiceScene({ files: { 'zones/example.com.yaml': OLD }, clock: () => Date.now() + offset })
    const { service, run, write, proxy } = scene
    const usage = ['--usage', `${service.observabilityUrl}/usage`]
    // Nothing is deleted, so no source is read.
    expect(await run('apply', '--yes', '--usage', 'http://127.0.0.1:1/usage')).toMatchObject({ status: 0 })
    await service.flush()
    write({ 'zones/example.com.yaml': KEPT })
    const ask = (name: string, type: string) =>
      dig({ port: service.dnsAddress?.port as number, name: `${name}.example.com`, type, options: ['+short', '+norecurse'] })

    offset = 0
    const made = proxy.mutations().length
    expectEnd(await run('plan', ...usage, '--out', 'plan.json'), 0, { out: /- former .*\n\s+never queried from 20\S+Z to 20\S+Z\n/ })

    for (let i = 0; i < 3; i += 1) expect(await ask('shop', 'AAAA')).toEqual(['www.example.com.'])
    expect(await ask('old', 'MX')).toEqual([])
    expect(await ask('nothing', 'A')).toEqual([])
    const document = JSON.parse(expectEnd(await run('plan', ...usage, '--format', 'json'), 3).stdout)
    expect(isPlan(document)).toBe(true)
    expect(states(document)).toEqual(['former TXT not-asked 0', 'old A not-asked 0', 'shop CNAME in-use 3'])
    expect(document.zones[0].refusals).toMatchObject([{ name: 'in-use', allowed: false }])
    for (const format of ['text', 'markdown', 'html', 'github', 'junit', 'sarif']) {
      const { stdout, status } = await run('plan', ...usage, '--format', format)
      expect(status, format).toBe(3)
      expect(stdout, format).toMatch(/queried 3 times since 20\S+Z, last at 20\S+Z/)
      expect(stdout, format).toMatch(/never queried from 20\S+Z to 20\S+Z/)
      expect(stdout, format).toMatch(/1 record set to delete is still queried/)
    }

    // The name came into use after the plan was saved.
    expect(await run('apply', './plan.json', '--yes', ...usage)).toMatchObject({ status: 3 })
    expect(await run('apply', '--yes', ...usage)).toMatchObject({ status: 3 })
    expect(await run('apply', '--yes', ...usage, '--allow', 'in-use:old.example.com')).toMatchObject({ status: 3 })
    expectEnd(await run('apply', '--yes', '--choreograph', ...usage), 3, { out: 'REFUSED in-use' })
    expect(proxy.mutations()).toHaveLength(made)

    const allowed = ['--allow', 'in-use:shop.example.com']
    expect(await run('plan', ...usage, ...allowed, '--out', 'allowed.json')).toMatchObject({ status: 0 })
    expect(JSON.parse(readFileSync(join(scene.folder, 'allowed.json'), 'utf8')).zones[0].usage.deletions[2]).toMatchObject({
      name: 'shop.example.com.',
      state: 'in-use',
      allowed: true,
    })
    expectEnd(await run('apply', './allowed.json', '--yes', ...usage), 0)
    await service.flush()
    expect(await ask('shop', 'A')).toEqual([])
    expect((await run('rollback', '--last', '--yes')).status).toBe(0)
  })

  test('a source that fails, is old or has another zone is not taken for names that nobody needs', async () => {
    const scene = await openServiceScene({ files: { 'zones/example.com.yaml': OLD }, config: 'usage: {source: usage.csv, in_use: 2h}\n' })
    const { run, write, folder } = scene
    expect(await run('apply', '--yes')).toMatchObject({ status: 0 })
    write({ 'zones/example.com.yaml': KEPT })
    const hours = (ago: number): string => new Date(Date.now() - ago * 3600_000).toISOString()
    const file = (from: number, to: number, rows: string): string =>
      `# from ${hours(from)} to ${hours(to)}\nname,type,count,last_asked\n${rows}`
    const zone = `www.example.com,A,7,${hours(1)}\n`
    const refused = async (reason: RegExp): Promise<void> => {
      expectEnd(await run('plan'), 3, { out: [reason, /REFUSED in-use: whether 3 record sets to delete/] })
    }
    await refused(/usage\.csv cannot be used: does not exist/)
    expect((await run('plan')).stderr).toMatch(/warning\[usage-incomplete\] .*usage\.csv cannot be used/)
    write({ 'usage.csv': '' })
    await refused(/cannot be used: it has no line "name,type,count,last_asked"/)
    write({ 'usage.csv': file(24, 0, 'www.example.com,A,x,\n') })
    await refused(/cannot be used: line 3, column 19: this is not a number of queries/)
    write({ 'usage.csv': file(24, 0, `www.example.net,A,7,${hours(1)}\n`) })
    await refused(/has no count for any name of example\.com\./)
    write({ 'usage.csv': file(24, 5, zone) })
    await refused(/the counts of usage\.csv end at \S+, more than in_use, 2 h, ago/)
    write({ 'usage.csv': file(1, 0, zone) })
    await refused(/counts only from \S+ to \S+, which is less than in_use, 2 h \(wait until /)
    write({ 'usage.csv': `# incomplete\n${file(24, 0, zone)}` })
    await refused(/does not have the counts of all names/)
    write({ 'usage.csv': file(24, 0, zone) })
    expect(await run('plan', '--out', 'plan.json')).toMatchObject({ status: 0 })
    // Of two sources, both must be good.
    const both = ['--usage', 'usage.csv', '--usage', 'other.csv']
    expect((await run('plan', ...both)).stdout).toMatch(/since other\.csv cannot be used/)
    // One that is used, and one that is queried long ago.
    write({ 'usage.csv': file(24, 0, `${zone}old.example.com,ANY,2,${hours(1)}\nformer.example.com,TXT,2,${hours(20)}\n`) })
    const { stdout } = await run('plan', '--format', 'json')
    expect(states(JSON.parse(stdout))).toEqual(['former TXT asked 2', 'old A in-use 2', 'shop CNAME not-asked 0'])
    // What the plan recorded counts if the source fails when it is applied, as long as a source that old would count.
    const config = readFileSync(join(folder, 'zonewright.yaml'), 'utf8')
    write({ 'usage.csv': file(24, 5, zone), 'zonewright.yaml': config.replace('in_use: 2h', 'in_use: 6h') })
    expect(await run('plan', '--out', 'old.json')).toMatchObject({ status: 0 })
    write({ 'usage.csv': 'broken', 'zonewright.yaml': config })
    expectEnd(await run('apply', './old.json', '--yes'), 3, { out: /REFUSED in-use: whether 3 record sets to delete/ })
    expectEnd(await run('apply', './plan.json', '--yes'), 0)
  })

  test('an address that does not answer as it should is one request, and no usage', async () => {
    let requests = 0
    const server = createServer((_, response) => {
      requests += 1
      response.writeHead(requests === 1 ? 500 : 200).end(requests === 1 ? 'secret detail' : '<html>')
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/usage?key=hidden`
    const { run, write, runWith, service } = await openServiceScene({ files: { 'zones/example.com.yaml': OLD } })
    expect(await run('apply', '--yes', '--usage', url)).toMatchObject({ status: 0 })
    expect(requests).toBe(0)
    write({ 'zones/example.com.yaml': KEPT })
    const first = await run('plan', '--usage', url)
    expect(first.stdout).toMatch(/http:\/\/127\.0\.0\.1:\d+\/usage cannot be used: it answers 500/)
    expect(first.stdout + first.stderr).not.toMatch(/hidden|secret/)
    expect((await run('plan', '--usage', url)).stdout).toMatch(/cannot be used: line 1, column 1: the first line must name/)
    expect(requests).toBe(2)
    // A server that has just started has not seen a day.
    const early = await run('plan', '--usage', `${service.observabilityUrl}/usage`)
    expect(early.stdout).toMatch(/is unknown, since \S+\/usage counts only from /)
    const other = await runWith({ ZONEWRIGHT_ALLOWED_HOSTS: '127.0.0.1' }, 'plan', '--usage', 'http://198.51.100.1/usage')
    expect(other.stdout).toMatch(/198\.51\.100\.1:80 is not among the hosts in ZONEWRIGHT_ALLOWED_HOSTS/)
    expect(await run('plan', '--usage', 'ftp://127.0.0.1/usage')).toMatchObject({ status: 1 })
  })
})

/** The command of docs/tasks/names-still-queried.md that counts the queries in BIND's log. */
const RECIPE = /^cat queries\.log\* .*$/m.exec(
  readFileSync(new URL('../../docs/tasks/names-still-queried.md', import.meta.url), 'utf8'),
)?.[0] as string
const LOGGING = /^logging \{\n.*?\n\};\n/ms.exec(
  readFileSync(new URL('../../docs/tasks/names-still-queried.md', import.meta.url), 'utf8'),
)?.[0] as string

describeWithTools(['named', 'dig', 'awk'], 'at BIND with a query log', () => {
  test('the name in use is refused, and lifted by name', async () => {
    const zone = `$TTL 300
@ SOA ns hostmaster 1 14400 3600 1209600 300
@ NS ns
ns A 127.0.0.1
www A 192.0.2.1
mail A 192.0.2.2
old A 192.0.2.3
shop CNAME www
former TXT "token"
`
    const recipe = {
      ...bind,
      files: (setup: Parameters<typeof bind.files>[0]) => {
        const { 'named.conf': config = '', ...files } = bind.files(setup)
        const logging = LOGGING.replace('};\n', '};\n  channel e { stderr; severity info; };\n  category default { e; };\n')
        return { ...files, 'named.conf': config.replace(/^logging .*$/m, logging).replace('options {', 'options { querylog yes;') }
      },
    }
    const server = await startServer(recipe, { zones: [{ name: 'example.com', text: zone }], key: TEST_KEY })
    const ask = (name: string, type = 'A') =>
      dig({ port: server.port, name: `${name}.example.com`, type, options: ['+short', '+norecurse'] })
    // The log goes back eight days.
    const week = new Date(Date.now() - 8 * 86_400_000).toISOString()
    const query = `${week} client @0x7f 127.0.0.1#1 (former.example.com): query: former.example.com IN TXT +E(0)K (127.0.0.1)\n`
    writeFileSync(join(server.directory, 'queries.log.0'), query)
    expect(await ask('Shop')).toEqual(['www.example.com.', '192.0.2.1'])
    await ask('shop', 'MX')
    await ask('nothing')
    // Anybody can ask for such names.
    await ask('a\\,b\\010\\"')
    // A name as in reverse zones without classes (RFC 2317).
    await ask('0/25')
    await ask('www')
    const log = join(server.directory, 'queries.log')
    await expect.poll(() => existsSync(log) && readFileSync(log, 'utf8')).toContain('query: www.example.com')

    const folder = temporaryDirectory()
    const usage = join(folder, 'usage.csv')
    const counted = await runTool('sh', ['-c', RECIPE.replace('usage.csv', `'${usage}'`)], { cwd: server.directory })
    expectEnd(counted, 0, { err: '' })
    const csv = readFileSync(usage, 'utf8')
    expect(csv).toMatch(/^# from \S+Z to \S+Z\nname,type,count,last_asked\n(?:[a-z025./]+,[A-Z]+,\d+,\S+Z\n)+$/)
    expect(csv).toContain('\n0/25.example.com,A,1,')
    writeFileSync(
      join(folder, 'zonewright.yaml'),
      `providers: {lab: {type: rfc2136, server: '127.0.0.1:${server.port}', tsig: {name: ${TEST_KEY.name}, secret: env:LAB_KEY}}}
nameservers: ['127.0.0.1:${server.port}']
usage: {source: usage.csv, in_use: 7d}
zones: [{files: '*.yaml'}]
`,
    )
    const definition = `domain: example.com\ndefault_ttl: 300\nrecords:\n  ns: {type: A, value: 127.0.0.1}\n  www: {type: A, value: 192.0.2.1}\n  mail: {type: A, value: 192.0.2.2}\n`
    writeFileSync(join(folder, 'example.com.yaml'), definition)
    const run = (...args: string[]) => cli(args, { cwd: folder, env: { LAB_KEY: TEST_KEY.secret } })
    const plan = expectEnd(await run('plan', 'example.com', '--format', 'json'), 3)
    expect(states(JSON.parse(plan.stdout))).toEqual(['former TXT asked 1', 'old A not-asked 0', 'shop CNAME in-use 2'])
    expect(await run('apply', 'example.com', '--yes')).toMatchObject({ status: 3 })
    expect(await ask('shop')).toHaveLength(2)
    expect(await run('apply', 'example.com', '--yes', '--allow', 'in-use:shop.example.com')).toMatchObject({ status: 0 })
    expect(await ask('shop')).toEqual([])
  })
})
