/**
 * Many small zones with few labels, so that wildcards, empty non-terminals, delegations, DNAME and aliases interact in every way.
 * Every possible query goes to NSD, Knot, BIND and the service.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import type { Message } from '../../../src/dns/wire/message.ts'
import { type NameServer, startNameServer } from '../../../src/service/nameserver/name-server.ts'
import type { ServedRecord } from '../../../src/service/nameserver/zone-data.ts'
import { type DnsServer, startBind, startKnot, startNsd } from '../../support/dns-servers.ts'
import { rounds, seededRandom } from '../../support/random.ts'
import { describeWithTools } from '../../support/skip.ts'
import { type Asked, askAll, type Comparable, differences, zoneFile } from './comparison.ts'
import { records } from './rich-zones.ts'

const random = seededRandom(1034)
const ZONES = Array.from({ length: rounds(60) }, (_, i) => makeZone(`z${i}.test.` as DomainName))

function makeZone(name: DomainName) {
  const owners = namesBelow(name, ['a', 'b', '*'])
  const lines = [`${name} 600 SOA ns.${name} h.${name} 1 2 3 4 300`, `${name} 600 NS ns.${name}`, `ns.${name} 600 A 192.0.2.252`]
  const taken: string[] = []
  for (const owner of random.shuffle(owners).slice(0, 3 + random.below(7))) {
    // No names exist below a DNAME.
    if (taken.some((dname) => owner.endsWith(`.${dname}`))) continue
    const target = random.pick([...owners, `ns.${name}`, 'host.example.org.'])
    const address = `${owner} 300 A 192.0.2.${random.below(250)}`
    // Servers treat wildcard NS and DNAME differently (RFC 4592 sections 4.2 and 4.4).
    const isPlain = !owner.startsWith('*')
    const kind = random.below(isPlain ? 10 : 6)
    if (kind < 3) lines.push(address)
    else if (kind === 3) lines.push(address, `${owner} 300 MX 1 ${target}`, `${owner} 200 TXT "text"`)
    else if (kind < 6) lines.push(`${owner} 100 CNAME ${target}`)
    else if (kind < 9) lines.push(`${owner} 400 NS ${target}`, `${owner} 400 NS ns.${owner}`, `ns.${owner} 400 A 192.0.2.251`)
    // Servers follow a DNAME that points below itself once, a few times or until the message is full.
    else if (!`.${target}`.endsWith(`.${owner}`) && lines.every((line) => !line.split(' ')[0]?.endsWith(`.${owner}`))) {
      lines.push(`${owner} 100 DNAME ${target}`)
      taken.push(owner)
    }
  }
  return { name, serial: 1, records: records(withoutClashes(lines).join('\n')) }
}

/** Removes records that conflict with an earlier one: a CNAME must be alone. Glue may be added at an alias. */
function withoutClashes(lines: readonly string[]): string[] {
  const kept: string[] = []
  for (const line of lines) {
    const [owner, , type] = line.split(' ')
    const others = kept.filter((other) => other.split(' ')[0] === owner).map((other) => other.split(' ')[2])
    const clashes = type === 'CNAME' ? others.length > 0 : others.includes('CNAME')
    if (!clashes) kept.push(line)
  }
  return kept
}

function namesBelow(name: string, labels: readonly string[]): string[] {
  const one = labels.map((label) => `${label}.${name}`)
  const two = one.flatMap((below) => labels.map((label) => `${label}.${below}`))
  const three = two.flatMap((below) => labels.slice(0, 2).map((label) => `${label}.${below}`))
  return [...one, ...two, ...three]
}

const QUESTIONS: readonly Asked[] = ZONES.flatMap(({ name }) =>
  [name, `ns.${name}`, ...namesBelow(name, ['a', 'b', 'c', '*']), `c.a.b.a.${name}`].flatMap((owner) =>
    ['A', random.pick(['MX', 'NS', 'CNAME', 'DNAME', 'DS', 'TXT'])].map((type) => ({ name: owner as DomainName, type, size: 1232 })),
  ),
)

let server: NameServer
let ours: readonly Message[]

beforeAll(async () => {
  server = await startNameServer({ host: '127.0.0.1', port: 0, limits: { responsesPerSecond: 0 } })
  for (const zone of ZONES) server.setZone(zone)
  ours = await askAll(server.address.port, QUESTIONS)
})

afterAll(() => server.close())

const apexOf = (name: string): string => name.split('.').slice(-3).join('.')
const OWNERS: ReadonlySet<string> = new Set(ZONES.flatMap((zone) => zone.records.map((record) => record.name)))

/**
 * Responses other than referrals may contain the apex NS, and any response may contain extra addresses. NSD and Knot also make glue from a wildcard below
 * the delegation, BIND and the service do not.
 */
function freedom(comparable: Comparable, { name, type }: Asked): Comparable {
  const { authorities = [], additionals = [], ...rest } = comparable
  const needed = authorities.filter((record) => !record.startsWith(`${apexOf(name)} 600 NS `))
  const cut = needed.find((record) => / NS /.test(record))?.split(' ')[0]
  return {
    ...rest,
    authorities: needed.map((record) => (type === 'SOA' ? record.replace(/ [0-9]+ /, ' ') : record)),
    additionals: cut === undefined ? [] : additionals.filter((record) => isGlue(record.split(' ')[0] ?? '', cut)),
  }
}

const isGlue = (owner: string, cut: string): boolean => owner.endsWith(`.${cut}`) && OWNERS.has(owner)

/** BIND responds SERVFAIL with the same records for an alias loop. */
function freedomOfBind(comparable: Comparable, asked: Asked): Comparable {
  const aliases = (comparable.answers ?? []).filter((record) => / CNAME /.test(record)).map((record) => record.split(' '))
  const owners = new Set(aliases.map(([owner]) => owner))
  const isCircle = aliases.length > 0 && aliases.every(([, , , target]) => owners.has(target))
  return { ...freedom(comparable, asked), ...(isCircle && { rcode: 'any' }) }
}

async function compare(judge: DnsServer, normalise: typeof freedom): Promise<void> {
  expect(differences(QUESTIONS, ours, await askAll(judge.port, QUESTIONS), normalise)).toEqual({})
}

const zones = ZONES.map((zone: { readonly name: DomainName; readonly records: readonly ServedRecord[] }) => zoneFile(zone))

describeWithTools(['nsd', 'knotd', 'named'], `${QUESTIONS.length} questions about ${ZONES.length} random zones`, () => {
  test.each([
    ['NSD', startNsd, freedom],
    ['Knot', startKnot, freedom],
    ['BIND', startBind, freedomOfBind],
  ] as const)('have the responses of %s', async (_, start, normalise) => compare(await start({ zones }), normalise))
})
