import { expect, test } from 'vitest'
import type { DomainName } from '../../src/dns/domain-name.ts'
import { type Message, RCODE, type WireRecord } from '../../src/dns/wire/message.ts'
import { askParent } from '../../src/transport/parent-zone.ts'
import { response, startScriptedDns } from '../support/scripted-dns.ts'

const ZONE = 'example.test.' as DomainName
const record = (name: string, type: string, data: string): WireRecord => ({ name: name as DomainName, type, class: 1, ttl: 600, data })
const soa = (name: string): WireRecord => record(name, 'SOA', 'ns1.test. dns.test. 1 2 3 4 5')
const NS = record(ZONE, 'NS', 'ns1.example.net.')
const DS = record(ZONE, 'DS', `1 13 2 ${'ab'.repeat(32)}`)

type Answer = Partial<Message>
const REFERRAL: Answer = { authoritative: false, authorities: [NS] }
const NONE: Answer = { authorities: [soa('test.')] }

/** Asks a parent with these answers; what it says, or null if that is unknown. */
async function ask(ns: Answer, ds: Answer): Promise<{ nameservers: readonly string[]; ds: number } | null> {
  const server = await startScriptedDns((query) => [response(query, [], query.questions[0]?.type === 'DS' ? ds : ns)])
  const result = await askParent(ZONE, [server])
  if (!result.ok) return null
  const [delegation] = result.delegations
  return { nameservers: delegation?.nameservers ?? [], ds: delegation?.ds ?? -1 }
}

const nameservers = ['ns1.example.net.']

test.each<[string, Answer, Answer, object]>([
  ['a referral and no DS records', REFERRAL, NONE, { nameservers, ds: 0 }],
  ['a referral and a DS record', REFERRAL, { answers: [DS] }, { nameservers, ds: 1 }],
  ['the NS records of a server that has both zones', { answers: [NS] }, NONE, { nameservers, ds: 0 }],
  ['that the name does not exist', { ...NONE, rcode: RCODE.NXDOMAIN }, { ...NONE, rcode: RCODE.NXDOMAIN }, { nameservers: [], ds: 0 }],
  ['no data, as the root may for a name of two labels', NONE, { authorities: [soa('.')] }, { nameservers: [], ds: 0 }],
])('a parent says: %s', async (_, ns, ds, said) => {
  expect(await ask(ns, ds)).toEqual(said)
})

/** With an answer that is good without the other one. */
const UNKNOWN: readonly (readonly [string, Answer])[] = [
  ['SERVFAIL', { rcode: RCODE.SERVFAIL }],
  ['SERVFAIL with an SOA record', { ...NONE, rcode: RCODE.SERVFAIL }],
  ['REFUSED', { rcode: RCODE.REFUSED }],
  ['NOTIMP', { rcode: RCODE.NOTIMP }],
  ['nothing', {}],
  ['NXDOMAIN without an SOA record', { rcode: RCODE.NXDOMAIN }],
  ['no data of the zone itself, which has no DS records', { authorities: [soa(ZONE)] }],
  ['no data of a zone elsewhere', { authorities: [soa('example.')] }],
  ['no data from a cache', { ...NONE, authoritative: false }],
  ['a referral to the parent', { authoritative: false, authorities: [record('test.', 'NS', 'ns1.test.')] }],
  ['the records with an error', { answers: [NS, DS], rcode: RCODE.SERVFAIL }],
  ['the records from a cache', { answers: [NS, DS], authoritative: false }],
]

test.each(UNKNOWN)('what a parent says is unknown after: %s', async (_, answer) => {
  expect([await ask(answer, NONE), await ask(REFERRAL, answer)]).toEqual([null, null])
})
