import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { DomainName } from '../../src/dns/domain-name.ts'
import type { ZoneOutcome } from '../../src/plan/plan.ts'
import { loadFormat, renderOutcome, renderPlan, renderValidation, renderVerification } from '../../src/report/render-report.ts'
import { changeOf, planOf, zoneOf } from './plan-of.ts'

await loadFormat('html')

const OPTIONS = { color: false, width: null, verbose: false }
const VOID = new Set(['!doctype', 'meta', 'br', 'input', 'rect', 'path'])

/** The text of the page without its own style and script; expects correctly nested elements. */
function textOf(page: string): string {
  const open: string[] = []
  const body = page.replace(/<style>.*?<\/style>/s, '').replace(/<script>.*?<\/script>/s, '')
  const text = body.replace(/<(\/?)([a-z0-9!]+)((?: [a-zA-Z0-9-]+(?:="[^"<>]*")?)*)\/?>/g, (_, slash: string, name: string) => {
    if (slash === '/') expect(open.pop()).toBe(name)
    else if (!VOID.has(name)) open.push(name)
    return ''
  })
  expect(open).toEqual([])
  expect(text).not.toMatch(/[<>]/)
  return text.replace(/&(lt|gt|amp|quot|#39);/g, (_, name: string) => ({ lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" })[name] ?? name)
}

/** The lines of the zones in the page. */
const linesOf = (page: string): string[] =>
  [...page.matchAll(/<pre>\n(.*?)\n<\/pre>/gs)].flatMap(([, text = '']) => text.split('\n').map((line) => line.replaceAll('\t', ' ')))

test('a plan is a self-contained page with a line per change', () => {
  const plan = planOf([
    zoneOf(
      [
        changeOf('a.example.com. 300 A 192.0.2.1', 'b.example.com. 300 A 192.0.2.1'),
        changeOf('c.example.com. 300 A 192.0.2.1', 'c.example.com. - A 192.0.2.2'),
        changeOf('d.example.com. 300 A 192.0.2.1', null),
        changeOf(null, 'e.example.com. 300 A 192.0.2.1'),
      ],
      { refusals: [{ name: 'updates', message: 'too many', allowed: false }] },
    ),
  ])
  const page = renderPlan(plan, 'html', OPTIONS)
  expect(page).toMatch(/^<!doctype html>\n/)
  expect(page).not.toMatch(/<link|<img|<iframe|https?:|url\(|@import| style=| on[a-z]+=|innerHTML|eval\(/)
  const [a, c] = [
    ['~- a 300 A 192.0.2.1', '~+ b   '],
    ['~- c 300 A 192.0.2.1', '~+  default  192.0.2.2'],
  ]
  expect(linesOf(page)).toEqual([...a, ...c, '- d 300 A 192.0.2.1', '+ e 300 A 192.0.2.1'])
  expect(textOf(page)).toContain('REFUSED updates: too many')
})

test('the column of names is wide enough for long names, and data keep their quotes', () => {
  const plan = planOf([zoneOf([changeOf(null, `${'service.'.repeat(5)}example.com. 300 TXT "a & <b>"`)])])
  const page = renderPlan(plan, 'html', OPTIONS)
  expect(page).toContain('--name:30ch')
  expect(page).toContain('\t"a &amp; &lt;b&gt;"\n')
})

test('the policy of the page allows its own style and script, and nothing else', () => {
  const page = renderPlan(planOf([zoneOf([])]), 'html', OPTIONS)
  const hashOf = (tag: string): string => {
    const text = new RegExp(`<${tag}>(.*?)</${tag}>`, 's').exec(page)?.[1] ?? ''
    return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  }
  const own = `style-src ${hashOf('style')}; script-src ${hashOf('script')}`
  expect(page).toContain(`content="default-src 'none'; ${own}; base-uri 'none'; form-action 'none'"`)
})

test('an outcome has the reasons on top, and the zones with problems before the others', () => {
  const zones = ['a.example.', 'b.example.', 'c.example.'].map((zone) =>
    zoneOf([changeOf(null, `www.${zone} 300 A 192.0.2.1`)], { zone: zone as DomainName }),
  )
  const error = { severity: 'error', code: 'apply-altered', message: 'changed by others' } as const
  const outcomes = zones.map((plan, at): ZoneOutcome => {
    const outcome = at === 1 ? ({ state: 'failed', error: 'no permission' } as const) : ({ state: 'applied' } as const)
    return { plan, outcomes: [outcome], readBack: 'equal', diagnostics: at === 2 ? [error] : [] }
  })
  const page = renderOutcome(planOf(zones), outcomes, 'html', OPTIONS)
  const parts = [
    '1 change in b.example. at cloud failed: no permission',
    'changed by others',
    '<main>',
    ...['b', 'c', 'a'].map((name) => `data-zone="${name}.example."`),
  ]
  expect(parts.map((part) => page.indexOf(part))).toEqual(parts.map((part) => page.indexOf(part)).toSorted((a, b) => a - b))
  expect(parts.every((part) => page.includes(part))).toBe(true)
})

const VERIFIED = {
  target: 'cloud',
  pending: 0,
  rendered: 'match',
  renderedDifferences: [],
  hidden: [],
  diagnostics: [],
  nameServers: [],
} as const

test.each([
  [0, 3, 'Verified: 1 of 1 zone as defined, 3 record sets queried.'],
  [2, 3, '1 of 1 zone not as defined: 2 changes pending'],
  [1, 1, '1 of 1 zone not as defined: 1 change pending, 2 answers not as defined'],
])('a verification with %i pending changes and %i of 3 right answers: %s', (pending, agreed, headline) => {
  const server = { server: '192.0.2.53:53', asked: 3, agreed, differences: [], covered: [], failure: null }
  const zone = { ...VERIFIED, zone: 'example.com.' as DomainName, pending, nameServers: [server] }
  const links = [{ text: 'pull request #7', url: 'https://github.example/team/dns/pull/7' }]
  const origin = { time: '2026-11-27T10:00:00.000Z', links }
  const page = renderVerification({ zones: [zone], diagnostics: [] }, 'html', { ...OPTIONS, tool: 'zonewright 0.1.0', origin })
  expect(page).toContain(`<h1>${headline}</h1>`)
  expect(page).toContain(
    'zonewright 0.1.0 · 2026-11-27 10:00 UTC · <a href="https://github.example/team/dns/pull/7">pull request #7</a></p>',
  )
})

test('400 zones with 60 changes each are less than 1.5 MB', { tags: ['long'] }, () => {
  const zones = Array.from({ length: 400 }, (_, zone) => {
    const name = `zone-${zone}.example.`
    const changes = Array.from({ length: 60 }, (_unused, index) =>
      index % 2 === 0
        ? changeOf(null, `host-${index}.${name} 3600 A 192.0.2.${index}`)
        : changeOf(`host-${index}.${name} 3600 A 192.0.2.${index}`, `host-${index}.${name} 3600 A 198.51.100.${index}`),
    )
    return zoneOf(changes, { zone: name as DomainName, owner: `team-${zone % 8}` })
  })
  const page = renderPlan(planOf(zones), 'html', OPTIONS)
  expect(Buffer.byteLength(page)).toBeLessThan(1_500_000)
  expect(page.match(/<details data-zone/g)).toHaveLength(400)
})

test('a validation names the program that made it, and is one without problems', () => {
  const validation = { figures: { zones: 1, records: 2, files: 1 }, zones: [], diagnostics: [] }
  const options = { ...OPTIONS, tool: 'zonewright 1.2.3' }
  expect(textOf(renderValidation(validation, 'html', options))).toMatch(/zonewright 1\.2\.3\nNo problems/)
  expect(textOf(renderValidation(validation, 'html', OPTIONS))).toMatch(/^Validation$/m)
})
