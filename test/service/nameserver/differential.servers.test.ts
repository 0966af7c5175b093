import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Message } from '../../../src/dns/wire/message.ts'
import { type NameServer, startNameServer } from '../../../src/service/nameserver/name-server.ts'
import { type DnsServer, startBind, startKnot, startNsd } from '../../support/dns-servers.ts'
import { describeWithTools } from '../../support/skip.ts'
import { type Asked, askAll, type Comparable, differences, zoneFile } from './comparison.ts'
import { namesOf, RICH_ZONES } from './rich-zones.ts'

const TYPES = 'A AAAA NS CNAME SOA MX TXT SRV CAA PTR DS HINFO NAPTR TLSA URI TYPE65280 DNAME'.split(' ')

/** Names outside the zones' data that exercise every rule: wildcards, delegations, aliases. */
const ABSENT = namesOf(String.raw`
  nothing.example.test. b.c.example.test. c.example.test. x.b.c.example.test. x.a.b.c.example.test.
  x.wild.example.test. x.y.wild.example.test. x.exists.wild.example.test. ent.wild.example.test.
  x.ent.wild.example.test. wild.example.test. x.alias.example.test. x.y.alias.example.test. *.odd.example.test.
  x.odd.example.test. under.x.odd.example.test. y.loop.example.test. x.loop.example.test. x.glued.example.test.
  x.deeper.glued.example.test. x.bare.example.test. wild-cut.example.test. x.below.wild-cut.example.test.
  x.with\.dot.example.test. with.dot.example.test. dot.example.test. x.moved.example.test.
  ns.elsewhere.example.test. x.elsewhere.example.test. x.hosted.example.test. x.other.test. _tcp.example.test.
  *.example.test. *.wild.example.test. test. . example.org. notexample.test. x\.example.test.
`)

const NAMES = [...new Set([...RICH_ZONES.flatMap((zone) => zone.records.map((record) => record.name)), ...ABSENT])].filter(
  (name) => !/^host-[0-9]{2}/.test(name),
)

const QUESTIONS: readonly Asked[] = NAMES.flatMap((name) => [
  ...TYPES.map((type) => ({ name, type, size: 1232 })),
  { name, type: 'A', size: 0 },
  { name, type: 'TXT', size: 512 },
  { name, type: 'MX', size: 0 },
  { name, type: 'A', size: 4096 },
])

const ours: { server?: NameServer; answers: Message[] } = { answers: [] }

beforeAll(async () => {
  const server = await startNameServer({ host: '127.0.0.1', port: 0, limits: { responsesPerSecond: 0 } })
  for (const zone of RICH_ZONES) server.setZone(zone)
  ours.server = server
  ours.answers = await askAll(server.address.port, QUESTIONS)
})

afterAll(() => ours.server?.close())

const JUDGE_ZONES = RICH_ZONES.map(zoneFile)

async function compareWith(judge: DnsServer, normalise: (comparable: Comparable, asked: Asked) => Comparable): Promise<void> {
  expect(differences(QUESTIONS, ours.answers, await askAll(judge.port, QUESTIONS), normalise)).toEqual({})
}

/** The owner of the delegation if the message is a referral; an apex is not a delegation. */
const delegationOf = ({ authorities }: Comparable): string | undefined => {
  const owner = authorities?.find((record) => / NS /.test(record))?.split(' ')[0]
  return RICH_ZONES.some((zone) => zone.name === owner) ? undefined : owner
}

/** NSD adds the apex NS records and their addresses to responses that are not referrals. */
function freedomOfNsd(comparable: Comparable, { name }: Asked): Comparable {
  if (comparable.truncated || delegationOf(comparable)) return comparable
  // Servers may choose which addresses to omit if not all fit.
  if (name === 'mx-many.example.test.') return { ...comparable, authorities: [], additionals: [] }
  return {
    ...comparable,
    authorities: comparable.authorities?.filter((record) => !/ NS /.test(record)) ?? [],
    additionals: comparable.additionals?.filter((record) => !/^ns[12]?\./.test(record)) ?? [],
  }
}

/** Aliases from one zone of the server into another: RFC 1034 section 4.3.2 and NSD follow them; BIND stops. */
const CROSSING = /^(?:up\.hosted|[^.]+\.elsewhere)\.example\.test\.$|^to-main\.other\.test\.$/

/** BIND responds SERVFAIL with the same records for an alias loop. */
const CIRCLES = /^(?:loop1|loop2|self|[xy]\.loop|\*\.loop)\.example\.test\.$/

function freedomOfBind(comparable: Comparable, { name, type }: Asked): Comparable {
  const { authoritative, truncated, answers = [], authorities = [], additionals = [] } = comparable
  if (CROSSING.test(name)) return { rcode: 'any', authoritative, truncated }
  return {
    rcode: CIRCLES.test(name) ? 'any' : comparable.rcode,
    authoritative,
    truncated,
    answers,
    authorities: authorities.map((record) => withoutTtl(record, type)),
    // As configured here, BIND adds only the addresses below a delegation; others are optional (RFC 9471 section 3.2).
    additionals: additionals.filter((record) => record.split(' ')[0]?.endsWith(`.${delegationOf(comparable)}`)),
  }
}

/** BIND forbids caching the absence of an SOA. */
const withoutTtl = (record: string, type: string): string => (type === 'SOA' ? record.replace(/ [0-9]+ /, ' ') : record)

/** Knot also stops at an alias into another zone. */
function freedomOfKnot(comparable: Comparable, { name }: Asked): Comparable {
  const { authoritative, truncated } = comparable
  return CROSSING.test(name) ? { rcode: 'any', authoritative, truncated } : comparable
}

describeWithTools(['named', 'nsd', 'knotd'], `${QUESTIONS.length} questions`, () => {
  test.each([
    ['BIND', startBind, freedomOfBind],
    ['NSD', startNsd, freedomOfNsd],
    ['Knot', startKnot, freedomOfKnot],
  ] as const)('have the responses of %s', async (_, start, normalise) => compareWith(await start({ zones: JUDGE_ZONES }), normalise))
})
