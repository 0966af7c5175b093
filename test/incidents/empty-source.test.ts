/**
 * A source that fails never deletes. The incident: a source of records answered empty once, the tool took that for the truth, and the record of a large site was
 * deleted. Here real sources answer empty, short, stale and not at all.
 */
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { validate } from '../../generated/plan-schema.js'
import type { FaultChoice, MemoryFault } from '../../src/providers/memory/memory-provider.ts'
import { openScene } from '../cli/scene.ts'
import { type CliResult, cli } from '../support/cli.ts'
import { type DnsServer, startBind, waitForZone } from '../support/dns-servers.ts'
import { OCTODNS_PYTHON } from '../support/octodns-python.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const START = Date.UTC(2026, 0, 1)

/** A folder whose zone is served from zone files, with a source that the config names `source`. */
function openPlace(source: string, zone: string, { env = {}, config = '' }: { env?: Record<string, string>; config?: string } = {}) {
  const folder = temporaryDirectory()
  for (const name of ['zones', 'served']) mkdirSync(join(folder, name))
  writeFileSync(
    join(folder, 'zonewright.yaml'),
    `providers:\n  served: {type: zonefile, directory: served, primary: ns1.example.net.}\n  source: ${source}\nzones: [{targets: [served]}]\n${config}`,
  )
  const define = (text: string): void => writeFileSync(join(folder, 'zones/example.com.yaml'), `domain: example.com\n${text}`)
  define(zone)
  return {
    folder,
    define,
    /** Runs the program some minutes after the start, on a machine that has only the definitions and a folder shared with the others. */
    run: (minutes: number, ...args: readonly string[]) =>
      cli([...args, '--no-color'], { cwd: folder, env, now: () => new Date(START + minutes * 60_000) }),
    /** The addresses and aliases of the served zone file, as `www A 192.0.2.1`. */
    served(): readonly string[] {
      const file = readdirSync(join(folder, 'served')).find((name) => name.includes('example.com'))
      const lines = file === undefined ? [] : readFileSync(join(folder, 'served', file), 'utf8').split('\n')
      let owner = ''
      return lines.flatMap((line) => {
        const [, name = '', type = '', data = ''] = /^(\S*)\s.*?\b(A|CNAME)\s+(\S+)$/.exec(line) ?? []
        owner = name === '' ? owner : name
        return type === '' ? [] : [`${owner} ${type} ${data}`]
      })
    },
  }
}

const NS = "soa_email: hostmaster@example.com\nrecords:\n  '': {type: NS, values: [ns1.example.net., ns2.example.net.]}\n"

/** A proxy to a server on 127.0.0.1 that ends connections after a number of octets from the server. It counts connections, and the octets of the longest. */
async function startCutProxy(port: number) {
  const seen = { connections: 0, longest: 0 }
  const cut = { after: Number.POSITIVE_INFINITY, how: 'reset' as 'reset' | 'end' }
  const server = createServer((client) => {
    seen.connections += 1
    const upstream = connect(port, '127.0.0.1')
    let total = 0
    for (const [socket, other] of [[client, upstream] as const, [upstream, client] as const])
      socket.on('error', () => undefined).on('close', () => other.destroy())
    client.pipe(upstream)
    upstream.on('data', (chunk: Buffer) => {
      const passed = chunk.subarray(0, cut.after - total)
      total += passed.length
      seen.longest = Math.max(seen.longest, total)
      if (passed.length > 0) client.write(passed)
      if (total < cut.after) return
      if (cut.how === 'reset') client.resetAndDestroy()
      else client.end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, seen, cut, close: () => server.close() }
}

const WHOLE = { after: Number.POSITIVE_INFINITY, how: 'reset' } as const

/** A zone text with eight addresses of a pool, and names that fill several messages of a transfer. */
function hiddenZone(serial: number, { pool = 8, names = 800 } = {}): string {
  const head = `$TTL 300\n@ SOA ns1 hostmaster ${serial} 14400 7200 1209600 300\n@ NS ns1\nns1 A 127.0.0.1\n`
  const addresses = Array.from({ length: pool }, (_, index) => `pool A 192.0.2.${index + 1}\n`)
  const others = Array.from({ length: names }, (_, index) => `host-${index}.apps A 198.51.100.${index % 250}\n`)
  return head + addresses.join('') + others.join('')
}

const FROM_HIDDEN = `sources: [{provider: source, name: '*.apps', type: A}]\n${NS}  pool: {type: A, from: {provider: source}}\n`

describeWithTools(['named'], 'a transfer from BIND', () => {
  let bind: DnsServer
  let proxy: Awaited<ReturnType<typeof startCutProxy>>
  let place: ReturnType<typeof openPlace>
  let serial = 10
  const replace = async (text: (serial: number) => string, next: number): Promise<void> => {
    serial = next
    bind.replaceZone('example.com', text(serial))
    await waitForZone(bind.port, 'example.com', { serial })
  }
  const POOL = Array.from({ length: 8 }, (_, index) => `192.0.2.${index + 1}`)
  const pool = (): readonly string[] => place.served().flatMap((line) => /^pool A (\S+)$/.exec(line)?.[1] ?? [])
  const apps = (): number => place.served().filter((line) => line.startsWith('host-')).length

  beforeAll(async () => {
    bind = await startBind({ zones: [{ name: 'example.com', text: hiddenZone(serial) }] })
    proxy = await startCutProxy(bind.port)
    place = openPlace(`{type: axfr, server: '127.0.0.1:${proxy.port}', timeout: 2}`, FROM_HIDDEN)
    expect([(await place.run(0, 'apply', '--yes')).status, pool(), apps()]).toEqual([0, POOL, 800])
  })
  afterAll(async () => {
    proxy.close()
    await bind.stop()
  })

  /** Applies with one more record of the definition, which shows that the rest of the zone is planned. */
  async function applyMore(minutes: number, extra: string): Promise<CliResult> {
    place.define(`${FROM_HIDDEN}  ${extra}: {type: A, ttl: 300, value: 203.0.113.1}\n`)
    const result = await place.run(minutes, 'apply', '--yes', '--allow', 'deletes', '--allow', 'updates')
    expect(place.served().some((line) => line.startsWith(`${extra} `))).toBe(true)
    return result
  }

  test.each([
    ['refused', 0, 'reset'],
    ['cut in the middle', 0.5, 'reset'],
    ['cut before its last record', 0.998, 'reset'],
    ['ended politely before its last record', 0.998, 'end'],
  ] as const)('that is %s changes nothing of it', async (name, share, how) => {
    const before = proxy.seen.connections
    Object.assign(proxy.cut, { after: Math.floor(share * proxy.seen.longest), how })
    const { status, stderr } = await applyMore(1, `x${name.length}`)
    Object.assign(proxy.cut, WHOLE)
    expect(status).toBe(0)
    expect(stderr).toContain('warning[source-unreadable] the zone example.com. at source cannot be read')
    expect(stderr).toContain('pool.example.com. A stays as it is')
    expect([pool(), apps()]).toEqual([POOL, 800])
    // One connection for the transfer, and one to find out whether the zone exists, for both sources.
    expect(proxy.seen.connections - before).toBeLessThanOrEqual(2)
  })

  test('that has failed for long says since when', async () => {
    proxy.cut.after = 0
    await place.run(2, 'plan')
    const { stderr } = await place.run(121, 'plan')
    const { stdout } = await place.run(121, 'doctor')
    Object.assign(proxy.cut, WHOLE)
    expect(stdout).toContain(`the zone example.com. at source (dns://127.0.0.1:${proxy.port}) could not be used since 2026-01-01T00:01:00`)
    expect(stderr).toContain('cannot be read for 2 h, since 2026-01-01T00:01:00.000Z')
    expect((await place.run(123, 'plan')).stderr).toBe('')
  })

  test('that is empty, short or stale changes nothing, and is removed after three reads and 30 minutes only if it stays so', async () => {
    await replace((next) => hiddenZone(next, { pool: 1, names: 0 }), 11)
    const short = await applyMore(200, 'short')
    expect([short.status, pool(), apps()]).toEqual([0, POOL, 800])
    expect(short.stderr).toContain('192.0.2.2, 192.0.2.3, 192.0.2.4, 192.0.2.5, 192.0.2.6 and 2 more of pool.example.com. A: no longer in')

    await replace((next) => hiddenZone(next, { pool: 0, names: 0 }), 12)
    const document = JSON.parse((await place.run(210, 'plan', '--format', 'json')).stdout)
    validate(document)
    expect(validate.errors ?? []).toEqual([])
    const { quarantine } = document.zones[0]
    expect(quarantine).toHaveLength(801)
    expect(quarantine.find(({ name }: { name: string }) => name === 'pool.example.com.')).toEqual({
      name: 'pool.example.com.',
      type: 'A',
      data: POOL,
      isWhole: true,
      source: 'the zone example.com. at source',
      since: '2026-01-01T03:20:00.000Z',
      // 192.0.2.1 is missed for the first time, the others for the second.
      reads: 1,
      rule: { reads: 3, seconds: 1800 },
      until: '2026-01-01T04:00:00.000Z',
    })

    // An older version of the zone changes nothing and counts as no read.
    await replace((next) => hiddenZone(next, { pool: 2, names: 1 }), 5)
    const stale = await place.run(245, 'apply', '--yes')
    expect([stale.status, pool(), apps()]).toEqual([0, POOL, 800])
    expect(stale.stderr).toContain('warning[source-stale] the zone example.com. at source is out of date')
    expect(stale.stderr).toContain('its serial 5 is older than 12')

    // The pool returns; the other names do not.
    await replace((next) => hiddenZone(next, { names: 0 }), 13)
    const removed = JSON.parse((await place.run(250, 'plan', '--format', 'json')).stdout).zones[0]
    expect(removed.quarantine).toBeUndefined()
    expect([removed.calls.delete, removed.diagnostics.map(({ code }: { code: string }) => code)]).toEqual([800, ['quarantined']])
    expect((await place.run(251, 'apply', '--yes')).status).toBe(3)
    expect((await place.run(252, 'apply', '--yes', '--allow', 'deletes')).status).toBe(0)
    expect([pool(), apps()]).toEqual([POOL, 0])
    expect((await place.run(253, 'plan', '--detailed-exitcode')).stderr).toBe('')
  })

  test('that is to be empty is taken as it is with --allow quarantined, also with a serial that began again', async () => {
    await replace((next) => hiddenZone(next, { pool: 0, names: 0 }), 1)
    expect((await place.run(300, 'plan')).stderr).toContain('source-stale')
    const saved = await place.run(301, 'plan', '--allow', 'quarantined', '--out', 'it.plan')
    expect(saved.stderr).toContain('notice[quarantined] pool.example.com. A: no longer in the zone example.com. at source')
    expect((await place.run(302, 'apply', 'it.plan', '--yes')).status).toBe(0)
    expect(pool()).toEqual([])
    expect((await place.run(303, 'plan')).stderr).toContain('source-empty')
  })

  test('is read by doctor, which says what is in quarantine', async () => {
    await replace((next) => hiddenZone(next), 2)
    expect((await place.run(310, 'apply', '--yes')).status).toBe(0)
    await replace((next) => hiddenZone(next, { pool: 8, names: 0 }), 3)
    await place.run(311, 'plan')
    const { stdout } = await place.run(312, 'doctor')
    expect(stdout).toContain('example.com. at source has 10 records, serial 3')
    expect(stdout).toContain('800 values that the sources no longer have, the first since 2026-01-01T05:11:00.000Z')
  })
})

describe('a source whose reads several machines count', () => {
  const ZONE = `${NS}  www: {type: A, ttl: 300, from: {provider: source}}\n`
  const SOURCE = '{type: octodns, directory: source}'
  const store = (folder: string, text: string): void => {
    mkdirSync(join(folder, 'source'), { recursive: true })
    writeFileSync(join(folder, 'source/example.com.yaml'), text)
  }

  test('has one count in the place of the journal, which has no values; plan and apply count, verify does not', async () => {
    const shared = temporaryDirectory()
    const config = `journal: {url: 'file://${shared}'}\nquarantine: {reads: 3, for: 10m}\n`
    const [one, two] = [openPlace(SOURCE, ZONE, { config }), openPlace(SOURCE, ZONE, { config })]
    for (const { folder, run } of [one, two]) {
      store(folder, 'www: {type: A, ttl: 300, value: 192.0.2.1}\n')
      expect((await run(0, 'apply', '--yes')).status).toBe(0)
      store(folder, '{}\n')
    }
    expect((await one.run(1, 'plan')).stderr).toContain('(1 read of 3)')
    expect((await two.run(2, 'verify', '--no-dns')).stderr).toContain('(2 reads of 3)')
    expect((await two.run(5, 'apply', '--yes')).stderr).toContain('(2 reads of 3)')
    // The plan and the apply of one job are one read.
    expect((await two.run(5.5, 'plan')).stderr).toContain('(2 reads of 3)')
    const [object = ''] = readdirSync(join(shared, 'quarantine')).filter((name) => !name.startsWith('.'))
    expect(readFileSync(join(shared, 'quarantine', object), 'utf8')).not.toContain('192.0.2.1')
    expect(one.served()).toHaveLength(1)
    expect((await one.run(12, 'apply', '--yes')).stderr).toContain('no longer kept, after 3 reads')
    expect(one.served()).toEqual([])
  })

  test('counts no read of a branch whose provider of that name is another place', async () => {
    const config = `journal: {url: 'file://${temporaryDirectory()}'}\nquarantine: {reads: 2, for: 10m}\n`
    const [main, branch] = [openPlace(SOURCE, ZONE, { config }), openPlace('{type: octodns, directory: other}', ZONE, { config })]
    store(main.folder, 'www: {type: A, ttl: 300, value: 192.0.2.1}\n')
    expect((await main.run(0, 'apply', '--yes')).status).toBe(0)
    cpSync(join(main.folder, 'served'), join(branch.folder, 'served'), { recursive: true })
    mkdirSync(join(branch.folder, 'other'))
    writeFileSync(join(branch.folder, 'other/example.com.yaml'), '{}\n')
    expect((await branch.run(1, 'plan')).stderr).toContain('(1 read of 2)')
    store(main.folder, '{}\n')
    expect((await main.run(20, 'apply', '--yes', '--allow', 'deletes')).stderr).toContain('(1 read of 2)')
    expect(main.served()).toHaveLength(1)
  })

  test('is kept if the count cannot be read or is damaged, and git ignores it', async () => {
    const { folder, run, served } = openPlace(SOURCE, ZONE, { config: 'quarantine: {reads: 1, for: 10m}\n' })
    store(folder, 'www: {type: A, ttl: 300, value: 192.0.2.1}\n')
    expect((await run(0, 'apply', '--yes')).status).toBe(0)
    store(folder, '{}\n')
    rmSync(join(folder, '.zonewright'), { recursive: true })
    expect((await run(1, 'plan')).status).toBe(0)
    expect(readFileSync(join(folder, '.zonewright/.gitignore'), 'utf8')).toBe('*\n')
    const objects = join(folder, '.zonewright/quarantine')
    const [object = ''] = readdirSync(objects)
    writeFileSync(join(objects, object), 'nonsense\n')
    const damaged = await run(20, 'apply', '--yes')
    expect([damaged.status, served().length]).toEqual([0, 1])
    expect(damaged.stderr).toContain('warning[quarantine-unstored] example.com.: reads of its sources are not counted: ')
    rmSync(objects, { recursive: true })
    writeFileSync(objects, '')
    const unreadable = await run(40, 'plan', '--format', 'json')
    expect(JSON.parse(unreadable.stdout).zones[0]).toMatchObject({ changes: [], quarantine: [{ name: 'www.example.com.' }] })
  })
})

describeWithTools([OCTODNS_PYTHON], 'a bridged YamlProvider of octoDNS', () => {
  test('that is empty, short, broken or gone changes nothing', async () => {
    const zone = `sources: [{provider: source, name: '*.apps'}]\n${NS}  www: {type: A, ttl: 300, from: {provider: source}}\n`
    const source = `{type: octodns, class: octodns.provider.yaml.YamlProvider, python: '${OCTODNS_PYTHON}', options: {directory: ./source}}`
    const place = openPlace(source, zone, { env: { PATH: process.env['PATH'] ?? '' } })
    const file = join(place.folder, 'source/example.com.yaml')
    mkdirSync(join(place.folder, 'source'))
    const whole =
      '---\na.apps: {ttl: 300, type: CNAME, value: www.example.com.}\nwww: {ttl: 300, type: A, values: [192.0.2.1, 192.0.2.2]}\n'
    writeFileSync(file, whole)
    expect(await place.run(0, 'apply', '--yes')).toMatchObject({ status: 0, stderr: '' })
    const before = place.served()
    expect(before).toHaveLength(3)
    for (const [text, code] of [
      ['---\n{}\n', 'quarantined'],
      ['---\nwww: {ttl: 300, type: A, values: [192.0.2.1]}\n', 'quarantined'],
      [whole.slice(0, -20), 'source-unreadable'],
      [null, 'source-unreadable'],
    ] as const) {
      if (text === null) rmSync(file)
      else writeFileSync(file, text)
      const { status, stderr } = await place.run(1, 'apply', '--yes')
      expect([text, status, stderr.includes(`warning[${code}]`), place.served()]).toEqual([text, 0, true, before])
    }
  })
})

describe('a zone at another provider', () => {
  test('that is empty, short, refused or gone changes nothing', async () => {
    const scene = openScene({ config: 'zones: [{files: served/*, targets: [files]}, {targets: [cloud]}]\n' })
    const text = readFileSync(join(scene.folder, 'zonewright.yaml'), 'utf8')
    scene.write({
      'zonewright.yaml': text.replace('providers:\n', 'providers:\n  files: {type: zonefile, directory: out, primary: ns1.example.net.}\n'),
      'served/example.net.yaml': `domain: example.net\nsources: [{provider: cloud, zone: example.com}]\n${NS}`,
    })
    mkdirSync(join(scene.folder, 'out'))
    expect((await scene.run('apply', 'example.com', '--yes')).status).toBe(0)
    expect((await scene.run('apply', 'example.net', '--yes')).status).toBe(0)
    const served = (): string => readFileSync(join(scene.folder, 'out/example.net.zone'), 'utf8')
    const before = served()
    expect(before).toContain('192.0.2.2')
    const reading =
      (fault: MemoryFault): FaultChoice =>
      ({ kind }) =>
        kind === 'read' ? fault : null
    const empties: FaultChoice = (_, memory) => {
      memory.set('example.com', '')
      return null
    }
    for (const [fault, code] of [
      [reading({ kind: 'lost', carriedOut: false }), 'source-unreadable'],
      [reading({ kind: 'refused', code: 'provider-failed', message: '503 busy', status: '503' }), 'source-unreadable'],
      [empties, 'quarantined'],
    ] as const) {
      scene.memory.use(fault)
      const { status, stderr } = await scene.run('apply', 'example.net', '--yes')
      expect([status, stderr.includes(`warning[${code}]`), served() === before]).toEqual([0, true, true])
    }
    scene.memory.use(undefined)
    scene.memory.removeZone('example.com')
    const gone = await scene.run('apply', 'example.net', '--yes')
    expect([gone.status, served() === before]).toEqual([0, true])
    expect(gone.stderr).toContain('cloud has no zone example.com.')
  })

  test('cannot be the zone itself', async () => {
    const { run, folder } = openPlace('{type: octodns, directory: source}', `sources: [{provider: served}]\n${NS}`)
    expect((await run(0, 'validate')).stdout).toContain('error[source-itself] example.com. at served cannot be its own source')
    expect(existsSync(join(folder, 'served/example.com.zone'))).toBe(false)
  })
})
