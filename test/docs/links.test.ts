/** Pages and anchors that messages and comments name. Those that pages link to are tested with the site. */
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { anchorOf, headingsOf, PAGES, ROOT, readPage } from './pages.ts'

const ANCHORS = new Map(PAGES.map((page) => [page, new Set(headingsOf(readPage(page)).map(anchorOf))]))

/** A link that leads nowhere, or null. */
function broken(from: string, target: string): string | null {
  const [path = '', anchor] = target.split('#')
  const file = path === '' ? from : normalize(join(dirname(from), path))
  const found = existsSync(join(ROOT, file)) && (anchor === undefined || ANCHORS.get(file)?.has(anchor) === true)
  return found ? null : `${from}: ${target}`
}

test('pages that the code names exist', () => {
  const files = ['src', 'scripts', 'templates', 'schemas', 'test', 'bench'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(?:ts|mjs|json|md)$/.test(path) && !/node_modules|corpora|recorded|docs\/|(?:release|site)\.test/.test(path))
      .map((path) => `${folder}/${path}`),
  )
  const named = files.flatMap((file) =>
    [...readPage(file).matchAll(/(?<![\w./-])docs\/[\w./-]+?\.md(?:#[\w-]+)?/g)].map(([target]) => [file, target] as const),
  )
  expect(named.length).toBeGreaterThan(30)
  const placeholder = /\/(?:NAME|CODE)\.md$/
  expect(
    named.filter(([, target]) => !placeholder.test(target) && broken('README.md', target) !== null).map((one) => one.join(': ')),
  ).toEqual([])
})
