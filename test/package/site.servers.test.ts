/** The site of the documents in a real browser, opened from its files. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { buildSite } from '../../scripts/site/build-site.mjs'
import { type Browser, CHROMIUM, type Page, startBrowser } from '../support/browser.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

describeWithTools([CHROMIUM], 'the site in Chromium', () => {
  const site = join(temporaryDirectory(), 'site')
  let browser: Browser
  beforeAll(async () => {
    buildSite(join(import.meta.dirname, '../..'), site)
    browser = await startBrowser()
  })
  afterAll(() => browser.close())

  /** Opens a page until the end of the test, which fails if it reports a problem or loads anything that is not a file of the site. */
  async function open(path: string, options: Parameters<Browser['newPage']>[0] = {}): Promise<Page> {
    const { href } = pathToFileURL(`${site}/`)
    const page = await browser.newPage(options)
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (message) => problems.push(message.text()))
    page.on('request', (request) => {
      if (!request.url().startsWith(href)) problems.push(request.url())
    })
    onTestFinished(async () => {
      await page.close()
      expect(problems).toEqual([])
    })
    await page.goto(href + path)
    return page
  }

  const PAGES = [
    'index.html',
    'docs/index.html',
    'docs/configuration.html',
    'docs/diagnostics.html',
    'docs/records/SRV.html',
    'docs/library/reference.html',
  ]

  test.each(PAGES)('%s fits a screen that is 390 wide', async (path) => {
    const page = await open(path, { viewport: { width: 390, height: 844 } })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    expect(await page.locator('nav li:visible').count()).toBe(0)
    await page.click('nav summary')
    expect(await page.locator('nav li:visible').count()).toBeGreaterThan(20)
  })

  test.each([
    ["Let's Encrypt", 'docs/tasks/acme-and-external-dns.html'],
    ['apply killed in the middle', 'docs/at-3-am.html'],
  ])('the search finds %s from the keyboard', async (query, path) => {
    const page = await open('docs/configuration.html')
    await page.keyboard.press('/')
    // At once: each letter has results of its own.
    await page.keyboard.insertText(query)
    await page.waitForSelector('.search li a')
    const found = await page.locator('.search li a').evaluateAll((all) => all.slice(0, 3).map((one) => one.getAttribute('href') ?? ''))
    expect(found.map((href) => href.replace(/^\.\.\/|#.*/g, ''))).toContain(path)
    const first = new URL(found[0] ?? '', page.url()).href
    await page.keyboard.press('Enter')
    await page.waitForURL(first)
  })

  test('light or dark is that of the system until the reader chooses', async () => {
    const page = await open('index.html', { colorScheme: 'dark' })
    const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
    const dark = await background()
    await page.click('.theme')
    const light = await background()
    expect([dark, light]).toEqual(['rgb(20, 23, 26)', 'rgb(255, 255, 255)'])
    await page.reload()
    expect(await background()).toBe(light)
  })

  test('everything can be read without JavaScript', async () => {
    const page = await open('docs/index.html', { javaScriptEnabled: false, viewport: { width: 390, height: 844 } })
    await page.click('nav summary')
    await page.click('nav a[href="configuration.html"]')
    expect(await page.locator('h1').textContent()).toContain('onfiguration')
  })

  test('a copied command has no prompt and no output', async () => {
    const page = await open('index.html', { viewport: { width: 1280, height: 800 } })
    await page.evaluate('Object.defineProperty(navigator, "clipboard", { value: { writeText: (text) => { window.copied = text } } })')
    await page.locator('.code:has(.command)').first().hover()
    await page.locator('.code:has(.command) button').first().click()
    expect(await page.evaluate('window.copied')).toMatch(/^zonewright /)
  })
})
