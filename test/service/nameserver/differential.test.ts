import { createSocket } from 'node:dgram'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decodeMessage } from '../../../src/formats/wire/decode-message.ts'
import { encodeMessage } from '../../../src/formats/wire/encode-message.ts'
import { createQuery, type Message, rcodeName, type WireRecord } from '../../../src/formats/wire/message.ts'
import type { DomainName } from '../../../src/model/domain-name.ts'
import { type NameServer, startNameServer } from '../../../src/service/nameserver/name-server.ts'
import { type DnsServer, startBind, startKnot, startNsd } from '../../support/dns-servers.ts'
import { describeWithTools } from '../../support/skip.ts'
import { RICH_ZONES } from './rich-zones.ts'

interface Asked {
  readonly name: DomainName
  readonly type: string
  /** EDNS size; 0 for a query without EDNS. */
  readonly size: number
}

const TYPES = [
  'A',
  'AAAA',
  'NS',
  'CNAME',
  'SOA',
  'MX',
  'TXT',
  'SRV',
  'CAA',
  'PTR',
  'DS',
  'HINFO',
  'NAPTR',
  'TLSA',
  'URI',
  'TYPE65280',
  'DNAME',
]

/** Names that are not in the zones but meet every rule about those that are. */
const ABSENT = [
  'nothing.example.test.',
  'b.c.example.test.',
  'c.example.test.',
  'x.b.c.example.test.',
  'x.a.b.c.example.test.',
  'x.wild.example.test.',
  'x.y.wild.example.test.',
  'x.exists.wild.example.test.',
  'ent.wild.example.test.',
  'x.ent.wild.example.test.',
  'wild.example.test.',
  'x.alias.example.test.',
  'x.y.alias.example.test.',
  '*.odd.example.test.',
  'x.odd.example.test.',
  'under.x.odd.example.test.',
  'y.loop.example.test.',
  'x.loop.example.test.',
  'x.glued.example.test.',
  'x.deeper.glued.example.test.',
  'x.bare.example.test.',
  'wild-cut.example.test.',
  'x.below.wild-cut.example.test.',
  'x.with\\.dot.example.test.',
  'with.dot.example.test.',
  'dot.example.test.',
  'x.moved.example.test.',
  'ns.elsewhere.example.test.',
  'x.elsewhere.example.test.',
  'x.hosted.example.test.',
  'x.other.test.',
  '_tcp.example.test.',
  '*.example.test.',
  '*.wild.example.test.',
  'test.',
  '.',
  'example.org.',
  'notexample.test.',
  'x\\.example.test.',
] as DomainName[]

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

/** One question after the other over one socket; a lost datagram fails the test by its time-out. */
async function askAll(port: number): Promise<Message[]> {
  const socket = createSocket('udp4')
  socket.connect(port, '127.0.0.1')
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()))
  const answers: Message[] = []
  for (const [id, asked] of QUESTIONS.entries()) {
    const query = createQuery(id, asked)
    const edns = asked.size === 0 ? null : { udpSize: asked.size, version: 0, dnssecOk: false, options: [] }
    const octets = await new Promise<Buffer>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer to ${asked.name} ${asked.type} ${asked.size}`)), 2000)
      socket.once('message', (answer) => {
        clearTimeout(timer)
        resolve(answer)
      })
      socket.send(encodeMessage({ ...query, edns }))
    })
    const message = decodeMessage(octets)
    if (!message.ok) throw new Error(`${asked.name} ${asked.type}: ${message.message}`)
    expect(octets.length).toBeLessThanOrEqual(Math.max(512, asked.size))
    answers.push(message.value)
  }
  socket.close()
  return answers
}

const sorted = (section: readonly WireRecord[]): string[] =>
  [...new Set(section.map((record) => `${record.name} ${record.ttl} ${record.type} ${record.data}`))].sort()

interface Comparable {
  readonly rcode: string
  readonly authoritative: boolean
  readonly truncated: boolean
  readonly answers?: string[]
  readonly authorities?: string[]
  readonly additionals?: string[]
}

const describeMessage = (message: Message): Comparable => ({
  rcode: rcodeName(message.rcode),
  authoritative: message.authoritative,
  truncated: message.truncated,
  // What a truncated answer holds is of no use to anyone (RFC 2181 section 9).
  ...(message.truncated
    ? {}
    : { answers: sorted(message.answers), authorities: sorted(message.authorities), additionals: sorted(message.additionals) }),
})

const ours: { server?: NameServer; answers: Message[] } = { answers: [] }

beforeAll(async () => {
  const server = await startNameServer({ host: '127.0.0.1', port: 0, limits: { responsesPerSecond: 0 } })
  for (const zone of RICH_ZONES) server.setZone(zone)
  ours.server = server
  ours.answers = await askAll(server.address.port)
})

afterAll(() => ours.server?.close())

/** Differences, as `NAME TYPE SIZE` to our answer and theirs; `normalise` takes out what the RFCs leave to taste. */
function differences(theirs: readonly Message[], normalise: (comparable: Comparable, asked: Asked) => Comparable): Record<string, unknown> {
  const found: Record<string, unknown> = {}
  for (const [i, asked] of QUESTIONS.entries()) {
    const [mine, their] = [ours.answers[i], theirs[i]]
    if (!mine || !their) throw new Error('an answer is missing')
    const pair = [mine, their].map((message) => normalise(describeMessage(message), asked))
    if (JSON.stringify(pair[0]) !== JSON.stringify(pair[1])) found[`${asked.name} ${asked.type} ${asked.size}`] = pair
  }
  return found
}

const JUDGE_ZONES = RICH_ZONES.map((zone) => ({
  name: zone.name.slice(0, -1),
  // Canonical records are zone-file text.
  text: zone.records.map((record) => `${record.name} ${record.ttl} IN ${record.type} ${record.data}\n`).join(''),
}))

async function compareWith(judge: DnsServer, normalise: (comparable: Comparable, asked: Asked) => Comparable): Promise<void> {
  expect(differences(await askAll(judge.port), normalise)).toEqual({})
}

/** The owner of a delegation, if that is what the message tells; the apex of a zone is none. */
const delegationOf = ({ authorities }: Comparable): string | undefined => {
  const owner = authorities?.find((record) => / NS /.test(record))?.split(' ')[0]
  return RICH_ZONES.some((zone) => zone.name === owner) ? undefined : owner
}

/** NSD adds the apex NS and their addresses to what is not a referral. */
function freedomOfNsd(comparable: Comparable, { name }: Asked): Comparable {
  if (comparable.truncated || delegationOf(comparable)) return comparable
  // Which addresses stay out where not all fit is a matter of taste.
  if (name === 'mx-many.example.test.') return { ...comparable, authorities: [], additionals: [] }
  return {
    ...comparable,
    authorities: comparable.authorities?.filter((record) => !/ NS /.test(record)) ?? [],
    additionals: comparable.additionals?.filter((record) => !/^ns[12]?\./.test(record)) ?? [],
  }
}

/** Aliases from one zone of the server into another: RFC 1034 section 4.3.2 goes on there, as NSD does; BIND stops. */
const CROSSING = /^(?:up\.hosted|[^.]+\.elsewhere)\.example\.test\.$|^to-main\.other\.test\.$/

/** BIND answers SERVFAIL with the same records where aliases lead in a circle. */
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

/** BIND lets nobody cache that a name has no SOA. */
const withoutTtl = (record: string, type: string): string => (type === 'SOA' ? record.replace(/ [0-9]+ /, ' ') : record)

/** Knot stops where an alias leads to another zone, too. */
function freedomOfKnot(comparable: Comparable, { name }: Asked): Comparable {
  const { authoritative, truncated } = comparable
  return CROSSING.test(name) ? { rcode: 'any', authoritative, truncated } : comparable
}

describeWithTools(['named'], `${QUESTIONS.length} questions to BIND`, () => {
  test('have the same answers', async () => {
    await compareWith(await startBind({ zones: JUDGE_ZONES }), freedomOfBind)
  })
})

describeWithTools(['nsd'], `${QUESTIONS.length} questions to NSD`, () => {
  test('have the same answers', async () => {
    await compareWith(await startNsd({ zones: JUDGE_ZONES }), freedomOfNsd)
  })
})

describeWithTools(['knotd'], `${QUESTIONS.length} questions to Knot`, () => {
  test('have the same answers', async () => {
    await compareWith(await startKnot({ zones: JUDGE_ZONES }), freedomOfKnot)
  })
})
