import { describe, expect, it } from 'vitest'
import { type CompiledChanges, compileChanges, compiledCalls, type UpdatePart } from '../../src/plan/compile-changes.ts'
import type { PlanInput } from '../../src/plan/make-plan.ts'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'
import { changesOf, ORIGIN, planOf } from '../support/plan.ts'
import { desiredZone, existing } from '../support/records.ts'

type Granularity = CompiledChanges['granularity']
type Of<G extends Granularity> = Extract<CompiledChanges, { granularity: G }>

const at = (granularity: Granularity, desired: string): Partial<PlanInput> => ({
  capabilities: { ...CLOUD_CAPABILITIES, granularity, maxRecords: null, servesApexNs: false },
  desired: desiredZone(ORIGIN, desired, { apexNs: 'manage' }),
})

function compiled<G extends Granularity>(granularity: G, before: string, after: string): Of<G> {
  const { changes } = planOf(before, '', at(granularity, after))
  return compileChanges(granularity, ORIGIN, existing(ORIGIN, before), changes) as Of<G>
}

const owner = (name: string): string => (name === ORIGIN ? '@' : name.slice(0, -ORIGIN.length - 1))

/** Replacements as text: `= www 300 A 192.0.2.1, 192.0.2.2`, `- www A`. */
const replacements = (before: string, after: string): string[] =>
  compiled('rrset', before, after).replacements.map(({ name, type, ttl, data }) =>
    data.length === 0 ? `- ${owner(name)} ${type}` : `= ${owner(name)} ${ttl ?? '-'} ${type} ${data.join(', ')}`,
  )

const updates = (before: string, after: string): string[] => (compiled('message', before, after).message?.updates ?? []).map(partText)

function partText(part: UpdatePart): string {
  if (part.action === 'delete-rrset') return `- ${owner(part.name)} ${part.type}`
  const { name, ttl, type, data } = part.record
  return part.action === 'add' ? `+ ${owner(name)} ${ttl ?? '-'} ${type} ${data}` : `- ${owner(name)} ${type} ${data}`
}

describe('one message', () => {
  it.each([
    [
      'adds apex NS records before it removes others, one by one',
      '@ NS a.example.net.\n@ NS b.example.net.\nx A 192.0.2.1',
      '@ NS c.example.net.\nx A 192.0.2.2',
      ['+ @ - NS c.example.net.', '- @ NS a.example.net.', '- @ NS b.example.net.', '- x A 192.0.2.1', '+ x - A 192.0.2.2'],
    ],
    ['all NS of the apex cannot go', '@ NS a.example.net.\nx A 192.0.2.1', 'x A 192.0.2.1', []],
    ['NS below the apex in any order', 's NS a.example.net.', 's NS b.example.net.', ['- s NS a.example.net.', '+ s - NS b.example.net.']],
    [
      'removes records before it adds a CNAME at their name',
      'x A 192.0.2.1',
      'x CNAME h.example.net.',
      ['- x A', '+ x - CNAME h.example.net.'],
    ],
    ['ignores duplicates', 'x 300 A 192.0.2.1\nx 300 A 192.0.2.1', 'x 300 A 192.0.2.1', []],
    [
      'an RRset that cannot have the TTLs that are wanted',
      'x 300 A 192.0.2.1\nx 300 A 192.0.2.2',
      'x 300 A 192.0.2.1\nx 600 A 192.0.2.2',
      [],
    ],
    [
      'unifies different TTLs',
      'x 300 A 192.0.2.1\nx 600 A 192.0.2.2',
      'x 300 A 192.0.2.1\nx 300 A 192.0.2.2',
      ['- x A', '+ x 300 A 192.0.2.1', '+ x 300 A 192.0.2.2'],
    ],
  ])('%s', (_, before, after, expected) => {
    expect(updates(before, after)).toEqual(expected)
    const { changes, calls } = planOf(before, '', at('message', after))
    expect([calls.total, compiledCalls(compiled('message', before, after), changes)]).toEqual(Array(2).fill(expected.length > 0 ? 1 : 0))
  })
})

describe('replacements of RRsets', () => {
  it.each([
    ['ignores duplicates', 'x 300 A 192.0.2.1\nx 300 A 192.0.2.1', 'x 300 A 192.0.2.1', []],
    [
      'unifies different TTLs',
      'x 300 A 192.0.2.1\nx 600 A 192.0.2.2',
      'x 300 A 192.0.2.1\nx 300 A 192.0.2.2',
      ['= x 300 A 192.0.2.1, 192.0.2.2'],
    ],
    [
      'adds a new target before its pointer changes, and removes the old one after it',
      'z A 192.0.2.1\nm MX 10 z',
      'a A 192.0.2.1\nm MX 10 a',
      ['= a - A 192.0.2.1', '= m - MX 10 a.example.com.', '- z A'],
    ],
    [
      'adds a chain from its end, and removes one from its start',
      'p CNAME q\nq CNAME r\nr A 192.0.2.1',
      'a CNAME b\nb CNAME c\nc A 192.0.2.1',
      ['= c - A 192.0.2.1', '= b - CNAME c.example.com.', '= a - CNAME b.example.com.', '- p CNAME', '- q CNAME', '- r A'],
    ],
    [
      'a CNAME goes before what takes its place, which comes before what points at it',
      'x CNAME h.example.net.',
      'a CNAME x\nx A 192.0.2.1',
      ['- x CNAME', '= x - A 192.0.2.1', '= a - CNAME x.example.com.'],
    ],
    [
      'two names swap their records',
      'a CNAME h.example.net.\nb A 192.0.2.1',
      'a A 192.0.2.1\nb CNAME h.example.net.',
      ['- a CNAME', '= a - A 192.0.2.1', '- b A', '= b - CNAME h.example.net.'],
    ],
    [
      'glue and delegation',
      's NS n.s\nn.s A 192.0.2.1',
      's NS m.s\nm.s A 192.0.2.2',
      ['= m.s - A 192.0.2.2', '= s - NS m.s.example.com.', '- n.s A'],
    ],
    ['additions first at one name', 'x A 192.0.2.1', 'x AAAA 2001:db8::1', ['= x - AAAA 2001:db8::1', '- x A']],
  ])('%s', (_, before, after, expected) => {
    expect(replacements(before, after)).toEqual(expected)
    expect(planOf(before, '', at('rrset', after)).calls.total).toBe(expected.length)
  })

  it('of a chain of thousands of names are fast', () => {
    const chain = (name: string): string =>
      Array.from(
        { length: 12_000 },
        (_, index) => `${name}${index} CNAME ${index === 11_999 ? 'h.example.net.' : `${name}${index + 1}`}`,
      ).join('\n')
    const before = existing(ORIGIN, chain('a'))
    const { changes } = planOf(chain('a'), '', at('file', chain('b')))
    const value = compileChanges('rrset', ORIGIN, before, changes)
    const { replacements: all } = value as Of<'rrset'>
    expect([all[0]?.name, all.at(-1)?.name]).toEqual(['b11999.example.com.', 'a11999.example.com.'])
  })
})

describe.each(['message', 'file'] as const)('a plan for a target that applies everything as one %s', (granularity) => {
  it.each([
    ['a CNAME becomes what another follows', 'a CNAME h.example.net.\nw CNAME a', 'a A 192.0.2.1\nw CNAME a', 2],
    ['two names swap their records', 'a CNAME h.example.net.\nb A 192.0.2.1', 'a A 192.0.2.1\nb CNAME h.example.net.', 2],
    ['a target is renamed with its pointer', 'a A 192.0.2.1\nw CNAME a', 'b A 192.0.2.1\nw CNAME b', 2],
  ])('is one call without splits or interruptions: %s', (_, before, after, changes) => {
    const plan = planOf(before, '', at(granularity, after))
    expect(plan.diagnostics).toEqual([])
    expect(changesOf(plan)).toHaveLength(changes)
    expect(plan.changes.map((change) => [change.after, 'split' in change])).toEqual(Array(changes).fill([[], false]))
    expect(plan.calls.total).toBe(1)
  })

  it('creates the zone first, with a separate call', () => {
    const plan = planOf(null, '', at(granularity, 'a A 192.0.2.1\nb A 192.0.2.1'))
    expect(plan.changes.map(({ after }) => after)).toEqual([[], [0], [0]])
    expect(plan.calls).toEqual({ create: 3, update: 0, delete: 0, total: 2 })
  })
})
