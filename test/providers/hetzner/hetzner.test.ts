/** What plans and runs do at Hetzner beyond the conformance suite: comments, labels, protection, actions, zones, requests and errors. */
import { describe, expect, test } from 'vitest'
import { rrset, startHetznerScene, TOKEN, ZONE } from './scene.ts'

const APPLY = ['apply', '--yes', '--allow', 'updates', '--allow', 'deletes', '--no-color']
const PLAN = ['plan', '--detailed-exitcode', '--no-color']
const UNCHANGED = { status: 0, stdout: 'No changes. 1 zone matches.\n' }
const LIST = `/v1/zones/${ZONE}/rrsets`
const WWW = '  www: {type: A, value: 192.0.2.1}\n'

const hostLines = (count: number, address = '192.0.2.1'): string =>
  Array.from({ length: count }, (_, host) => `  h${host}: {type: A, value: ${address}}\n`).join('')
const hosts = (count: number) => Array.from({ length: count }, (_, host) => rrset(`h${host}`, 'A', ['192.0.2.1']))

describe('what plans do not manage', () => {
  const commented = rrset('www', 'A', [], {
    labels: { team: 'web' },
    records: [
      { value: '192.0.2.1', comment: 'first' },
      { value: '192.0.2.2', comment: 'second' },
    ],
  })

  test.each([
    ['a new value', '[192.0.2.1, 192.0.2.2, 192.0.2.3]', ['first', 'second', '']],
    ['a removed value', '[192.0.2.2]', ['second']],
    ['a replaced value', '[192.0.2.2, 192.0.2.9]', ['second', 'first']],
  ])('comments and labels stay: %s', async (_, values, comments) => {
    const scene = await startHetznerScene({ rrsets: [commented], definition: `  www: {type: A, values: ${values}}\n` })
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(scene.rrsets()).toMatchObject([{ labels: { team: 'web' }, records: comments.map((comment) => ({ comment })) }])
    expect(await scene.run(PLAN)).toMatchObject(UNCHANGED)
  })

  test('a protected record set is not changed, and the report says why', async () => {
    const guarded = rrset('www', 'A', ['192.0.2.9'], { protection: { change: true } })
    const scene = await startHetznerScene({ rrsets: [guarded], definition: `${WWW}  other: {type: A, value: 192.0.2.1}\n` })
    const { status, stdout, stderr } = await scene.run(APPLY)
    expect(status).not.toBe(0)
    expect(stdout + stderr).toContain('www.example.com. A is protected against changes at Hetzner')
    expect(scene.rrsets().map(({ id, records }) => `${id} ${records[0]?.value}`)).toEqual(['other/A 192.0.2.1', 'www/A 192.0.2.9'])
    scene.define('  www: {type: A, value: 192.0.2.9}\n  other: {type: A, value: 192.0.2.1}\n')
    expect(await scene.run(PLAN)).toMatchObject(UNCHANGED)
  })

  test('record sets of other types are listed and stay', async () => {
    const scene = await startHetznerScene({ rrsets: [rrset('www', 'LOC', ['1 N 1 E 1m'])], definition: WWW })
    const { status, stdout, stderr } = await scene.run(APPLY)
    expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('[record-unplanned]')])
    expect(scene.rrsets().map(({ id }) => id)).toEqual(['www/A', 'www/LOC'])
  })

  test('relative names are read as the zone has them', async () => {
    const scene = await startHetznerScene({
      rrsets: [rrset('docs', 'CNAME', ['www']), rrset('@', 'MX', ['10 mail'])],
      definition:
        "  docs: {type: CNAME, value: www.example.com.}\n  '': {type: MX, value: {preference: 10, exchange: mail.example.com.}}\n",
    })
    expect(await scene.run(PLAN)).toMatchObject(UNCHANGED)
  })
})

describe('TTLs', () => {
  test('of a record set and of the zone', async () => {
    const scene = await startHetznerScene({ definition: '' })
    const define = (records: string): void => scene.define(records)
    define('  low: {type: A, ttl: 30, value: 192.0.2.1}\n  usual: {type: A, value: 192.0.2.1}\n')
    const { status, stderr } = await scene.run(APPLY)
    expect([status, stderr]).toEqual([0, expect.stringContaining('stores TTL 60 for low.example.com. A, not 30')])
    expect(scene.rrsets().map(({ name, ttl }) => `${name} ${ttl}`)).toEqual(['low 60', 'usual 3600'])
    await scene.send('POST', `/zones/${ZONE}/rrsets/usual/A/actions/change_ttl`, { ttl: null })
    expect((await scene.run(PLAN)).status).not.toBe(0)
  })

  test.each([
    ['falls before the data changes', 300, ['change_ttl', 'set_records']],
    ['rises after the data has changed', 7200, ['set_records', 'change_ttl']],
  ])('a TTL that %s', async (_, ttl, order) => {
    const scene = await startHetznerScene({
      rrsets: [rrset('www', 'A', ['192.0.2.9'])],
      definition: `  www: {type: A, ttl: ${ttl}, value: 192.0.2.1}\n`,
    })
    const { status, requests } = await scene.requestsOf(APPLY)
    expect(status).toBe(0)
    expect(requests.filter((line) => line.startsWith('POST')).map((line) => line.replace(/^.*\//, ''))).toEqual(order)
    expect(scene.rrsets()).toMatchObject([{ ttl, records: [{ value: '192.0.2.1' }] }])
  })
})

describe('actions', () => {
  test('are awaited together', async () => {
    const scene = await startHetznerScene({ definition: hostLines(16), stepsOf: () => [0, 50] })
    const { status, requests } = await scene.requestsOf(APPLY)
    expect(status).toBe(0)
    expect(scene.rrsets()).toHaveLength(16)
    expect(requests.filter((line) => line === 'GET /v1/zones/actions').length).toBeLessThan(8)
  })

  test('a failed one is a failed change', async () => {
    const scene = await startHetznerScene({ definition: WWW, fails: () => true, stepsOf: () => [] })
    const { status, stdout, stderr } = await scene.run(APPLY)
    expect(status).not.toBe(0)
    expect(stdout + stderr).toContain('Hetzner could not complete it: Action failed (action_failed)')
    expect(scene.rrsets()).toEqual([])
  })

  test('one that does not end leaves the answer to the next read', async () => {
    const scene = await startHetznerScene({ definition: WWW, settings: ', timeout: 0.2', stepsOf: () => Array(1000).fill(50) })
    const { status, stdout, stderr } = await scene.run(APPLY)
    expect([status, stdout + stderr]).toEqual([0, expect.not.stringContaining('failed')])
    expect(scene.rrsets()).toHaveLength(1)
  })

  test('a locked zone is tried again', async () => {
    const scene = await startHetznerScene({ definition: WWW, locked: 2 })
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(scene.rrsets()).toHaveLength(1)
  })
})

describe('zones', () => {
  test('are created, changed and deleted', async () => {
    const scene = await startHetznerScene({ definition: '', zones: [], rrsets: [] })
    scene.define(WWW)
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(scene.zones()).toMatchObject([{ name: 'example.com', mode: 'primary' }])
    expect(await scene.run(PLAN)).toMatchObject(UNCHANGED)
    scene.defineAbsent()
    expect((await scene.run([...APPLY, '--allow', 'delete-zone', '--allow', 'empty-zone'])).status).toBe(0)
    expect(scene.zones()).toEqual([])
  })

  test('a new one gets the NS records of its definition', async () => {
    const scene = await startHetznerScene({ definition: '', zones: [], rrsets: [] })
    scene.define("  '': {type: NS, ttl: 600, values: [ns1.example.net., ns2.example.net.]}\n")
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(await scene.run(PLAN)).toMatchObject(UNCHANGED)
  })

  test('a secondary one is created, and its other primaries keep their keys', async () => {
    const zone = { id: ZONE, name: 'example.com', mode: 'secondary' as const }
    const primaries = ['192.0.2.1', '192.0.2.2'].map((address) => ({
      address,
      port: 5353,
      tsig_algorithm: 'hmac-sha256',
      tsig_key: 'c2VjcmV0',
    }))
    const scene = await startHetznerScene({ definition: '', zones: [{ ...zone, primary_nameservers: primaries }], rrsets: [] })
    scene.defineSecondary(['192.0.2.2', '192.0.2.3'])
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(scene.zones()).toMatchObject([{ primary_nameservers: [primaries[1], { address: '192.0.2.3' }] }])
    scene.defineSecondary(['192.0.2.9'], 'new.example')
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(scene.zones()[1]).toMatchObject({ mode: 'secondary', primary_nameservers: [{ address: '192.0.2.9' }] })
  })

  test('a protected one is not deleted', async () => {
    const scene = await startHetznerScene({ definition: '', zones: [{ id: ZONE, name: 'example.com', protection: { delete: true } }] })
    scene.defineAbsent()
    const { status, stdout, stderr } = await scene.run([...APPLY, '--allow', 'delete-zone', '--allow', 'empty-zone'])
    expect(status).not.toBe(0)
    expect(stdout + stderr).toContain('example.com. is protected against deletion at Hetzner')
    expect(scene.zones()).toHaveLength(1)
  })

  test('a lost answer to a creation is looked up', async () => {
    const scene = await startHetznerScene({ definition: WWW, zones: [], rrsets: [] })
    scene.server.loseAnswers(1)
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(scene.zones()).toHaveLength(1)
  })
})

describe('requests', () => {
  test('10,000 record sets are read in pages of 100', { timeout: 30_000 }, async () => {
    const scene = await startHetznerScene({ rrsets: hosts(10_000), definition: hostLines(10_000) })
    const started = performance.now()
    const { status, requests } = await scene.requestsOf(PLAN)
    process.stderr.write(`hetzner: planned 10,000 record sets in ${Math.round(performance.now() - started)} ms\n`)
    expect([status, requests.length]).toEqual([0, 102])
  })

  test('a new record set takes one request, a change two', { timeout: 30_000 }, async () => {
    const count = async (rrsets: ReturnType<typeof hosts>): Promise<number> => {
      const scene = await startHetznerScene({ rrsets, definition: hostLines(100, '192.0.2.2') })
      const { status, requests } = await scene.requestsOf(APPLY)
      expect(status).toBe(0)
      return requests.filter((line) => line.includes('/rrsets/') || line.startsWith('POST')).length
    }
    expect(await count([])).toBe(100)
    expect(await count(hosts(100))).toBe(200)
  })

  test('a rate limit is waited out', async () => {
    const scene = await startHetznerScene({ definition: WWW, requestsPerPause: 2 })
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(scene.rrsets()).toHaveLength(1)
  })

  test('a lost answer is looked up, and the call is not sent again', async () => {
    const scene = await startHetznerScene({ definition: WWW })
    scene.server.loseAnswers(1)
    const { status, requests } = await scene.requestsOf(APPLY)
    expect([status, requests.filter((line) => line.startsWith('POST')).length]).toEqual([0, 1])
    expect(scene.rrsets()).toHaveLength(1)
  })
})

test('errors name what to do, and never the token', async () => {
  const scene = await startHetznerScene({ definition: WWW })
  const wrong = await scene.run(PLAN, { TOKEN: 'wrong-token' })
  expect([wrong.status, wrong.stderr]).toEqual([1, expect.stringContaining('an API token of the project')])
  const readOnly = await scene.run(APPLY, { TOKEN: `${TOKEN}-readonly` })
  expect(readOnly.stdout + readOnly.stderr).toContain('create one with the permission Read & Write')
  const doctor = await scene.run(['doctor'])
  expect([doctor.status, doctor.stdout]).toEqual([0, expect.stringContaining('Hetzner accepts the token')])
  const refused = await scene.run(['doctor'], { TOKEN: 'wrong-token' })
  expect(refused.status).toBe(1)
  for (const { stdout, stderr } of [wrong, readOnly, doctor, refused]) expect(stdout + stderr).not.toMatch(/wrong-token|secret-hetzner/)
})

test('import, doctor and plan work as the documents show them', async () => {
  const scene = await startHetznerScene({
    rrsets: [rrset('www', 'A', ['192.0.2.1']), rrset('@', 'TXT', ['"a" "b"'], { ttl: null })],
    definition: '',
  })
  scene.undefine()
  expect(await scene.run(['import', '--from', 'live', '-o', 'zones'])).toMatchObject({ status: 0 })
  expect(await scene.run(['doctor'])).toMatchObject({ status: 0 })
  expect(await scene.run(PLAN)).toMatchObject(UNCHANGED)
})

describe('responses that are not of the API', () => {
  const RRSET = { name: 'www', type: 'A', ttl: 300, records: [{ value: '192.0.2.1' }] }
  const page = (rrsets: unknown, more: object = {}): object => ({
    rrsets,
    meta: { pagination: { page: 1, last_page: 1, total_entries: 1, ...more } },
  })
  test.each<readonly [string, unknown, RegExp]>([
    ['no list', page({}), /rrsets is not a list/],
    ['no pages', { rrsets: [RRSET] }, /meta is not an object/],
    ['too many pages', page([RRSET], { last_page: 100_000 }), /100000 pages/],
    ['a name that is none', page([{ ...RRSET, name: 'a..b' }]), /a record is named/],
    ['an absolute name', page([{ ...RRSET, name: 'www.other.example.' }]), /a record is named/],
    ['a TTL that is none', page([{ ...RRSET, ttl: '300' }]), /no whole number "ttl"/],
    ['fewer record sets than stated', page([RRSET], { total_entries: 2 }), /the list changed/],
  ])('%s', async (_, body, message) => {
    const scene = await startHetznerScene({ definition: '', answer: ({ path }) => (path === LIST ? body : undefined) })
    const { status, stdout, stderr } = await scene.run(PLAN)
    expect([status, stdout + stderr]).toEqual([1, expect.stringMatching(message)])
  })

  test('an action of another change', async () => {
    const action = { id: 1, status: 'success' }
    const scene = await startHetznerScene({
      definition: hostLines(2),
      answer: ({ method }) => (method === 'POST' ? { action } : undefined),
    })
    const { status, stdout, stderr } = await scene.run(APPLY)
    expect([status === 0, stdout + stderr]).toEqual([false, expect.stringContaining('the response is that of another change')])
  })
})
