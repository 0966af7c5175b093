/** The commands against a real PowerDNS server with its SQLite backend, judged by dig and by its API. */
import { join } from 'node:path'
import Database from 'libsql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectEnd } from '../../support/cli.ts'
import { type PowerDnsServer, startPowerDns } from '../../support/dns-servers.ts'
import { describeWithTools } from '../../support/skip.ts'
import { dig, transferZone } from '../../support/tools.ts'
import { apiOf, define, originOf, record, run, workspace } from './scene.ts'

describeWithTools(['pdns_server', 'pdnsutil', 'dig'], 'PowerDNS over its HTTP API', () => {
  let server: PowerDnsServer
  let api: ReturnType<typeof apiOf>
  beforeAll(async () => {
    server = await startPowerDns()
    api = apiOf(server)
  })
  afterAll(() => server.stop())

  const here = (more?: string): string => workspace(originOf(server), more)
  const apply = (folder: string, ...args: string[]) => run(folder, server, 'apply', '--yes', '--format', 'json', ...args)
  const expectEmptyPlan = async (folder: string): Promise<void> => {
    expectEnd(await run(folder, server, 'plan', '--detailed-exitcode'), 0, { err: '', out: 'No changes' })
  }

  test('creates a zone with its records and settings in one call, changes its SOA record, and deletes it', async () => {
    await api.post('/tsigkeys', { name: 'upd', algorithm: 'hmac-sha256', key: Buffer.alloc(32).toString('base64') })
    const folder = here(
      ', new_zones: {kind: Native, nameservers: [ns1.example.net., ns2.example.net], soa_edit_api: INCREASE, account: dns, master_tsig_key_ids: [upd.]}',
    )
    const settings = 'soa_email: hostmaster@example.com\nrefresh_sec: 2h\nttl_sec: 10m\n'
    define(
      folder,
      'new.example',
      `${settings}records:\n  www: {type: A, values: [192.0.2.1, 192.0.2.2]}\n  '': {type: MX, value: {preference: 10, exchange: mx.example.net.}}\n`,
    )
    const applied = await apply(folder)
    const [zone] = JSON.parse(applied.stdout).zones
    expect([applied.status, applied.stderr, zone.readBack, zone.calls.total]).toEqual([0, '', 'equal', 1])
    expect(await api.zone('new.example.')).toMatchObject({
      kind: 'Native',
      account: 'dns',
      soa_edit_api: 'INCREASE',
      master_tsig_key_ids: ['upd.'],
    })
    expect(await api.lines('new.example.')).toEqual([
      'new.example. 600 MX 10 mx.example.net.',
      'new.example. 600 NS ns1.example.net.',
      'new.example. 600 NS ns2.example.net.',
      'www.new.example. 600 A 192.0.2.1',
      'www.new.example. 600 A 192.0.2.2',
    ])
    const soa = async (): Promise<string[]> => ((await dig({ port: server.port, name: 'new.example', type: 'SOA' }))[0] ?? '').split(' ')
    const first = await soa()
    expect(first.filter((_, at) => at !== 2)).toEqual(['ns1.example.net.', 'hostmaster.example.com.', '7200', '3600', '604800', '600'])
    await expectEmptyPlan(folder)

    define(
      folder,
      'new.example',
      `soa_email: dns.team@example.com\nrefresh_sec: 2h\nttl_sec: 10m\nretry_sec: 20m\nrecords:\n  www: {type: A, value: 192.0.2.1}\n`,
    )
    expect(await apply(folder, '--allow', 'updates', '--allow', 'deletes')).toMatchObject({ status: 0, stderr: '' })
    const second = await soa()
    expect(second.filter((_, at) => at !== 2)).toEqual(['ns1.example.net.', 'dns\\.team.example.com.', '7200', '1200', '604800', '600'])
    expect(Number(second[2])).toBeGreaterThan(Number(first[2]))
    await expectEmptyPlan(folder)

    define(folder, 'new.example', 'absent: true\nrecords: {}\n')
    expect((await run(folder, server, 'apply', '--yes', '--allow', 'delete-zone')).status).toBe(0)
    expect((await api.send('GET', '/zones/new.example.')).status).toBe(404)
    expect((await run(folder, server, 'rollback', '--last', '--yes')).status).toBe(0)
    expect(Number((await soa())[2])).toBeGreaterThan(Number(second[2]))
  })

  test('creates a secondary zone, changes its masters, and manages none of its records', async () => {
    const folder = here()
    define(folder, 'secondary.example', 'type: slave\nmaster_ips: [192.0.2.53]\n')
    expect((await apply(folder)).status).toBe(0)
    expect(await api.zone('secondary.example.')).toMatchObject({ kind: 'Slave', masters: ['192.0.2.53'] })
    define(folder, 'secondary.example', "type: slave\nmaster_ips: [192.0.2.54, '2001:db8::53']\n")
    expect((await apply(folder)).status).toBe(0)
    expect(await api.zone('secondary.example.')).toMatchObject({ masters: ['192.0.2.54', '2001:db8::53'] })
    await expectEmptyPlan(folder)
    define(folder, 'secondary.example', 'records: {www: {type: A, value: 192.0.2.1}}\n')
    expectEnd(await run(folder, server, 'plan'), 1, { said: 'setting-invalid' })
  })

  test('a missing TSIG key is an error before anything is created', async () => {
    const folder = here(', new_zones: {master_tsig_key_ids: [nokey]}')
    define(folder, 'keyless.example', 'records: {www: {type: A, value: 192.0.2.1}}\n')
    expectEnd(await run(folder, server, 'apply', '--yes'), 1, { said: 'the server has no TSIG key "nokey"' })
    expect((await api.send('GET', '/zones/keyless.example.')).status).toBe(404)
    expectEnd(await run(folder, server, 'doctor'), 1, { out: 'no TSIG key "nokey"' })
  })

  test('replaces record sets in one call, keeps comments and disabled records, and shows the latter', async () => {
    await api.create('keep.example.')
    await api.replace(
      'keep.example.',
      {
        name: 'www.keep.example.',
        type: 'A',
        records: [record('192.0.2.1'), record('192.0.2.8', true)],
        comments: [{ content: 'rack 3', account: 'ann' }],
      },
      { name: 'gone.keep.example.', type: 'A', records: [record('192.0.2.2'), record('192.0.2.9', true)] },
      { name: 'swap.keep.example.', type: 'A', records: [record('192.0.2.3')] },
      { name: 'back.keep.example.', type: 'CNAME', records: [record('www.keep.example.')] },
      { name: 'on.keep.example.', type: 'A', records: [record('192.0.2.7', true)] },
      { name: 'lua.keep.example.', type: 'LUA', records: [record('A "ifportup(443, {\'192.0.2.1\'})"')] },
    )
    const folder = here()
    define(
      folder,
      'keep.example',
      [
        'default_ttl: 300',
        'records:',
        '  www: {type: A, values: [192.0.2.1, 192.0.2.4]}',
        '  swap: {type: CNAME, value: www}',
        '  back: {type: A, value: 192.0.2.5}',
        '  on: {type: A, value: 192.0.2.7}',
        '  alias: {type: ALIAS, value: www}',
        `  lua: {type: LUA, value: {type: A, script: "ifportup(443, {'192.0.2.6'})"}}`,
        '',
      ].join('\n'),
    )
    const plan = await run(folder, server, 'plan', '--allow', 'deletes', '--allow', 'updates', '--format', 'json')
    const notices = JSON.parse(plan.stdout).zones[0].diagnostics.filter(({ code }: { code: string }) => code === 'record-unplanned')
    expect(notices.map(({ message }: { message: string }) => message)).toEqual([
      expect.stringContaining('gone.keep.example. A 192.0.2.9 is disabled at pdns, and stays as it is'),
      expect.stringContaining('on.keep.example. A 192.0.2.7 is disabled'),
      expect.stringContaining('www.keep.example. A 192.0.2.8 is disabled'),
    ])
    const applied = await apply(folder, '--allow', 'deletes', '--allow', 'updates')
    const [zone] = JSON.parse(applied.stdout).zones
    expect([applied.status, zone.readBack, zone.calls.total]).toEqual([0, 'equal', 1])
    expect(await api.lines('keep.example.')).toEqual([
      'alias.keep.example. 300 ALIAS www.keep.example.',
      'back.keep.example. 300 A 192.0.2.5',
      'gone.keep.example. 300 A 192.0.2.9 (disabled)',
      'keep.example. 3600 NS ns1.example.net.',
      'lua.keep.example. 300 LUA A "ifportup(443, {\'192.0.2.6\'})"',
      'on.keep.example. 300 A 192.0.2.7',
      'swap.keep.example. 300 CNAME www.keep.example.',
      'www.keep.example. 300 A 192.0.2.1',
      'www.keep.example. 300 A 192.0.2.4',
      'www.keep.example. 300 A 192.0.2.8 (disabled)',
    ])
    const { rrsets } = await api.zone('keep.example.')
    expect(rrsets.find(({ name }) => name === 'www.keep.example.')?.comments).toMatchObject([{ content: 'rack 3', account: 'ann' }])
    // Of the apex NS, back, on, swap and www: no query can ask for ALIAS and LUA records, which have no numbers.
    const verified = await run(folder, server, 'verify', '--nameserver', `127.0.0.1:${server.port}`)
    expectEnd(verified, 0, { out: 'Verified: 1 of 1 zone as defined, 5 record sets queried.' })
  })

  test('imports a zone, and says which records the definition cannot have', async () => {
    await api.create('in.example.')
    await api.replace('in.example.', { name: 'www.in.example.', type: 'A', records: [record('192.0.2.1'), record('192.0.2.2', true)] })
    const folder = here()
    expectEnd(await run(folder, server, 'import', '--from', 'pdns', 'in.example', '-o', 'zones'), 0, { err: 'is disabled' })
    expectEnd(await run(folder, server, 'plan', '--detailed-exitcode'), 0, { out: 'No changes' })
  })

  test('a signed zone stays valid: names are denied and found after a change', async () => {
    await api.create('signed.example.', { dnssec: true, api_rectify: false })
    const folder = here()
    define(folder, 'signed.example', 'records:\n  a.b.new: {type: A, ttl: 300, value: 192.0.2.1}\n')
    expect(await apply(folder)).toMatchObject({ status: 0, stderr: '' })
    // Without rectification there would be no NSEC record for the name above the new one.
    const denied = await dig({
      port: server.port,
      name: 'new.signed.example',
      type: 'TXT',
      options: ['+dnssec', '+noall', '+comments', '+authority'],
    })
    expect(denied.join('\n')).toMatch(/status: NOERROR[\s\S]*NSEC/)
    await expectEmptyPlan(folder)
  })

  test('raises the serial of a primary zone whose serial the server leaves alone', async () => {
    await api.create('serial.example.', { soa_edit_api: '' })
    await api.put('/zones/serial.example.', { soa_edit_api: '' })
    const serial = async (): Promise<number> =>
      Number((await dig({ port: server.port, name: 'serial.example', type: 'SOA' }))[0]?.split(' ')[2])
    const before = await serial()
    const folder = here()
    define(folder, 'serial.example', 'records:\n  www: {type: A, value: 192.0.2.1}\n')
    expect((await apply(folder)).status).toBe(0)
    expect(await serial()).toBe(before + 1)
    await expectEmptyPlan(folder)
  })

  test('has NOTIFY sent after a change if the config says so', async () => {
    await api.create('notify.example.')
    const folder = here(', notify: true')
    define(folder, 'notify.example', 'records:\n  www: {type: A, value: 192.0.2.1}\n')
    expect((await apply(folder)).status).toBe(0)
    expect(server.log()).toContain("queue notification for domain 'notify.example'")
  })

  test('12,000 records are created and 1,000 changed in few calls', { tags: ['long'] }, async () => {
    const folder = here(', new_zones: {nameservers: [ns1.example.net.]}')
    const text = (last: number): string =>
      `records:\n${Array.from({ length: 12_000 }, (_, i) => `  h${i}: {type: A, ttl: 300, value: 10.${i < 1000 ? last : 0}.${i >> 8}.${i & 255}}\n`).join('')}`
    define(folder, 'big.example', text(0))
    const created = JSON.parse((await apply(folder)).stdout).zones[0]
    expect([created.readBack, created.calls.create]).toEqual(['equal', 12_002])
    expect(created.calls.total).toBeLessThan(4)
    define(folder, 'big.example', text(1))
    const changed = JSON.parse((await apply(folder)).stdout).zones[0]
    expect([changed.readBack, changed.calls.total]).toEqual(['equal', 1])
    expect((await transferZone({ port: server.port, name: 'big.example' })).filter((line) => /\s10\.1\./.test(line))).toHaveLength(1000)
  })

  test.each([
    ['a wrong key', { key: 'wrong-api-key' }, 'provider-unauthorized', /"api-key" of the server/],
    ['a wrong server', { more: ', server: other' }, 'provider-not-found', /check base_url and server/],
    ['a path that is not the API', { path: '/nowhere' }, 'provider-not-found', /check base_url and server/],
  ])('%s is one clear error', async (_, { key, more, path }: { key?: string; more?: string; path?: string }, code, hint) => {
    const folder = workspace(originOf(server) + (path ?? ''), more)
    define(folder, 'any.example', 'records: {www: {type: A, value: 192.0.2.1}}\n')
    const secret = key ?? server.api.key
    const plan = await run(folder, { ...server, api: { ...server.api, key: secret } }, 'plan')
    expect([plan.status, plan.stderr.match(/error\[/g)?.length]).toEqual([1, 1])
    expect(plan.stderr).toMatch(new RegExp(`error\\[${code}\\] pdns: (?:reading any|looking up zones)`))
    expect(plan.stderr).toMatch(hint)
    expect(plan.stderr).not.toContain(secret)
    expect(await run(folder, { ...server, api: { ...server.api, key: secret } }, 'doctor')).toMatchObject({ status: 1 })
  })

  test('doctor says what works', async () => {
    const folder = here()
    define(folder, 'doctored.example', 'records: {www: {type: A, value: 192.0.2.1}}\n')
    const doctor = await run(folder, server, 'doctor')
    expect(doctor.stdout).toMatch(/PowerDNS Authoritative 4\.\d/)
    expect(doctor.stdout).toContain('an apply would create doctored.example.')
  })

  test.each(['refuse.example', 'new.example'])(
    'the record set that the server refuses is named, and the others are changed (%s)',
    async (zone) => {
      if (zone !== 'new.example') await api.create(`${zone}.`)
      const folder = here()
      const hosts = Array.from({ length: 9 }, (_, host) => `  h${host}: {type: A, value: 192.0.2.1}\n`).join('')
      // The key of this KEY record is missing, which its flags allow and the server does not.
      const key = '  k: [{type: KEY, value: {flags: 49152, protocol: 3, algorithm: 8}}, {type: A, value: 192.0.2.1}]\n'
      define(folder, zone, `records:\n${hosts}${key}  alias: {type: CNAME, value: k}\n`)
      const applied = await apply(folder)
      const changes: { name: string; type: string; outcome: { state: string; error?: string } }[] = JSON.parse(applied.stdout).zones[0]
        .changes
      const others = changes.flatMap(({ name, type, outcome }) => (outcome.state === 'applied' ? [] : [`${name} ${type} ${outcome.state}`]))
      expect([applied.status, others, applied.stdout]).toEqual([
        4,
        [`alias.${zone}. CNAME skipped`, `k.${zone}. A failed`, `k.${zone}. KEY failed`],
        expect.stringContaining('422'),
      ])
      expect((await api.lines(`${zone}.`)).filter((line) => !/ NS /.test(line)).map((line) => line[0])).toEqual([...'hhhhhhhhh'])
    },
  )

  test('the SOA record of a new zone names its first name server, also if the server refuses another record set', async () => {
    const folder = here()
    const records = [
      `  '': {type: NS, values: [ns1, ns2]}`,
      '  ns1: {type: A, value: 192.0.2.1}',
      '  ns2: {type: A, value: 192.0.2.2}',
      '  bad: {type: KEY, value: {flags: 49152, protocol: 3, algorithm: 8}}',
    ]
    define(folder, 'named.example', `soa_email: hostmaster@example.com\nrecords:\n${records.join('\n')}\n`)
    expect((await apply(folder)).status).toBe(4)
    expect(await dig({ port: server.port, name: 'named.example', type: 'SOA' })).toEqual([expect.stringMatching(/^ns1\.named\.example\. /)])
    expect(await api.lines('named.example.')).toHaveLength(4)
  })

  test('rows whose data differ only in case become one, and names in capital letters are a warning', async () => {
    await api.create('case.example.')
    const database = new Database(join(server.directory, 'pdns.db'))
    const row = (name: string, type: string, content: string, prio: number): void => {
      const insert =
        'insert into records (domain_id,name,type,content,ttl,prio,disabled,auth) select id,?,?,?,300,?,0,1 from domains where name=?'
      database.prepare(insert).run(name, type, content, prio, 'case.example')
    }
    row('case.example', 'MX', 'mail.example.net', 10)
    row('case.example', 'MX', 'MAIL.example.net', 10)
    row('UP.case.example', 'A', '192.0.2.1', 0)
    const folder = here()
    define(
      folder,
      'case.example',
      "records:\n  '': {type: MX, ttl: 300, value: {preference: 10, exchange: mail.example.net.}}\n  up: {type: A, ttl: 300, value: 192.0.2.1}\n",
    )
    expectEnd(await run(folder, server, 'apply', '--yes'), 0, { out: '1 deleted in 1 zone (1 request)' })
    expect((await api.lines('case.example.')).filter((line) => line.includes(' MX '))).toEqual([
      'case.example. 300 MX 10 mail.example.net.',
    ])
    const again = await run(folder, server, 'plan')
    expect([again.stdout, again.stderr]).toEqual([
      expect.stringContaining('No changes'),
      expect.stringContaining('warning[record-unplanned] pdns: the server does not serve rows whose names have capital letters'),
    ])
    database.prepare('update records set name = lower(name)').run()
    expect((await run(folder, server, 'plan')).stderr).not.toContain('capital')
    row('case.example', 'TXT', 'v=spf1 -all', 0)
    database.close()
    expectEnd(await run(folder, server, 'plan'), 1, { err: '(the database may have a row that the server cannot read, such as a TXT' })
    expect(await dig({ port: server.port, name: 'up.case.example' })).toEqual(['192.0.2.1'])
  })

  test('SQLite takes one write at a time: thirty zones and their SOA records change at once', {
    tags: ['long'],
  }, async () => {
    const folder = here(', parallelism: 8')
    for (const [round, settings] of ['', 'refresh_sec: 2h\n', 'refresh_sec: 3h\n', 'refresh_sec: 4h\n'].entries()) {
      for (let zone = 0; zone < 30; zone += 1) {
        if (round === 0) await api.create(`many${zone}.example.`)
        const hosts = Array.from({ length: 20 }, (_, host) => `  h${host}: {type: A, value: 192.0.2.${round + 1}}\n`)
        define(folder, `many${zone}.example`, `${settings}records:\n${hosts.join('')}`)
      }
      const { status, stdout } = await apply(folder, '--allow', 'updates')
      const failed = JSON.parse(stdout).zones.flatMap((zone: { changes: { outcome: { state: string; error?: string } }[] }) =>
        zone.changes.flatMap(({ outcome }) => (outcome.state === 'applied' ? [] : [outcome.error])),
      )
      expect([status, failed]).toEqual([0, []])
    }
  })
})
