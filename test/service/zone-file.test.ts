import { describe, expect, test } from 'vitest'
import { type DomainName, parseDomainName } from '../../src/dns/domain-name.ts'
import { serialNumber } from '../../src/dns/serial-number.ts'
import { parseZoneFile } from '../../src/dns/zone-file/parse-zone-file.ts'
import { answerQuestion } from '../../src/service/nameserver/answer.ts'
import { writeResponse } from '../../src/service/nameserver/messages.ts'
import { buildZoneData } from '../../src/service/nameserver/zone-data.ts'
import { renderZone } from '../../src/service/zone/render-zone.ts'
import { describeWithTools } from '../support/skip.ts'
import { checkZone } from '../support/tools.ts'
import { startForTest } from './harness.ts'

let now = Date.parse('2026-03-01T10:00:00Z')
const NS_NAMES = ['ns1.dns.test', 'ns2.dns.test.']
const { service, client } = await startForTest({ clock: () => now, nsNames: NS_NAMES, dns: { host: '127.0.0.1', port: 0 } })
const MASTER = { type: 'master', soa_email: 'host.master@example.com' }
const create = (domain: string, settings: object = {}) => client.ok('POST', '/domains', { ...MASTER, domain, ...settings })
const addRecord = (id: number, record: object) => client.ok('POST', `/domains/${id}/records`, record)

async function zoneFile(id: number): Promise<string[]> {
  await service.flush()
  return (await client.ok('GET', `/domains/${id}/zone-file`)).zone_file
}

const serialOf = (lines: readonly string[]): number => Number(lines[2]?.split(/\s+/)[5])

describe('the rendered zone', () => {
  test('has records of every type', async () => {
    const { id } = await create('example.com', { expire_sec: 604800, refresh_sec: 300, retry_sec: 3600, ttl_sec: 7200 })
    for (const record of [
      { type: 'A', target: '192.0.2.1' },
      { type: 'A', name: 'www', target: '192.0.2.1', ttl_sec: 300 },
      { type: 'A', name: 'www', target: '192.0.2.1', ttl_sec: 3600 },
      { type: 'AAAA', name: 'www', target: '2001:DB8:0::1' },
      { type: 'NS', name: '', target: 'NS2.dns.test' },
      { type: 'NS', name: 'sub', target: 'ns.example.net' },
      { type: 'MX', target: 'Mail.Example.net', priority: 10 },
      { type: 'MX', name: 'quiet', target: '' },
      { type: 'CNAME', name: '*.wild', target: 'www' },
      { type: 'TXT', name: '_dmarc', target: `"q" \\ ; ä ${'x'.repeat(250)}` },
      { type: 'SRV', service: 'sip', protocol: 'tcp.sub', priority: 1, weight: 2, port: 5060, target: 'sip.example.net' },
      { type: 'PTR', name: '1', target: 'host.example.net' },
      { type: 'CAA', tag: 'issue', target: ';' },
    ])
      await addRecord(id, record)
    expect(await zoneFile(id)).toEqual([
      `; example.com [${id}]`,
      '$TTL 7200',
      expect.stringMatching(/^@\tIN\tSOA\tns1\.dns\.test\. host\\\.master\.example\.com\. 20260000[0-9]{2} 300 3600 604800 7200$/),
      '@\t\tNS\tns1.dns.test.',
      '@\t\tNS\tns2.dns.test.',
      '@\t\tA\t192.0.2.1',
      'www\t300\tA\t192.0.2.1',
      'www\t\tAAAA\t2001:db8::1',
      'sub\t\tNS\tns.example.net.',
      '@\t\tMX\t10 mail.example.net.',
      'quiet\t\tMX\t0 .',
      '*.wild\t\tCNAME\twww.example.com.',
      `_dmarc\t\tTXT\t"\\"q\\" \\\\ ; \\195\\164 ${'x'.repeat(244)}" "xxxxxx"`,
      '_sip._tcp.sub\t\tSRV\t1 2 5060 sip.example.net.',
      '1\t\tPTR\thost.example.net.',
      '@\t\tCAA\t0 issue ";"',
    ])
  })

  test("has the API's defaults for 0", async () => {
    const { id } = await create('defaults.example')
    expect((await zoneFile(id)).slice(1, 3)).toEqual([
      '$TTL 86400',
      '@\tIN\tSOA\tns1.dns.test. host\\.master.example.com. 2026000001 14400 14400 1209600 86400',
    ])
  })

  test.each([
    ["o'hara+x@example.com", "o'hara+x.example.com."],
    ['$$@example.com', '\\$\\$.example.com.'],
    ['Root@EXAMPLE.com', 'Root.example.com.'],
    ['a.b.c@bücher.example', 'a\\.b\\.c.xn--bcher-kva.example.'],
  ])('writes %s as %s', async (soa_email, name) => {
    const { id } = await create(`m${name.replaceAll(/[^a-z]/gi, '')}.example`, { soa_email })
    expect((await zoneFile(id))[2]?.split('\t')[3]?.split(' ')[1]).toBe(name)
  })

  test('omits records that no DNS message can carry, with an error message', async () => {
    const { id } = await create('large.example')
    await addRecord(id, { type: 'TXT', name: 'fits', target: 'x'.repeat(65_000) })
    const record = await addRecord(id, { type: 'TXT', name: 'over', target: 'x'.repeat(65_535) })
    const lines = await zoneFile(id)
    expect(lines).toHaveLength(7)
    expect(lines[5]).toMatch(/^fits\t\tTXT\t"x/)
    const words = `over TXT [${record.id}]: 65792 octets of data; a DNS message can carry 65476`
    expect(lines[6]).toBe(`; left out: ${words}`)
    expect((await client.ok('GET', `/domains/${id}`)).errors).toBe(words)
    await client.ok('DELETE', `/domains/${id}/records/${record.id}`)
    await service.flush()
    expect((await client.ok('GET', `/domains/${id}`)).errors).toBe('')
  })

  test('omits records that would make an RRset larger than a DNS message', async () => {
    const { id } = await create('many.example')
    await addRecord(id, { type: 'TXT', name: 'two', target: 'x'.repeat(40_000) })
    const second = await addRecord(id, { type: 'TXT', name: 'two', target: 'y'.repeat(40_000) })
    await addRecord(id, { type: 'TXT', name: 'two', target: 'z'.repeat(20_000) })
    expect((await zoneFile(id)).slice(5).map((line) => line.slice(0, 12))).toEqual(['two\t\tTXT\t"xx', '; left out: ', 'two\t\tTXT\t"zz'])
    expect((await client.ok('GET', `/domains/${id}`)).errors).toBe(
      `two TXT [${second.id}]: 40157 octets of data; a DNS message can carry 25309 in addition to the other records with its name and type`,
    )
  })

  test('has as many addresses per name as fit into a message', () => {
    const master = { account_id: 1, domain: 'many.example', type: 'master', status: 'active', soa_email: 'h@example.com' } as const
    const source = { id: 1, ...master, errors: '' }
    const times = { expire_sec: 0, refresh_sec: 0, retry_sec: 0, ttl_sec: 0 }
    const stored = Array.from({ length: 12_000 }, (_, i) => {
      const target = i % 2 === 0 ? `10.1.${(i >> 1) >> 8}.${(i >> 1) & 255}` : `2001:db8::${i.toString(16)}`
      const numbers = { priority: 0, weight: 0, port: 0, ttl_sec: 0 }
      return { id: i + 1, type: i % 2 === 0 ? ('A' as const) : ('AAAA' as const), name: 'x', target, tag: null, ...numbers }
    })
    const { records, omitted } = renderZone({ ...source, ...times }, stored, [], serialNumber(1))
    const count = (type: string): number => records.filter((one) => one.type === type).length
    // 65,535 octets minus 27 for header, question and OPT and 16 for the name.
    expect([count('A'), count('AAAA')]).toEqual([Math.floor(65_492 / 16), Math.floor(65_492 / 28)])
    expect(omitted).toHaveLength(12_000 - count('A') - count('AAAA'))
    const zone = buildZoneData('many.example.' as DomainName, 1, records)
    const query = { header: { id: 1, flags: 0 }, name: 'x.many.example.' as DomainName, class: 1, edns: null, isSigned: false }
    for (const code of [1, 28]) {
      const question = Buffer.from(`\x01x\x04many\x07example\0\0${String.fromCharCode(code)}\0\x01`, 'latin1')
      const answer = answerQuestion(new Map([[zone.name, zone]]), query.name, code)
      expect(writeResponse({ ...query, code, question }, answer, 65_535 - 11).readUInt16BE(2) & 0x0200).toBe(0)
    }
  })

  /** A zone with unusual values of every type. */
  async function unusualZone(domain: string): Promise<string[]> {
    const { id } = await create(domain, { ttl_sec: 300 })
    for (const record of [
      { type: 'A', name: 'in', target: '192.0.2.1' },
      { type: 'A', name: '1h', target: '192.0.2.2', ttl_sec: 3600 },
      { type: 'A', name: '*.wild', target: '192.0.2.3' },
      { type: 'AAAA', name: '-odd-', target: '::ffff:192.0.2.1' },
      { type: 'TXT', name: '_x', target: '\u0001\n\r\t"\\;$@()😀'.repeat(60) },
      { type: 'TXT', name: 'long', target: 'y'.repeat(60_000) },
      { type: 'CAA', tag: 'iodef', target: 'https://example.com/(a);b?c=$1' },
      { type: 'SRV', service: 'a-b', protocol: 'udp', priority: 255, weight: 65535, port: 65535, target: 'in' },
      { type: 'SRV', service: 'none', protocol: null, priority: 0, weight: 0, port: 0, target: '.' },
      { type: 'NS', name: 'sub', target: 'ns.example.net' },
      { type: 'MX', target: '' },
      { type: 'CNAME', name: 'bücher', target: 'a_b.example.net' },
    ])
      await addRecord(id, record)
    return zoneFile(id)
  }

  describeWithTools(['named-checkzone'], 'with unusual values', () => {
    test('is valid for named-checkzone', async () => {
      const lines = await unusualZone('other.example')
      const { status, stdout } = await checkZone('other.example', `${lines.join('\n')}\n`, ['-k', 'ignore'])
      expect([status, stdout]).toEqual([0, expect.stringContaining(` ${serialOf(lines)} `)])
    })
  })

  test('is a valid zone file for our parser', async () => {
    const lines = await unusualZone('check.example')
    const origin = parseDomainName('check.example.')
    if (!origin.ok) throw new Error(origin.message)
    const parsed = parseZoneFile(`${lines.join('\n')}\n`, { origin: origin.value, file: 'check.example' })
    expect(parsed.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
    const records = [...parsed.records]
    expect(records).toHaveLength(lines.length - 2)
    expect(lines).toContain('_none._tcp\t\tSRV\t0 0 0 .')
    const text = records.find(({ name }) => name === '_x.check.example.')
    expect(Buffer.from(text?.data.replace(/" "/g, '').slice(1, -1) ?? '').toString()).toContain(
      '\\001\\010\\013\\009\\"\\\\;$@()\\240\\159\\152\\128',
    )
  })
})

describe('rendering', () => {
  test('follows a change automatically', async () => {
    const { id } = await create('prompt.example')
    await addRecord(id, { type: 'A', name: 'www', target: '192.0.2.1' })
    await expect
      .poll(async () => (await client.ok('GET', `/domains/${id}/zone-file`)).zone_file.at(-1), { interval: 10 })
      .toBe('www\t\tA\t192.0.2.1')
  })

  test('creates an increasing serial only for new content', async () => {
    const { id } = await create('serial.example')
    expect(serialOf(await zoneFile(id))).toBe(2026000001)
    await client.ok('PUT', `/domains/${id}`, { description: 'not part of the zone' })
    expect(serialOf(await zoneFile(id))).toBe(2026000001)
    const { id: record } = await addRecord(id, { type: 'A', target: '192.0.2.1' })
    expect(serialOf(await zoneFile(id))).toBe(2026000002)
    await client.ok('DELETE', `/domains/${id}/records/${record}`)
    expect(serialOf(await zoneFile(id))).toBe(2026000003)
    now = Date.parse('2027-01-01T00:00:00Z')
    await client.ok('PUT', `/domains/${id}`, { ttl_sec: 300 })
    expect(serialOf(await zoneFile(id))).toBe(2027000001)
    now = Date.parse('2026-03-01T10:00:00Z')
    await client.ok('PUT', `/domains/${id}`, { ttl_sec: 3600 })
    expect(serialOf(await zoneFile(id))).toBe(2027000002)
  })

  test('skips disabled domains and slaves', async () => {
    const disabled = await create('disabled.example', { status: 'disabled' })
    const slave = await client.ok('POST', '/domains', { domain: 'slave.example', type: 'slave', master_ips: ['192.0.2.53'] })
    expect(await zoneFile(disabled.id)).toEqual([])
    expect(await zoneFile(slave.id)).toEqual([])
    await client.ok('PUT', `/domains/${disabled.id}`, { status: 'active' })
    const lines = await zoneFile(disabled.id)
    expect(lines).toHaveLength(5)
    await client.ok('PUT', `/domains/${disabled.id}`, { status: 'disabled' })
    await addRecord(disabled.id, { type: 'A', target: '192.0.2.1' })
    expect(await zoneFile(disabled.id)).toEqual(lines)
  })

  test('of a clone uses the name of the clone', async () => {
    const { id } = await create('original.example')
    await addRecord(id, { type: 'A', name: 'www', target: '192.0.2.1' })
    const clone = await client.ok('POST', `/domains/${id}/clone`, { domain: 'copy.example' })
    const lines = await zoneFile(clone.id)
    expect(lines[0]).toBe(`; copy.example [${clone.id}]`)
    expect(lines.at(-1)).toBe('www\t\tA\t192.0.2.1')
  })
})
