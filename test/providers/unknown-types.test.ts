/** Records of every type at every scripted service: plans delete only what a definition can describe, and show the rest. */
import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { DomainName } from '../../src/dns/domain-name.ts'
import { typesOf } from '../../src/providers/azure/record-format.ts'
import { refuseChangedZone } from '../../src/providers/changed-rrsets.ts'
import { type Fields, jsonResponse } from '../scripted/base.ts'
import { isRead, type ScriptedService, startScriptedServer } from '../scripted/scripted-server.ts'
import { CLOUD, type CloudService, type CloudType, TOKEN } from '../scripted/services.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { RECORD_VALUES } from '../support/record-values.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

/** A type that a service could have tomorrow, and all others but those of signers and the SOA, which belong to the services. */
const TYPES: readonly (readonly [type: string, data: string])[] = [
  ['NEWTYPE', 'words of tomorrow'],
  ...Object.entries(RECORD_VALUES).map(([type, [data = '']]) => [type, data] as const),
]

interface Injection {
  /** The path of the list of records. */
  readonly path: RegExp
  /** The list in the body of its response. */
  readonly key: string | null
  /** Another record, if the list can be empty. */
  readonly empty?: Fields
  /** The fields of a record that differ from those of another one in the list. */
  readonly fields: (owner: string, type: string, data: string) => Fields
}

const full = (owner: string): string => `${owner}.example.com`

const INJECTIONS: Readonly<Record<Exclude<CloudType, 'ovh' | 'route53'>, Injection>> = {
  azure: {
    path: /\/recordsets$/,
    key: 'value',
    // Without records, which have a form of their own for each type.
    fields: (name, type) => ({ name, type: `Microsoft.Network/dnszones/${type}`, properties: { fqdn: `${full(name)}.`, TTL: 300 } }),
  },
  cloudflare: {
    path: /\/dns_records$/,
    key: 'result',
    empty: { ttl: 300, proxied: false, comment: null, tags: [], settings: {} },
    fields: (owner, type, content) => ({ id: owner.padEnd(32, '0'), name: full(owner), type, content }),
  },
  desec: {
    path: /\/rrsets\/$/,
    key: null,
    fields: (owner, type, data) => ({ name: `${full(owner)}.`, subname: owner, type, ttl: 3600, records: [data] }),
  },
  digitalocean: {
    path: /\/records$/,
    key: 'domain_records',
    fields: (name, type, data) => ({ id: 1_000_000 + ids.indexOf(name), name, type, data }),
  },
  gandi: {
    path: /\/records$/,
    key: null,
    fields: (rrset_name, rrset_type, data) => ({ rrset_name, rrset_type, rrset_ttl: 300, rrset_values: [data] }),
  },
  google: {
    path: /\/rrsets$/,
    key: 'rrsets',
    fields: (owner, type, data) => ({ name: `${full(owner)}.`, type, ttl: 300, rrdatas: [data] }),
  },
  hetzner: {
    path: /\/rrsets$/,
    key: 'rrsets',
    fields: (name, type, data) => ({ id: `${name}/${type}`, name, type, ttl: 300, records: [{ value: data, comment: '' }] }),
  },
  porkbun: {
    path: /\/retrieve\//,
    key: 'records',
    fields: (owner, type, content) => ({ id: String(ids.indexOf(owner) + 1), name: full(owner), type, content, ttl: '600', prio: '0' }),
  },
  vultr: {
    path: /\/records$/,
    key: 'records',
    fields: (name, type, data) => ({ id: randomUUID(), name, type, data, ttl: 300, priority: 0 }),
  },
  scaleway: { path: /\/records$/, key: 'records', fields: (name, type, data) => ({ id: name, name, type, data, ttl: 300 }) },
}

const ownerOf = (type: string): string => `x-${type.toLowerCase()}`
const ids = TYPES.map(([type]) => ownerOf(type))

/** The service, with a record of every type in the list of records. */
function withAllTypes(service: ScriptedService, { path, key, empty, fields }: Injection): ScriptedService {
  return (request) => {
    const response = service(request)
    if (!isRead(request) || !path.test(request.path)) return response
    const body = JSON.parse(response.body)
    const list: Fields[] = key === null ? body : body[key]
    list.push(...TYPES.map(([type, data]) => ({ ...(list[0] ?? empty), ...fields(ownerOf(type), type, data) })))
    for (const counts of [body, body.result_info, body.meta, body.meta?.pagination])
      for (const count of ['total_count', 'total', 'total_entries', 'count'])
        if (typeof counts?.[count] === 'number') counts[count] = list.length
    const { 'total-count': count, ...headers } = response.headers
    return {
      ...response,
      headers: count === undefined ? headers : { ...headers, 'total-count': String(list.length) },
      body: JSON.stringify(body),
    }
  }
}

/** Route 53 answers in XML. */
const inXml =
  (service: ScriptedService): ScriptedService =>
  (request) => {
    const response = service(request)
    if (request.method !== 'GET' || !/\/rrset$/.test(request.path)) return response
    const text = (value: string): string => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    const sets = TYPES.map(
      ([type, data]) =>
        `<ResourceRecordSet><Name>${full(ownerOf(type))}.</Name><Type>${type}</Type><TTL>300</TTL><ResourceRecords><ResourceRecord><Value>${text(data)}</Value></ResourceRecord></ResourceRecords></ResourceRecordSet>`,
    )
    return { ...response, body: response.body.replace('</ResourceRecordSets>', `${sets.join('')}</ResourceRecordSets>`) }
  }

/** OVHcloud lists identifiers, and each record is a read of its own. */
const byIdentifier =
  (service: ScriptedService): ScriptedService =>
  (request) => {
    const response = service(request)
    const [, id] = /\/record(?:\/(\d+))?$/.exec(request.path) ?? []
    if (request.method !== 'GET' || !/\/record(?:\/\d{1,4})?$/.test(request.path)) return response
    const [fieldType, target] = TYPES[Number(id)] ?? ['', '']
    const body = id === undefined ? [...JSON.parse(response.body), ...TYPES.keys()] : { id: Number(id), fieldType, target, ttl: 300 }
    return jsonResponse(200, id === undefined ? body : { ...body, subDomain: ownerOf(fieldType) })
  }

/** Services that only answer reads, of a zone with the records alone. */
const READS: Readonly<Record<string, { readonly settings: (origin: string) => string; readonly service: ScriptedService }>> = {
  cloud: {
    settings: (origin) => `base_url: '${origin}/v4', token: env:TOKEN`,
    service({ path }) {
      const data = path.endsWith('/records')
        ? TYPES.map(([type, target], id) => ({ id, type, name: ownerOf(type), target }))
        : [{ id: 1, type: 'master', domain: 'example.com', soa_email: 'hostmaster@example.com' }]
      return jsonResponse(200, path.endsWith('/zone-file') ? { zone_file: [] } : { data, page: 1, pages: 1, results: data.length })
    },
  },
  powerdns: {
    settings: (origin) => `base_url: '${origin}', api_key: env:TOKEN`,
    service({ path }) {
      const rrsets = TYPES.map(([type, content]) => ({ name: `${full(ownerOf(type))}.`, type, ttl: 300, records: [{ content }] }))
      const zone = { id: 'example.com.', name: 'example.com.', kind: 'Native', masters: [], rrsets }
      return jsonResponse(200, path.endsWith('/zones') ? [zone] : zone)
    },
  },
}

test('a zone that has got such a record since it was planned is not deleted', () => {
  const unplanned = [{ name: 'odd.example.com.' as DomainName, type: 'CERT', data: '', reason: 'is odd' }]
  expect(() => refuseChangedZone('live', [], { records: [], unplanned })).toThrow(
    '1 record that Zonewright leaves alone: odd.example.com. CERT is odd',
  )
})

const SERVICES = [...Object.keys(CLOUD), ...Object.keys(READS)]

test.each(SERVICES)('%s: what a plan deletes a definition can describe, and the rest is shown', async (type) => {
  const reads = READS[type]
  const cloud = CLOUD[type as CloudType] as unknown as CloudService
  const service =
    reads?.service ??
    (type === 'ovh'
      ? byIdentifier(cloud.create().service)
      : type === 'route53'
        ? inXml(cloud.create().service)
        : withAllTypes(cloud.create().service, INJECTIONS[type as keyof typeof INJECTIONS]))
  const { origin } = await startScriptedServer(service)
  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'zones'))
  writeFileSync(join(folder, 'zonewright.yaml'), `providers:\n  live: {type: ${type}, ${(reads ?? cloud).settings(origin)}}\n`)
  writeFileSync(join(folder, 'zones/example.com.yaml'), `domain: example.com\nrecords: {}\n`)
  const env = { TOKEN, ...(reads === undefined && { [cloud.variable]: TOKEN, ...cloud.env }) }
  const run = async (...args: string[]) => {
    const result = await cli(args, { cwd: folder, env })
    expect(result.status, `${args.join(' ')}\n${result.stdout}${result.stderr}`).toBe(0)
    return result.stdout
  }
  const { zones } = JSON.parse(await run('plan', '--format', 'json', '--allow', 'deletes', '--allow', 'empty-zone'))
  const [{ changes, diagnostics }] = zones as [
    { changes: { name: string; type: string }[]; diagnostics: { code: string; message: string }[] },
  ]
  const keyOf = (text: string): string => text.split(' ').slice(0, 2).join(' ')
  const deleted = changes.map(({ name, type: ofType }) => `${name} ${ofType}`)
  const shown = diagnostics.filter(({ code }) => code === 'record-unplanned').map(({ message }) => keyOf(message))
  const isHeld = (one: string): boolean => [...deleted, ...shown].includes(one)
  // At Azure, a set of a type that it has is empty. At OVHcloud, SPF is TXT.
  const others = TYPES.filter(([ofType]) => (type !== 'azure' || !typesOf('public').has(ofType)) && (type !== 'ovh' || ofType !== 'SPF'))
  expect(others.map(([ofType]) => `${full(ownerOf(ofType))}. ${ofType}`).filter((one) => !isHeld(one))).toEqual([])
  expect(shown).toContain(`${full(ownerOf('NEWTYPE'))}. NEWTYPE`)
  expect(deleted.filter((one) => shown.includes(one))).toEqual([])
  // The zone stays for their sake.
  writeFileSync(join(folder, 'zones/example.com.yaml'), 'domain: example.com\nabsent: true\n')
  const said = /error\[record-unplanned\] .*: deleting the zone would delete .*(?:NEWTYPE|more)/
  expectEnd(await cli(['plan', '--allow', 'delete-zone'], { cwd: folder, env }), 1, { err: said })

  rmSync(join(folder, 'zones/example.com.yaml'))
  await run('import', '--from', 'live', '-o', 'zones', '--lossy')
  const [defined] = JSON.parse(await run('export', 'json')).zones
  const describable = defined.records.map(({ name, type: ofType }: { name: string; type: string }) => `${name} ${ofType}`)
  // An import leaves the records of a DHCP server to it.
  expect(deleted.filter((one) => !describable.includes(one) && !one.endsWith(' DHCID'))).toEqual([])
  expect(await run('plan')).toContain('No changes')
})
