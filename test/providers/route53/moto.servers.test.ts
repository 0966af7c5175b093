/**
 * The provider at moto, which others test with. moto refuses a record set whose exact values a zone had before, and does not change what a batch refuses in
 * part, so no zone here gets previous values again; the conformance suite runs at the scripted Route 53.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cli } from '../../support/cli.ts'
import { MOTO, type Moto, startMoto } from '../../support/moto.ts'
import { describeWithTools } from '../../support/skip.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'

const APPLY = ['apply', '--yes', '--allow', 'updates', '--allow', 'deletes', '--no-color']
const PLAN = ['plan', '--detailed-exitcode', '--no-color']

const TYPES = `
  '': [{type: MX, value: {preference: 10, exchange: mail.example.com.}}, {type: CAA, value: {flags: 0, tag: issue, value: ca.example.net}}]
  www: [{type: A, values: [192.0.2.2, 192.0.2.1]}, {type: AAAA, value: '2001:db8::1'}]
  '*.wild': {type: A, value: 192.0.2.3}
  alias: {type: CNAME, value: www.example.net.}
  own: {type: ALIAS, value: www}
  cdn: {type: ALIAS, value: d1.cloudfront.net.}
  sub: [{type: NS, values: [ns1.example.net., ns2.example.net.]}, {type: DS, value: {key_tag: 1, algorithm: 13, digest_type: 2, digest: ${'ab'.repeat(32)}}}]
  _sip._tcp: {type: SRV, value: {priority: 1, weight: 2, port: 5060, target: sip.example.com.}}
  text: {type: TXT, value: 'a "quoted" text; with ä'}
  ptr: {type: PTR, value: host.example.com.}
  naptr: {type: NAPTR, value: {order: 1, preference: 2, flags: S, service: SIP+D2U, regexp: '', replacement: _sip._tcp.example.com.}}
`

describeWithTools([MOTO], 'route53 at moto', () => {
  let moto: Moto
  beforeAll(async () => {
    moto = await startMoto()
  })
  afterAll(() => moto?.stop())

  function workspace(settings = '') {
    const folder = temporaryDirectory()
    mkdirSync(join(folder, 'zones'))
    writeFileSync(join(folder, 'zonewright.yaml'), `providers:\n  aws: {type: route53, endpoint: '${moto.origin}'${settings}}\n`)
    const env = { AWS_ACCESS_KEY_ID: 'testing', AWS_SECRET_ACCESS_KEY: 'testing' }
    return {
      define: (zone: string, records: string, more = '') =>
        writeFileSync(join(folder, `zones/${zone}.yaml`), `domain: ${zone}\ndefault_ttl: 1h\n${more}records: ${records}`),
      async run(args: readonly string[]): Promise<string> {
        const { status, stdout, stderr } = await cli(args, { cwd: folder, env })
        expect(status, stdout + stderr).toBe(0)
        return stdout + stderr
      },
    }
  }

  test('every type is created with its zone, changed and deleted with it', async () => {
    const { define, run } = workspace()
    define('example.com', TYPES)
    await run(APPLY)
    expect(await run(PLAN)).toContain('No changes')
    define('example.com', TYPES.replace('192.0.2.1]', '192.0.2.9]').replace('preference: 10', 'preference: 20').replace('d1.', 'd2.'))
    await run(APPLY)
    expect(await run(PLAN)).toContain('No changes')
    define('example.com', ' {}\n', 'absent: true\n')
    await run(['apply', '--yes', '--allow', 'delete-zone'])
    expect(await run(PLAN)).toContain('No changes')
  })

  test('700 record sets come in three pages', async () => {
    const { define, run } = workspace()
    define('pages.example', `\n${Array.from({ length: 700 }, (_, host) => `  h${host}: {type: A, value: 192.0.2.1}\n`).join('')}`)
    await run(APPLY)
    expect(await run(PLAN)).toContain('No changes')
  })

  test('a private zone beside a public one of the same name', async () => {
    const records = (value: string): string => `\n  www: {type: A, value: ${value}}\n`
    const open = workspace()
    open.define('twin.example', records('192.0.2.1'))
    await open.run(APPLY)
    const internal = workspace(', zone_type: private, vpc: {id: vpc-0abc123, region: us-east-1}')
    internal.define('twin.example', records('10.0.0.1'))
    await internal.run(APPLY)
    expect(await internal.run(PLAN)).toContain('No changes')
    expect(await open.run(PLAN)).toContain('No changes')
  })
})
