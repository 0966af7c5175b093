/**
 * Compiles the same changes to the units of other targets and applies them there: RRset replacements by PowerDNS over its HTTP API, messages by BIND and
 * Knot DNS through nsupdate, whole files by BIND's checker. The result is what each server transfers afterwards.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ResourceRecord } from '../../src/dns/record.ts'
import { printZoneFile } from '../../src/dns/zone-file/print-zone-file.ts'
import { type Changeset, changesetsOf } from '../../src/plan/changesets.ts'
import { finalRecords } from '../../src/plan/plan.ts'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'
import { updateContent } from '../../src/providers/rfc2136/update-content.ts'
import { transferZone } from '../../src/transport/dns-transfer.ts'
import { type DnsServer, type PowerDnsServer, startBind, startKnot, startPowerDns, TEST_KEY } from '../support/dns-servers.ts'
import { CALL_RULES, planOf } from '../support/plan.ts'
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

type Unit = keyof typeof CALL_RULES

interface Compiled {
  readonly before: readonly ResourceRecord[]
  /** The calls of the plan at such a target. */
  calls(unit: Unit): readonly Changeset[]
}

function compiled({ existing, desired }: { existing: string; desired: string }): Compiled {
  const before = existingZone(ORIGIN, existing).records
  return {
    before,
    calls(unit) {
      const capabilities = { ...CLOUD_CAPABILITIES, servesApexNs: false, ttlSteps: null, ttlDefault: false, calls: CALL_RULES[unit] }
      const { changes } = planOf(existing, desired, {
        allow: new Set(['empty-zone', 'apex-ns']),
        desired: desiredZone(ORIGIN, desired, { apexNs: 'manage' }),
        capabilities,
      })
      expect(linesOf(finalRecords(before, changes))).toEqual(linesOf(records(ORIGIN, desired)))
      return changesetsOf(changes, before, capabilities.calls)
    },
  }
}

/** The RRsets of a plan that is one call. */
function onlyCall(calls: readonly Changeset[]): Changeset['rrsets'] {
  expect(calls).toHaveLength(1)
  return calls[0]?.rrsets ?? []
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
  const { calls } = compiled(one)
  expect((['rrset', 'message', 'zone'] as const).map((unit) => calls(unit).length)).toEqual([one.replacements, 1, 1])
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
  { name: 'one of several is removed', existing: '@ 300 NS a.example.net.\n@ 300 NS b.example.net.', desired: '@ 300 NS b.example.net.' },
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
      const script = scriptOf(onlyCall(compiled(one).calls('message')))
      const sent = await nsupdate(server.port, script, TEST_KEY)
      expect([sent.status, sent.stderr]).toEqual([0, ''])
      const all = await transferZone({ host: '127.0.0.1', port: server.port }, ORIGIN)
      expect(linesOf(all.filter(({ type }) => type !== 'SOA'))).toEqual(linesOf(records(ORIGIN, one.desired)))
    } finally {
      await server.stop()
    }
  })

  it.each(CASES)('$name', async (one) => {
    const server = await start({ zones: [{ name: 'example.com', text: zoneText(one.existing) }], key: TEST_KEY })
    try {
      const script = scriptOf(onlyCall(compiled(one).calls('message')))
      const sent = await nsupdate(server.port, script, TEST_KEY)
      expect([sent.status, sent.stderr]).toEqual([0, ''])
      expect(await transferred(server)).toEqual(linesOf(records(ORIGIN, one.desired)))
      // Changes of another client are not overwritten: sent again, the message fails its prerequisites. Prerequisites ignore the TTL.
      if (one.name === 'a TTL') return
      const again = await nsupdate(server.port, script, TEST_KEY)
      expect(again.stderr).toMatch(/NXRRSET|YXRRSET/)
    } finally {
      await server.stop()
    }
  })
}

function scriptOf(rrsets: Changeset['rrsets']): string {
  const message = updateContent(rrsets, ORIGIN)
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
    await call('POST', '', { name: ORIGIN, kind: 'Master', nameservers: ['ns1.example.net.'] })
    try {
      const replace = async ({ rrsets }: Pick<Changeset, 'rrsets'>): Promise<void> =>
        call('PATCH', `/${ORIGIN}`, {
          rrsets: rrsets.map(({ name: owner, type, desired }) => ({
            name: owner,
            type,
            ...(desired === null
              ? { changetype: 'DELETE' }
              : { changetype: 'REPLACE', ttl: desired.ttl, records: desired.data.map((content) => ({ content, disabled: false })) }),
          })),
        })
      for (const start of compiled({ existing: '', desired: one.existing }).calls('zone')) await replace(start)
      expect(await transferred(server)).toEqual(linesOf(records(ORIGIN, one.existing)))
      for (const single of compiled(one).calls('rrset')) await replace(single)
      expect(await transferred(server)).toEqual(linesOf(records(ORIGIN, one.desired)))
    } finally {
      await call('DELETE', `/${ORIGIN}`)
    }
  })
})

describeWithTools(['named-checkzone'], 'the whole file, as BIND reads it', () => {
  it.each(CASES)('$name', async (one) => {
    const file = onlyCall(compiled(one).calls('zone')).flatMap(({ name: owner, type, desired }) =>
      (desired?.data ?? []).map((data) => ({ name: owner, type, ttl: desired?.ttl ?? null, data })),
    )
    const text = printZoneFile([...records(ORIGIN, APEX), ...file], { origin: ORIGIN, style: 'canonical' })
    const checked = await checkZone('example.com', text)
    expect(checked.status, checked.stderr).toBe(0)
  })
})
