/** What plans and runs do at DigitalOcean beyond the conformance suite: texts, TTLs, domains, requests and errors. */
import { describe, expect, test } from 'vitest'
import { record, startDigitalOceanScene, TOKEN } from './scene.ts'

const APPLY = ['apply', '--yes', '--allow', 'updates', '--allow', 'deletes', '--no-color']
const PLAN = ['plan', '--detailed-exitcode', '--no-color']
const UNCHANGED = { status: 0, stdout: 'No changes. 1 zone matches.\n' }
const LIST = '/v2/domains/example.com/records'
const WWW = '  www: {type: A, value: 192.0.2.1}\n'

const hostLines = (count: number, address = '192.0.2.1'): string =>
  Array.from({ length: count }, (_, host) => `  h${host}: {type: A, value: ${address}}\n`).join('')
const hosts = (count: number) => Array.from({ length: count }, (_, host) => record(host + 1, `h${host}`, 'A', '192.0.2.1'))

test('records keep their identifiers, and names of rdata are those of the API', async () => {
  const scene = await startDigitalOceanScene({
    records: [
      record(7, 'www', 'A', '192.0.2.9'),
      record(8, 'docs', 'CNAME', '@'),
      record(9, '@', 'MX', 'mail.example.com', { priority: 10 }),
    ],
    definition: `${WWW}  docs: {type: CNAME, value: example.com.}\n  '': {type: MX, value: {preference: 20, exchange: mail.example.com.}}\n`,
  })
  expect((await scene.run(APPLY)).status).toBe(0)
  expect(scene.records()?.map(({ id, data, priority }) => [id, data, priority])).toEqual([
    [7, '192.0.2.1', null],
    [8, '@', null],
    [9, 'mail.example.com', 20],
  ])
  expect(await scene.run(PLAN)).toMatchObject(UNCHANGED)
})

test('texts have no quotes at the API, CAA values no final dot, and low TTLs become 30', async () => {
  const scene = await startDigitalOceanScene({
    definition:
      '  a: {type: TXT, ttl: 5, value: \'say "hi" to; us\'}\n' +
      "  '': {type: CAA, value: {flags: 0, tag: issue, value: ca.example.net}}\n",
  })
  const { status, stderr } = await scene.run(APPLY)
  expect([status, stderr]).toEqual([0, expect.stringContaining('stores TTL 30 for a.example.com. TXT, not 5')])
  expect(
    scene
      .records()
      ?.map(({ data, ttl }) => `${data} ${ttl}`)
      .sort(),
  ).toEqual(['ca.example.net 3600', 'say "hi" to; us 30'])
  expect((await scene.run(PLAN)).status).toBe(0)
})

test.each([
  ['a backslash', 'TXT', "'back\\slash'"],
  ['a text of 600 characters', 'TXT', 'x'.repeat(600)],
  ['a CAA value with parameters', 'CAA', "{flags: 0, tag: issue, value: 'ca.example.net; a=b'}"],
  ['a null MX', 'MX', '{preference: 0, exchange: .}'],
])('%s is refused by the plan', async (_, type, value) => {
  const scene = await startDigitalOceanScene({ definition: `  www: {type: ${type}, value: ${value}}\n` })
  const { status, stderr } = await scene.run(PLAN)
  expect([status, stderr]).toEqual([1, expect.stringMatching(/DigitalOcean (?:holds|cannot hold)/)])
})

describe('domains', () => {
  test('are created and deleted, and keep the name servers that they are given', async () => {
    const scene = await startDigitalOceanScene({ definition: WWW, domains: [] })
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(await scene.run(PLAN)).toMatchObject(UNCHANGED)
    scene.defineAbsent()
    expect((await scene.run([...APPLY, '--allow', 'delete-zone', '--allow', 'empty-zone'])).status).toBe(0)
    expect(scene.records()).toBeNull()
  })

  test('with other NS records have those only, also if the answer to the creation is lost', async () => {
    const scene = await startDigitalOceanScene({ definition: '', domains: [] })
    scene.define("  '': {type: NS, ttl: 600, values: [ns1.example.net., ns2.example.net.]}\n")
    scene.server.loseAnswers(1)
    expect(await scene.run(APPLY)).toMatchObject({ status: 0, stderr: '' })
    expect(await scene.run(PLAN)).toMatchObject(UNCHANGED)
  })

  test('with NS records have those once', async () => {
    const scene = await startDigitalOceanScene({ definition: '', domains: [] })
    scene.define("  '': {type: NS, ttl: 600, values: [ns1.digitalocean.com., ns2.digitalocean.com., ns3.digitalocean.com.]}\n")
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(await scene.run(PLAN)).toMatchObject(UNCHANGED)
  })

  test('a lost answer to a creation is looked up', async () => {
    const scene = await startDigitalOceanScene({ definition: WWW, domains: [] })
    scene.server.loseAnswers(1)
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(scene.records()).toHaveLength(1)
  })
})

describe('requests', () => {
  test('10,000 records are read in pages of 200', { timeout: 30_000 }, async () => {
    const scene = await startDigitalOceanScene({ records: hosts(10_000), definition: hostLines(10_000) })
    const started = performance.now()
    const { status, requests } = await scene.requestsOf(PLAN)
    process.stderr.write(`digitalocean: planned 10,000 records in ${Math.round(performance.now() - started)} ms\n`)
    expect([status, requests.length]).toEqual([0, 50])
  })

  test('a new record takes one request, and so does a change', { timeout: 30_000 }, async () => {
    const count = async (records: ReturnType<typeof hosts>): Promise<number> => {
      const scene = await startDigitalOceanScene({ records, definition: hostLines(100, '192.0.2.2') })
      const { status, requests } = await scene.requestsOf(APPLY)
      expect(status).toBe(0)
      return requests.filter((line) => line.includes('/records/') || line.startsWith('POST')).length
    }
    expect(await count([])).toBe(100)
    expect(await count(hosts(100))).toBe(100)
  })

  test('a rate limit is waited out', async () => {
    const scene = await startDigitalOceanScene({ definition: WWW, requestsPerPause: 2 })
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(scene.records()).toHaveLength(1)
  })

  test('a lost answer is looked up, and the call is not sent again', async () => {
    const scene = await startDigitalOceanScene({ definition: WWW })
    scene.server.loseAnswers(1)
    const { status, requests } = await scene.requestsOf(APPLY)
    expect([status, requests.filter((line) => line.startsWith('POST')).length]).toEqual([0, 1])
    expect(scene.records()).toHaveLength(1)
  })
})

test('errors name what to do, and never the token', async () => {
  const scene = await startDigitalOceanScene({ definition: WWW })
  const wrong = await scene.run(PLAN, { TOKEN: 'wrong-token' })
  expect([wrong.status, wrong.stderr]).toEqual([1, expect.stringContaining('it needs the scopes domain:read')])
  const readOnly = await scene.run(APPLY, { TOKEN: `${TOKEN}-readonly` })
  expect(readOnly.stdout + readOnly.stderr).toContain('domain:update')
  const doctor = await scene.run(['doctor'])
  expect([doctor.status, doctor.stdout]).toEqual([0, expect.stringContaining('DigitalOcean accepts the token')])
  const refused = await scene.run(['doctor'], { TOKEN: 'wrong-token' })
  expect(refused.status).toBe(1)
  for (const { stdout, stderr } of [wrong, readOnly, doctor, refused]) expect(stdout + stderr).not.toMatch(/wrong-token|secret-digital/)
})

test('import, doctor and plan work as the documents show them; other types are listed and stay', async () => {
  const scene = await startDigitalOceanScene({
    records: [record(1, 'www', 'A', '192.0.2.1'), record(2, 'www', 'HTTPS', '1 .')],
    definition: '',
  })
  scene.undefine()
  expect(await scene.run(['import', '--from', 'live', '-o', 'zones'])).toMatchObject({ status: 0 })
  expect(await scene.run(['doctor'])).toMatchObject({ status: 0 })
  const plan = await scene.run(PLAN)
  expect([plan.status, plan.stdout + plan.stderr]).toEqual([0, expect.stringContaining('[record-unplanned]')])
})

describe('responses that are not of the API', () => {
  const RECORD = record(1, 'www', 'A', '192.0.2.1')
  const page = (domain_records: unknown, total = 1): object => ({ domain_records, links: {}, meta: { total } })
  test.each<readonly [string, unknown, RegExp]>([
    ['no list', page({}), /domain_records is not a list/],
    ['no total', { domain_records: [RECORD] }, /meta is not an object/],
    ['too many pages', page([RECORD], 10_000_000), /50000 pages/],
    ['a name that is none', page([{ ...RECORD, name: 'a..b' }]), /a record is named/],
    ['an identifier that is a path', page([{ ...RECORD, id: '../1' }]), /no whole number "id"/],
    ['a TTL that is none', page([{ ...RECORD, ttl: '300' }]), /no whole number "ttl"/],
    ['fewer records than stated', page([RECORD], 2), /the list changed/],
  ])('%s', async (_, body, message) => {
    const scene = await startDigitalOceanScene({ definition: '', answer: ({ path }) => (path === LIST ? body : undefined) })
    const { status, stdout, stderr } = await scene.run(PLAN)
    expect([status, stdout + stderr]).toEqual([1, expect.stringMatching(message)])
  })

  test('a deletion that was not carried out', async () => {
    const scene = await startDigitalOceanScene({
      records: [RECORD, record(2, 'other', 'A', '192.0.2.1')],
      definition: '  other: {type: A, value: 192.0.2.1}\n',
      answer: ({ method }) => (method === 'DELETE' ? {} : undefined),
    })
    const { status } = await scene.run(APPLY)
    expect(status).not.toBe(0)
  })
})
