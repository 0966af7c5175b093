/** `import terraform`: what becomes definitions, what stays in the state, and the commands. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { openScene } from '../../cli/scene.ts'
import { startCloudflareScene } from '../../providers/cloudflare/scene.ts'
import { PROJECT, startGoogleScene } from '../../providers/google/scene.ts'
import { startRoute53Scene } from '../../providers/route53/scene.ts'
import { APPLY, PLAN, type ScriptedScene, UNCHANGED } from '../../providers/scripted-scene.ts'
import { CLOUDFLARE_ZONE } from '../../scripted/services.ts'
import { type CliSetting, cli, expectEnd } from '../../support/cli.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { type Resource, showJson } from './states.ts'

const LONG = 'x'.repeat(255)

/** Imports into a new folder. */
async function importState(
  text: string,
  { env = {}, files = {}, more = [] }: { env?: CliSetting['env']; files?: object; more?: string[] } = {},
) {
  const folder = temporaryDirectory()
  for (const [path, content] of Object.entries({ 'show.json': text, ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), String(content))
  }
  const result = await cli(['import', 'terraform', 'show.json', '-o', 'zones', '--no-color', ...more], { cwd: folder, env })
  return { result, folder, read: (path: string) => readFileSync(join(folder, path), 'utf8') }
}

const aws = (name: string, values: object, more?: object): Resource => [
  `aws_route53_record.${name}`,
  { fqdn: 'www.example.com', ...('alias' in values ? {} : { ttl: 300, records: ['192.0.2.1'] }), ...values },
  more,
]

const SERVICES: readonly [string, () => Promise<ScriptedScene>, string, readonly Resource[]][] = [
  [
    'Route 53',
    () => startRoute53Scene({}),
    `  '': [{type: TXT, values: ['v=spf1 -all', {rdata: '"${LONG}" "tail"'}]}, {type: ALIAS, value: d1.cloudfront.net.}]\n  '*.x': {type: CNAME, value: www}\n  www: {type: A, values: [192.0.2.1, 192.0.2.2]}\n`,
    [
      ['aws_route53_zone.main', { id: 'Z0123456789', zone_id: 'Z0123456789' }],
      aws('txt', { zone_id: 'Z0123456789', fqdn: 'example.com', type: 'TXT', ttl: 3600, records: ['v=spf1 -all', `${LONG}" "tail`] }),
      ...['A', 'AAAA'].map((type) =>
        aws(type, {
          zone_id: 'Z0123456789',
          fqdn: 'example.com',
          type,
          alias: [{ name: 'd1.cloudfront.net', zone_id: 'Z2FDTNDATAQYW2', evaluate_target_health: false }],
        }),
      ),
      aws('wild', { zone_id: 'Z0123456789', fqdn: '*.x.example.com', type: 'CNAME', ttl: 3600, records: ['www.example.com'] }),
      aws('www', { zone_id: '/hostedzone/Z0123456789', name: 'www', fqdn: null, ttl: 3600, records: ['192.0.2.2', '192.0.2.1'] }),
    ],
  ],
  ...(['cloudflare_record', 'cloudflare_dns_record'] as const).map((type): (typeof SERVICES)[number] => {
    const isOld = type === 'cloudflare_record'
    const named = (name: string) => (isOld ? { name: name.replace(/\.?example\.com$/, '') || '@', hostname: name } : { name })
    const caa = { flags: isOld ? '0' : 0, tag: 'issue', value: 'ca.example', target: isOld ? '' : null }
    return [
      type,
      () => startCloudflareScene({ settings: ', plan: pro' }),
      `  '': [{type: ALIAS, value: www.example.net., cloudflare: {proxied: true}}, {type: CAA, value: {flags: 0, tag: issue, value: ca.example}}, {type: MX, value: {preference: 10, exchange: mail.example.net.}}]\n  t: {type: TXT, value: '${LONG}tail'}\n  www: {type: A, value: 192.0.2.1, cloudflare: {comment: web, tags: ['team:web']}}\n`,
      [
        ['cloudflare_zone.main', isOld ? { id: CLOUDFLARE_ZONE.id, name: undefined, zone: 'example.com' } : { id: CLOUDFLARE_ZONE.id }],
        [
          `${type}.apex`,
          { zone_id: CLOUDFLARE_ZONE.id, ...named('example.com'), type: 'CNAME', content: 'www.example.net', proxied: true },
        ],
        [`${type}.caa`, { zone_id: CLOUDFLARE_ZONE.id, ...named('example.com'), type: 'CAA', ttl: 3600, data: isOld ? [caa] : caa }],
        [
          `${type}.mx`,
          { zone_id: CLOUDFLARE_ZONE.id, ...named('example.com'), type: 'MX', ttl: 3600, priority: 10, content: 'mail.example.net' },
        ],
        [
          `${type}.t`,
          {
            zone_id: CLOUDFLARE_ZONE.id,
            ...named('t.example.com'),
            type: 'TXT',
            ttl: 3600,
            content: isOld ? `${LONG}tail` : `"${LONG}" "tail"`,
          },
        ],
        [
          `${type}.www`,
          {
            zone_id: CLOUDFLARE_ZONE.id,
            ...named('www.example.com'),
            type: 'A',
            ttl: 3600,
            [isOld ? 'value' : 'content']: '192.0.2.1',
            comment: 'web',
            tags: ['team:web'],
          },
        ],
      ],
    ]
  }),
  [
    'Google',
    () => startGoogleScene({}),
    `  '': {type: TXT, values: ['v=spf1 -all', {rdata: '"one" "two"'}]}\n  www: {type: A, value: 192.0.2.1}\n`,
    [
      ['data.google_dns_managed_zone.main', { project: PROJECT }],
      [
        'google_dns_record_set.txt',
        { project: PROJECT, name: 'example.com.', type: 'TXT', ttl: 3600, rrdatas: ['"v=spf1 -all"', '"one" "two"'] },
      ],
      ['google_dns_record_set.www', { project: PROJECT, name: 'www.example.com.', type: 'A', ttl: 3600, rrdatas: ['192.0.2.1'] }],
    ],
  ],
]

// Loading the SDK of Route 53 takes over a second.
for (const [name, start, definition, resources] of SERVICES)
  test(`${name}: the plan of an imported state is empty`, name === 'Route 53' ? { tags: ['long'] } : {}, async () => {
    const scene = await start()
    scene.define(definition)
    expectEnd(await scene.run(APPLY), 0)
    scene.undefine()
    writeFileSync(join(scene.folder, 'show.json'), showJson(resources))
    const { stderr } = expectEnd(await scene.run(['import', 'terraform', 'show.json', '-o', 'zones', '--no-color']), 0)
    expect(await scene.run(PLAN)).toMatchObject(UNCHANGED)
    for (const [address] of resources)
      if (!address.startsWith('data.')) expect(stderr).toMatch(new RegExp(`^terraform state rm .*\\b${address}\\b`, 'm'))
  })

test('Linode: the plan of an imported state is empty', async () => {
  const definition = `domain: example.com
soa_email: hostmaster@example.com
records:
  '': [{type: CAA, value: {flags: 0, tag: issue, value: ca.example}}, {type: TXT, value: 'a "b"; c'}]
  _sip._tcp: {type: SRV, ttl: 300, value: {priority: 10, weight: 5, port: 5060, target: sip.example.net.}}
  www: {type: A, value: 192.0.2.1}
`
  const scene = openScene({ files: { 'zones/example.com.yaml': definition } })
  expectEnd(await scene.run('apply', '--yes'), 0)
  const resources: Resource[] = [
    ['linode_domain.main', {}],
    ['linode_domain_record.caa', { name: '', record_type: 'CAA', tag: 'issue', target: 'ca.example' }],
    ['linode_domain_record.txt', { name: '', record_type: 'TXT', target: 'a "b"; c' }],
    [
      'linode_domain_record.srv',
      {
        name: '_sip._tcp',
        record_type: 'SRV',
        service: 'sip',
        protocol: 'tcp',
        priority: 10,
        weight: 5,
        port: 5060,
        target: 'sip.example.net',
        ttl_sec: 300,
      },
    ],
    ['linode_domain_record.www', { name: 'www', record_type: 'A', target: '192.0.2.1', priority: null, weight: null, port: null }],
  ]
  scene.write({ 'show.json': showJson(resources) })
  expectEnd(await scene.run('import', 'terraform', 'show.json', '-o', 'zones', '--force'), 0, { err: 'take 5 resources out of the state' })
  expectEnd(await scene.run('plan'), 0, { out: 'No changes.' })
})

test('what is not imported stays in the state, each with the reason, and keeps its zone there', async () => {
  const { result, folder, read } = await importState(
    showJson([
      ['aws_route53_zone.main', {}],
      ['aws_route53_zone.inside', { id: 'Z2', zone_id: 'Z2', vpc: [{ vpc_id: 'vpc-1', vpc_region: 'eu-west-1' }] }],
      ['aws_route53_zone.empty', { id: 'Z3', zone_id: 'Z3', name: 'empty.example' }],
      ['aws_route53_zone.signed', { id: 'Z4', zone_id: 'Z4', name: 'signed.example' }],
      ['aws_route53_key_signing_key.k', {}, { depends_on: ['aws_route53_zone.signed'] }],
      aws('www["a b"]', {}),
      aws('txt', { fqdn: '*.t.example.com', type: 'TXT', records: [`${LONG}" "tail`] }),
      aws('cdn', { fqdn: 'example.com', alias: [{ name: 'd1.cloudfront.net', zone_id: 'Z2FDTNDATAQYW2', evaluate_target_health: true }] }),
      aws('www["it\'s"]', { fqdn: 'its.example.com' }),
      ['module.m.module.n["p"].aws_route53_record.mx[0]', { fqdn: 'example.com', type: 'MX', ttl: 60, records: ['10 mail.example.net'] }],
      aws(
        'one',
        { fqdn: 'w.example.com', set_identifier: 'one', weighted_routing_policy: [{ weight: 1 }] },
        { depends_on: ['aws_route53_zone.main'] },
      ),
      aws('alias', { fqdn: 'e.example.com', alias: [{ name: 'env.elasticbeanstalk.com', zone_id: 'Z9', evaluate_target_health: true }] }),
      aws('token', { fqdn: 't.example.com', type: 'TXT', records: ['hush-hush'] }, { sensitive_values: { alias: [], records: [true] } }),
      aws('acm["www"]', { fqdn: '_a1.www.example.com', type: 'CNAME', records: ['_b2.acm-validations.aws'] }),
      aws('elsewhere', { zone_id: 'Z8' }),
      aws('outside', { fqdn: 'www.example.net' }),
      aws('broken', { fqdn: 'b.example.com', ttl: 'soon' }),
      aws('old', { fqdn: 'old.example.com' }, { deposed_key: '0a1b2c3d' }),
      aws('soa', { fqdn: 'example.com', type: 'SOA', records: ['a. b. 1 2 3 4 5'] }),
      ['azurerm_dns_a_record.www', {}],
      ['aws_instance.web', {}, { depends_on: ['aws_route53_record.www'] }],
    ]),
  )
  expectEnd(result, 0, {
    err: [
      'aws_route53_record.one is not imported: it has the weighted routing policy',
      'aws_route53_record.alias is not imported: it is an alias of the hosted zone Z9',
      'aws_route53_record.token is not imported: sensitive: records',
      'aws_route53_record.elsewhere is not imported: the state does not have the zone "Z8"',
      'aws_route53_record.outside is not imported: www.example.net. is not in example.com.',
      'aws_route53_record.broken is not imported: b.example.com. A has no whole number "TTL"',
      'aws_route53_record.old is not imported: terraform will delete what it has replaced',
      'aws_route53_record.soa is not imported: its provider maintains it',
      'aws_route53_zone.inside is not imported: another zone with the name example.com. is imported',
      'azurerm_dns_a_record.www is not imported',
      'aws_route53_record.acm["www"] is not imported: {preset: acm-validation} under "unmanaged" leaves it to other clients',
      'aws_route53_zone.signed stays in the state although it has a definition: aws_route53_key_signing_key.k stays and needs it',
      'aws_route53_zone.main stays in the state although it has a definition: aws_route53_record.one, ',
      `\nterraform state rm 'aws_route53_record.www["a b"]' aws_route53_record.txt aws_route53_record.cdn 'aws_route53_record.www["it'\\''s"]' 'module.m.module.n["p"].aws_route53_record.mx[0]' aws_route53_zone.empty\n`,
      '1 other resource may refer to them (aws_instance.web)',
    ],
  })
  expect(result.stderr + read('zones/example.com.yaml')).not.toContain('hush')
  const definition = read('zones/example.com.yaml')
  for (const part of ['policy: upsert-only\n', '{type: ALIAS, ttl: 60, value: d1.cloudfront.net.}', `value: ${LONG}tail\n`])
    expect(definition).toContain(part)
  expect(read('zones/empty.example.yaml')).toContain('records: {}\n')
  expect(read('zonewright.yaml')).toContain('providers:\n  route53: {type: route53}\n')
  expectEnd(await cli(['validate'], { cwd: folder }), 0)
})

test('a record set that the rules of the DNS refuse stays in the state with that reason', async () => {
  const { result } = await importState(
    showJson([['aws_route53_zone.main', {}], aws('www', {}), aws('two', { type: 'CNAME', records: ['host.example.net'] })]),
    { more: ['--lossy'] },
  )
  expectEnd(result, 0, { err: /aws_route53_record\.two is not imported: host\.example\.net\.: .*CNAME/ })
})

test('each service has its provider, with the variables of Terraform', async () => {
  const state = showJson([
    ['aws_route53_zone.a', { name: 'a.example' }],
    ['aws_route53_zone.b', { id: 'Z2', zone_id: 'Z2', name: 'b.example', vpc: [{ vpc_id: 'vpc-1' }] }],
    ['cloudflare_zone.c', { name: 'c.example' }],
    ['google_dns_managed_zone.d', { dns_name: 'd.example.' }],
    ['linode_domain.e', { domain: 'e.example' }],
    ['dns_ptr_record.f', { zone: '2.0.192.in-addr.arpa.', name: '1', ttl: 300, ptr: 'www.example.com.' }],
  ])
  const config = `  route53: {type: route53}
  route53-private: {type: route53, zone_type: private}
  cloudflare: {type: cloudflare, token: env:CLOUDFLARE_API_TOKEN}
  google: {type: google, project: p, credentials: env:GOOGLE_CREDENTIALS}
  linode: {type: cloud, preset: linode, token: env:LINODE_TOKEN}
`
  const dns = {
    DNS_UPDATE_SERVER: '2001:db8::53',
    DNS_UPDATE_PORT: '5353',
    DNS_UPDATE_KEYNAME: 'k.',
    DNS_UPDATE_KEYALGORITHM: 'hmac-sha512',
  }
  const env = { ...dns, DNS_UPDATE_KEYSECRET: 'c2VjcmV0', GOOGLE_CREDENTIALS: '{"private_key": "hush"}' }
  const whole = await importState(state, { env })
  expectEnd(whole.result, 0)
  const key = 'tsig: {name: k., algorithm: hmac-sha512, secret: env:DNS_UPDATE_KEYSECRET}'
  expect(whole.read('zonewright.yaml')).toContain(`${config}  dns: {type: rfc2136, server: '[2001:db8::53]:5353', ${key}}\n`)
  expect(whole.read('zones/e.example.yaml')).toContain('targets: [linode]\n')
  const partial = await importState(state, { env: { GOOGLE_CREDENTIALS: '' } })
  expectEnd(partial.result, 0, { err: 'no provider is written for the zones of dns: ' })
  expect(partial.read('zonewright.yaml')).toContain('    zone: [2.0.192.in-addr.arpa]\n    enabled: false # no target is known\n')
  expectEnd(await cli(['validate'], { cwd: partial.folder }), 0)
  const odd = await importState(
    showJson([
      ['google_dns_managed_zone.main', { project: 'Not_A_Project' }],
      ['google_dns_record_set.www', { project: 'Not_A_Project', name: 'www.example.com.', type: 'A', rrdatas: ['192.0.2.1'] }],
    ]),
  )
  expectEnd(odd.result, 0, { err: 'no provider is written for the zones of google: ' })
  // A config that exists is not changed.
  const files = {
    'zonewright.yaml': 'providers: {one: {type: route53}, cf: {type: cloudflare, token: env:T}}\nzones: [{files: zones/*.yaml}]\n',
  }
  const known = await importState(state, { files, more: ['a.example', 'c.example', 'e.example'] })
  expectEnd(known.result, 0, { err: 'the config does not have exactly one provider for the zones of linode' })
  expect(['a', 'c', 'e'].map((name) => /^targets: .*$/m.exec(known.read(`zones/${name}.example.yaml`))?.[0])).toEqual([
    'targets: [one]',
    'targets: [cf]',
    'targets: []',
  ])
})

test.each([
  [
    '{"version": 4, "serial": 1, "lineage": "x", "resources": [{"x": "hush"}]}',
    'is a raw state file (make it in the folder of the configuration: terraform show -json show.json > state.json)',
  ],
  ['{"format_version": "1.2", "planned_values": {}}', 'is a plan, not a state'],
  ['{"format_version": "9.0"}', 'is not what "terraform show -json" prints'],
  ['{"hush": ', 'is no JSON'],
  ['{"format_version": "1.0"}', 'has no zones'],
  [showJson([['aws_route53_zone.a\n$(reboot)', {}]]), 'an address that Terraform does not write'],
])('a file that is no state is refused: %s', async (text, message) => {
  const { result } = await importState(text)
  expect(expectEnd(result, 1, { err: message }).stderr).not.toContain('hush')
})

test('a state with odd values, deep marks and many modules is read as any other', async () => {
  const odd = { toString: 1, valueOf: 1 }
  const deep = `${'['.repeat(50_000)}true${']'.repeat(50_000)}`
  const text = showJson([
    ['aws_route53_zone.main', {}],
    ['aws_route53_zone.nameless', { id: 'Z2', zone_id: 'Z2', name: '' }],
    ['dns_a_record_set.nowhere', { addresses: ['192.0.2.1'] }],
    ['cloudflare_zone.c', { name: 'c.example' }],
    ['cloudflare_dns_record.odd', { name: 'odd.c.example', type: 'A', content: '192.0.2.1', comment: odd, data: { priority: odd } }],
    aws('www', {}, { depends_on: [odd], provider_name: odd }),
    aws('secret', { fqdn: 's.example.com', records: ['hush'] }, { sensitive_values: { records: '@deep' } }),
  ])
    .replace('"@deep"', deep)
    .replace('"child_modules":[', `"child_modules":[${'{},'.repeat(200_000)}`)
  const { result, read } = await importState(text)
  expectEnd(result, 0, {
    err: [
      'aws_route53_record.secret is not imported: sensitive: records',
      'aws_route53_zone.nameless is not imported: it has no valid name or identifier',
      'dns_a_record_set.nowhere is not imported: the state does not have the zone ""',
      // The zone stays with a record set that names it by its identifier.
      '\nterraform state rm aws_route53_record.www cloudflare_dns_record.odd cloudflare_zone.c\n',
    ],
  })
  expect(result.stderr).not.toContain('hush')
  expect(read('zones/example.com.yaml')).toContain('www: {type: A, ttl: 300, value: 192.0.2.1}')
})
