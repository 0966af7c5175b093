import { describe, expect, test } from 'vitest'
import type { DomainName } from '../../src/dns/domain-name.ts'
import type { Allowance } from '../../src/dns/zone.ts'
import { deletedRrsets, type QueriedRrset, type Usage, withUsage } from '../../src/plan/usage.ts'
import { ANY_DATA, ORIGIN, planOf, zoneChange } from '../support/plan.ts'
import { existingZone } from '../support/records.ts'

const DAY = 86_400
const TO = Date.parse('2026-11-23T20:00:00Z')

/** Queries as lines `NAME TYPE [HOURS]`: asked once, so many hours before the end of the counts. */
const usageOf = (lines: string, more: Partial<Usage> = {}): Usage => ({
  source: 'usage.csv',
  window: { from: TO - 7 * DAY * 1000, to: TO },
  queried: new Map([[ORIGIN, lines.trim().split('\n').map(queryOf)]]),
  covered: new Set([ORIGIN]),
  incomplete: new Set(),
  problem: null,
  ...more,
})

const queryOf = (line: string): QueriedRrset => {
  const [name = '', type = '', hours = '1'] = line.trim().split(' ')
  const owner = (name === '@' ? ORIGIN : `${name}.${ORIGIN}`) as DomainName
  return { name: owner, type, count: 1, lastAsked: TO - Number(hours) * 3600_000 }
}

const ZONE = `@ A 192.0.2.1
www CNAME web
web A 192.0.2.2
web AAAA 2001:db8::2
*.wild A 192.0.2.3
a.wild TXT "x"
sub NS ns.sub
ns.sub A 192.0.2.4
alias ALIAS web
d DNAME elsewhere.example.
b.c.deep A 192.0.2.5
*.pool CNAME www
loop CNAME pool.loop
pool.loop CNAME loop
s1._domainkey CNAME key
key TXT "v=DKIM1; p="`

const STATES = ['in-use', 'asked', 'not-asked', 'unknown', 'replaced'] as const

/** The record sets of the zone, deleted as a whole, in a state. */
const inState = (usage: Usage, state: (typeof STATES)[number], inUse = DAY): string[] => {
  const existing = existingZone(ORIGIN, ZONE)
  const plan = planOf(ZONE, '', { capabilities: ANY_DATA })
  const checked = withUsage(plan, existing, usage, { inUse, allow: new Set() })
  return (checked.usage?.deletions ?? [])
    .filter((one) => one.state === state)
    .map(({ name, type }) => `${name === ORIGIN ? '@' : name.slice(0, -ORIGIN.length - 1)} ${type}`)
}

describe('a query counts for the record sets that gave the answer', () => {
  test.each<[query: string, rrsets: string[]]>([
    ['web A', ['web A']],
    ['web MX', []],
    ['web ANY', ['web A', 'web AAAA']],
    ['nothing A', []],
    ['@ A', ['@ A']],
    ['www A', ['web A', 'www CNAME']],
    ['www MX', ['www CNAME']],
    ['www CNAME', ['web A', 'web AAAA', 'www CNAME']],
    ['www ANY', ['www CNAME']],
    ['x.pool A', ['*.pool CNAME', 'web A', 'www CNAME']],
    ['loop A', ['loop CNAME', 'pool.loop CNAME']],
    ['s1._domainkey CNAME', ['key TXT', 's1._domainkey CNAME']],
    ['web CNAME', ['web A', 'web AAAA']],
    ['alias AAAA', ['alias ALIAS', 'web AAAA']],
    ['alias MX', []],
    ['x.wild A', ['*.wild A']],
    ['x.y.wild A', ['*.wild A']],
    ['*.wild A', ['*.wild A']],
    ['a.wild A', []],
    ['x.a.wild A', []],
    ['a.wild TXT', ['a.wild TXT']],
    ['host.sub A', ['ns.sub A', 'sub NS']],
    ['sub A', ['ns.sub A', 'sub NS']],
    ['sub DS', []],
    ['ns.sub A', ['ns.sub A', 'sub NS']],
    ['x.d A', ['d DNAME']],
    ['d DNAME', ['d DNAME']],
    ['d A', []],
    ['c.deep A', []],
    ['x.deep A', []],
  ])('%s', (query, rrsets) => expect(inState(usageOf(query), 'in-use').sort()).toEqual(rrsets))
})

describe('the state of a deletion', () => {
  test('depends on the last query, the configured time and the window', () => {
    const usage = usageOf('web A 25\nweb AAAA 23')
    expect(inState(usage, 'in-use')).toEqual(['web AAAA'])
    expect(inState(usage, 'asked')).toEqual(['web A'])
    expect(inState(usage, 'not-asked')).toHaveLength(14)
    expect(inState(usage, 'in-use', 2 * DAY)).toEqual(['web A', 'web AAAA'])
    // The window of 7 days says nothing about 8.
    expect(inState(usage, 'unknown', 8 * DAY)).toHaveLength(14)
  })

  test.each<[why: string, usage: Usage]>([
    ['no source could be read', usageOf('web A', { window: null, queried: new Map(), covered: new Set(), problem: 'x cannot be used' })],
    ['a source is incomplete or old', usageOf('web A', { problem: 'usage.csv ends too early' })],
    ['a source does not have all names of the zone', usageOf('web A', { incomplete: new Set([ORIGIN]) })],
    ['the source does not have the zone', usageOf('web A', { queried: new Map(), covered: new Set() })],
  ])('is unknown for names without a count if %s', (_, usage) => {
    expect(inState(usage, 'not-asked')).toEqual([])
    expect(inState(usage, 'asked')).toEqual([])
    expect(inState(usage, 'unknown').length).toBeGreaterThan(9)
  })
})

describe('a record set in use that other records answer for is replaced, not deleted by accident', () => {
  const stateOf = (existing: string, desired: string, query: string): (string | undefined)[] => {
    const checked = withUsage(planOf(existing, desired), existingZone(ORIGIN, existing), usageOf(query), { inUse: DAY, allow: new Set() })
    expect(checked.refusals.some(({ name }) => name === 'in-use')).toBe(checked.usage?.deletions.some(({ state }) => state === 'in-use'))
    return checked.usage?.deletions.map(({ state }) => state) ?? []
  }
  test.each<[what: string, existing: string, desired: string, states: string[]]>([
    ['an address becomes an alias', 'a A 192.0.2.1', 'a CNAME www.example.net.', ['replaced']],
    ['an address becomes an alias of nothing', 'a A 192.0.2.1', 'a CNAME gone', ['in-use']],
    ['an alias becomes an address', 'a CNAME www.example.net.', 'a A 192.0.2.1', ['replaced']],
    ['an alias becomes a mail domain', 'a CNAME www.example.net.', 'a MX 10 mx.example.net.', ['in-use']],
    ['a wildcard with the same data answers', 'a A 192.0.2.1\nb A 192.0.2.2', '* A 192.0.2.1\nb A 192.0.2.2', ['replaced']],
    ['a wildcard with other data answers', 'a A 192.0.2.1\n* A 192.0.2.9', '* A 192.0.2.9', ['in-use']],
    ['a delegation becomes an alias', 'a NS ns.example.net.', 'a CNAME www.example.net.', ['in-use']],
    ['the name is delegated', 'a A 192.0.2.1', 'a NS ns.example.net.', ['in-use']],
    ['the target of an alias goes', 'b A 192.0.2.1\na CNAME b', 'a CNAME b', ['in-use']],
    ['glue of a delegation goes', 'a NS ns.a\nns.a A 192.0.2.1', 'a NS ns.a', ['in-use']],
  ])('%s', (_, existing, desired, states) => expect(stateOf(existing, desired, 'a A')).toEqual(states))

  test('also if it is unknown whether it is in use', () => {
    const usage = usageOf('web A', { problem: 'x cannot be used' })
    const checked = withUsage(planOf('a A 192.0.2.1', 'a CNAME b.example.net.'), existingZone(ORIGIN, 'a A 192.0.2.1'), usage, {
      inUse: DAY,
      allow: new Set(),
    })
    expect(checked.usage?.deletions).toMatchObject([{ state: 'replaced', count: 0 }])
    expect(checked.refusals).toEqual([])
  })
})

/** Without the types that the target does not have. */
const STORED = ZONE.split('\n')
  .filter((line) => !/ALIAS|DNAME/.test(line))
  .join('\n')

describe('refusals', () => {
  const refusalsOf = (desired: string, usage: Usage, ...allow: Allowance[]): string[] => {
    const existing = existingZone(ORIGIN, STORED)
    const checked = withUsage(planOf(STORED, desired), existing, usage, { inUse: DAY, allow: new Set(allow) })
    return checked.refusals
      .filter(({ name }) => name === 'in-use')
      .map(({ message, allowed }) => `${allowed ? 'allowed' : 'refused'}: ${message}`)
  }
  const without = (...lines: string[]): string =>
    STORED.split('\n')
      .filter((line) => !lines.some((start) => line.startsWith(start)))
      .join('\n')

  test('name what is in use, and are lifted whole or by name', () => {
    const used = usageOf('web A\nwww A\nweb AAAA 100')
    const message = 'record set to delete is still queried, as usage.csv says: '
    const desired = without('web', 'www', 'a.wild')
    const both = `2 record sets to delete are still queried, as usage.csv says: web.example.com. A (2 times, last at 2026-11-23T19:00:00Z) and www.example.com. CNAME (1 time, last at 2026-11-23T19:00:00Z)`
    expect(refusalsOf(desired, used)).toEqual([`refused: ${both}; --allow in-use:NAME allows one name`])
    expect(refusalsOf(desired, used, 'in-use')).toEqual([`allowed: ${both}`])
    expect(refusalsOf(desired, used, 'in-use:web.example.com.')).toEqual([
      `refused: 1 ${message}www.example.com. CNAME (1 time, last at 2026-11-23T19:00:00Z); --allow in-use:NAME allows one name`,
    ])
    expect(refusalsOf(desired, used, 'in-use:web.example.com.', 'in-use:www.example.com.')).toEqual([`allowed: ${both}`])
    expect(refusalsOf(desired, used, 'deletes', 'in-use:example.com.')).toHaveLength(1)
    expect(refusalsOf(without('a.wild'), used)).toEqual([])
  })

  test('say why it is unknown', () => {
    const unknown = usageOf('web A', { window: null, queried: new Map(), covered: new Set(), problem: 'usage.csv: no such file' })
    expect(refusalsOf(without('a.wild'), unknown)).toEqual([
      'refused: whether 1 record set to delete is still queried is unknown, since usage.csv: no such file: a.wild.example.com. TXT; --allow in-use:NAME allows one name',
    ])
    expect(refusalsOf(without('a.wild'), unknown, 'in-use:a.wild.example.com.')[0]).toMatch(/^allowed: /)
  })

  test('a plan that deletes no record set has no usage', () => {
    const existing = existingZone(ORIGIN, STORED)
    for (const desired of [STORED, `${STORED}\nnew A 192.0.2.9`, STORED.replace('web A 192.0.2.2', 'web A 192.0.2.99')]) {
      const plan = planOf(STORED, desired)
      expect(withUsage(plan, existing, usageOf('web A'), { inUse: DAY, allow: new Set() })).toBe(plan)
    }
  })
})

describe('the deleted record sets', () => {
  const deleted = (existing: string, desired: string, more: Parameters<typeof planOf>[2] = {}): string[] =>
    deletedRrsets(planOf(existing, desired, more).changes, existingZone(ORIGIN, existing).records).map(
      ({ name, type }) => `${name} ${type}`,
    )

  test.each<[what: string, existing: string, desired: string, rrsets: string[]]>([
    ['one of two values', 'a A 192.0.2.1\na A 192.0.2.2', 'a A 192.0.2.1', []],
    ['all values', 'a A 192.0.2.1\na A 192.0.2.2', 'b A 192.0.2.1', ['a.example.com. A']],
    ['a rename', 'a A 192.0.2.1', 'b A 192.0.2.1', ['a.example.com. A']],
    ['another type', 'a A 192.0.2.1', 'a CNAME www', ['a.example.com. A']],
    ['another value', 'a A 192.0.2.1', 'a A 192.0.2.2', []],
    ['in order', 'z A 192.0.2.1\na.b A 192.0.2.1\nb A 192.0.2.1', '', ['b.example.com. A', 'a.b.example.com. A', 'z.example.com. A']],
  ])('%s', (_, existing, desired, rrsets) => expect(deleted(existing, desired)).toEqual(rrsets))

  test('of a zone are all of it, and the name of the zone allows its deletion', () => {
    const zone = existingZone(ORIGIN, ZONE)
    const whole = planOf(ZONE, '')
    const plan = { ...whole, changes: [zoneChange({ action: 'delete', existing: {} } as const)], refusals: [] }
    const check = (...allow: Allowance[]) => withUsage(plan, zone, usageOf('www A'), { inUse: DAY, allow: new Set(allow) })
    expect(check().usage?.deletions).toHaveLength(16)
    expect(check().refusals).toMatchObject([{ name: 'in-use', allowed: false }])
    expect(check('in-use:example.com.').refusals).toMatchObject([{ name: 'in-use', allowed: true }])
    expect(check('in-use:web.example.com.').refusals).toMatchObject([{ name: 'in-use', allowed: false }])
  })
})
