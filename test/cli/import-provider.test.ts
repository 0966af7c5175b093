import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { cli, expectEnd } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { holding } from './listed-zones.ts'
import { type FolderScene, filesBelow, openScene, type SceneOptions, TOKEN } from './scene.ts'
import { callService, openServiceScene, openWireScene, type ServiceScene } from './service-scene.ts'

const EMPTY = { files: { 'zones/.keep': '' } }

/** The service states every setting. */
const SETTINGS = { soa_email: 'hostmaster@example.com', ttl_sec: 0, tags: [], group: '' } as const

/** A scene without definitions, whose provider has the zone example.com. */
const withZone = (records: string, options: SceneOptions = {}) =>
  openScene({ ...EMPTY, zones: { 'example.com': records }, settings: SETTINGS, ...options })

/** Creates a zone at the service. */
async function createZone(scene: ServiceScene, settings: object, records: readonly object[], domain = 'example.com'): Promise<void> {
  const zone = { domain, type: 'master', soa_email: 'hostmaster@example.com', ...settings }
  const { id } = await callService<{ id: number }>(scene, 'POST', '/domains', zone)
  for (const record of records) await callService(scene, 'POST', `/domains/${id}/records`, record)
}

async function expectEmptyPlan(scene: FolderScene): Promise<void> {
  expect(await scene.run('plan', '--detailed-exitcode')).toMatchObject({ status: 0 })
}

describe('import --from', () => {
  it('imports settings and records, and the next plan is empty', async () => {
    const scene = await openServiceScene(EMPTY)
    await createZone(
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
    await createZone(scene, { status: 'disabled' }, [], 'empty.example')
    await callService(scene, 'POST', '/domains', { domain: 'slave.example', type: 'slave', master_ips: ['192.0.2.53'] })
    const result = await scene.run('import', '--from', 'cloud', '-o', 'zones')
    expect(result).toMatchObject({
      status: 0,
      stdout: 'zones/empty.example.yaml\nzones/example.com.yaml\nzones/slave.example.yaml\n',
      stderr: expect.stringContaining('3 zones with 8 records, read back and compared.'),
    })
    expect(scene.files()['zones/example.com.yaml']).toContain('unmanaged: [{preset: acme}]\n')
    await expectEmptyPlan(scene)
    expect(await scene.run('fmt', '--check')).toMatchObject({ status: 0 })
  })

  it('leaves the records of other clients to them, also those to come', async () => {
    const heritage = 'heritage=external-dns,external-dns/owner=k8s,external-dns/resource=ingress/default/app'
    const scene = withZone(`
www A 192.0.2.1
a-www A 192.0.2.1
@ TXT "v=spf1 -all"
_acme-challenge.static CNAME x.acme.example.
app A 192.0.2.1
a-app TXT "${heritage}"
c.sub CNAME app
extdns-cname-c.sub TXT "${heritage}"
_acme-challenge TXT a
_abcdef._acme-challenge.www TXT b
_0f.www CNAME _1e.acm-validations.aws.`)
    const result = await scene.run('import', '--from', 'cloud', '-o', 'zones')
    expect(result).toMatchObject({ status: 0, stderr: expect.stringContaining('1 zone with 4 records, read back and compared.') })
    expect(result.stderr.match(/leaves \d+ record sets to other clients/g)).toEqual(['leaves 7 record sets to other clients'])
    expect(scene.files()['zones/example.com.yaml']).toContain(
      'unmanaged: [{owner: external-dns}, {preset: acme}, {preset: acm-validation}]\n',
    )
    await expectEmptyPlan(scene)
    const appears = (app: string): void => {
      scene.memory.add('example.com', `${app} A 192.0.2.2`)
      scene.memory.add('example.com', `a-${app} TXT "${heritage}"`)
    }
    appears('tomorrow')
    scene.memory.add('example.com', '_acme-challenge.new TXT d')
    await expectEmptyPlan(scene)
    expectEnd(await scene.run('verify', '--no-dns', '--verbose'), 0, {
      out: /"unmanaged" leaves 10 record sets to other clients: .*tomorrow\.example\.com\. A/,
    })
    // Also between plan and apply.
    const path = 'zones/example.com.yaml'
    scene.write({ [path]: (scene.files()[path] as string).replace('v=spf1 -all', 'v=spf1 ~all') })
    expect(await scene.run('plan', '--out', 'plan.json')).toMatchObject({ status: 0 })
    appears('meanwhile')
    expect(expectEnd(await scene.run('apply', 'plan.json', '--yes'), 0).stderr).not.toContain('another client')
    expect(scene.memory.zone('example.com')?.filter((line) => line.includes('meanwhile'))).toHaveLength(2)
  })

  it('overrides the defaults of the config', async () => {
    const config = 'defaults: {soa_email: other@example.com, ttl_sec: 1h, default_ttl: 5m, tags: [managed], group: dns}\n'
    const scene = withZone('@ A 192.0.2.1\nwww 300 A 192.0.2.1', { config })
    expect(await scene.run('import', 'provider', 'cloud', 'example.com', '-o', 'zones')).toMatchObject({ status: 0 })
    await expectEmptyPlan(scene)
  })

  it.each([
    ['provider', ['--from', 'cluod'], '[provider-unknown]'],
    ['zone', ['--from', 'cloud', 'example.com', 'example.net'], '[zone-unknown] cloud has no zone example.net.'],
  ])('reports an unknown %s, and writes nothing', async (_, args, message) => {
    const scene = withZone('')
    expectEnd(await scene.run('import', ...args, '-o', 'zones'), 1, { err: message, out: '' })
    expect(Object.keys(scene.files()).sort()).toEqual(['zones/.keep', 'zonewright.yaml'])
  })

  it('keeps existing files without --force', async () => {
    const scene = withZone('')
    scene.write({ 'zones/example.com.yaml': 'mine' })
    const imported = (...args: string[]) => scene.run('import', '--from', 'cloud', '-o', 'zones', ...args)
    const exists = expect.stringContaining('error[file-exists] zones/example.com.yaml already exists')
    expect(await imported()).toMatchObject({ status: 1, stdout: '', stderr: exists })
    expect(await imported('--force', '--dry-run')).toMatchObject({ status: 0, stdout: 'zones/example.com.yaml\n' })
    expect(scene.files()['zones/example.com.yaml']).toBe('mine')
    expect(await imported('--force')).toMatchObject({ status: 0 })
    expect(scene.files()['zones/example.com.yaml']).toMatch(/^domain: example\.com\n/)
  })
})

describe('import --from one of several providers', () => {
  it.each([
    ['no rules', '', 'targets: [cloud]\n'],
    ['a rule for this one', 'zones: [{files: zones/*.yaml, targets: [cloud]}]\n', null],
    ['a rule for the other provider', 'zones: [{files: zones/*.yaml, targets: [other]}]\n', 'targets: [cloud]\n'],
    ['a rule for others', 'zones: [{files: zones/*, zone: none.example, targets: [other]}, {files: zones/*}]\n', 'targets: [cloud]\n'],
  ])('writes the target if the config does not select it: %s', async (_, config, targets) => {
    const other = "  other: {type: cloud, base_url: 'http://127.0.0.1:1/v4', token: 'env:ZONEWRIGHT_TOKEN'}\n"
    const scene = withZone('www A 192.0.2.1', { config: other + config })
    const imported = await scene.run('import', '--from', 'cloud', '-o', 'zones')
    expect(imported).toMatchObject({ status: 0, stderr: expect.stringContaining('1 zone with 1 record, read back and compared.\n') })
    if (targets === null) expect(scene.files()['zones/example.com.yaml']).not.toContain('targets')
    else expect(scene.files()['zones/example.com.yaml']).toContain(targets)
    await expectEmptyPlan(scene)
  })

  it('warns of a folder that no rule reads', async () => {
    const scene = withZone('', { config: 'zones: [{files: zones/*.yaml, targets: [cloud]}]\n' })
    const imported = await scene.run('import', '--from', 'cloud', '-o', 'elsewhere')
    expect(imported).toMatchObject({ status: 0, stdout: 'elsewhere/example.com.yaml\n' })
    expect(imported.stderr).toContain('warning[import-pending] no rule of the config matches elsewhere/example.com.yaml, so no plan reads')
  })

  it('previews the plan with the rule of the file', async () => {
    const ns = { type: 'NS', name: '', target: 'ns1.example.net' }
    const config = 'zones: [{files: zones/*.yaml, targets: [cloud], apex_ns: manage}]\n'
    const scene = await openWireScene(holding([{ id: 9, domain: 'example.com', records: [ns, ns] }]), { ...EMPTY, config })
    expectEnd(await scene.run('import', '--from', 'cloud', '-o', 'zones'), 0, { err: 'and the next plan deletes number 2' })
    expect(await scene.run('plan', '--detailed-exitcode')).toMatchObject({ status: 2, stdout: expect.stringContaining('(1 request)') })
  })
})

describe('init --from', () => {
  it('writes a repository with all zones of a provider', async () => {
    const scene = await openServiceScene(EMPTY)
    await createZone(scene, { tags: ['web'] }, [{ type: 'A', name: 'www', target: '192.0.2.1' }])
    rmSync(join(scene.folder, 'zonewright.yaml'))
    const result = await scene.run('init', '--from', `${scene.proxy.origin}/v4`)
    expect(result).toMatchObject({ status: 0, stderr: '' })
    expect(result.stdout).toContain(
      'Written:\n  zonewright.yaml\n  zones/example.com.yaml\n  schemas/config.schema.json\n  .github/workflows/dns.yml\n',
    )
    await expectEmptyPlan(scene)
    expectEnd(await scene.run('init', '--from', `${scene.proxy.origin}/v4`), 0, { err: '', out: /^Nothing is missing:/ })
  })

  it.each([
    ['an address without a server', 'http://127.0.0.1:1/v4', '[provider-unreachable]'],
    ['an unknown preset', 'linod', 'error['],
    ['no address', 'a b', 'error['],
  ])('writes nothing with %s', async (_, from, message) => {
    const cwd = temporaryDirectory()
    const env = { ZONEWRIGHT_TOKEN: TOKEN }
    const refused = { status: 1, stdout: '', stderr: expect.stringContaining(message) }
    expect(await cli(['init', '--from', from], { cwd, env })).toMatchObject(refused)
    expect(filesBelow(cwd)).toEqual({})
  })
})
