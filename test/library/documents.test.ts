/** The pages about the library: the reference is made of the types, and what a page quotes is in the example. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { libraryReference, REFERENCE } from '../../scripts/library-types.mjs'

const root = resolve(import.meta.dirname, '../..')
const FOLDER = join(root, 'docs/library')

test('no public type has changed: if one shall, run "npm run update-library-reference" and say so in the changelog', async () => {
  const page = readFileSync(REFERENCE, 'utf8')
  expect(await libraryReference()).toBe(page)
  // Each declaration is whole, and no type that another one names is left out.
  expect(page.match(/^.*[^;}`.]$(?=\n\n(?:\/\*\*|interface|type|const))/gm)).toBeNull()
})

test('the pages quote the examples', () => {
  const quotes = readdirSync(FOLDER).flatMap((page) => [
    ...readFileSync(join(FOLDER, page), 'utf8').matchAll(/^```ts (examples\/\S+)\n(.*?)^```$/gms),
  ])
  expect(quotes.length).toBeGreaterThan(4)
  for (const [, file = '', text = ''] of quotes) expect(readFileSync(join(root, file), 'utf8'), file).toContain(text)
})
