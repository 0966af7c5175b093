/** A state of hashicorp/dns, BIND and OpenTofu: the plan of the import is empty, and after its commands the state is. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { groupBy } from '../../../src/base/group-by.ts'
import { cli, expectEnd } from '../../support/cli.ts'
import { startServer, TEST_KEY } from '../../support/dns-servers.ts'
import { findForeignClient } from '../../support/foreign-clients.ts'
import { bind } from '../../support/server-recipes/bind.ts'
import { describeWithTools, LONG_SERVERS } from '../../support/skip.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { type Resource, showJson } from './states.ts'

const LONG = 'x'.repeat(300)
const ZONE = `$TTL 3600
@ SOA ns1.example.net. hostmaster.example.com. 1 14400 14400 1209600 300
@ NS ns1.example.net.
@ 300 MX 10 mail
mail 300 A 192.0.2.25
@ 300 TXT "say \\"hi\\"; \\195\\164"
@ 300 TXT "${LONG.slice(0, 255)}" "${LONG.slice(255)}"
www 300 A 192.0.2.1
www 300 A 192.0.2.2
www 300 AAAA 2001:db8::1
web 300 CNAME www
_sip._tcp 300 SRV 10 5 5060 mail
sub 300 NS ns1.example.net.
by-hand 300 A 192.0.2.99
`
const REVERSE = ZONE.split('\n').slice(0, 3).join('\n').concat('\n1 300 PTR www.example.com.\n')

const zone = 'example.com.'
const RESOURCES: readonly Resource[] = [
  ['dns_a_record_set.hosts["a b"]', { zone, name: 'www', ttl: 300, addresses: ['192.0.2.2', '192.0.2.1'] }],
  [`dns_a_record_set.hosts["it's \\"$\${x}\\" \`y\`"]`, { zone, name: 'mail', ttl: 300, addresses: ['192.0.2.25'] }],
  ['dns_aaaa_record_set.www', { zone, name: 'www', ttl: 300, addresses: ['2001:db8:0:0::1'] }],
  ['dns_cname_record.web', { zone, name: 'web', ttl: 300, cname: 'www.example.com.' }],
  ['dns_mx_record_set.mx', { zone, name: null, ttl: 300, mx: [{ preference: 10, exchange: 'mail.example.com.' }] }],
  ['dns_ns_record_set.sub', { zone, name: 'sub', ttl: 300, nameservers: ['ns1.example.net.'] }],
  [
    'dns_srv_record_set.sip',
    { zone, name: '_sip._tcp', ttl: 300, srv: [{ priority: 10, weight: 5, port: 5060, target: 'mail.example.com.' }] },
  ],
  ['dns_txt_record_set.txt', { zone, name: null, ttl: 300, txt: ['say \\"hi\\"; \\195\\164', LONG] }],
  ['module.m["p.q"].dns_ptr_record.ptr[0]', { zone: '2.0.192.in-addr.arpa.', name: '1', ttl: 300, ptr: 'www.example.com.' }],
]

/** The state that OpenTofu keeps of the same resources. */
function rawState(): string {
  const resources = RESOURCES.map(([address, attributes]) => {
    const [, module, type, name, key] = /^(?:(module\..*)\.)?([a-z_]+)\.(\w+)(?:\[(.*)\])?$/.exec(address) ?? []
    const index = key === undefined ? {} : { index_key: JSON.parse(key.replace('$${', '${')) }
    return {
      module,
      mode: 'managed',
      type,
      name,
      provider: 'provider["registry.opentofu.org/hashicorp/dns"]',
      instances: [{ schema_version: 0, attributes, ...index }],
    }
  })
  // The instances of a resource are together.
  const merged = [...groupBy(resources, ({ module, type, name }) => `${module}.${type}.${name}`).values()]
  const together = merged.map((all) => ({ ...all[0], instances: all.flatMap((one) => one.instances) }))
  return JSON.stringify({
    version: 4,
    terraform_version: '1.10.0',
    serial: 1,
    lineage: '6f2a1d3e-0000-4000-8000-000000000000',
    outputs: {},
    resources: together,
  })
}

const tofu = findForeignClient('opentofu')

describeWithTools(
  ['named', tofu],
  'a state of OpenTofu',
  () => {
    test('is imported with an empty plan, and the commands empty it', async () => {
      const zones = [
        { name: 'example.com', text: ZONE },
        { name: '2.0.192.in-addr.arpa', text: REVERSE },
      ]
      const { port } = await startServer(bind, { zones, key: TEST_KEY })
      const folder = temporaryDirectory()
      writeFileSync(join(folder, 'show.json'), showJson(RESOURCES, 'opentofu.org'))
      writeFileSync(join(folder, 'terraform.tfstate'), rawState())
      const env = {
        DNS_UPDATE_SERVER: '127.0.0.1',
        DNS_UPDATE_PORT: String(port),
        DNS_UPDATE_KEYNAME: TEST_KEY.name,
        DNS_UPDATE_KEYALGORITHM: TEST_KEY.algorithm,
        DNS_UPDATE_KEYSECRET: TEST_KEY.secret,
      }
      const { stderr } = expectEnd(await cli(['import', 'terraform', 'show.json', '-o', 'zones', '--no-color'], { cwd: folder, env }), 0)
      expectEnd(await cli(['plan', '--no-color', '--detailed-exitcode'], { cwd: folder, env }), 0, { out: 'No changes. 2 zones match.' })
      const run = (command: string): string => {
        const path = `${dirname(tofu)}:${process.env['PATH']}`
        return execFileSync('sh', ['-euc', command], {
          cwd: folder,
          env: { PATH: path, HOME: folder, CHECKPOINT_DISABLE: '1' },
          encoding: 'utf8',
        })
      }
      expect(run('tofu state list').trim().split('\n').sort()).toEqual(RESOURCES.map(([address]) => address).sort())
      for (const command of stderr.match(/^tofu state rm .*$/gm) ?? []) run(command)
      expect(run('tofu state list')).toBe('')
      writeFileSync(join(folder, 'main.tf'), '')
      expect(run('tofu plan -no-color -detailed-exitcode')).toContain('No changes.')
    })
  },
  LONG_SERVERS,
)
