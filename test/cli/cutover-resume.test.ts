/** `cutover` after a kill, beside another run, and with other options than the run before; with a clock that the test moves. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type CliResult, cli } from '../support/cli.ts'
import { type DnsServer, startBind, TEST_KEY } from '../support/dns-servers.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { dig, nsupdate, transferZone } from '../support/tools.ts'

const SOA = '@ SOA ns1.example.net. hostmaster.example.net. 1 14400 14400 1209600 300\n'
const ZONE = `$TTL 600\n${SOA}@ 86400 NS ns1.example.net.\n@ 86400 NS ns2.example.net.\nwww A 192.0.2.1\n`
const parentZone = (...servers: string[]): string =>
  `$TTL 3600\n${SOA}@ NS ns1.example.net.\n${servers.map((server) => `example 7200 NS ${server}.\n`).join('')}`

interface Move {
  readonly former: DnsServer
  readonly parent: DnsServer
  readonly folder: string
  /** Runs `cutover` some seconds after the start. */
  cutover(seconds: number, ...args: string[]): Promise<CliResult>
}

/** From BIND to a BIND that does not have the names of its servers in the zone, or to a folder without the zone. */
async function open(to: 'own' | 'files' = 'own'): Promise<Move> {
  const key = TEST_KEY
  const former = await startBind({ zones: [{ name: 'example.test', text: ZONE }], key })
  const own = await startBind({ zones: [{ name: 'example.test', text: `$TTL 60\n${SOA}@ NS ns9.example.net.\n` }], key })
  const parent = await startBind({ zones: [{ name: 'test', text: parentZone('ns1.example.net', 'ns2.example.net') }] })
  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'served'))
  const server = (port: number): string => `{type: rfc2136, server: '127.0.0.1:${port}', tsig: {name: ${key.name}, secret: env:LAB_KEY}}`
  const providers = `  former: ${server(former.port)}\n  own: ${server(own.port)}\n  files: {type: zonefile, directory: served}\n`
  writeFileSync(join(folder, 'zonewright.yaml'), `providers:\n${providers}defaults: {soa_email: hostmaster@example.net}\n`)
  const toServer = `127.0.0.1:${to === 'own' ? own.port : former.port}`
  const servers = ['--from-server', `127.0.0.1:${former.port}`, '--to-server', toServer, '--parent-server', `127.0.0.1:${parent.port}`]
  const cutover: Move['cutover'] = (seconds, ...args) =>
    cli(['cutover', 'example.test', '--from', 'former', '--to', to, '--yes', '--allow', 'apex-ns', ...servers, '--no-color', ...args], {
      cwd: folder,
      env: { LAB_KEY: key.secret },
      now: () => new Date(Date.UTC(2026, 10, 23) + seconds * 1000),
    })
  return { former, parent, folder, cutover }
}

const NEW = ['--apex-ns', 'ns7.example.net', '--apex-ns', 'ns8.example.net']

interface State {
  readonly step: string
  readonly formerTtl: number
}

const firstState = (folder: string): string => {
  const path = join(folder, '.zonewright/cutovers')
  const name = existsSync(path) ? readdirSync(path).find((one) => /^[^.].*\.json$/.test(one)) : undefined
  return name === undefined ? '' : readFileSync(join(path, name), 'utf8')
}
const stateFile = ({ folder }: Move): string => {
  const [name = ''] = readdirSync(join(folder, '.zonewright/cutovers'))
  return join(folder, '.zonewright/cutovers', name)
}
const stateOf = (move: Move): State => JSON.parse(readFileSync(stateFile(move), 'utf8')) as State

const apexNs = async ({ port }: DnsServer): Promise<string[]> =>
  (await transferZone({ port, name: 'example.test', key: TEST_KEY })).filter((line) => /\sNS\s/.test(line))

describeWithTools(['named', 'dig', 'nsupdate'], 'cutover, resumed', () => {
  test('a run that was killed after it lowered the TTLs: the next one waits out the former ones', async () => {
    const move = await open()
    // The first state on the disk, which is there while the TTLs are lowered.
    let during = ''
    const watching = setInterval(() => {
      during ||= firstState(move.folder)
    }, 1)
    expect((await move.cutover(0, ...NEW)).status).toBe(2)
    clearInterval(watching)
    expect(JSON.parse(during)).toMatchObject({ step: 'lower' })
    writeFileSync(stateFile(move), during)
    const next = await move.cutover(10, ...NEW)
    expect([next.status, next.stderr]).toEqual([2, expect.stringContaining('Safe to go on after 2026-11-24 00:00:10Z')])
    expect(await apexNs(move.former)).toEqual([expect.stringMatching(/\s300\s/), expect.stringMatching(/\s300\s/)])
  })

  test('two runs at once: the second one goes on from the state that the first one leaves', async () => {
    const move = await open()
    const both = await Promise.all([move.cutover(0, ...NEW, '--wait', '20'), move.cutover(5, ...NEW, '--wait', '20')])
    expect(both.map(({ status }) => status)).toEqual([2, 2])
    expect(stateOf(move)).toMatchObject({ step: 'copy', formerTtl: 86_400 })
  })

  test('the names of the new servers need not be repeated', async () => {
    const move = await open()
    expect((await move.cutover(0, ...NEW)).status).toBe(2)
    const copied = await move.cutover(90_000)
    expect([copied.status, copied.stderr]).toEqual([2, expect.stringContaining('+ ns7.example.net.\n  + ns8.example.net.')])
  })

  test('a new provider with the name servers of the former one is refused: the parent would show no difference', async () => {
    const move = await open('files')
    expect((await move.cutover(0)).status).toBe(2)
    const copied = await move.cutover(90_000)
    expect([copied.status, copied.stderr]).toEqual([
      1,
      expect.stringContaining('name the servers of example.test. at files with --apex-ns'),
    ])
    expect(copied.stderr).not.toContain('delegates example.test. to files')
    expect(stateOf(move).step).toBe('copy')
  })

  test('a change at the former provider after the copy is reported once the parent has changed', async () => {
    const move = await open()
    expect((await move.cutover(0, ...NEW)).status).toBe(2)
    expect((await move.cutover(90_000)).stderr).toContain('+ ns7.example.net.')
    move.parent.replaceZone('test', parentZone('ns7.example.net', 'ns8.example.net').replace('. 1 ', '. 2 '))
    const delegation = { port: move.parent.port, name: 'example.test', type: 'NS', options: ['+noall', '+authority'] }
    await expect.poll(async () => (await dig(delegation)).join(), { timeout: 20_000 }).toContain('ns7.example.net.')
    const late = 'zone example.test.\nupdate add late.example.test. 600 A 192.0.2.9\n'
    expect(await nsupdate(move.former.port, late, TEST_KEY)).toMatchObject({ status: 0 })
    const { stderr: seen } = await move.cutover(90_100)
    expect(seen).toContain('example.test. has changed at former since it was copied')
    expect(seen).toContain('late.example.test. A')
  })

  test('a state that cannot be read may be that of a move: the zone is not changed', async () => {
    const move = await open()
    expect((await move.cutover(0, ...NEW)).status).toBe(2)
    writeFileSync(stateFile(move), '{')
    const copied = await cli(['copy', 'example.test', '--from', 'former', '--to', 'own', '--yes', '--no-color'], {
      cwd: move.folder,
      env: { LAB_KEY: TEST_KEY.secret },
    })
    expect([copied.status, copied.stderr]).toEqual([1, expect.stringMatching(/journal-failed\] .*is not valid/)])
    expect(copied.stdout).toBe('')
  })

  test('--abort is refused if the parent delegates the zone to the new provider already', async () => {
    const move = await open()
    expect((await move.cutover(0, ...NEW)).status).toBe(2)
    expect((await move.cutover(90_000)).stderr).toContain('+ ns7.example.net.')
    move.parent.replaceZone('test', parentZone('ns7.example.net', 'ns8.example.net').replace('. 1 ', '. 2 '))
    await new Promise((done) => setTimeout(done, 1500))
    const ended = await move.cutover(90_100, '--abort')
    expect([ended.status, ended.stderr]).toEqual([1, expect.stringContaining('the parent delegates example.test. to own already')])
  })

  test('--format json prints one document, whatever a run does', async () => {
    const move = await open()
    for (const seconds of [0, 10, 90_000, 90_010]) {
      const { stdout } = await move.cutover(seconds, ...NEW, '--format', 'json')
      expect(JSON.parse(stdout)).toMatchObject({ format: 'zonewright-plan' })
    }
    const other = await open()
    writeFileSync(join(other.folder, 'zonewright.yaml'), 'providers: {}\n')
    const { stdout } = await other.cutover(0, '--format', 'json')
    expect(JSON.parse(stdout)).toMatchObject({ format: 'zonewright-plan', zones: [] })
  })
})
