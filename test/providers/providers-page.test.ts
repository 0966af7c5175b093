import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { PROVIDER_NOTES } from '../../scripts/providers-page/notes.ts'
import { renderProvidersPage } from '../../scripts/providers-page/render-providers-page.ts'
import { capabilitiesOfType, PROVIDER_TYPES } from '../../src/providers/registry.ts'

const docs = resolve(import.meta.dirname, '../../docs')
const PAGE = resolve(docs, 'providers.md')
const types = [...PROVIDER_TYPES].sort().map((type) => [type, capabilitiesOfType(type)] as const)
const page = renderProvidersPage(types)

if (process.env['ZONEWRIGHT_UPDATE_PROVIDERS_PAGE']) writeFileSync(PAGE, page)

test('docs/providers.md matches the capabilities (otherwise: npm run update-providers-page)', () => {
  expect(readFileSync(PAGE, 'utf8')).toBe(page)
})

test('it has notes about every type of provider and no other', () => {
  expect(Object.keys(PROVIDER_NOTES).sort()).toEqual(types.map(([type]) => type))
})

test('a changed capability changes the page', () => {
  const changed = types.map(([type, capabilities]) => [type, { ...capabilities, maxRecords: 777 }] as const)
  expect(renderProvidersPage(changed)).toContain('at most 777')
})

test('a type without notes is an error', () => {
  expect(() => renderProvidersPage([['unknown', capabilitiesOfType('cloud')]])).toThrow('nothing about the provider type unknown')
})

test.each(Object.entries(PROVIDER_NOTES))('the setup of %s is a heading of a document', (_, { setup }) => {
  const [file = '', anchor] = setup.split('#')
  expect(existsSync(resolve(docs, file))).toBe(true)
  const anchors = [...readFileSync(resolve(docs, file), 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^a-z0-9 _-]/g, '')
      .replaceAll(' ', '-'),
  )
  expect(anchors).toContain(anchor)
})
