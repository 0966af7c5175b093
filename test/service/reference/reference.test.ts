import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { renderReference } from '../../../scripts/service-reference/render-reference.ts'
import { ROUTES } from '../../../src/service/api/routes.ts'

const FOLDER = fileURLToPath(new URL('../../../docs/service/reference/', import.meta.url))
const pages = renderReference(ROUTES)

if (process.env['ZONEWRIGHT_UPDATE_REFERENCE']) {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER)
  for (const { file, text } of pages) writeFileSync(`${FOLDER}${file}`, text)
}

test('the reference has one page per section and no other', () => {
  expect(readdirSync(FOLDER).sort()).toEqual(pages.map(({ file }) => file).sort())
})

test.each(pages.map(({ file, text }): [string, string] => [file, text]))(
  '%s matches the declarations (otherwise: npm run update-reference)',
  (file, text) => expect(readFileSync(`${FOLDER}${file}`, 'utf8')).toBe(text),
)

test('links within the reference are valid', () => {
  const anchors = new Map(
    pages.map(({ file, text }) => [file, new Set([...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => slug(title)))]),
  )
  for (const { file, text } of pages) {
    for (const [, page = '', anchor = ''] of text.matchAll(/\]\(([a-z-]*\.md)?#([^)]*)\)/g))
      expect([file, anchor, anchors.get(page || file)?.has(anchor)]).toEqual([file, anchor, true])
  }
})

/** The anchor of a heading. */
const slug = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9 _-]/g, '')
    .replaceAll(' ', '-')
