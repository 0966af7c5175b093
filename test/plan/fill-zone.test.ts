import { describe, expect, test } from 'vitest'
import type { Diagnostic } from '../../src/base/diagnostic.ts'
import type { DomainName } from '../../src/dns/domain-name.ts'
import type { DefinedRecord } from '../../src/dns/record.ts'
import { type SerialNumber, serialNumber } from '../../src/dns/serial-number.ts'
import type { DesiredZone } from '../../src/dns/zone.ts'
import { type FilledZone, fillZone } from '../../src/plan/fill-zone.ts'
import { NO_SOURCE_STATE, type SourceState } from '../../src/plan/source-state.ts'
import type { SourceReading, SourceScope } from '../../src/plan/sourced-sets.ts'
import { changesOf, ORIGIN, planOf } from '../support/plan.ts'
import { desiredZone, existingZone } from '../support/records.ts'

const AT = { file: 'zone.yaml', line: 1, column: 1 }
const RULE = { reads: 3, seconds: 1800 }
const START = Date.UTC(2026, 0, 1)
const MINUTE = 60_000
const recordsOf = (text: string): readonly DefinedRecord[] => desiredZone(ORIGIN, text).records
const POOL: SourceScope = { kind: 'rrset', name: 'pool.example.com.' as DomainName, type: 'A' }
const ALL: SourceScope = { kind: 'pattern' }

interface Reading {
  readonly scope?: SourceScope
  readonly serial?: SerialNumber
  readonly source?: string
  readonly selection?: string
  readonly rule?: { readonly reads: number; readonly seconds: number }
}

/** A source with the records of a zone text; null for one that cannot be read. */
function reading(
  text: string | null,
  { scope = POOL, serial, source = 'the source', selection = '', rule = RULE }: Reading = {},
): SourceReading {
  const problem: Diagnostic = { severity: 'warning', code: 'source-unreadable', message: 'connection refused' }
  const version = serial === undefined ? null : { serial, updated: null }
  return {
    source,
    place: source,
    selection,
    scope,
    rule,
    at: AT,
    result: text === null ? { state: 'failed', problem } : { state: 'read', records: recordsOf(text), version, emptiness: null },
  }
}

interface Case {
  readonly live: string
  readonly readings: readonly SourceReading[]
  readonly own?: string
  readonly state?: SourceState
  readonly minutes?: number
  readonly isAllowed?: boolean
  readonly zone?: Partial<DesiredZone>
}

function fill({ live, readings, own = '', state = NO_SOURCE_STATE, minutes = 0, isAllowed = false, zone = {} }: Case): FilledZone {
  return fillZone({
    desired: { ...desiredZone(ORIGIN, own), ...zone },
    existing: existingZone(ORIGIN, live),
    target: 'cloud',
    readings,
    state,
    now: START + minutes * MINUTE,
    isAllowed,
  })
}

/** The changes of a plan of the filled zone. */
const changes = (one: Case): string[] => changesOf(planOf(one.live, '', { desired: fill(one).desired }))

const kept = ({ quarantine }: FilledZone): string[] =>
  quarantine.map(({ name, type, data, isWhole, reads }) => `${name} ${type} ${data.join(',')}${isWhole ? ' whole' : ''} ${reads}`)

const THREE = 'pool A 192.0.2.1\npool A 192.0.2.2\npool A 192.0.2.3\n'

test('a value of several sources is kept as long as the strictest of their rules asks', () => {
  const rules = [
    { reads: 1, seconds: 3600 },
    { reads: 4, seconds: 60 },
  ]
  for (const order of [rules, [...rules].reverse()]) {
    const readings = order.map((rule, index) => reading('', { rule, source: `source ${index}` }))
    expect(fill({ live: THREE, readings }).quarantine).toMatchObject([{ rule: { reads: 4, seconds: 3600 } }])
  }
})

describe('a source that cannot be read', () => {
  test('leaves its RRset as it is, and the rest of the zone is planned', () => {
    const one = { live: `${THREE}www A 192.0.2.9\n`, own: 'www A 192.0.2.8\n', readings: [reading(null)] }
    expect(changes(one)).toEqual(['~ www A 192.0.2.9 -> www A 192.0.2.8'])
    const message = 'the source cannot be read: connection refused; pool.example.com. A stays as it is'
    expect(fill(one).diagnostics).toMatchObject([{ severity: 'warning', code: 'source-unreadable', message }])
  })

  test('says for how long that has been so', () => {
    const first = fill({ live: THREE, readings: [reading(null)] })
    const later = fill({ live: THREE, readings: [reading(null)], state: first.state, minutes: 130 })
    expect(later.diagnostics[0]?.message).toContain('cannot be read for 2 h 10 min, since 2026-01-01T00:00:00.000Z')
    expect(fill({ live: THREE, readings: [reading(THREE)], state: later.state, minutes: 131 }).state).toEqual(NO_SOURCE_STATE)
  })

  test('of a pattern leaves every RRset that it matches, and no other', () => {
    const live = 'a.apps A 192.0.2.1\nb.apps TXT "x"\nother A 192.0.2.2\n'
    const readings = [reading(null, { scope: { kind: 'pattern', name: '*.apps', type: 'A' } })]
    expect(changes({ live, readings })).toEqual(['- b.apps TXT "x"', '- other A 192.0.2.2'])
  })

  test('of one part of a merged RRset leaves all of it', () => {
    const readings = [reading('pool A 192.0.2.7\n', { source: 'one' }), reading(null, { source: 'two' })]
    expect(changes({ live: THREE, own: 'pool A 192.0.2.8\n', readings })).toEqual([])
  })

  test.each([
    ['an address', 'a A 192.0.2.1\n', 'a CNAME b\n'],
    ['an alias', 'a CNAME b\n', 'a A 192.0.2.1\n'],
  ])('keeps %s, also if another source has what cannot be beside it', (_, live, other) => {
    const readings = [
      reading(null, { scope: { kind: 'pattern', name: 'a*' }, source: 'one' }),
      reading(`${other}b A 192.0.2.2\n`, { scope: ALL, source: 'two' }),
    ]
    const one = { live, readings }
    expect(changes(one)).toEqual(['+ b A 192.0.2.2'])
    const [message = ''] = fill(one).diagnostics.map((found) => found.message)
    expect(message).toMatch(/a\.example\.com\. \S+ stays as it is; a\.example\.com\. \S+ is not created$/)
  })

  test.each([
    ['a A 192.0.2.1\n', 'a CNAME b\n'],
    ['a CNAME b\n', 'a A 192.0.2.1\n'],
  ])('keeps no record that one of the definition replaces: %j', (live, own) => {
    const readings = [reading(null, { scope: ALL })]
    expect(changes({ live, own, readings })).toHaveLength(2)
    // A record of the definition that this target does not get replaces nothing.
    const elsewhere = {
      rrsetTargets: [
        { name: 'a.example.com.' as DomainName, type: own.split(' ')[1] ?? '', ignored: false, included: [], excluded: ['cloud'] },
      ],
    }
    expect(changes({ live, own, readings, zone: elsewhere }).filter((one) => one.startsWith('-'))).toEqual([])
  })

  test('keeps the alias beside an RRset that two sources give and one of them lacks', () => {
    const readings = [
      reading('pool A 192.0.2.7\n', { source: 'one' }),
      reading(null, { source: 'two' }),
      reading('', { scope: ALL, source: 'three' }),
    ]
    expect(changes({ live: 'pool CNAME www\n', readings })).toEqual([])
  })

  test('is one warning for all RRsets that name it', () => {
    const scopes = ['a', 'b', 'new'].map((name): SourceScope => ({ kind: 'rrset', name: `${name}.example.com.` as DomainName, type: 'A' }))
    const readings = scopes.map((scope) => reading(null, { scope }))
    expect(fill({ live: 'a A 192.0.2.1\nb A 192.0.2.1\n', readings }).diagnostics.map(({ message }) => message)).toEqual([
      'the source cannot be read: connection refused; a.example.com. A and b.example.com. A stay as they are; new.example.com. A is not created',
    ])
    const gone = scopes.slice(0, 2).map((scope) => reading('', { scope }))
    expect(fill({ live: 'a A 192.0.2.1\nb A 192.0.2.1\n', readings: gone }).diagnostics.map(({ message }) => message)).toEqual([
      'a.example.com. A and b.example.com. A: no longer in the source, since 2026-01-01T00:00:00.000Z (1 read of 3); the plan with read 3 removes them, not before 2026-01-01T00:30:00.000Z',
    ])
  })

  test('does not create its RRset', () => {
    const { diagnostics } = fill({ live: 'www A 192.0.2.1\n', readings: [reading(null)] })
    expect(diagnostics[0]?.message).toContain('pool.example.com. A is not created')
  })

  test('keeps the counts of what was missing before', () => {
    const first = fill({ live: THREE, readings: [reading('')] })
    expect(fill({ live: THREE, readings: [reading(null)], state: first.state, minutes: 10 }).state.absent).toEqual(first.state.absent)
  })
})

describe('an RRset that vanishes', () => {
  test('is kept for three reads and 30 minutes, and then removed', () => {
    let state: SourceState = NO_SOURCE_STATE
    const seen: [number, number][] = []
    for (const minutes of [0, 10, 20, 29, 30]) {
      const one = { live: `${THREE}www A 192.0.2.9\n`, own: 'www A 192.0.2.9\n', readings: [reading('')], state, minutes }
      const filled = fill(one)
      seen.push([changes(one).length, filled.quarantine[0]?.reads ?? 0])
      state = filled.state
    }
    expect(seen).toEqual([
      [0, 1],
      [0, 2],
      [0, 3],
      [0, 4],
      [3, 0],
    ])
  })

  test('is kept until there were enough reads, however late they are', () => {
    const first = fill({ live: THREE, readings: [reading('')] })
    const second = fill({ live: THREE, readings: [reading('')], state: first.state, minutes: 10_000 })
    expect(kept(second)).toEqual(['pool.example.com. A 192.0.2.1,192.0.2.2,192.0.2.3 whole 2'])
    expect(second.diagnostics[0]?.message).toContain(
      'pool.example.com. A: no longer in the source, since 2026-01-01T00:00:00.000Z (2 reads of 3); the plan with read 3 removes it, not before 2026-01-01T00:30:00.000Z',
    )
  })

  test('is counted once by reads within a minute', () => {
    const first = fill({ live: THREE, readings: [reading('')] })
    expect(fill({ live: THREE, readings: [reading('')], state: first.state, minutes: 0.9 }).state).toEqual(first.state)
  })

  test.each([{ source: 'of a branch' }, { selection: 'other.example.com.' }])(
    'is counted for its source only: not for %j of a branch',
    (of) => {
      let state = NO_SOURCE_STATE
      for (const minutes of [0, 20, 40]) state = fill({ live: THREE, readings: [reading('', of)], state, minutes }).state
      const own = fill({ live: THREE, readings: [reading('')], state, minutes: 60 })
      expect(kept(own)).toEqual(['pool.example.com. A 192.0.2.1,192.0.2.2,192.0.2.3 whole 1'])
    },
  )

  test('is counted once by several plans of one read, whatever the rule', () => {
    const one = { live: THREE, readings: [reading('', { rule: { reads: 2, seconds: 0 } })] }
    expect(changes({ ...one, state: fill(one).state })).toEqual([])
  })

  test.each([
    ['first', [100_000, 0, 10, 20, 30], [1, 1, 2, 3, 0]],
    ['later', [0, 100_000, 10, 29, 30], [1, 2, 2, 3, 0]],
    ['in between, a little', [0, 10, 9.9, 20, 30], [1, 2, 2, 3, 0]],
  ])('is kept as long as otherwise if a machine whose clock is ahead reads %s', (_, times, reads) => {
    let state: SourceState = NO_SOURCE_STATE
    const seen = times.map((minutes) => {
      const filled = fill({ live: THREE, readings: [reading('')], state, minutes })
      state = filled.state
      return filled.quarantine[0]?.reads ?? 0
    })
    expect(seen).toEqual(reads)
  })

  test('is counted anew after it was there again', () => {
    const first = fill({ live: THREE, readings: [reading('')] })
    expect(fill({ live: THREE, readings: [reading(THREE)], state: first.state, minutes: 5 }).state).toEqual(NO_SOURCE_STATE)
  })

  test('is removed at once if that is allowed, or if the rule says so', () => {
    const gone = ['- pool A 192.0.2.1', '- pool A 192.0.2.2', '- pool A 192.0.2.3']
    expect(changes({ live: THREE, readings: [reading('')], isAllowed: true })).toEqual(gone)
    expect(changes({ live: THREE, readings: [reading('', { rule: { reads: 1, seconds: 0 } })] })).toEqual(gone)
  })

  test('makes room for a CNAME record, or the reverse', () => {
    const readings = [reading('', { scope: ALL })]
    expect(changes({ live: 'pool A 192.0.2.1\n', own: 'pool CNAME www\n', readings })).toHaveLength(2)
    const alias = [reading('pool A 192.0.2.1\n', { scope: ALL })]
    expect(changes({ live: 'pool CNAME www\n', readings: alias })).toHaveLength(2)
  })
})

test('the NS records of the apex are kept like others', () => {
  const scope: SourceScope = { kind: 'rrset', name: ORIGIN, type: 'NS' }
  const live = '@ NS ns1.example.net.\n@ NS ns2.example.net.\n@ NS ns3.example.net.\n'
  for (const text of ['', '@ NS ns1.example.net.\n', null]) {
    const one = { live, readings: [reading(text, { scope })] }
    expect(changes(one)).toEqual([])
    expect(fill(one).diagnostics.map(({ code }) => code)).toEqual([text === null ? 'source-unreadable' : 'quarantined'])
  }
})

describe('an RRset that shrinks', () => {
  test('keeps its values', () => {
    const one = { live: THREE, readings: [reading('pool A 192.0.2.1\n')] }
    expect(changes(one)).toEqual([])
    expect(kept(fill(one))).toEqual(['pool.example.com. A 192.0.2.2,192.0.2.3 1'])
  })

  test('keeps them beside a new value and a new TTL', () => {
    const one = {
      live: 'pool 300 A 192.0.2.1\npool 300 A 192.0.2.2\npool 300 A 192.0.2.3\n',
      readings: [reading('pool 3600 A 192.0.2.7\n')],
    }
    const lines = fill(one).desired.records.map(({ ttl, data }) => `${ttl} ${data}`)
    expect(lines).toEqual([7, 1, 2, 3].map((host) => `3600 192.0.2.${host}`))
  })

  test('changes at once if it has as many values', () => {
    expect(changes({ live: 'pool A 192.0.2.1\npool A 192.0.2.2\n', readings: [reading('pool A 192.0.2.1\npool A 192.0.2.7\n')] })).toEqual([
      '~ pool A 192.0.2.2 -> pool A 192.0.2.7',
    ])
  })
})

describe('a source with a serial', () => {
  const known = fill({ live: THREE, readings: [reading(THREE, { serial: serialNumber(20) })] }).state

  test.each([
    ['older', 19, true],
    ['older by arithmetic modulo 2^32', 2 ** 31 + 30, true],
    ['the same', 20, false],
    ['newer', 21, false],
  ])('that is %s', (_, serial, isStale) => {
    const one = {
      live: THREE,
      readings: [reading('pool A 192.0.2.7\npool A 192.0.2.8\npool A 192.0.2.9\n', { serial: serialNumber(serial) })],
      state: known,
    }
    expect(changes(one)).toHaveLength(isStale ? 0 : 3)
    expect(fill(one).diagnostics.map(({ code }) => code)).toEqual(isStale ? ['source-stale'] : [])
  })

  test.each([
    [-1, true],
    [0, false],
    [1, false],
  ])('or a time of its last change %i ms later', (later, isStale) => {
    const at = (updated: number): SourceReading => {
      const one = reading('')
      return one.result.state === 'read' ? { ...one, result: { ...one.result, version: { serial: null, updated } } } : one
    }
    const { state } = fill({ live: THREE, readings: [at(START)] })
    const found = fill({ live: THREE, readings: [at(START + later)], state, minutes: 10 })
    expect(found.diagnostics.map(({ code }) => code)).toEqual([isStale ? 'source-stale' : 'quarantined'])
  })

  test('that the definitions of a branch do not name stays known', () => {
    const other = fill({ live: THREE, readings: [reading(THREE, { serial: serialNumber(5), source: 'of a branch' })], state: known })
    const stale = fill({ live: THREE, readings: [reading('', { serial: serialNumber(19) })], state: other.state })
    expect(stale.diagnostics.map(({ code }) => code)).toEqual(['source-stale'])
    let { state } = stale
    for (let index = 0; index < 150; index += 1) {
      const one = reading(THREE, { serial: serialNumber(index), source: `source ${index}` })
      state = fill({ live: THREE, readings: [one], state }).state
    }
    expect(state.sources.size).toBe(100)
  })

  test('that is older is no read without an RRset, and is taken if that is allowed', () => {
    const one = { live: THREE, readings: [reading('', { serial: serialNumber(1) })], state: known }
    expect(fill(one).state.absent.size).toBe(0)
    expect(fill({ ...one, isAllowed: true }).state.sources.get('the source')?.version?.serial).toBe(1)
    expect(changes({ ...one, isAllowed: true })).toHaveLength(3)
  })
})

describe('a pattern', () => {
  test('provides what the definition does not have, and never the records of others', () => {
    const text = '@ NS ns1.example.net.\n@ TXT "x"\nwww A 192.0.2.7\nnew A 192.0.2.8\ndyn1 A 192.0.2.9\n'
    const one = {
      live: '@ NS ns2.example.net.\nwww A 192.0.2.1\n',
      own: 'www A 192.0.2.1\n',
      readings: [reading(text, { scope: ALL })],
      zone: { unmanaged: [{ name: 'dyn*' }] },
    }
    expect(changes(one)).toEqual(['+ @ TXT "x"', '+ new A 192.0.2.8'])
  })

  test('that comes first provides the RRset; one that cannot be read keeps what no other has', () => {
    const readings = [
      reading('a A 192.0.2.1\n', { scope: ALL, source: 'one' }),
      reading(null, { scope: { kind: 'pattern', name: 'b*' }, source: 'two' }),
      reading('a A 192.0.2.9\nbb A 192.0.2.9\n', { scope: ALL, source: 'three' }),
    ]
    expect(changes({ live: 'a A 192.0.2.5\nb A 192.0.2.6\nbb A 192.0.2.7\n', readings })).toEqual(['~ a A 192.0.2.5 -> a A 192.0.2.1'])
  })
})
