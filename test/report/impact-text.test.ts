/** The lines with which reports lead. */
import { expect, test } from 'vitest'
import type { DomainName } from '../../src/dns/domain-name.ts'
import type { Impact, Outcome, ZonePlan } from '../../src/plan/plan.ts'
import { impactLines } from '../../src/report/impact-text.ts'
import { loadFormat, renderPlan } from '../../src/report/render-report.ts'
import { zoneViews } from '../../src/report/report.ts'
import { changeOf, planOf, zoneOf } from './plan-of.ts'

const WWW = 'www.example.com.' as DomainName
const APEX = 'example.com.' as DomainName

const IMPACT: Impact = {
  stopsAnswering: [
    { name: 'api.example.com.' as DomainName, types: ['A'], isGone: false },
    { name: WWW, types: ['A'], isGone: true },
  ],
  mail: [{ name: APEX, type: 'MX' }],
  nameservers: [{ name: 'sub.example.com.' as DomainName, type: 'NS' }],
  changesAll: true,
}

const ZONE: ZonePlan = zoneOf(
  [
    changeOf('www.example.com. 300 A 192.0.2.1', null),
    changeOf('api.example.com. 300 A 192.0.2.1', null),
    changeOf('example.com. 300 MX 10 a.', 'example.com. 300 MX 20 a.'),
    changeOf('sub.example.com. 86400 NS a.', 'sub.example.com. 86400 NS b.'),
  ],
  { impact: IMPACT, cachedAnswers: { seconds: 86_400, name: 'sub.example.com.' as DomainName, type: 'NS' } },
)

const LEAD = [
  'Stops answering: api.example.com. (A) and www.example.com.',
  'Mail records change: example.com. MX',
  'Name server records change: sub.example.com. NS',
  'All records change: example.com. at cloud',
  'Resolvers may return the old answer for up to 1 d (sub.example.com. NS)',
]

const PHRASE = '2 names stop answering, mail and name server records change, all records change in 1 zone'
const OPTIONS = { color: false, width: null, verbose: false }

test('a zone at several targets is said once, names in several zones up to ten', () => {
  const other = { ...ZONE, target: 'lab' }
  const lead = LEAD.map((line) => line.replace('at cloud', 'at cloud and example.com. at lab'))
  expect(impactLines(zoneViews({ plan: planOf([ZONE, other]), outcomes: null }))).toEqual(lead)
  const names = Array.from({ length: 12 }, (_, index) => ({ name: `h${index}.example.com.` as DomainName, types: ['A'], isGone: true }))
  const many = zoneOf([changeOf('h0.example.com. 300 A 192.0.2.1', null)], { impact: { ...IMPACT, stopsAnswering: names } })
  expect(impactLines(zoneViews({ plan: planOf([many]), outcomes: null }))[0]).toMatch(/h0\.example\.com\..* h9\.example\.com\. and 2 more$/)
})

test.each(['text', 'markdown', 'html', 'github', 'junit'] as const)('the format %s leads with them, before the counts', async (format) => {
  await loadFormat(format)
  const text = renderPlan(planOf([ZONE]), format, OPTIONS)
  const body = format === 'html' ? text.slice(text.indexOf('<body>')) : text
  const places = LEAD.map((line) => body.indexOf(line))
  expect(places).not.toContain(-1)
  const counts = format === 'html' ? '<b>2</b><span>to delete' : '2 to delete'
  const first = format === 'html' || format === 'text' ? (places.at(-1) as number) : body.indexOf(PHRASE)
  expect(first).toBeGreaterThan(-1)
  expect(body.indexOf(counts)).toBeGreaterThan(first)
  if (format !== 'html') expect(body).toContain(PHRASE)
})

test('a zone repeats how long caches hold old answers only beside other zones', () => {
  const render = (...zones: ZonePlan[]) => renderPlan(planOf(zones), 'text', OPTIONS)
  expect(render(ZONE)).not.toContain('caches may hold')
  expect(render(ZONE, { ...ZONE, target: 'lab' })).toContain('caches may keep old answers for 1 d (sub NS)')
})

test('the report of an apply says what it did: the rest did not happen', () => {
  const outcomes = (['applied', 'failed', 'applied', 'unknown'] as const).map(
    (state): Outcome => (state === 'applied' ? { state } : { state, error: 'no' }),
  )
  const report = { plan: planOf([ZONE]), outcomes: [{ plan: ZONE, outcomes, readBack: 'equal' as const, diagnostics: [] }] }
  expect(impactLines(zoneViews(report))).toEqual([
    'Stopped answering: www.example.com.',
    'Mail records changed: example.com. MX',
    'Resolvers may return the old answer for up to 1 d (sub.example.com. NS)',
  ])
  const none = outcomes.map((): Outcome => ({ state: 'skipped', because: 'x' }))
  const outcome = { plan: ZONE, outcomes: none, readBack: 'not-read' as const, diagnostics: [] }
  expect(impactLines(zoneViews({ ...report, outcomes: [outcome] }))).toEqual([])
})

test('an alias of a deleted name stopped answering if all is applied', () => {
  const alias = { name: 'alias.example.com.' as DomainName, types: ['A'], isGone: false }
  const zone = zoneOf([changeOf('www.example.com. 300 A 192.0.2.1', null), changeOf(null, 'new.example.com. 300 A 192.0.2.1')], {
    impact: { stopsAnswering: [alias, { name: WWW, types: ['A'], isGone: true }], mail: [], nameservers: [], changesAll: false },
  })
  const linesAfter = (...states: ('applied' | 'failed')[]) => {
    const outcomes = states.map((state): Outcome => (state === 'applied' ? { state } : { state, error: 'no' }))
    const outcome = { plan: zone, outcomes, readBack: 'equal' as const, diagnostics: [] }
    return impactLines(zoneViews({ plan: planOf([zone]), outcomes: [outcome] }))
  }
  expect(linesAfter('applied', 'applied')).toEqual(['Stopped answering: alias.example.com. (A) and www.example.com.'])
  expect(linesAfter('applied', 'failed')).toEqual(['Stopped answering: www.example.com.'])
})

test('the JSON document has them for policies', () => {
  expect(JSON.parse(renderPlan(planOf([ZONE]), 'json', OPTIONS)).zones[0].impact).toEqual(IMPACT)
})
