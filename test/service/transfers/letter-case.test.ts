/** Signatures can cover the letters of names (RFC 6840 section 5.1): a slave is stored, served and transferred on as its master wrote it. */
import { expect, test } from 'vitest'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import type { WireRecord } from '../../../src/dns/wire/message.ts'
import type { ServedRecord } from '../../../src/service/nameserver/zone-data.ts'
import { type CurrentZone, KEEPS_CASE, transferNewer } from '../../../src/service/transfers/refresh-from-masters.ts'
import { TRANSFER_LIMITS, transferZone } from '../../../src/service/transfers/transfer-zone.ts'
import { startForTest } from '../harness.ts'
import { eventually } from './eventually.ts'
import { sendNotify } from './notify.ts'
import { answerOf, record, serving } from './scripted-master.ts'
import { askService, createSlave, OPTIONS, portOf, scripts } from './zone-master.ts'

const ZONE = 'cased.test.' as DomainName
const { service, client } = await startForTest({ ...OPTIONS, transferLimits: {} })
const peer = { address: '127.0.0.1', port: portOf(service), localAddress: null, signing: null }
const signal = new AbortController().signal

const apex = (serial: number) => record('Cased.test.', 'SOA', `NS1.Cased.test. Host.Master.Example. ${serial} 3600 600 604800 300`)
const KEPT = [
  record('Cased.Test.', 'NS', 'NS1.Cased.Test.'),
  record('NS1.CASED.test.', 'A', '192.0.2.1'),
  record('alias.cased.test.', 'CNAME', 'Ns1.Cased.test.'),
  record('mx.cased.test.', 'MX', '10 NS1.cased.TEST.'),
  record('ns1.cased.test.', 'NSEC', 'Zz.Cased.test. A RRSIG NSEC'),
  record('ns1.cased.test.', 'RRSIG', 'NSEC 13 3 300 20300101000000 20290101000000 1 Cased.test. AQIDBA=='),
  record('_x.cased.test.', 'SVCB', '1 Svc.Example.'),
  record('_x.cased.test.', 'SRV', '1 2 3 Host.Example.'),
  record('www.cased.test.', 'HTTPS', '1 Svc.Example. alpn=h2'),
  record('www.cased.test.', 'CAA', '0 Issue "CA.example"'),
  record('www.cased.test.', 'CAA', '0 issue "CA.example"'),
  record('gw.cased.test.', 'IPSECKEY', '10 3 2 Gate.Example. AQNRU3mG7TVTO2BkR47usntb102uFJtugbo6BSGvgqt4AQ=='),
  record('gw.cased.test.', 'AMTRELAY', '10 0 3 Relay.Example.'),
  record('gw.cased.test.', 'HIP', '2 0102 AwEAAQ== Rvs.Example.'),
]
const [FORMER, NEXT] = ['L64.Example.', 'l64.EXAMPLE.'].map((target) => record('lp.Cased.test.', 'LP', `10 ${target}`))
const linesOf = (records: readonly (WireRecord | ServedRecord)[]): string[] =>
  records.map(({ name, writtenOwner, type, ttl, data }) => `${writtenOwner ?? name} ${ttl} ${type} ${data}`).sort()

test('a slave keeps the letters of its master through AXFR and IXFR, and compares names without them', async () => {
  const duplicate = record('CASED.test.', 'NS', 'ns1.cased.TEST.')
  scripts.set(ZONE, serving([apex(1), ...KEPT, duplicate, FORMER as WireRecord]))
  const { id } = await createSlave(client, 'cased.test', { axfr_ips: ['127.0.0.1'] })
  await eventually(async () => expect(await askService(service, 'ns1.cased.test')).toEqual(['NOERROR', '192.0.2.1']))
  const first = await transferZone(peer, ZONE, TRANSFER_LIMITS, signal, KEEPS_CASE)
  expect(linesOf(first.records)).toEqual(linesOf([apex(1), ...KEPT, FORMER as WireRecord]))
  expect((await client.ok('GET', `/domains/${id}/zone-file`)).zone_file).toContain('NS1.CASED.test.\t300\tA\t192.0.2.1')
  expect(await askService(service, 'alias.cased.test')).toEqual(['NOERROR', 'ns1.cased.test.', '192.0.2.1'])

  const removed = record('LP.cased.test.', 'LP', '10 L64.EXAMPLE.')
  const differences = [apex(2), apex(1), removed, apex(2), NEXT as WireRecord, apex(2)]
  scripts.set(ZONE, (query, socket) => socket.write(answerOf(query, query.questions[0]?.type === 'SOA' ? [apex(2)] : differences)))
  await sendNotify(peer.port, 'cased.test', { serial: 2 })
  await eventually(async () => expect((await askService(service, 'cased.test', 'SOA'))[1]).toContain(' 2 3600 '))
  const second = await transferNewer(peer, ZONE, first.records as CurrentZone, TRANSFER_LIMITS, signal)
  expect(second.differences).toBe(1)
  expect(linesOf(second.records)).toEqual(linesOf([apex(2), ...KEPT, NEXT as WireRecord]))

  // An import, whose records become those of a definition, has canonical names.
  const canonical = await transferZone(peer, ZONE, TRANSFER_LIMITS, signal)
  expect(canonical.records.filter(({ writtenOwner, type, data }) => writtenOwner ?? (type === 'LP' && /[A-Z]/.test(data)))).toEqual([])
})
