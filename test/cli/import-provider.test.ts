import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { recordKey } from '../../src/dns/record.ts'
import { fitToTarget } from '../../src/plan/fit-to-target.ts'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'
import { recordToApi } from '../../src/providers/cloud/record-codec.ts'
import { fc } from '../support/fast-check.ts'
import { ORIGIN } from '../support/plan.ts'
import { randomRecords } from '../support/random-records.ts'
import { desiredZone } from '../support/records.ts'
import { holding } from './listed-zones.ts'
import { TOKEN } from './scene.ts'
import { openServiceScene, type ServiceScene } from './service-scene.ts'

const TOKEN_OF = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }

async function send(scene: ServiceScene, method: string, path: string, body: object): Promise<{ id: number }> {
  const response = await fetch(`${scene.service.baseUrl}${path}`, { method, headers: TOKEN_OF, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
  return (await response.json()) as { id: number }
}

const EMPTY = { files: { 'zones/.keep': '' } }

/** A zone at the service, created from another definition. */
async function withZone(scene: ServiceScene, settings: object, records: readonly object[], domain = 'example.com'): Promise<void> {
  const { id } = await send(scene, 'POST', '/domains', { domain, type: 'master', soa_email: 'hostmaster@example.com', ...settings })
  for (const record of records) await send(scene, 'POST', `/domains/${id}/records`, record)
}

async function expectEmptyPlan(scene: ServiceScene): Promise<void> {
  const plan = await scene.run('plan', '--detailed-exitcode')
  expect(plan).toMatchObject({ status: 0 })
}

describe('import --from', () => {
  it('imports settings and records, and the next plan is empty', async () => {
    const scene = await openServiceScene(EMPTY)
    await withZone(
      scene,
      { tags: ['web', 'dns'], group: 'dns', description: 'the: "zone"', ttl_sec: 300, axfr_ips: ['192.0.2.53', '2001:DB8:0::53'] },
      [
        { type: 'A', name: '', target: '192.0.2.1' },
        { type: 'A', name: 'www', target: '192.0.2.1', ttl_sec: 300 },
        { type: 'MX', name: '', target: 'mail.example.com', priority: 10 },
        { type: 'MX', name: 'none', target: '', priority: 0 },
        { type: 'SRV', service: 'sip', protocol: 'tcp.sub', target: 'sip.example.net', priority: 0, weight: 1, port: 5060 },
        { type: 'CAA', name: '', tag: 'issue', target: ';' },
        { type: 'TXT', name: 'null', target: 'a;b \\; "c" \\ é' },
        { type: 'NS', name: '', target: 'ns1.example.net' },
        { type: 'TXT', name: '_acme-challenge.www', target: 'token' },
      ],
    )
    await withZone(scene, { status: 'disabled' }, [], 'empty.example')
    await send(scene, 'POST', '/domains', { domain: 'slave.example', type: 'slave', master_ips: ['192.0.2.53'] })
    const result = await scene.run('import', '--from', 'cloud', '-o', 'zones')
    expect(result).toMatchObject({
      status: 0,
      stdout: 'zones/empty.example.yaml\nzones/example.com.yaml\nzones/slave.example.yaml\n',
      stderr: expect.stringContaining('3 zones with 9 records, read back and compared.'),
    })
    const text = scene.files()['zones/example.com.yaml'] as string
    expect(text).toContain("# unmanaged: [{name: '_acme-challenge*', type: TXT}]\ndomain: example.com\n")
    await expectEmptyPlan(scene)
    expect(await scene.run('fmt', '--check')).toMatchObject({ status: 0 })
    // The commented-out selectors work.
    scene.write({
      'zones/example.com.yaml': text.replace('# unmanaged:', 'unmanaged:').replace(/^ {2}_acme-challenge.*\n/m, ''),
    })
    await expectEmptyPlan(scene)
  })

  it('suggests selectors that match exactly the automation records', async () => {
    const scene = await openServiceScene(EMPTY)
    const a = (name: string) => ({ type: 'A', name, target: '192.0.2.1' })
    const txt = (name: string, target: string) => ({ type: 'TXT', name, target })
    const heritage = 'heritage=external-dns,external-dns/owner=k8s,external-dns/resource=ingress/default/app'
    const mine = [a('www'), a('a-www'), txt('', 'v=spf1 -all'), { type: 'CNAME', name: '_acme-challenge.static', target: 'x.acme.example' }]
    const others = [
      ...[a('app'), txt('a-app', heritage), txt('aaaa-app', `"${heritage}"`), { type: 'AAAA', name: 'app', target: '2001:db8::1' }],
      ...[{ type: 'CNAME', name: 'c.sub', target: 'app.example.com' }, txt('extdns-cname-c.sub', heritage)],
      ...[a('dotted'), txt('x-a.dotted', heritage), a('old'), txt('old', heritage), txt('a-gone', heritage)],
      ...[txt('_acme-challenge', 'a'), txt('_abcdef._acme-challenge.www', 'b'), txt('_dnsauth.www', 'c')],
    ]
    await withZone(scene, {}, [...mine, ...others])
    const result = await scene.run('import', '--from', 'cloud', '-o', 'zones')
    expect(result).toMatchObject({ status: 0, stderr: expect.stringContaining('1 zone with 18 records, read back and compared.') })
    await expectEmptyPlan(scene)
    const text = scene.files()['zones/example.com.yaml'] as string
    expect(text.slice(0, text.indexOf('domain:'))).toBe(`# Records at _acme-challenge usually belong to a certificate client.
# Records at _dnsauth usually prove a domain to a certificate authority.
# Records with a TXT record "heritage=external-dns" belong to external-dns.
# If so, remove them from "records"
# and uncomment these lines, so that no plan changes or counts them:
# unmanaged:
#   - {name: '*_acme-challenge*', type: TXT}
#   - {name: '_dnsauth*', type: TXT}
#   - {type: TXT, target: '*heritage=external-dns,*'}
#   - {name: 'app', type: A}
#   - {name: 'app', type: AAAA}
#   - {name: 'c.sub', type: CNAME}
#   - {name: 'dotted', type: A}
#   - {name: 'old', type: A}
`)
    const unmanaged = [...text.matchAll(/^# (unmanaged:| {2}- .*)$/gm)].map(([, line]) => line)
    scene.write({
      'zones/example.com.yaml': `domain: example.com
soa_email: hostmaster@example.com
${unmanaged.join('\n')}
records:
  '': {type: TXT, value: v=spf1 -all}
  www: {type: A, value: 192.0.2.1}
  a-www: {type: A, value: 192.0.2.1}
  _acme-challenge.static: {type: CNAME, value: x.acme.example.}
`,
    })
    await expectEmptyPlan(scene)
  })

  it('overrides the defaults of the config', async () => {
    const scene = await openServiceScene({
      ...EMPTY,
      config: 'defaults: {soa_email: other@example.com, ttl_sec: 1h, default_ttl: 5m, tags: [managed], group: dns}\n',
    })
    await withZone(scene, {}, [
      { type: 'A', name: '', target: '192.0.2.1' },
      { type: 'A', name: 'www', target: '192.0.2.1', ttl_sec: 300 },
    ])
    expect(await scene.run('import', 'provider', 'cloud', 'example.com', '-o', 'zones')).toMatchObject({ status: 0 })
    await expectEmptyPlan(scene)
  })

  it('reports an unknown provider or zone, and writes nothing', async () => {
    const scene = await openServiceScene(EMPTY)
    await withZone(scene, {}, [])
    expect(await scene.run('import', '--from', 'cluod', '-o', 'zones')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('[provider-unknown]'),
    })
    const result = await scene.run('import', '--from', 'cloud', 'example.com', 'example.net', '-o', 'zones')
    expect(result).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('[zone-unknown] cloud has no zone example.net.'),
    })
    expect(Object.keys(scene.files()).sort()).toEqual(['zones/.keep', 'zonewright.yaml'])
  })

  it('keeps existing files without --force', async () => {
    const scene = await openServiceScene(EMPTY)
    await withZone(scene, {}, [])
    scene.write({ 'zones/example.com.yaml': 'mine' })
    const result = await scene.run('import', '--from', 'cloud', '-o', 'zones')
    expect(result).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('error[file-exists] zones/example.com.yaml already exists'),
    })
    expect(scene.files()['zones/example.com.yaml']).toBe('mine')
    expect(await scene.run('import', '--from', 'cloud', '-o', 'zones', '--force', '--dry-run')).toMatchObject({
      status: 0,
      stdout: 'zones/example.com.yaml\n',
    })
    expect(scene.files()['zones/example.com.yaml']).toBe('mine')
    expect(await scene.run('import', '--from', 'cloud', '-o', 'zones', '--force')).toMatchObject({ status: 0 })
    expect(scene.files()['zones/example.com.yaml']).toMatch(/^domain: example\.com\n/)
  })
})

describe('import --from one of several providers', () => {
  const OTHER = "  other: {type: cloud, base_url: 'http://127.0.0.1:1/v4', token: 'env:ZONEWRIGHT_TOKEN'}\nnameservers"

  it.each([
    ['no rules', '', 'targets: [cloud]\n'],
    ['a rule for this one', 'zones: [{files: zones/*.yaml, targets: [cloud]}]\n', null],
    ['a rule for the other provider', 'zones: [{files: zones/*.yaml, targets: [other]}]\n', 'targets: [cloud]\n'],
    [
      'a rule for other zones only',
      'zones: [{files: zones/*.yaml, zone: none.example, targets: [other]}, {files: zones/*}]\n',
      'targets: [cloud]\n',
    ],
  ])('writes the target if the config does not select it: %s', async (_, config, targets) => {
    const scene = await openServiceScene({ ...EMPTY, config })
    scene.write({ 'zonewright.yaml': (scene.files()['zonewright.yaml'] as string).replace('nameservers', OTHER) })
    await withZone(scene, {}, [{ type: 'A', name: 'www', target: '192.0.2.1' }])
    const imported = await scene.run('import', '--from', 'cloud', '-o', 'zones')
    expect(imported).toMatchObject({ status: 0, stderr: '1 zone with 1 record, read back and compared.\n' })
    if (targets === null) expect(scene.files()['zones/example.com.yaml']).not.toContain('targets')
    else expect(scene.files()['zones/example.com.yaml']).toContain(targets)
    await expectEmptyPlan(scene)
  })

  it('warns of a folder that no rule reads', async () => {
    const scene = await openServiceScene({ ...EMPTY, config: 'zones: [{files: zones/*.yaml, targets: [cloud]}]\n' })
    await withZone(scene, {}, [])
    const imported = await scene.run('import', '--from', 'cloud', '-o', 'elsewhere')
    expect(imported).toMatchObject({ status: 0, stdout: 'elsewhere/example.com.yaml\n' })
    expect(imported.stderr).toContain('warning[import-pending] no rule of the config matches elsewhere/example.com.yaml, so no plan reads')
  })

  it('previews the plan with the rule of the file', async () => {
    const ns = { type: 'NS', name: '', target: 'ns1.example.net' }
    const script = holding([{ id: 9, domain: 'example.com', records: [ns, ns] }])
    const scene = await openServiceScene({
      ...EMPTY,
      script,
      config: 'zones: [{files: zones/*.yaml, targets: [cloud], apex_ns: manage}]\n',
    })
    const imported = await scene.run('import', '--from', 'cloud', '-o', 'zones')
    expect(imported).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('a definition can contain a record once, and the next plan deletes number 2'),
    })
    expect(await scene.run('plan', '--detailed-exitcode')).toMatchObject({ status: 2, stdout: expect.stringContaining('(1 call)') })
  })
})

it('the plan of any imported zone is empty', async () => {
  const scene = await openServiceScene(EMPTY)
  const { id } = await send(scene, 'POST', '/domains', { domain: 'example.com', type: 'master', soa_email: 'hostmaster@example.com' })
  const known = new Set<string>()
  for (const records of fc.sample(randomRecords, 25)) {
    const fitted = fitToTarget({ ...desiredZone(ORIGIN, ''), records, unsupported: 'skip' }, 'cloud', CLOUD_CAPABILITIES)
    for (const record of fitted.records) {
      if (known.has(recordKey(record))) continue
      known.add(recordKey(record))
      const body = { type: record.type, ...recordToApi(record, ORIGIN) }
      // The service refuses conflicting records.
      await send(scene, 'POST', `/domains/${id}/records`, body).catch(() => undefined)
    }
  }
  const imported = await scene.run('import', '--from', 'cloud', '-o', 'zones')
  expect(imported.stderr).toMatch(/1 zone with [1-9][0-9]+ records, read back and compared\./)
  expect(imported.status).toBe(0)
  await expectEmptyPlan(scene)
  expect(await scene.run('fmt', '--check')).toMatchObject({ status: 0 })
})

describe('init --from', () => {
  it('writes a repository with all zones of a provider', async () => {
    const scene = await openServiceScene(EMPTY)
    await withZone(scene, { tags: ['web'] }, [{ type: 'A', name: 'www', target: '192.0.2.1' }])
    rmSync(join(scene.folder, 'zonewright.yaml'))
    const result = await scene.run('init', '--from', `${scene.proxy.origin}/v4`)
    expect(result).toMatchObject({ status: 0, stderr: '' })
    expect(result.stdout).toContain('Written:\n  zonewright.yaml\n  zones/example.com.yaml\n  .github/workflows/dns.yml\n')
    await expectEmptyPlan(scene)
    expect(await scene.run('init', '--from', `${scene.proxy.origin}/v4`)).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('[file-exists]'),
    })
  })

  it.each([
    ['an address without a server', 'http://127.0.0.1:1/v4', '[provider-unreachable]'],
    ['an unknown preset', 'linod', 'error['],
    ['no address', 'a b', 'error['],
  ])('writes nothing with %s', async (_, from, message) => {
    const scene = await openServiceScene(EMPTY)
    rmSync(join(scene.folder, 'zonewright.yaml'))
    expect(await scene.run('init', '--from', from)).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining(message) })
    expect(Object.keys(scene.files())).toEqual(['zones/.keep'])
  })
})
