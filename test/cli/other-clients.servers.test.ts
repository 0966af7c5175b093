/** Records of other clients of a zone at BIND: imported as selectors, left alone by plans, listed by `verify`, carried by `copy` and `cutover`. */
import { expect, test } from 'vitest'
import { type CliResult, cli, expectEnd } from '../support/cli.ts'
import { type DnsServer, startBind, TEST_KEY } from '../support/dns-servers.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { nsupdate, transferZone } from '../support/tools.ts'
import { NEW, openMove } from './cutover-scene.ts'
import { folderScene } from './scene.ts'

const HERITAGE = '"heritage=external-dns,external-dns/owner=k8s"'
/** What external-dns and a certificate client add for an application. */
const appOf = (app: string, zone: string): string[] => [
  `a-${app}.${zone}. 300 IN TXT ${HERITAGE}`,
  `_acme-challenge.${app}.${zone}. 60 IN TXT "token"`,
  `${app}.${zone}. 300 IN A 192.0.2.9`,
]
const SOA = '@ SOA ns1.example.net. hostmaster.example.net. 1 14400 14400 1209600 300\n@ NS ns1.example.net.\n'

async function add(server: DnsServer, zone: string, lines: readonly string[]): Promise<void> {
  const script = `zone ${zone}\n${lines.map((line) => `update add ${line}\n`).join('')}send\n`
  expect(await nsupdate(server.port, script, TEST_KEY)).toMatchObject({ status: 0 })
}

const held = async ({ port }: DnsServer, name: string): Promise<string[]> =>
  (await transferZone({ port, name, key: TEST_KEY })).map((line) => line.replace(/\s+/g, ' '))

describeWithTools(['named', 'dig', 'nsupdate'], 'other clients of a zone at BIND', () => {
  const zone = 'example.com'
  const open = async () => {
    const start = () => startBind({ zones: [{ name: zone, text: `$TTL 300\n${SOA}` }], key: TEST_KEY })
    const [lab, next] = await Promise.all([start(), start()])
    const entry = ({ port }: DnsServer): string =>
      `{type: rfc2136, server: '127.0.0.1:${port}', tsig: {name: ${TEST_KEY.name}, secret: env:LAB_KEY}}`
    const folder = temporaryDirectory()
    const env = { LAB_KEY: TEST_KEY.secret }
    const scene = folderScene(folder, expect, (args, more): Promise<CliResult> => cli(args, { cwd: folder, env: { ...env, ...more } }))
    scene.write({
      'zonewright.yaml': `providers:\n  lab: ${entry(lab)}\n  next: ${entry(next)}\nzones: [{files: zones/*.yaml, targets: [lab]}]\n`,
    })
    return { lab, next, scene }
  }

  test('their records are never changed, and are copied with the zone', async () => {
    const { lab, next, scene } = await open()
    const others = [
      ...appOf('app', zone),
      `*.dev.${zone}. 300 IN CNAME app.${zone}.`,
      `x-cname-any.dev.${zone}. 300 IN TXT ${HERITAGE}`,
      `_0f.${zone}. 300 IN CNAME _1e.acm-validations.aws.`,
      `pc.${zone}. 300 IN A 192.0.2.8`,
      `pc.${zone}. 300 IN DHCID AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA=`,
    ]
    await add(lab, zone, [...others, `www.${zone}. 300 IN A 192.0.2.1`, `old.${zone}. 300 IN A 192.0.2.1`])
    expectEnd(
      await scene.run('import', 'axfr', `127.0.0.1:${lab.port}`, zone, '-o', 'zones', '--tsig', `${TEST_KEY.name}:env:LAB_KEY`),
      0,
      { err: 'leaves 8 record sets to other clients' },
    )
    const path = `zones/${zone}.yaml`
    const text = scene.files()[path] as string
    expect(text).toContain('unmanaged: [{owner: external-dns}, {preset: acme}, {preset: acm-validation}, {preset: dhcp}]\n')

    await add(lab, zone, appOf('tomorrow', zone))
    scene.write({ [path]: text.replaceAll('192.0.2.1', '192.0.2.2').replace(/^ {2}old: .*\n/m, '') })
    expect(await scene.run('apply', '--yes', '--allow', 'deletes', '--allow', 'updates')).toMatchObject({ status: 0 })
    const left = [...others, ...appOf('tomorrow', zone)]
    const now = await held(lab, zone)
    expect(now).toEqual(expect.arrayContaining(left))
    expect(now.filter((line) => / A /.test(line) && !left.includes(line))).toEqual([`www.${zone}. 300 IN A 192.0.2.2`])
    expect(await scene.run('plan', '--detailed-exitcode')).toMatchObject({ status: 0 })
    expectEnd(await scene.run('verify', '--nameserver', `127.0.0.1:${lab.port}`), 0, { out: '"unmanaged" leaves 11 record sets to other' })

    expect(await scene.run('copy', '--from', 'lab', '--to', 'next', zone, '--yes')).toMatchObject({ status: 0 })
    expect(await held(next, zone)).toEqual(expect.arrayContaining(left))
  })

  test('their records are moved by a cutover, also those that they add meanwhile', async () => {
    const { former, own, cutover } = await openMove()
    await add(former, 'example.test', appOf('app', 'example.test'))
    expect((await cutover(0, ...NEW)).status).toBe(2)
    await add(former, 'example.test', appOf('meanwhile', 'example.test'))
    await cutover(90_000)
    expect(await held(own, 'example.test')).toEqual(
      expect.arrayContaining([...appOf('app', 'example.test'), ...appOf('meanwhile', 'example.test')]),
    )
  })
})
