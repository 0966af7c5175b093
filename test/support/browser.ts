import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
// biome-ignore lint/correctness/noUnresolvedImports: biome does not read the exports of this CommonJS package
import playwright from 'playwright-core'
import { temporaryDirectory } from './temp-directory.ts'
import { findTool } from './tools.ts'

export type Browser = Awaited<ReturnType<typeof playwright.chromium.launch>>
export type Page = Awaited<ReturnType<Browser['newPage']>>
type ContextOptions = Exclude<Parameters<Browser['newPage']>[0], undefined>

/** Debian's names of Chromium, the smallest first. */
const PROGRAMS = ['chromium-headless-shell', 'chromium', 'google-chrome']

/** The name of an installed Chromium; that of the package to install if there is none. */
export const CHROMIUM = PROGRAMS.find((name) => findTool(name) !== null) ?? (PROGRAMS[0] as string)

/** Starts a browser without a window, with nothing of the user's. */
export const startBrowser = (): Promise<Browser> =>
  playwright.chromium.launch({ executablePath: findTool(CHROMIUM) ?? CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] })

/** A page opened from a file, and what went wrong in it: errors, messages on the console and requests for anything else. */
export async function openPage(browser: Browser, html: string, options: ContextOptions & { readonly hash?: string } = {}) {
  const file = join(temporaryDirectory(), 'report.html')
  writeFileSync(file, html)
  const { href } = pathToFileURL(file)
  const { hash = '', ...context } = options
  const page = await browser.newPage(context)
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => problems.push(message.text()))
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    if (request.url().split('#')[0] !== href) problems.push(`request: ${request.url()}`)
  })
  await page.goto(href + hash)
  return { page, problems }
}
