import { expect, test } from 'vitest'
import type { ZoneOutcome } from '../../src/plan/plan.ts'
import { renderOutcome, renderPlan } from '../../src/report/render-report.ts'
import { changeOf, HOSTILE, planOf, zoneOf } from './plan-of.ts'

const OPTIONS = { color: false, width: null, verbose: false }

const VOID = new Set(['!doctype', 'meta', 'br'])

/** The text of the page; expects only the elements of the report, correctly nested. */
function textOf(page: string): string {
  const open: string[] = []
  const body = page.replace(/<style>.*?<\/style>/s, '')
  const text = body.replace(/<(\/?)([a-z0-9!]+)((?: [a-z-]+="[^"<>]*"| html| open)*)>/g, (_, slash: string, name: string) => {
    if (slash === '/') expect(open.pop()).toBe(name)
    else if (!VOID.has(name)) open.push(name)
    return ''
  })
  expect(open).toEqual([])
  expect(text).not.toMatch(/[<>]/)
  return text.replace(/&(lt|gt|amp|quot|#39);/g, (_, name: string) => ({ lt: '<', gt: '>', amp: '&', quot: '"' })[name] ?? "'")
}

test('a plan is a self-contained page with a row per change', () => {
  const plan = planOf([
    zoneOf(
      [
        changeOf('a.example.com. 300 A 192.0.2.1', 'b.example.com. 300 A 192.0.2.1'),
        changeOf('c.example.com. 300 A 192.0.2.1', 'c.example.com. - A 192.0.2.2'),
      ],
      {
        refusals: [{ name: 'updates', message: 'too many', allowed: false }],
      },
    ),
  ])
  const page = renderPlan(plan, 'html', OPTIONS)
  expect(page).toMatch(/^<!doctype html>\n/)
  expect(page).not.toMatch(/<script|<link|<img|https?:|url\(/)
  expect(page).toContain(
    '<tr><td class="r">-</td><td>c</td><td class="ttl">300</td><td>A</td><td class="r">192.0.2.1</td></tr>\n' +
      '<tr><td class="a">+</td><td>c</td><td class="ttl">default</td><td>A</td><td class="a">192.0.2.2</td></tr>',
  )
  expect(page).toContain('<tr><td class="r">-</td><td>a</td>')
  expect(page).toContain('<tr><td class="a">+</td><td>b</td>')
  expect(textOf(page)).toContain('REFUSED updates: too many')
})

test.each(HOSTILE)('hostile data %j is text', (evil) => {
  const zone = zoneOf([changeOf(null, `a.example.com. 300 TXT ${evil}`)], {
    target: evil,
    diagnostics: [{ severity: 'error', code: 'usage', message: evil }],
    refusals: [{ name: 'deletes', message: evil, allowed: true }],
  })
  const plan = { ...planOf([zone]), tool: evil }
  const outcome: ZoneOutcome = { plan: zone, outcomes: [{ state: 'failed', error: evil }], readBack: 'not-read', diagnostics: [] }
  const page = renderOutcome(plan, [outcome], 'html', OPTIONS)
  const visible = textOf(page)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the output must not contain them
  expect(visible).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]|\p{Cs}/u)
  if (/^[\x20-\x7e]+$/.test(evil)) expect(visible).toContain(`failed: ${evil}`)
})
