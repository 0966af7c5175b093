/** The site of the documents: every link of the documents leads somewhere, and what it refuses. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildSite } from '../../scripts/site/build-site.mjs'
import { temporaryDirectory } from '../support/temp-directory.ts'

const PROJECT = join(import.meta.dirname, '../..')

describe('the site of this repository', () => {
  const site = join(temporaryDirectory(), 'site')
  let search: ReturnType<typeof searchOf>
  beforeAll(() => {
    expect(buildSite(PROJECT, site).problems).toEqual([])
    search = searchOf(site)
  })

  test('has a page for every document, and loads nothing from elsewhere', () => {
    const files = readdirSync(site, { recursive: true, encoding: 'utf8' })
    expect(files).toEqual(
      expect.arrayContaining(['index.html', 'CONTRIBUTING.html', join('docs', 'index.html'), join('docs', 'records', 'SRV.html')]),
    )
    for (const file of files.filter((name) => name.endsWith('.html')))
      expect(readFileSync(join(site, file), 'utf8').match(/(?:src|<link[^>]*href)="(?:\/|\w+:)[^"]*"/g), file).toBeNull()
  })

  test.each([
    ['SRV record', 'docs/records/SRV.html'],
    ["Let's Encrypt", 'docs/tasks/acme-and-external-dns.html'],
    ['lets encrypt', 'docs/tasks/acme-and-external-dns.html'],
    ['certbot', 'docs/tasks/acme-and-external-dns.html'],
    ['terraform import', 'docs/tasks/terraform.html'],
    ['upgrade', 'docs/upgrading.html'],
    ['upgrade 0.1.0 journal', 'docs/upgrading.html'],
    ['old address', 'docs/at-3-am.html'],
    ['troubleshooting', 'docs/at-3-am.html'],
    ['apply killed in the middle', 'docs/at-3-am.html'],
    ['how do I undo the last change?', 'docs/at-3-am.html'],
    ['without downtime', 'docs/tasks/moving-zones.html'],
    ['ttl-rouded', 'docs/diagnostics.html'],
    ['how to back up the service', 'docs/service/running.html'],
    ['two people must approve apex', 'docs/tasks/approvals.html'],
    ['api nodejs', 'docs/library/index.html'],
    ['dual provider', 'docs/tasks/several-providers.html'],
    ['multi-provider cloudflare NS', 'docs/tasks/several-providers.html'],
    ['BIND', 'docs/tasks/name-servers.html'],
    ['what is a target', 'docs/glossary.html'],
    ['take back a change', 'docs/at-3-am.html'],
    ['wrong change', 'docs/at-3-am.html'],
    ['allow deletes in CI', 'docs/tasks/ci.html'],
    ['octodns take over', 'docs/tasks/octodns-and-dnscontrol.html'],
    ['ptr from forward', 'docs/tasks/reverse-zones.html'],
    ['dkim 2048-bit key', 'docs/records/TXT.html'],
  ])('the search finds %s among the first three', (query, page) => {
    const found = search(query).map(({ href }) => href.replace(/#.*/, ''))
    expect(found.slice(0, 3)).toContain(page)
  })

  test('a query of which no word is in the documents finds nothing', () => {
    expect(search('the qwxzqwxz')).toEqual([])
  })
})

/** The search of a site, as a browser loads it. */
function searchOf(site: string): (query: string) => readonly { readonly href: string }[] {
  const window: Record<string, unknown> = {}
  const context = createContext(Object.assign(window, { window, self: window, globalThis: window }))
  for (const file of ['minisearch.js', 'sections.js', 'search.js']) runInContext(readFileSync(join(site, 'site', file), 'utf8'), context)
  return runInContext('window.makeSearch(window.SECTIONS)', context)
}

/** Builds the site of a repository with these files. */
function siteOf(files: Readonly<Record<string, string>>): { problems: readonly string[]; out: string } {
  const root = temporaryDirectory()
  const all = {
    'README.md': '# Start\n',
    'CONTRIBUTING.md': '',
    'CHANGELOG.md': '',
    'docs/README.md': MAP,
    'docs/ttl.md': '# TTL\n',
    ...files,
  }
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const out = join(root, 'out')
  return { ...buildSite(root, out), out }
}

const MAP = '# Map\n\n## Tasks\n\n- [TTL](ttl.md): how long\n- [Contributing](../CONTRIBUTING.md): us\n- [Changes](../CHANGELOG.md): news\n'

test.each([
  ['[a](docs/nowhere.md)', 'README.md: there is no docs/nowhere.md'],
  ['[a](docs/ttl.md#rounding)', 'README.md: docs/ttl.md has no heading #rounding'],
  ['[a](../secret.md)', 'README.md: there is no ../secret.md'],
  ['![a](docs/plan.svg)', 'README.md: there is no docs/plan.svg'],
])('%s is a dead link, and nothing is written', (link, problem) => {
  const { problems, out } = siteOf({ 'README.md': `# Start\n\n${link}\n` })
  expect(problems).toEqual([problem])
  expect(existsSync(out)).toBe(false)
})

test('a page that no other leads to is refused', () => {
  expect(siteOf({ 'docs/lost.md': '# Lost\n' }).problems).toEqual(['docs/lost.md: no page leads here'])
  expect(siteOf({ 'docs/README.md': `${MAP}- [B](b.md): x\n` }).problems).toEqual(['docs/README.md: there is no docs/b.md'])
})

test('links lead to pages, files and folders; anchors are those of GitHub', () => {
  const text =
    '# TTL\n\n## `ttl`: what, why?\n\n## Same\n\n## Same\n\n[b](#same-1) [c](../README.md) [d](../examples/a.ts) [e](../examples) ![p](p.svg)\n'
  const files = {
    'examples/a.ts': 'a < b\n',
    'docs/p.svg': '<svg/>',
    'docs/ttl.md': text,
    'README.md': '# S\n\n[t](docs/ttl.md#ttl-what-why)\n',
  }
  const { problems, out } = siteOf(files)
  expect(problems).toEqual([])
  const page = readFileSync(join(out, 'docs/ttl.html'), 'utf8')
  for (const href of ['#same-1', '../index.html', '../examples/a.ts.html', '../examples/index.html', 'p.svg'])
    expect(page).toContain(`="${href.replace('#', 'ttl.html#')}"`)
  expect(readFileSync(join(out, 'examples/a.ts.html'), 'utf8')).toContain('a &lt; b')
  expect(readFileSync(join(out, 'docs/p.svg'), 'utf8')).toBe('<svg/>')
})

test('HTML in a document is text', () => {
  const { out } = siteOf({ 'README.md': '# <script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n\n[x](javascript:alert(1))\n' })
  expect(readFileSync(join(out, 'index.html'), 'utf8')).not.toMatch(/<script>|<img|href="javascript/)
})

test('a folder with other files is not replaced, an earlier site is', () => {
  const { out } = siteOf({})
  const root = dirname(out)
  expect(buildSite(root, out).problems).toEqual([])
  expect(buildSite(root, join(root, 'docs')).problems).toEqual([
    `${join(root, 'docs')}: this folder has other files than those of a site; name a new folder`,
  ])
  expect(existsSync(join(root, 'docs/ttl.md'))).toBe(true)
})
