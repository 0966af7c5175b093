/** What plans and runs do at Cloud DNS beyond the conformance suite: texts that deletions repeat, routing policies, zones, pages, requests and errors. */
import { describe, expect, test } from 'vitest'
import { jsonResponse } from '../../scripted/base.ts'
import { expectEnd } from '../../support/cli.ts'
import { APPLY, PLAN, TOKEN, WWW } from '../scripted-scene.ts'
import { PUBLIC_ZONE, startGoogleScene as start } from './scene.ts'

const changesOf = (requests: readonly { readonly method: string; readonly path: string }[]): number =>
  requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/changes')).length

/** A record set whose data depends on the client. */
const routedBy = (routingPolicy: object) =>
  ({ kind: 'dns#resourceRecordSet', name: 'lb.example.com.', type: 'A', ttl: 60, rrdatas: [], routingPolicy }) as const

const ACCESS = 'project: test-project, token: env:TOKEN'

describe('a deletion repeats the record set exactly', () => {
  test.each([
    ['a text without quotes', 'www 300 CAA 0 issue ca.example.net', 'CAA, value: {flags: 0, tag: issue, value: ca.example.net}'],
    ['an address in another form', 'www 300 AAAA 2001:DB8:0:0::1', 'AAAA, value: "2001:db8::1"'],
    ['records in another order', 'www 300 A 192.0.2.2|192.0.2.1', 'A, values: [192.0.2.1, 192.0.2.2]'],
    ['a text in several strings', 'www 300 TXT "one" "two"', 'TXT, value: onetwo'],
  ])('%s', async (_, line, form) => {
    const scene = await start({
      definition: `  www: {type: ${form}, ttl: 300}\n  kept: {type: A, value: 192.0.2.1}\n`,
      rrsets: [line, 'kept 3600 A 192.0.2.1'],
    })
    if (!line.includes('TXT')) expect((await scene.run(PLAN)).stdout).toContain('No changes')
    scene.define(`  www: {type: ${form}, ttl: 600}\n  kept: {type: A, value: 192.0.2.1}\n`)
    expect(await scene.run(APPLY)).toMatchObject({ status: 0, stderr: '' })
    expect(scene.lines().filter((one) => one.startsWith('www 600'))).toHaveLength(1)
    scene.define('  kept: {type: A, value: 192.0.2.1}\n')
    expect(await scene.run(APPLY)).toMatchObject({ status: 0, stderr: '' })
    expect(scene.lines()).toEqual(['kept 3600 A 192.0.2.1'])
  })

  test('also of a saved plan', async () => {
    const scene = await start({ definition: '  www: {type: A, ttl: 300, value: 192.0.2.9}\n', rrsets: ['www 300 A 192.0.2.2|192.0.2.1'] })
    expect((await scene.run(['plan', '--out', 'plan.json', '--allow', 'updates', '--allow', 'deletes'])).status).toBe(0)
    expect(await scene.run(['apply', 'plan.json', '--yes'])).toMatchObject({ status: 0, stderr: '' })
    expect(scene.lines()).toEqual(['www 300 A 192.0.2.9'])
  })

  test('so a change of another client is refused by the service, and nothing of the call is made', async () => {
    const scene = await start({
      definition: '  new: {type: A, value: 192.0.2.1}\n  www: {type: A, value: 192.0.2.9}\n',
      rrsets: ['www 3600 A 192.0.2.1'],
      answer({ method, path }) {
        // What the plan read is older than the zone.
        if (method !== 'GET' || !path.endsWith('/rrsets')) return undefined
        const rrdatas = ['192.0.2.7']
        return { rrsets: [{ name: 'www.example.com.', type: 'A', ttl: 3600, rrdatas }] }
      },
    })
    expectEnd(await scene.run(APPLY), 1, { said: /412 Precondition not met for 'entity.change.deletions\[0\]' \(conditionNotMet\)/ })
    expect(scene.lines()).toEqual(['www 3600 A 192.0.2.1'])
  })
})

describe('routing policies', () => {
  const items = [
    { weight: 1, rrdatas: ['192.0.2.1'] },
    { weight: 2, rrdatas: ['192.0.2.2'] },
  ]
  const routed = routedBy({ wrr: { items } })

  test('are reported and left alone, and never replaced by a definition', async () => {
    const definition = '  www: {type: A, value: 192.0.2.9}\n  lb: {type: A, value: 192.0.2.9}\n'
    const scene = await start({ definition, rrsets: [routed] })
    expectEnd(await scene.run(APPLY), 0, { err: 'lb.example.com. A of the definition is ignored: the one at gcp has' })
    expect((await scene.run(['plan', '--format', 'json'])).stdout).toContain('has a routing policy (wrr)')
    expect(scene.rrsets().find(({ name }) => name === 'lb.example.com.')).toEqual(routed)
  })

  test('of another client after the plan stop the call', async () => {
    let reads = 0
    const scene = await start({
      definition: "  '': {type: NS, values: [ns1.example.net., ns2.example.net.]}\n  lb: {type: A, value: 192.0.2.9}\n",
      zones: [],
      answer: ({ method, path }) => (method === 'GET' && path.endsWith('/rrsets') && ++reads === 1 ? { rrsets: [routed] } : undefined),
    })
    expect((await scene.run(APPLY)).stdout).toContain('lb.example.com. A has a routing policy, which would be lost')
    expect(changesOf(scene.server.requests)).toBe(0)
  })
})

describe('zones', () => {
  test('are created with NS records of Google or of the definition, and deleted', async () => {
    const definition = "  '': {type: NS, values: [ns1.example.net., ns2.example.net.]}\n  www: {type: A, value: 192.0.2.1}\n"
    const scene = await start({ definition, zones: [], rrsets: [] })
    expect(await scene.run(APPLY)).toMatchObject({ status: 0, stderr: '' })
    const [zone] = scene.zones()
    expect(zone).toMatchObject({ name: 'example-com', dnsName: 'example.com.', visibility: 'public', description: '' })
    expect(scene.rrsets(zone?.id).map(({ name, type, rrdatas }) => `${name} ${type} ${rrdatas.length}`)).toEqual([
      'example.com. NS 2',
      'example.com. SOA 1',
      'www.example.com. A 1',
    ])
    expect(await scene.run(PLAN)).toMatchObject({ status: 0 })
    scene.define('  {}\n', 'absent: true\n')
    expect(await scene.run([...APPLY, '--allow', 'delete-zone'])).toMatchObject({ status: 0, stderr: '' })
    expect(scene.zones()).toEqual([])
  })

  test('without NS records in their definition keep those of Google', async () => {
    const scene = await start({ definition: WWW, zones: [], rrsets: [] })
    expect(await scene.run(APPLY)).toMatchObject({ status: 0, stderr: '' })
    expect(scene.rrsets(scene.zones()[0]?.id)[0]?.rrdatas).toHaveLength(4)
  })

  test('of one DNS name: the config says which is managed, and none is created', async () => {
    const twice = [
      PUBLIC_ZONE,
      { ...PUBLIC_ZONE, id: '5', name: 'other' },
      { ...PUBLIC_ZONE, id: '6', name: 'inside', visibility: 'private' },
    ]
    const definition = WWW
    const scene = await start({ definition, zones: twice })
    expectEnd(await scene.run(PLAN), 1, { said: 'name one of them under managed_zones' })
    const wrong = await start({ definition, zones: twice, settings: `${ACCESS}, managed_zones: {a..b: other}` })
    expectEnd(await wrong.run(PLAN), 1, {
      err: /zonewright\.yaml:2:\d+: error\[schema-value\] providers\.gcp\.managed_zones: "a\.\.b\." has two dots in a row/,
    })
    const chosen = await start({ definition, zones: twice, settings: `${ACCESS}, managed_zones: {example.com: other}` })
    expect(await chosen.run(APPLY)).toMatchObject({ status: 0, stderr: '' })
    expect(chosen.rrsets('5').map(({ name }) => name)).toContain('www.example.com.')
    const inside = await start({ definition, zones: twice, settings: `${ACCESS}, visibility: private` })
    expect(await inside.run(APPLY)).toMatchObject({ status: 0 })
    expect(inside.rrsets('6').map(({ name }) => name)).toContain('www.example.com.')
  })

  test('without records of their own are listed as such', async () => {
    const forwarding = { ...PUBLIC_ZONE, visibility: 'private', forwardingConfig: { targetNameServers: [] } }
    const scene = await start({ definition: WWW, zones: [forwarding], settings: `${ACCESS}, visibility: private` })
    expectEnd(await scene.run(PLAN), 1, { said: 'example.com. forwards queries' })
  })
})

describe('after a change', () => {
  test('the run waits until all name servers have it', async () => {
    const scene = await start({ definition: WWW, pendingReads: 2 })
    expect(await scene.run(APPLY)).toMatchObject({ status: 0, stderr: '' })
    expect(scene.server.requests.filter(({ path }) => /\/changes\/\d+$/.test(path))).toHaveLength(3)
  })

  test('a wait that is too long is a warning', async () => {
    const settings = `${ACCESS}, timeout: 1`
    const scene = await start({ definition: WWW, pendingReads: 99, settings })
    const run = await scene.run(APPLY)
    expect(run.stdout + run.stderr).toContain("some of Google's name servers may not serve them yet")
    expect(scene.lines()).toEqual(['www 3600 A 192.0.2.1'])
  })
})

describe('requests', () => {
  test('changes with long data stay below the limit of the service', async () => {
    const definition = Array.from({ length: 600 }, (_, host) => `  t${host}: {type: TXT, value: ${'x'.repeat(240)}}\n`).join('')
    const scene = await start({ definition })
    expect(await scene.run(APPLY)).toMatchObject({ status: 0 })
    expect(changesOf(scene.server.requests)).toBe(2)
    expect(scene.lines()).toHaveLength(600)
  })

  test('a rate limit with the status 403 is waited out', async () => {
    const scene = await start({ definition: WWW, requestsPerPause: 2, pauseStatus: 403 })
    expect(await scene.run(APPLY)).toMatchObject({ status: 0 })
    expect(scene.lines()).toEqual(['www 3600 A 192.0.2.1'])
  })
})

test.each([
  [403, 'accessNotConfigured', 'enable the Cloud DNS API for the project test-project'],
  [401, 'authError', 'the token has expired, or is not one of Google'],
  [404, 'notFound', 'check the project test-project; if it is right, another client may have deleted the zone'],
  [409, 'alreadyExists', 'another client changed the zone; plan again'],
])('after %d (%s) the hint says what to do', async (status, reason, hint) => {
  const respond = () => jsonResponse(status, { error: { code: status, message: 'No.', errors: [{ reason }] } })
  const scene = await start({ definition: WWW, respond })
  expectEnd(await scene.run(PLAN), 1, { said: hint })
})

test('a project that the account cannot use is named, and never the token', async () => {
  const scene = await start({ definition: '', settings: 'project: other-project, token: env:TOKEN' })
  const { stdout, stderr } = expectEnd(await scene.run(['doctor']), 1, { out: 'roles/dns.admin in the project other-project' })
  expect(stdout + stderr).not.toContain(TOKEN)
})

test('an identifier that is a path', async () => {
  const scene = await start({ definition: '', zones: [{ ...PUBLIC_ZONE, id: '../../x' }] })
  expect((await scene.run(PLAN)).stderr).toContain('has the id')
})
