/** docs/README.md is the map of all pages, from which their navigation is made. */
import { expect, test } from 'vitest'
import { headingsOf, linksOf, PAGES, readPage } from './pages.ts'

const MAP = readPage('docs/README.md')

test('the map has groups of pages, a line for each', () => {
  const [head = '', ...groups] = MAP.trimEnd().split(/\n\n(?=## )/)
  expect(head).toBe('# Documents')
  expect(groups.length).toBeGreaterThan(6)
  for (const group of groups)
    expect(group).toMatch(/^## [^\n]+\n(?:\n- \[[^\]\n]+\]\([\w./-]+\.md\): [^\n]+(?=\n|$))(?:\n- \[[^\]\n]+\]\([\w./-]+\.md\): [^\n]+)*$/)
})

test('every page is on the map once; of record types, lints, operations and decisions the first', () => {
  const isListedElsewhere = (page: string): boolean =>
    /^docs\/(?:records|lints|service\/reference|decisions)\//.test(page) && !page.endsWith('/README.md')
  const pages = PAGES.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md' && !isListedElsewhere(page))
  const listed = linksOf(MAP).filter((target) => !target.startsWith('../'))
  expect(listed.map((target) => `docs/${target}`).sort()).toEqual([...pages].sort())
})

test('the lists of decisions and lints are complete', () => {
  for (const folder of ['decisions', 'lints'])
    for (const page of PAGES.filter((one) => one.startsWith(`docs/${folder}/`) && !one.endsWith('/README.md')))
      expect(readPage(`docs/${folder}/README.md`)).toContain(`](${page.split('/').at(-1)})`)
})

test('headings are no questions, and each page begins with one', () => {
  for (const page of PAGES.filter((one) => one !== 'CHANGELOG.md')) {
    expect(readPage(page).replace(/^(?:<!--.*-->\n+)?/, ''), page).toMatch(/^# /)
    expect(
      headingsOf(readPage(page)).filter((title) => title.endsWith('?')),
      page,
    ).toEqual([])
  }
})

test('README.md has at most 150 lines, and shows a plan first', () => {
  const lines = readPage('README.md').split('\n')
  expect(lines.length).toBeLessThanOrEqual(151)
  expect(lines.slice(0, 8).join('\n')).toContain('](docs/images/plan.svg)')
})
