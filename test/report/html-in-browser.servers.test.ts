/** The HTML page in a real browser, by real keys and clicks. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { DomainName } from '../../src/dns/domain-name.ts'
import type { Plan, ZoneOutcome } from '../../src/plan/plan.ts'
import { loadFormat, renderOutcome, renderPlan } from '../../src/report/render-report.ts'
import { type Browser, CHROMIUM, openPage, type Page, startBrowser } from '../support/browser.ts'
import { describeWithTools } from '../support/skip.ts'
import { changeOf, HOSTILE, planOf, zoneOf } from './plan-of.ts'

const OPTIONS = { color: false, width: null, verbose: false }

const zone = (name: string, changes: Parameters<typeof zoneOf>[0], more: Parameters<typeof zoneOf>[1] = {}) =>
  zoneOf(changes, { zone: name as DomainName, ...more })

const SPF = ['"v=spf1 include:a.example.net ip4:192.0.2.0/24 ~all"', '"v=spf1 include:b.example.net ip4:192.0.2.0/24 mx ~all"']

const PLAN: Plan = planOf([
  zone(
    'example.com.',
    [
      changeOf(null, 'www.example.com. 300 A 192.0.2.1'),
      changeOf('mail.example.com. 300 A 192.0.2.15', 'mail.example.com. 3600 A 192.0.2.115'),
      changeOf(`example.com. 300 TXT ${SPF[0]}`, `example.com. 300 TXT ${SPF[1]}`),
      changeOf('old.example.com. 300 CNAME www.example.com.', null),
    ],
    { owner: 'team-a', refusals: [{ name: 'deletes', message: 'too many', allowed: false }] },
  ),
  zone('example.net.', [changeOf(null, 'a-rather-long-owner.example.net. 86400 AAAA 2001:db8::1')], { owner: 'team-b', target: 'other' }),
  zone('example.org.', [changeOf(null, 'www.example.org. 300 A 198.51.100.7')]),
  zone('kept.example.', [], { owner: 'team-a' }),
])

const visible = (page: Page): Promise<string[]> =>
  page.locator('details[data-zone]:visible').evaluateAll((all) => all.map((one) => one.getAttribute('data-zone') ?? ''))
const rows = (page: Page): Promise<string[]> =>
  page.locator('tbody tr:visible').evaluateAll((all) =>
    all.map((row) => {
      const texts = [...row.children].map((cell) => cell.textContent)
      return texts.join(' ').trim()
    }),
  )
const counts = (page: Page): Promise<string | null> => page.locator('#shown').textContent()
const focused = (page: Page): Promise<string> => page.evaluate('document.activeElement.textContent || document.activeElement.id')

describeWithTools([CHROMIUM], 'the page of a report in Chromium', () => {
  let browser: Browser
  beforeAll(async () => {
    await loadFormat('html')
    browser = await startBrowser()
  })
  afterAll(() => browser.close())

  /** Opens the page of a report until the end of the test, which fails if the page has reported a problem. */
  const open = async (html: string, options: Parameters<typeof openPage>[2] = {}): Promise<Page> => {
    // No section of the plan fits on the screen.
    const { page, problems } = await openPage(browser, html, { viewport: { width: 1280, height: 400 }, ...options })
    onTestFinished(async () => {
      await page.close()
      expect(problems).toEqual([])
    })
    return page
  }
  const openPlan = (plan = PLAN, options = {}) => open(renderPlan(plan, 'html', OPTIONS), options)

  test('opens a zone by keyboard, and marks only the changed part of each update', async () => {
    const page = await openPlan()
    expect(await page.locator('table:visible').count()).toBe(0)
    await page.keyboard.press('ArrowDown')
    expect(await focused(page)).toContain('example.com.')
    await page.keyboard.press('Enter')
    await page.locator('table:visible').waitFor()
    expect(await rows(page)).toEqual([
      `\u2212 @ 300 TXT ${SPF[0]}`,
      `+    ${SPF[1]}`,
      '\u2212 mail 300 A 192.0.2.15',
      '+  3600  192.0.2.115',
      '\u2212 old 300 CNAME www.example.com.',
      '+ www 300 A 192.0.2.1',
    ])
    const marked = await page.locator('tbody b').evaluateAll((all) => all.map((one) => one.closest('tr')?.className[0] + one.textContent))
    expect(marked).toEqual(['oa', 'nb', 'n mx', 'o300', 'o15', 'n3600', 'n115'])
    const lines = `[...document.querySelectorAll('tbody b')].map((one) => getComputedStyle(one).textDecorationLine)`
    expect(await page.evaluate(`[...new Set(${lines})]`)).toEqual(['line-through', 'underline'])
    await page.keyboard.press('ArrowDown')
    expect(await focused(page)).toContain('example.net.')
    await page.keyboard.press('o')
    await page.locator('table').nth(2).waitFor()
  })

  test.each([
    [1280, 1000],
    [800, 1200],
    [390, 2400],
  ])('at %i by %i, sections that fit on the screen are open, and buttons hold their text', async (width, height) => {
    const page = await openPlan(PLAN, { viewport: { width, height } })
    expect(await page.locator('table:visible').count()).toBe(3)
    const texts = `[...document.querySelectorAll('.filter button')].map((one) => [one.scrollWidth - one.clientWidth, one.scrollHeight - one.clientHeight])`
    expect(await page.evaluate(texts)).toEqual([
      [0, 0],
      [0, 0],
    ])
    const small = await openPlan(PLAN, { viewport: { width, height: 400 } })
    expect(await small.locator('details[data-zone][open]').count()).toBe(0)
  })

  test('filters by text, zone, owner, type and action, and Esc clears', async () => {
    const page = await openPlan()
    expect(await counts(page)).toBe('4 zones, 6 changes')
    await page.keyboard.press('/')
    await page.keyboard.type('192.0.2.115')
    await expect.poll(() => visible(page)).toEqual(['example.com.'])
    expect(await counts(page)).toBe('1 of 4 zones, 1 of 6 changes. Esc clears the filter.')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await expect.poll(() => rows(page)).toEqual(['\u2212 mail 300 A 192.0.2.15', '+  3600  192.0.2.115'])
    await page.keyboard.press('Escape')
    await expect.poll(() => visible(page)).toHaveLength(3)
    expect(await rows(page)).toHaveLength(6)

    await page.locator('#zone').fill('example.o')
    await expect.poll(() => visible(page)).toEqual(['example.org.'])
    await page.locator('#zone').fill('')
    await page.locator('#owner').selectOption({ label: 'team-b' })
    await expect.poll(() => visible(page)).toEqual(['example.net.'])
    await page.locator('#owner').selectOption({ label: 'No owner' })
    await expect.poll(() => visible(page)).toEqual(['example.org.'])
    await page.locator('#owner').selectOption({ label: 'team-a' })
    // The zone without changes is of this owner, too.
    await expect.poll(() => counts(page)).toContain('2 of 4 zones')
    await page.keyboard.press('Escape')
    await page.locator('#type').selectOption('AAAA')
    await expect.poll(() => visible(page)).toEqual(['example.net.'])
    await page.keyboard.press('Escape')
    await page.locator('#action').selectOption({ label: 'to delete' })
    await expect.poll(() => rows(page)).toEqual(['\u2212 old 300 CNAME www.example.com.'])
    await page.locator('#action').selectOption('refused')
    await expect.poll(() => visible(page)).toEqual(['example.com.'])
    await page.locator('#text').fill('nothing has this')
    await expect.poll(() => visible(page)).toEqual([])
  })

  test('a figure shows what it counts, by keyboard, and all again', async () => {
    const page = await openPlan()
    for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('2to update')
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Shift+Tab')
    expect(await focused(page)).toBe('1refused zone')
    await page.keyboard.press('Enter')
    await expect.poll(() => visible(page)).toEqual(['example.com.'])
    expect(await page.locator('.figures [aria-pressed=true]').count()).toBe(1)
    await page.keyboard.press('Enter')
    await expect.poll(() => visible(page)).toHaveLength(3)
    // Those of zones count no changes.
    expect(await page.locator('.figures button').allTextContents()).not.toContain('4zones')
  })

  test('a page without zones to open has no errors and no keys', async () => {
    const page = await openPlan(planOf([], [{ severity: 'error', code: 'usage', message: 'nothing to do' }]))
    expect(await page.locator('.messages').textContent()).toContain('nothing to do')
    expect(await page.locator('kbd').count()).toBe(0)
    await page.keyboard.press('ArrowDown')
  })

  test('an outcome says what was applied, and the filter finds what failed', async () => {
    const [first] = PLAN.zones as [ZoneOutcome['plan']]
    const outcome: ZoneOutcome = {
      plan: { ...first, refusals: [] },
      outcomes: [
        { state: 'applied' },
        { state: 'failed', error: 'the server refuses it' },
        { state: 'applied' },
        { state: 'skipped', because: 'mail failed' },
      ],
      readBack: 'equal',
      diagnostics: [],
    }
    const page = await open(renderOutcome({ ...PLAN, zones: [outcome.plan] }, [outcome], 'html', OPTIONS))
    expect(await page.locator('h1').textContent()).toBe('Applied in part: 1 failed, 1 skipped')
    expect(await page.locator('.head').textContent()).toContain('createdupdateddeleted')
    await page.locator('#action').selectOption('failed')
    await page.keyboard.press('Tab')
    await page.locator('summary').first().click()
    await expect.poll(() => rows(page)).toEqual(['\u2212 mail 300 A 192.0.2.15', '+  3600  192.0.2.115failed: the server refuses it'])
  })

  test.each([
    [1280, 'light'],
    [1280, 'dark'],
    [390, 'light'],
    [390, 'dark'],
  ] as const)('at %i wide and %s: nothing overflows, columns are aligned, text is legible', async (width, colorScheme) => {
    const page = await openPlan(PLAN, { viewport: { width, height: 800 }, colorScheme })
    await page.locator('#open').click()
    await page.locator('table').nth(2).waitFor()
    const facts = await page.evaluate(`(() => {
      const left = (element) => Math.round(element.getBoundingClientRect().left)
      const right = (element) => Math.round(element.getBoundingClientRect().right)
      const luminance = (color) => {
        const [r, g, b] = color.match(/[\\d.]+/g).map(Number).map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4))
        return 0.2126 * r + 0.7152 * g + 0.0722 * b
      }
      const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
      const page = luminance(getComputedStyle(document.body).backgroundColor)
      const texts = [...document.querySelectorAll('h1,.made,.facts,.count,.target,.label,td,.m,h2 small')].filter((one) => one.offsetParent !== null)
      const marks = [...document.querySelectorAll('td b')].map(getComputedStyle).map((style) => contrast(luminance(style.color), luminance(style.backgroundColor)))
      const heads = [...document.querySelectorAll('thead')].filter((one) => one.offsetParent !== null)
      const columns = (row) => [...row.children].map((cell, index) => (index === 2 ? right(cell) : left(cell)))
      return {
        overflow: document.documentElement.scrollWidth - innerWidth,
        contrast: Math.min(...texts.map((one) => contrast(luminance(getComputedStyle(one).color), page)), ...marks),
        tables: [...new Set(heads.map((head) => columns(head.rows[0]).join()))].length,
        cells: heads.every((head) => columns(head.rows[0]).join() === columns(head.parentElement.tBodies[0].rows[0]).join()),
        ttls: new Set([...document.querySelectorAll('td:nth-child(3)')].filter((one) => one.textContent && one.offsetParent !== null).map(right)).size,
        counts: [...new Set([...document.querySelectorAll('summary')].map((one) => [...one.querySelectorAll('.count')].map(right).join()))].filter(Boolean).length,
        head: [...document.querySelectorAll('.head span')].slice(-3).map(right).join() === [...document.querySelectorAll('summary .count')].slice(0, 3).map(right).join(),
      }
    })()`)
    expect(facts).toMatchObject({ overflow: 0, cells: true, tables: width === 1280 ? 1 : 0, ttls: 1, counts: 1 })
    expect((facts as { contrast: number }).contrast).toBeGreaterThan(4.5)
    if (width === 1280) expect(facts).toMatchObject({ head: true })
  })

  test('prints with every zone open, and closes them again', async () => {
    const page = await openPlan()
    expect((await page.pdf({ format: 'A4' })).subarray(0, 5).toString()).toBe('%PDF-')
    await page.evaluate(`dispatchEvent(new Event('beforeprint'))`)
    await page.emulateMedia({ media: 'print' })
    expect(await page.locator('table:visible').count()).toBe(3)
    expect(await page.locator('#filter').isVisible()).toBe(false)
    expect(await page.locator('#keys').isVisible()).toBe(false)
    // As wide as A4: the columns are those of a wide screen.
    await page.setViewportSize({ width: 700, height: 1000 })
    expect((await page.locator('summary .zone').first().boundingBox())?.width).toBeGreaterThan(150)
    expect(await page.locator('thead').first().isVisible()).toBe(true)
    await page.evaluate(`dispatchEvent(new Event('afterprint'))`)
    expect(await page.locator('details[data-zone][open]').count()).toBe(0)
  })

  test('without JavaScript zones open and show their lines; a link opens its zone', async () => {
    const page = await openPlan(PLAN, { javaScriptEnabled: false })
    expect(await page.locator('#filter').isVisible()).toBe(false)
    expect(await page.locator('#keys').isVisible()).toBe(false)
    await page.locator('summary').first().click()
    expect(await page.locator('pre:visible').textContent()).toContain('www\t300\tA\t192.0.2.1')
    const linked = await openPlan(PLAN, { hash: '#example.net.' })
    await linked.locator('table').waitFor()
    expect(await rows(linked)).toEqual(['+ a-rather-long-owner 86400 AAAA 2001:db8::1'])
  })

  test('400 zones with 60 changes are usable at once', async () => {
    const zones = Array.from({ length: 400 }, (_, index) => {
      const name = `zone-${index}.example.`
      const changes = Array.from({ length: 60 }, (_unused, host) =>
        host % 2 === 0
          ? changeOf(null, `host-${host}.${name} 3600 A 192.0.2.${host}`)
          : changeOf(`host-${host}.${name} 3600 A 192.0.2.${host}`, `host-${host}.${name} 3600 A 198.51.100.${host}`),
      )
      return zone(name, changes, { owner: `team-${index % 8}` })
    })
    const page = await openPlan(planOf(zones))
    expect(await counts(page)).toBe('400 zones, 24,000 changes')
    await page.locator('#text').fill('zone-399')
    await expect.poll(() => visible(page)).toEqual(['zone-399.example.'])
    await page.locator('details[data-zone="zone-399.example."] summary').click()
    await expect.poll(() => page.locator('tbody tr:visible').count()).toBe(90)
    // Going back, no zone is focused below what stays at the top.
    for (const key of ['c', 'Escape']) await page.keyboard.press(key)
    await page.locator('summary').nth(50).focus()
    for (let presses = 0; presses < 30; presses += 1) await page.keyboard.press('Shift+Tab')
    const { top, bar } = (await page.evaluate(
      `({ top: document.activeElement.getBoundingClientRect().top, bar: document.querySelector('.top').getBoundingClientRect().bottom })`,
    )) as { top: number; bar: number }
    expect(top).toBeGreaterThanOrEqual(bar)
    await page.keyboard.press('o')
    await page.keyboard.press('c')
    await expect.poll(() => page.locator('details[open]').count()).toBe(0)
  })

  describe('hostile data', () => {
    const EVIL = [
      ...HOSTILE,
      '</pre><script>alert(1)</script>',
      '</script><script>alert(1)</script>',
      '<!--',
      '"><svg onload=alert(1)>',
      '&lt;b&gt;&#10;+\tforged\t300\tA\t192.0.2.66',
      '\u200f\u202e\u2067gnp',
    ]
    test('stays text', async () => {
      const zones = EVIL.map((evil, index) =>
        zone(
          `z${index}.example.`,
          [
            changeOf(null, `a.z${index}.example. 300 TXT ${evil}`),
            changeOf(`b.z${index}.example. 300 TXT x`, `b.z${index}.example. 300 TXT ${evil}`, { split: evil }),
          ],
          {
            owner: evil,
            target: evil,
            refusals: [{ name: 'deletes', message: evil, allowed: false }],
            diagnostics: [{ severity: 'error', code: 'usage', message: evil, hint: evil }],
          },
        ),
      )
      const page = await openPlan({ ...planOf(zones), tool: EVIL.join() })
      await page.keyboard.press('o')
      await page
        .locator('table')
        .nth(EVIL.length - 1)
        .waitFor()
      expect(await page.locator('script').count()).toBe(1)
      expect(await page.locator('img, iframe, svg[onload], main script, td script').count()).toBe(0)
      // Three lines for each zone; no tab or line break of the data made another.
      expect(await page.locator('tbody tr').count()).toBe(3 * EVIL.length)
      const text = await page.locator('body').innerText()
      expect(text).toContain('</script><script>alert(1)</script>')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the page must not contain them
      expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/)
    })
  })
})
