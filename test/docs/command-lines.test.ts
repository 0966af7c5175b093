/** Command lines in pages name commands and options that exist, and pages name diagnostics that exist. */
import { expect, test } from 'vitest'
import { DIAGNOSTIC_CODES } from '../../src/base/diagnostic-codes.ts'
import { PAGES, readPage } from './pages.ts'

/** The options of each command, by its first word, with those of its subcommands. */
const OPTIONS = new Map<string, Set<string>>()
for (const section of readPage('docs/commands.md').split(/^## /m).slice(1)) {
  const [command = ''] = section.split(/\s/, 1)
  const known = OPTIONS.get(command) ?? new Set(['--help', '--version', '--help-all', '--no-color', '--quiet', '--verbose'])
  for (const [, option = ''] of section.matchAll(/^\| `(?:-\w, )?(--[\w-]+)/gm)) known.add(option)
  OPTIONS.set(command, known)
}

const READ = PAGES.filter((page) => !/^CHANGELOG|decisions\/|docs\/commands\.md/.test(page))

/** Command lines in code spans and blocks, without comments. */
const commandLines = (text: string): string[] =>
  [...text.matchAll(/(?:^ *|[`$(|;&] ?|\b[A-Z_]+=\S+ |sudo |run: )zonewright ([a-z]+(?:[^`\n#|;&)]|\\\n)*)/gm)].map(([, line = '']) => line)

test('every command and option in the documents exists', () => {
  const lines = READ.flatMap((page) =>
    [...readPage(page).matchAll(/```[\s\S]*?```|`[^`\n]+`/g)].flatMap(([code]) => commandLines(code).map((line) => ({ page, line }))),
  )
  expect(lines.length).toBeGreaterThan(300)
  const unknown = lines.flatMap(({ page, line }) => {
    const command = line.split(/\s/, 1)[0] ?? ''
    const known = OPTIONS.get(command)
    if (known === undefined) return [`${page}: ${line}`]
    const own = line.split(' -- ')[0] ?? ''
    return [...own.matchAll(/(?<=\s)--[a-z][\w-]*/g)].flatMap(([option]) => (known.has(option) ? [] : [`${page}: ${option} of ${line}`]))
  })
  expect(unknown).toEqual([])
})

test('codes in the page for 3 a.m. and in Upgrading exist', () => {
  for (const page of ['docs/at-3-am.md', 'docs/upgrading.md']) {
    const codes = [...readPage(page).matchAll(/`\[?([a-z]+-[a-z-]+)\]?`/g)].map(([, code = '']) => code)
    expect(codes.length).toBeGreaterThan(1)
    expect(codes.filter((code) => !Object.hasOwn(DIAGNOSTIC_CODES, code) && code !== 'empty-zone')).toEqual([])
  }
})
