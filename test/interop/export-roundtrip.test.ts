/**
 * Takes zones of the service through every format that can be exported and imported. After both, a plan has no changes except for records
 * that the export has reported as dropped.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { fitToTarget } from '../../src/plan/fit-to-target.ts'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'
import { recordToApi } from '../../src/providers/cloud/record-codec.ts'
import { TOKEN } from '../cli/scene.ts'
import { openServiceScene, type ServiceScene } from '../cli/service-scene.ts'
import { runDnsconfig } from '../convert/dnscontrol/run-dnsconfig.ts'
import { expectEnd } from '../support/cli.ts'
import { fc } from '../support/fast-check.ts'
import { ORIGIN } from '../support/plan.ts'
import { rounds } from '../support/random.ts'
import { randomRecords } from '../support/random-records.ts'
import { desiredZone } from '../support/records.ts'

/** Among them a name of one label, an internationalised name and a reverse zone. */
const ZONES = ['example.com', 'single', 'xn--bcher-kva', 'bücher.example', '2.0.192.in-addr.arpa']

const FIELDS = { type: 'master', soa_email: 'First.Last@Example.com', ttl_sec: 300, refresh_sec: 3600, retry_sec: 300, expire_sec: 604800 }

async function send(scene: ServiceScene, path: string, body: object): Promise<{ id: number } | null> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  const response = await fetch(`${scene.service.baseUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  // The service refuses records that conflict.
  return response.ok ? ((await response.json()) as { id: number }) : null
}

/** A zone with any records that the service supports, each with a TTL. */
async function fill(scene: ServiceScene, domain: string, seed: number): Promise<void> {
  const created = await send(scene, '/domains', { domain, ...FIELDS })
  const given = new Set<string>()
  for (const records of fc.sample(randomRecords, { numRuns: rounds(6), seed })) {
    const fitted = fitToTarget({ ...desiredZone(ORIGIN, ''), records, unsupported: 'skip' }, 'cloud', CLOUD_CAPABILITIES)
    for (const record of fitted.records) {
      const body: { type: string; name?: unknown } = { type: record.type, ...recordToApi(record, ORIGIN) }
      // In a zone of one label, the service takes that label for the apex.
      const key = JSON.stringify({ ...body, name: body.name === domain ? '' : body.name, ttl_sec: 0 })
      // Such a text may be an encrypted registry record of external-dns, whose records the first import leaves to it.
      const isLikeRegistry = record.type === 'TXT' && /^[\w+/=" -]*$/.test(record.data)
      if (given.has(key) || isLikeRegistry) continue
      given.add(key)
      await send(scene, `/domains/${created?.id}/records`, { ...body, ttl_sec: 3600 })
    }
  }
}

interface Change {
  readonly name: string | null
  readonly type: string | null
  readonly existing: { readonly soa_email?: string } | null
  readonly desired: { readonly soa_email?: string } | null
  readonly fields: readonly string[]
}

/** Whether only the case of the zone's mailbox changes: DNSControl writes it in small letters. */
const isMailboxCase = ({ existing, desired, fields }: Change): boolean =>
  fields.join() === 'soa_email' && existing?.soa_email?.toLowerCase() === desired?.soa_email

async function changesOf(scene: ServiceScene): Promise<string[]> {
  const { stdout, stderr } = await scene.run('plan', '--format', 'json', '--allow', 'deletes')
  expect(stderr.match(/^.*error\[.*$/gm)).toBeNull()
  const { zones } = JSON.parse(stdout) as { zones: { zone: string; changes: Change[] }[] }
  expect(zones).toHaveLength(ZONES.length)
  return zones.flatMap(({ changes }) => changes.filter((one) => !isMailboxCase(one)).map(({ name, type }) => `${name} ${type}`))
}

/** The record sets that an export reports as dropped, by owner and type. */
const namesLost = (stderr: string): Set<string> =>
  new Set([...stderr.matchAll(/\[export-lossy\] (\S+ [A-Z]+): /g)].map(([, what]) => String(what)))

/** The arguments of the import. In a directory, octoDNS does not list the file of a zone of one label. */
const FORMATS: Readonly<Record<string, (scene: ServiceScene) => readonly (readonly string[])[]>> = {
  zonefile: () => [['zonefile', 'out-zonefile']],
  octodns: () => [
    ['octodns', 'out-octodns/single.yaml'],
    ['octodns', 'out-octodns/xn--bcher-kva.yaml'],
    ...['example.com', 'xn--bcher-kva.example', '2.0.192.in-addr.arpa'].map((zone) => ['octodns', 'out-octodns', zone]),
  ],
  dnscontrol: (scene) => {
    const script = readFileSync(join(scene.folder, 'out-dnscontrol/dnsconfig.js'), 'utf8')
    scene.write({ 'ir.json': JSON.stringify(runDnsconfig(script, 4)) })
    return [['dnscontrol', 'ir.json']]
  },
}

it('zones of the service survive export and import in every format', async () => {
  const scene = await openServiceScene({ files: { 'zones/.keep': '' } })
  for (const [i, domain] of ZONES.entries()) await fill(scene, domain, i + 1)
  expectEnd(await scene.run('import', '--from', 'cloud', '-o', 'zones'), 0, { err: /5 zones with [1-9][0-9]+ records/ })
  expect(await changesOf(scene)).toEqual([])
  const exports = new Map<string, Set<string>>()
  for (const format of Object.keys(FORMATS)) {
    const exported = await scene.run('export', format, '-o', `out-${format}`, '--lossy', '--ns', 'ns1.example.net')
    expect([format, exported.status, exported.stderr.match(/^.*error\[.*$/gm)]).toEqual([format, 0, null])
    exports.set(format, namesLost(exported.stderr))
  }
  for (const [format, sourceOf] of Object.entries(FORMATS)) {
    for (const source of sourceOf(scene)) {
      const back = await scene.run('import', ...source, '-o', `back-${format}`, '--lossy')
      expect([source, back.status, back.stderr.match(/^.*error\[.*$/gm)]).toEqual([source, 0, null])
    }
    const config = scene.files()['zonewright.yaml'] as string
    scene.write({ 'zonewright.yaml': `${config}\nzones: [{files: back-${format}/*.yaml}]\n` })
    const changes = await changesOf(scene)
    expect([format, changes.filter((change) => !exports.get(format)?.has(change))]).toEqual([format, []])
    scene.write({ 'zonewright.yaml': config })
  }
})
