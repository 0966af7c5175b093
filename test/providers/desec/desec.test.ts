/** What plans and runs do at deSEC beyond the conformance suite: TTLs, new domains, requests, limits and errors. */
import { describe, expect, test } from 'vitest'
import { startDesecScene, TOKEN } from './scene.ts'

const APPLY = ['apply', '--yes', '--allow', 'updates', '--allow', 'deletes', '--no-color']
const PLAN = ['plan', '--detailed-exitcode', '--no-color']
const LIST = '/api/v1/domains/example.com/rrsets/'
const DOMAIN = '/api/v1/domains/example.com/'

const A = { subname: 'www', type: 'A', ttl: 3600, records: ['192.0.2.1'] }
const WWW = '  www: {type: A, value: 192.0.2.1}\n'

const hosts = (count: number, address = '192.0.2.1'): object[] =>
  Array.from({ length: count }, (_, host) => ({ ...A, subname: `h${host}`, records: [address] }))
const hostLines = (count: number, address = '192.0.2.1'): string =>
  Array.from({ length: count }, (_, host) => `  h${host}: {type: A, value: ${address}}\n`).join('')

describe('TTLs', () => {
  const definition = '  low: {type: A, ttl: 60, value: 192.0.2.1}\n  high: {type: A, ttl: 90000, value: 192.0.2.1}\n'

  test.each([
    ['the usual minimum of a domain', undefined, 3600],
    ['a domain with a lower minimum', 60, 60],
  ])('%s', async (_, minimum, low) => {
    const domain = { name: 'example.com', ...(minimum !== undefined && { minimum_ttl: minimum }) }
    const scene = await startDesecScene({ definition, domains: [domain] })
    expect((await scene.run(APPLY)).status).toBe(0)
    expect((scene.rrsets() ?? []).map(({ subname, ttl }) => [subname, ttl]).sort()).toEqual([
      ['', 3600],
      ['high', 86_400],
      ['low', low],
    ])
    const plan = await scene.run(PLAN)
    expect(plan.status).toBe(0)
    const notices = plan.stderr.split('\n').filter((line) => line.includes('[ttl-rounded]'))
    expect(notices.map((line) => line.replace(/^.*stores /, ''))).toEqual([
      ...(minimum === undefined ? ['TTL 3600 for low.example.com. A, not 60'] : []),
      'TTL 86400 for high.example.com. A, not 90000',
    ])
  })
})

describe('domains', () => {
  const NS = "  '': {type: NS, values: [ns1.desec.io., ns.example.net.]}\n"

  test.each([
    ['without NS records keeps those of deSEC', WWW, ['ns1.desec.io.', 'ns2.desec.org.']],
    ['with NS records has those', NS + WWW, ['ns.example.net.', 'ns1.desec.io.']],
  ])('a new one %s', async (_, records, expected) => {
    const scene = await startDesecScene({ definition: '', domains: [] })
    scene.define(records)
    expect(await scene.run(APPLY)).toMatchObject({ status: 0 })
    const nameservers = scene.rrsets()?.find(({ type }) => type === 'NS')
    expect([...(nameservers?.records ?? [])].sort()).toEqual(expected)
    expect(await scene.run(PLAN)).toMatchObject({ status: 0, stdout: 'No changes. 1 zone matches.\n' })
  })

  test('a lost answer to a creation is looked up', async () => {
    const scene = await startDesecScene({ definition: WWW, domains: [] })
    scene.server.loseAnswers(1)
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(scene.server.requests.filter(({ method }) => method === 'POST')).toHaveLength(1)
    expect(scene.rrsets()).toHaveLength(2)
  })

  test('a domain that a token may not create', async () => {
    const scene = await startDesecScene({ definition: WWW, domains: [], denied: ['create'] })
    const run = await scene.run(APPLY)
    expect([run.status, run.stdout + run.stderr]).toEqual([1, expect.stringMatching(/403 You do not have permission.*perm_create_domain/s)])
  })

  test('a domain that is absent from its definition is deleted, unless another client added records', async () => {
    const scene = await startDesecScene({ definition: WWW, rrsets: [A] })
    scene.defineAbsent()
    const args = ['apply', '--yes', '--allow', 'delete-zone', '--no-color']
    expect(await scene.run(args)).toMatchObject({ status: 0 })
    expect(scene.rrsets()).toBeNull()
  })
})

describe('requests', () => {
  test('a plan of 10,000 records reads each page once', async () => {
    const scene = await startDesecScene({ definition: hostLines(10_000), rrsets: hosts(10_000) })
    const started = performance.now()
    const { status, stdout, requests } = await scene.requestsOf(PLAN)
    const seconds = (performance.now() - started) / 1000
    process.stderr.write(`desec: a plan of 10,000 records took ${seconds.toFixed(1)} s and ${requests.length} requests\n`)
    expect([status, stdout]).toEqual([0, 'No changes. 1 zone matches.\n'])
    // 10,001 record sets have 21 pages.
    expect(requests).toEqual(Array.from({ length: 21 }, () => `GET ${LIST}`))
  })

  test('1,000 changes are one call after one read of each page, and its answer confirms them', async () => {
    const scene = await startDesecScene({ definition: hostLines(1000, '192.0.2.2'), rrsets: hosts(1000) })
    const { status, requests } = await scene.requestsOf(APPLY)
    expect(status).toBe(0)
    expect(requests).toEqual([...Array.from({ length: 3 }, () => `GET ${LIST}`), `PATCH ${LIST}`])
    expect(scene.rrsets()?.filter(({ records }) => records[0] === '192.0.2.2')).toHaveLength(1000)
  })

  test('the minimum TTL of the domain is looked up for a lower TTL than the usual minimum', async () => {
    const scene = await startDesecScene({
      definition: '  www: {type: A, ttl: 60, value: 192.0.2.1}\n',
      domains: [{ name: 'example.com', minimum_ttl: 60 }],
    })
    const { status, requests } = await scene.requestsOf(APPLY)
    expect([status, requests]).toEqual([0, [`GET ${DOMAIN}`, `GET ${LIST}`, `PATCH ${LIST}`]])
    expect(scene.rrsets()?.find(({ type }) => type === 'A')?.ttl).toBe(60)
  })

  test('an answer that states other data than the sent is an error', async () => {
    const stored = [{ name: 'www.example.com.', type: 'A', ttl: 3600, records: ['203.0.113.9'] }]
    const scene = await startDesecScene({ definition: WWW, answer: ({ method }) => (method === 'PATCH' ? stored : undefined) })
    const run = await scene.run(APPLY)
    expect([run.status, run.stderr]).toEqual([1, expect.stringContaining('www.example.com. A was set to 192.0.2.1')])
  })

  test('an unusually large change has several calls, whose bodies deSEC accepts', async () => {
    const text = `"${'\\001'.repeat(255)}"`
    const texts = Array.from({ length: 1000 }, (_, host) => `  h${host}: {type: TXT, value: '${text}'}\n`).join('')
    const scene = await startDesecScene({ definition: texts })
    const { status, requests } = await scene.requestsOf(APPLY)
    expect([status, requests.filter((request) => request.startsWith('PATCH')).length]).toEqual([0, 3])
    expect(scene.rrsets()).toHaveLength(1001)
  })

  test('a pause that deSEC asks for is waited out', async () => {
    const scene = await startDesecScene({ definition: WWW, requestsPerPause: 2 })
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(scene.rrsets()).toHaveLength(2)
  })

  test('a pause of an hour ends the run, with the limits of deSEC', async () => {
    const scene = await startDesecScene({ definition: WWW, requestsPerPause: 1, pause: 3000 })
    const run = await scene.run(APPLY)
    expect(run.status).toBe(1)
    expect(run.stdout + run.stderr).toMatch(/Expected available in 3000 seconds/)
    expect(run.stdout + run.stderr).toMatch(/15 changes of a domain in a minute, 100 in an hour and 300 in a day/)
    expect(scene.rrsets()).toHaveLength(1)
  })

  test('a lost answer to a bulk request is looked up, and the request is not sent again', async () => {
    const scene = await startDesecScene({ definition: WWW })
    scene.server.loseAnswers(1)
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(scene.server.requests.filter(({ method }) => method === 'PATCH')).toHaveLength(1)
    expect(scene.rrsets()).toHaveLength(2)
  })
})

test('record sets of a type that is not managed are reported and stay', async () => {
  const answer = [{ name: 'x.example.com.', type: 'NEWTYPE', ttl: 3600, records: ['1 2 3'] }]
  const scene = await startDesecScene({ definition: '', answer: ({ path }) => (path === LIST ? answer : undefined) })
  const plan = await scene.run(PLAN)
  expect(plan.stderr).toMatch(/x\.example\.com\. NEWTYPE 1 2 3 has a type that is not managed at live, and stays as it is/)
  expect(plan.status).toBe(0)
})

test('a refused bulk request names the record set, and changes nothing', async () => {
  const scene = await startDesecScene({
    definition: `${WWW}  old: {type: A, value: 192.0.2.1}\n`,
    answer: ({ method, path }) => (method === 'GET' && path === DOMAIN ? { name: 'example.com', minimum_ttl: 60 } : undefined),
  })
  scene.define(`  first: {type: A, value: 192.0.2.1}\n  second: {type: A, ttl: 60, value: 192.0.2.1}\n`)
  const run = await scene.run(APPLY)
  expect(run.status).toBe(1)
  expect(run.stdout + run.stderr).toContain('second.example.com. A: ttl: Ensure this value is greater than or equal to 3600.')
  expect(scene.rrsets()).toHaveLength(1)
})

test('errors name what to do, and never the token', async () => {
  const scene = await startDesecScene({ definition: WWW })
  const refused = await scene.run(PLAN, { TOKEN: 'wrong-token' })
  expect(refused.status).toBe(1)
  expect(refused.stderr).toContain('401 Invalid token.')
  expect(refused.stderr).toContain('Token Management')
  const doctor = await scene.run(['doctor'])
  expect(doctor.stdout + doctor.stderr).toContain('deSEC accepts the token')
  const wrong = await scene.run(['doctor'], { TOKEN: 'wrong-token' })
  expect([wrong.status, wrong.stdout]).toEqual([1, expect.stringContaining('401 Invalid token.')])
  for (const { stdout, stderr } of [refused, doctor, wrong]) {
    expect(stdout + stderr).not.toContain('wrong-token')
    expect(stdout + stderr).not.toContain(TOKEN)
  }
})

test('import, doctor and plan work as the documents show them', async () => {
  const scene = await startDesecScene({ definition: '', rrsets: [A, { subname: '', type: 'TXT', ttl: 7200, records: ['"a" "b"'] }] })
  scene.undefine()
  expect(await scene.run(['import', '--from', 'live', '-o', 'zones'])).toMatchObject({ status: 0 })
  expect(await scene.run(['doctor'])).toMatchObject({ status: 0 })
  expect(await scene.run(PLAN)).toMatchObject({ status: 0, stdout: 'No changes. 1 zone matches.\n' })
})

describe('responses that are not of the API', () => {
  const RRSET = { name: 'www.example.com.', type: 'A', ttl: 3600, records: ['192.0.2.1'] }
  test.each<readonly [string, string, unknown, RegExp]>([
    ['no list', LIST, {}, /the list is not a list/],
    ['a TTL that is none', LIST, [{ ...RRSET, ttl: '3600' }], /no whole number "ttl"/],
    ['a name that is none', LIST, [{ ...RRSET, name: 'a..b.' }], /a record is named/],
    ['a name outside the domain', LIST, [{ ...RRSET, name: 'www.example.net.' }], /is outside example\.com\./],
    ['a record that is no text', LIST, [{ ...RRSET, records: [1] }], /a record is not a text/],
    ['another domain', DOMAIN, { name: 'example.net', minimum_ttl: 1 }, /was returned as "example\.net"/],
    ['no minimum TTL', DOMAIN, { name: 'example.com' }, /no whole number "minimum_ttl"/],
  ])('%s', async (_, path, body, message) => {
    const scene = await startDesecScene({ definition: '', answer: (request) => (request.path === path ? body : undefined) })
    const plan = await scene.run(PLAN)
    expect(plan.status).toBe(1)
    expect(plan.stderr + plan.stdout).toMatch(message)
  })

  test('pages without end, and addresses of other hosts', async () => {
    const scene = await startDesecScene({
      definition: '',
      answer: ({ path }) => (path === LIST ? [] : undefined),
      answerHeaders: { link: '<https://attacker.invalid/?cursor=again>; rel="next"' },
    })
    const plan = await scene.run(PLAN)
    expect([plan.status, plan.stderr + plan.stdout]).toEqual([1, expect.stringContaining('the pages of the list have no end')])
    expect(scene.server.requests.filter(({ path }) => path === LIST).map(({ query }) => query.get('cursor'))).toEqual(['', 'again'])
  })
})
