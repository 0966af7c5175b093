/**
 * Compiles the same changes to the units of other targets and applies them there: RRset replacements by PowerDNS over its HTTP API, messages by BIND and
 * Knot DNS through nsupdate, whole files by BIND's checker. The result is what each server transfers afterwards.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ResourceRecord } from '../../src/dns/record.ts'
import { printZoneFile } from '../../src/dns/zone-file/print-zone-file.ts'
import { type CompiledChanges, compileChanges, compiledCalls } from '../../src/plan/compile-changes.ts'
import { finalRecords } from '../../src/plan/plan.ts'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'
import { transferZone } from '../../src/transport/dns-transfer.ts'
import { type DnsServer, type PowerDnsServer, startBind, startKnot, startPowerDns, TEST_KEY } from '../support/dns-servers.ts'
import { planOf } from '../support/plan.ts'
import { desiredZone, existingZone, name, records } from '../support/records.ts'
import { describeWithTools } from '../support/skip.ts'
import { checkZone, nsupdate } from '../support/tools.ts'

const ORIGIN = name('example.com.')
const APEX = '@ 3600 SOA ns1.example.net. hostmaster.example.com. 1 14400 14400 1209600 86400\n@ 3600 NS ns1.example.net.\n'

/** Zone texts with a TTL on every record, because these servers have no default. */
const CASES: { name: string; existing: string; desired: string; replacements: number }[] = [
  {
    name: 'one value among several',
    existing: 'www 300 A 192.0.2.1\nwww 300 A 192.0.2.2',
    desired: 'www 300 A 192.0.2.1\nwww 300 A 192.0.2.3\nwww 300 A 192.0.2.4',
    replacements: 1,
  },
  {
    name: 'a TTL',
    existing: 'www 300 A 192.0.2.1\nwww 300 A 192.0.2.2',
    desired: 'www 3600 A 192.0.2.1\nwww 3600 A 192.0.2.2',
    replacements: 1,
  },
  {
    name: 'CNAME and A swap places',
    existing: 'a 300 CNAME x.example.net.\nb 300 A 192.0.2.1',
    desired: 'b 300 CNAME x.example.net.\na 300 A 192.0.2.1',
    replacements: 4,
  },
  { name: 'a renamed record', existing: 'old 300 TXT "a"', desired: 'new 300 TXT "a"', replacements: 2 },
  {
    name: 'a null MX becomes a real one',
    existing: '@ 300 MX 0 .',
    desired: '@ 300 MX 10 mail.example.net.\n@ 300 MX 20 mx.example.net.',
    replacements: 1,
  },
  {
    name: 'delegation and glue',
    existing: 'sub 300 NS ns.sub\nns.sub 300 A 192.0.2.1',
    desired: 'sub 300 NS ns2.sub\nns2.sub 300 A 192.0.2.2',
    replacements: 3,
  },
  { name: 'everything is removed', existing: 'a 300 A 192.0.2.1\nb 300 TXT "x y"\n_s._tcp 300 SRV 1 2 3 a', desired: '', replacements: 3 },
]

interface Compiled {
  readonly before: readonly ResourceRecord[]
  readonly after: readonly ResourceRecord[]
  of(granularity: CompiledChanges['granularity']): CompiledChanges
}

function compiled({ existing, desired }: { existing: string; desired: string }): Compiled {
  const before = existingZone(ORIGIN, existing).records
  const { changes } = planOf(existing, desired, { allow: new Set(['empty-zone']) })
  const after = finalRecords(before, changes)
  expect(linesOf(after)).toEqual(linesOf(records(ORIGIN, desired)))
  return { before, after, of: (granularity) => compileChanges(granularity, ORIGIN, before, changes) }
}

const linesOf = (set: readonly ResourceRecord[]): string[] =>
  set.map(({ name: owner, ttl, type, data }) => `${owner} ${ttl} ${type} ${data}`).sort()

async function transferred(server: DnsServer): Promise<string[]> {
  const all = await transferZone({ host: '127.0.0.1', port: server.port }, ORIGIN)
  return linesOf(all.filter((record) => record.type !== 'SOA' && !(record.type === 'NS' && record.name === ORIGIN)))
}

const zoneText = (set: string): string =>
  printZoneFile([...records(ORIGIN, APEX), ...records(ORIGIN, set)], { origin: ORIGIN, style: 'canonical' })

it.each(CASES)('fewest calls by unit: $name', (one) => {
  const { changes } = planOf(one.existing, one.desired, { allow: new Set(['empty-zone']) })
  const before = existingZone(ORIGIN, one.existing).records
  const calls = (['record', 'rrset', 'message', 'file'] as const).map((unit) =>
    compiledCalls(compileChanges(unit, ORIGIN, before, changes), changes),
  )
  expect(calls.slice(1)).toEqual([one.replacements, 1, 1])
})

it('compiles no changes to no calls', () => {
  const before = existingZone(ORIGIN, 'a A 192.0.2.1').records
  for (const unit of ['record', 'rrset', 'message', 'file'] as const)
    expect(compiledCalls(compileChanges(unit, ORIGIN, before, []), [])).toBe(0)
})

const DYNAMIC_SERVERS = [
  { name: 'BIND', tool: 'named', start: startBind, replacesTtl: true },
  // A record that is added again with another TTL keeps the TTL of its RRset, contrary to RFC 2136 section 3.4.2.2.
  { name: 'Knot DNS', tool: 'knotd', start: startKnot, replacesTtl: false },
]

describe.each(DYNAMIC_SERVERS)('one message, applied by $name', ({ name: server, tool, start, replacesTtl }) =>
  describeWithTools([tool, 'nsupdate'], server, () => messagesTo(start, replacesTtl)),
)

/** All NS records of the apex before and after. A server never removes the last one. */
const APEX_CASES: { name: string; existing: string; desired: string; changesTtl?: boolean }[] = [
  { name: 'the only one is replaced', existing: '@ 300 NS a.example.net.', desired: '@ 300 NS b.example.net.' },
  {
    name: 'all of several are replaced',
    existing: '@ 300 NS a.example.net.\n@ 300 NS b.example.net.',
    desired: '@ 300 NS c.example.net.\n@ 300 NS d.example.net.',
  },
  {
    name: 'one of several is removed',
    existing: '@ 300 NS a.example.net.\n@ 300 NS b.example.net.',
    desired: '@ 300 NS b.example.net.',
  },
  {
    name: 'one is removed and the TTL changes',
    existing: '@ 300 NS a.example.net.\n@ 300 NS b.example.net.',
    desired: '@ 3600 NS b.example.net.',
    changesTtl: true,
  },
  { name: 'one is added', existing: '@ 300 NS a.example.net.', desired: '@ 300 NS a.example.net.\n@ 300 NS b.example.net.' },
]

function messagesTo(start: typeof startBind, replacesTtl: boolean): void {
  it.each(APEX_CASES.filter(({ changesTtl }) => replacesTtl || !changesTtl))('NS of the apex: $name', async (one) => {
    const soa = '@ 3600 SOA ns1.example.net. hostmaster.example.com. 1 14400 14400 1209600 86400\n'
    const text = printZoneFile(records(ORIGIN, soa + one.existing), { origin: ORIGIN, style: 'canonical' })
    const server = await start({ zones: [{ name: 'example.com', text }], key: TEST_KEY })
    try {
      const before = existingZone(ORIGIN, one.existing).records
      const desired = desiredZone(ORIGIN, one.desired, { apexNs: 'manage' })
      const { changes } = planOf(one.existing, '', { desired, capabilities: { ...CLOUD_CAPABILITIES, servesApexNs: false } })
      const { message } = compileChanges('message', ORIGIN, before, changes) as Extract<CompiledChanges, { granularity: 'message' }>
      const sent = await nsupdate(server.port, scriptOf(message), TEST_KEY)
      expect([sent.status, sent.stderr]).toEqual([0, ''])
      const all = await transferZone({ host: '127.0.0.1', port: server.port }, ORIGIN)
      expect(linesOf(all.filter(({ type }) => type !== 'SOA'))).toEqual(linesOf(desired.records))
    } finally {
      await server.stop()
    }
  })

  it.each(CASES)('$name', async (one) => {
    const server = await start({ zones: [{ name: 'example.com', text: zoneText(one.existing) }], key: TEST_KEY })
    try {
      const { message } = compiled(one).of('message') as Extract<CompiledChanges, { granularity: 'message' }>
      const sent = await nsupdate(server.port, scriptOf(message), TEST_KEY)
      expect([sent.status, sent.stderr]).toEqual([0, ''])
      expect(await transferred(server)).toEqual(linesOf(records(ORIGIN, one.desired)))
      // Changes of another client are not overwritten: sent again, the message fails its prerequisites. Prerequisites ignore the TTL.
      if (one.name === 'a TTL') return
      const again = await nsupdate(server.port, scriptOf(message), TEST_KEY)
      expect(again.stderr).toMatch(/NXRRSET|YXRRSET/)
    } finally {
      await server.stop()
    }
  })
}

function scriptOf(message: Extract<CompiledChanges, { granularity: 'message' }>['message']): string {
  if (message === null) throw new Error('no message')
  return [
    'zone example.com',
    ...message.prerequisites.flatMap(({ name: owner, type, data }) =>
      data.length === 0 ? [`prereq nxrrset ${owner} ${type}`] : data.map((each) => `prereq yxrrset ${owner} ${type} ${each}`),
    ),
    ...message.updates.map((part) => {
      if (part.action === 'delete-rrset') return `update delete ${part.name} ${part.type}`
      const { name: owner, type, ttl, data } = part.record
      return part.action === 'add' ? `update add ${owner} ${ttl} ${type} ${data}` : `update delete ${owner} ${type} ${data}`
    }),
  ].join('\n')
}

describeWithTools(['pdns_server', 'sqlite3'], 'RRset replacements, carried out by PowerDNS', () => {
  let server: PowerDnsServer
  beforeAll(async () => {
    server = await startPowerDns({ unsignedTransfer: true })
  })
  afterAll(() => server.stop())

  it.each(CASES)('$name', async (one) => {
    const zones = `${server.api.url}/servers/localhost/zones`
    const call = async (method: string, path: string, body?: unknown): Promise<void> => {
      const response = await fetch(`${zones}${path}`, {
        method,
        headers: { 'X-API-Key': server.api.key, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      expect([method, response.status, response.ok ? '' : await response.text()]).toEqual([method, response.status, ''])
    }
    const { before, of } = compiled(one)
    await call('POST', '', { name: ORIGIN, kind: 'Master', nameservers: ['ns1.example.net.'] })
    try {
      const replacements = (set: CompiledChanges): unknown => ({
        rrsets: (set as Extract<CompiledChanges, { granularity: 'rrset' }>).replacements.map(({ name: owner, type, ttl, data }) => ({
          name: owner,
          type,
          ...(data.length === 0
            ? { changetype: 'DELETE' }
            : { changetype: 'REPLACE', ttl, records: data.map((content) => ({ content, disabled: false })) }),
        })),
      })
      const start = planOf('', one.existing).changes
      if (before.length > 0) await call('PATCH', `/${ORIGIN}`, replacements(compileChanges('rrset', ORIGIN, [], start)))
      expect(await transferred(server)).toEqual(linesOf(before))
      await call('PATCH', `/${ORIGIN}`, replacements(of('rrset')))
      expect(await transferred(server)).toEqual(linesOf(records(ORIGIN, one.desired)))
    } finally {
      await call('DELETE', `/${ORIGIN}`)
    }
  })
})

describeWithTools(['named-checkzone'], 'the whole file, as BIND reads it', () => {
  it.each(CASES)('$name', async (one) => {
    const { records: file } = compiled(one).of('file') as Extract<CompiledChanges, { granularity: 'file' }>
    if (file === null) throw new Error('no file')
    const text = printZoneFile([...records(ORIGIN, APEX), ...file], { origin: ORIGIN, style: 'canonical' })
    const checked = await checkZone('example.com', text)
    expect(checked.status, checked.stderr).toBe(0)
  })
})
