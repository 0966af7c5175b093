import { describe, expect, test } from 'vitest'
import { plainSet } from '../../scripted/route53/service.ts'
import { expectEnd } from '../../support/cli.ts'
import { APPLY, PLAN, WWW } from '../scripted-scene.ts'
import { changesIn, startRoute53Scene as start, succeeded, ZONE_ID } from './scene.ts'

const weighted = (identifier: string, weight: number, value: string) => {
  return { ...plainSet('www.example.com.', 'A', 60, value), setIdentifier: identifier, others: [['Weight', weight]] as const }
}

describe('what stays as it is', () => {
  test('routing policies are listed and left alone, also when others at the name change', async () => {
    const sets = [weighted('one', 10, '192.0.2.1'), weighted('two', 20, '192.0.2.2')]
    const scene = await start({ sets, definition: '  www: {type: TXT, value: text}\n' })
    const plan = await scene.run(PLAN)
    expect(plan.stderr).toContain('www.example.com. A 192.0.2.1 has the weighted routing policy at aws, and stays as it is')
    succeeded(await scene.run(APPLY))
    expect(scene.held()).toEqual(['www.example.com. A 60 192.0.2.1', 'www.example.com. A 60 192.0.2.2', 'www.example.com. TXT 3600 "text"'])
    succeeded(await scene.run(PLAN))
  })

  test.each([
    ['Failover', 'PRIMARY', 'failover'],
    ['Region', 'eu-west-1', 'latency'],
    ['MultiValueAnswer', true, 'multivalue answer'],
    ['GeoLocation', [['CountryCode', 'DE']], 'geolocation'],
    [
      'CidrRoutingConfig',
      [
        ['CollectionId', 'c'],
        ['LocationName', '*'],
      ],
      'IP-based',
    ],
  ] as const)('%s', async (element, value, word) => {
    const set = { ...plainSet('www.example.com.', 'A', 60, '192.0.2.1'), setIdentifier: 'one', others: [[element, value]] as const }
    const scene = await start({ sets: [set], definition: '  other: {type: A, value: 192.0.2.9}\n' })
    const applied = await scene.run(APPLY)
    expect(applied.stdout + applied.stderr).toContain(`has the ${word} routing policy`)
    expect(scene.held()).toEqual(['other.example.com. A 3600 192.0.2.9', 'www.example.com. A 60 192.0.2.1'])
  })

  test('the definition cannot change a record set with a policy, nor add an ALIAS beside it', async () => {
    const scene = await start({ sets: [weighted('one', 10, '192.0.2.1')], definition: '  www: {type: A, value: 192.0.2.9}\n' })
    expect((await scene.run(PLAN)).stderr).toContain('www.example.com. A of the definition is ignored')
    scene.define('  www: {type: ALIAS, value: d1.cloudfront.net.}\n')
    expectEnd(await scene.run(PLAN), 1, { said: 'does not support www.example.com. ALIAS beside' })
    expect(changesIn(scene.server)).toBe(0)
  })

  test('a health check', async () => {
    const set = { ...plainSet('www.example.com.', 'A', 60, '192.0.2.1'), others: [['HealthCheckId', 'abc']] as const }
    const scene = await start({ sets: [set], definition: '  www: {type: TXT, value: text}\n' })
    succeeded(await scene.run(APPLY))
    expect(scene.held()).toContain('www.example.com. A 60 192.0.2.1')
  })

  test('values that another client wrote otherwise are no difference, and are replaced by what they are', async () => {
    const sets = [
      plainSet('docs.example.com.', 'CNAME', 3600, 'docs.example.net'),
      plainSet('t.example.com.', 'TXT', 3600, '"a\\;b\\303\\244"'),
      plainSet('six.example.com.', 'AAAA', 3600, '2001:0db8:0:0::1'),
      plainSet('mx.example.com.', 'MX', 3600, '10 B.example.net', '5 a.example.net'),
    ]
    const same =
      '  docs: {type: CNAME, value: docs.example.net.}\n  t: {type: TXT, value: a;bä}\n  six: {type: AAAA, value: "2001:db8::1"}\n'
    const mx = '  mx: {type: MX, values: [{preference: 5, exchange: a.example.net.}, {preference: 10, exchange: b.example.net.}]}\n'
    const scene = await start({ sets, definition: same + mx })
    succeeded(await scene.run(PLAN))
    scene.define('  docs: {type: CNAME, value: other.example.net.}\n')
    succeeded(await scene.run([...APPLY, '--allow', 'empty-zone']))
    expect(scene.held()).toEqual(['docs.example.com. CNAME 3600 other.example.net.'])
  })
})

test('names and texts with special characters keep them', async () => {
  const definition = `  '*.wild': {type: A, value: 192.0.2.1}\n  'a/b': {type: A, value: 192.0.2.2}\n  svc: {type: HTTPS, value: {svcpriority: 1, targetname: ., svcparams: {alpn: [h2, h3], port: 8443}}}\n  text: {type: TXT, value: 'quote " backslash \\ umlaut ä'}\n`
  const scene = await start({ definition })
  succeeded(await scene.run(APPLY))
  expect(scene.held()).toEqual([
    'a\\057b.example.com. A 3600 192.0.2.2',
    'svc.example.com. HTTPS 3600 1 . alpn="h2,h3" port="8443"',
    'text.example.com. TXT 3600 "quote \\" backslash \\\\ umlaut \\303\\244"',
    '\\052.wild.example.com. A 3600 192.0.2.1',
  ])
  succeeded(await scene.run(PLAN))
})

describe('the NS records of the apex', () => {
  const NS = (...names: string[]): string => `  '': {type: NS, ttl: 3600, values: [${names.join(', ')}]}\n`

  test('stay if the definition has none, and are replaced without a moment without them', async () => {
    const scene = await start({ definition: WWW })
    succeeded(await scene.run(APPLY))
    expect(scene.route53.sets(ZONE_ID).find(({ type }) => type === 'NS')?.values).toHaveLength(4)
    scene.define(NS('ns1.example.net.', 'ns2.example.net.'), 'apex_ns: manage\n')
    succeeded(await scene.run([...APPLY, '--allow', 'apex-ns', '--allow', 'empty-zone']))
    expect(scene.route53.sets(ZONE_ID).find(({ type }) => type === 'NS')).toMatchObject({
      ttl: 3600,
      values: ['ns1.example.net.', 'ns2.example.net.'],
    })
    succeeded(await scene.run(PLAN))
  })

  test('of a new zone are those of Route 53, or those of the definition', async () => {
    const scene = await start({ zones: [], definition: NS('ns1.example.net.', 'ns2.example.net.') })
    scene.define(NS('ns1.example.net.', 'ns2.example.net.'), 'apex_ns: manage\n')
    succeeded(await scene.run([...APPLY, '--allow', 'apex-ns']))
    const [zone] = scene.route53.zones()
    expect(scene.route53.sets(zone?.id ?? '').find(({ type }) => type === 'NS')?.values).toEqual(['ns1.example.net.', 'ns2.example.net.'])
    succeeded(await scene.run(PLAN))
  })
})

describe('zones', () => {
  test('are created and deleted, with all their records', async () => {
    const records = Array.from({ length: 1200 }, (_, host) => `  h${host}: {type: A, value: 192.0.2.1}\n`).join('')
    const scene = await start({ zones: [], definition: `${records}  own: {type: ALIAS, value: h0}\n` })
    succeeded(await scene.run(APPLY))
    const [zone] = scene.route53.zones()
    expect([zone?.name, zone?.isPrivate, scene.route53.sets(zone?.id ?? '').length]).toEqual(['example.com.', false, 1203])
    succeeded(await scene.run(PLAN))
    scene.define('  {}\n', 'absent: true\n')
    succeeded(await scene.run(['apply', '--yes', '--allow', 'delete-zone']))
    expect(scene.route53.zones()).toEqual([])
  })

  const TWINS = [
    { id: 'ZPUBLIC', name: 'example.com.' },
    { id: 'ZPRIVATE1', name: 'example.com.', isPrivate: true },
    { id: 'ZPRIVATE2', name: 'example.com.', isPrivate: true },
  ]
  test.each([
    ['public', '', 'ZPUBLIC'],
    ['private, by id', ', zone_type: private, zone_ids: {example.com: ZPRIVATE2}', 'ZPRIVATE2'],
    ['by id, whatever its type', ', zone_ids: {example.com: ZPRIVATE1}', 'ZPRIVATE1'],
  ])('with one name: %s', async (_, settings, id) => {
    const scene = await start({ zones: TWINS, settings, definition: WWW })
    succeeded(await scene.run(APPLY))
    for (const zone of TWINS) expect(scene.route53.sets(zone.id)).toHaveLength(zone.id === id ? 3 : 2)
  })

  test('with one name and no choice: nothing is changed, and no further zone is created', async () => {
    const scene = await start({ zones: TWINS, settings: ', zone_type: private', definition: WWW })
    expectEnd(await scene.run(APPLY), 1, { said: 'choose one under zone_ids' })
    expect(changesIn(scene.server)).toBe(0)
  })

  test('that another service of AWS manages are no missing ones', async () => {
    const zones = [{ id: 'ZMAP', name: 'example.com.', service: 'servicediscovery.amazonaws.com' }]
    const scene = await start({ zones, definition: WWW })
    expectEnd(await scene.run(APPLY), 1, { said: 'is managed by servicediscovery' })
    expect(changesIn(scene.server)).toBe(0)
  })

  test('private ones are created in the VPC of the settings, and only then', async () => {
    const definition = WWW
    const without = await start({ zones: [], settings: ', zone_type: private', definition })
    expect((await without.run(APPLY)).status).toBe(1)
    const vpc = ', zone_type: private, vpc: {id: vpc-0abc, region: eu-west-1}'
    const scene = await start({ zones: [], settings: vpc, definition })
    succeeded(await scene.run(APPLY))
    expect(scene.route53.zones()).toMatchObject([{ name: 'example.com.', isPrivate: true }])
  })
})
