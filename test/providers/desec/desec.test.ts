/** What plans and runs do at deSEC beyond the conformance suite: TTLs, new domains, requests, limits and errors. */
import { describe, expect, test } from 'vitest'
import { expectEnd } from '../../support/cli.ts'
import { APPLY, PLAN, WWW } from '../scripted-scene.ts'
import { startDesecScene } from './scene.ts'

const LIST = '/api/v1/domains/example.com/rrsets/'
const DOMAIN = '/api/v1/domains/example.com/'
const A = { subname: 'www', type: 'A', ttl: 3600, records: ['192.0.2.1'] }

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
    const plan = expectEnd(await scene.run(PLAN), 0)
    const notices = plan.stderr.split('\n').filter((line) => line.includes('[ttl-rounded]'))
    expect(notices.map((line) => line.replace(/^.*rounds /, ''))).toEqual([
      ...(minimum === undefined ? ['TTL 60 up to 3600 for low.example.com. A'] : []),
      'TTL 90000 down to 86400 for high.example.com. A',
    ])
  })
})

describe('domains', () => {
  const NS = "  '': {type: NS, values: [ns1.desec.io., ns.example.net.]}\n"

  test.each([
    ['without NS records keeps those of deSEC', WWW, ['ns1.desec.io.', 'ns2.desec.org.']],
    ['with NS records has those', NS + WWW, ['ns.example.net.', 'ns1.desec.io.']],
  ])('a new one %s', async (_, records, expected) => {
    const scene = await startDesecScene({ definition: records, domains: [] })
    expect(await scene.run(APPLY)).toMatchObject({ status: 0 })
    const nameservers = scene.rrsets()?.find(({ type }) => type === 'NS')
    expect([...(nameservers?.records ?? [])].sort()).toEqual(expected)
    expect(await scene.run(PLAN)).toMatchObject({ status: 0, stdout: 'No changes. 1 zone matches.\n' })
  })

  test('a domain that a token may not create', async () => {
    const scene = await startDesecScene({ definition: WWW, domains: [], denied: ['create'] })
    expectEnd(await scene.run(APPLY), 1, { said: /403 You do not have permission.*perm_create_domain/s })
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
  test('the minimum TTL of the domain is looked up for a lower TTL than the usual minimum', async () => {
    const scene = await startDesecScene({
      definition: '  www: {type: A, ttl: 60, value: 192.0.2.1}\n',
      domains: [{ name: 'example.com', minimum_ttl: 60 }],
    })
    expect(await scene.requestsOf(APPLY)).toMatchObject({ status: 0, requests: [`GET ${DOMAIN}`, `GET ${LIST}`, `PATCH ${LIST}`] })
    expect(scene.rrsets()?.find(({ type }) => type === 'A')?.ttl).toBe(60)
  })

  test('an answer that states other data than the sent is an error', async () => {
    const stored = [{ name: 'www.example.com.', type: 'A', ttl: 3600, records: ['203.0.113.9'] }]
    const scene = await startDesecScene({ definition: WWW, answer: ({ method }) => (method === 'PATCH' ? stored : undefined) })
    expectEnd(await scene.run(APPLY), 1, { err: 'www.example.com. A was set to 192.0.2.1' })
  })

  test('an unusually large change has several calls, whose bodies deSEC accepts', { tags: ['long'] }, async () => {
    const text = `"${'\\001'.repeat(255)}"`
    const texts = Array.from({ length: 1000 }, (_, host) => `  h${host}: {type: TXT, value: '${text}'}\n`).join('')
    const scene = await startDesecScene({ definition: texts })
    const { status, requests } = await scene.requestsOf(APPLY)
    expect([status, requests.filter((request) => request.startsWith('PATCH')).length]).toEqual([0, 3])
    expect(scene.rrsets()).toHaveLength(1001)
  })

  test('a pause of an hour ends the run, with the limits of deSEC', async () => {
    const scene = await startDesecScene({ definition: WWW, requestsPerPause: 1, pause: 3000 })
    const run = expectEnd(await scene.run(APPLY), 1)
    expect(run.stdout + run.stderr).toMatch(/Expected available in 3000 seconds/)
    expect(run.stdout + run.stderr).toMatch(/15 changes of a domain in a minute, 100 in an hour and 300 in a day/)
    expect(scene.rrsets()).toHaveLength(1)
  })
})

test('parameters of services are the same with quotes and without', async () => {
  const value = '{svcpriority: 1, targetname: ., svcparams: {alpn: [h2, h3], port: 8443, ech: AAT+DQAA}}'
  const scene = await startDesecScene({ definition: `  www: {type: HTTPS, ttl: 3600, value: ${value}}\n` })
  expect((await scene.run(APPLY)).status).toBe(0)
  expect(scene.rrsets()?.map(({ records }) => records)).toContainEqual(['1 . alpn=h2,h3 port=8443 ech="AAT+DQAA"'])
  scene.patch([{ subname: 'www', type: 'HTTPS', ttl: 3600, records: ['1 . ech="AAT+DQAA" alpn="h2,h3" port="8443"'] }])
  expect((await scene.run(PLAN)).status).toBe(0)
})

test('a refused bulk request names the record set, and the others are changed', async () => {
  const scene = await startDesecScene({
    definition: `${WWW}  old: {type: A, value: 192.0.2.1}\n`,
    answer: ({ method, path }) => (method === 'GET' && path === DOMAIN ? { name: 'example.com', minimum_ttl: 60 } : undefined),
  })
  scene.define(`  first: {type: A, value: 192.0.2.1}\n  second: {type: A, ttl: 60, value: 192.0.2.1}\n`)
  expectEnd(await scene.run(APPLY), 4, { said: 'second.example.com. A: ttl: Ensure this value is greater than or equal to 3600.' })
  expect(scene.rrsets()).toHaveLength(2)
})

test('responses that are not of the API pages without end, and addresses of other hosts', async () => {
  const link = '<https://attacker.invalid/?cursor=again>; rel="next"'
  const scene = await startDesecScene({
    definition: '',
    respond: ({ path }) => (path === LIST ? { status: 200, headers: { 'content-type': 'application/json', link }, body: '[]' } : undefined),
  })
  expectEnd(await scene.run(PLAN), 1, { said: 'the list has no end' })
  expect(scene.server.requests.filter(({ path }) => path === LIST).map(({ query }) => query.get('cursor'))).toEqual(['', 'again'])
})
