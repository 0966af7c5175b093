/** docs/records/ matches the program. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { renderRecordPages } from '../../scripts/record-pages/render-record-pages.ts'
import { parseDefinition } from '../../src/definition/parse/parse-definition.ts'
import { capabilitiesOfType, PROVIDER_TYPES } from '../../src/providers/registry.ts'

const FOLDER = resolve(import.meta.dirname, '../../docs/records')
const pages = renderRecordPages([...PROVIDER_TYPES].sort().map((type) => [type, capabilitiesOfType(type)] as const))

if (process.env['ZONEWRIGHT_UPDATE_RECORD_PAGES']) {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER)
  for (const [file, text] of pages) writeFileSync(join(FOLDER, file), text)
}

test('the pages match the program (otherwise: npm run update-record-pages)', () => {
  expect(readdirSync(FOLDER).sort()).toEqual([...pages.keys()].sort())
  for (const [file, text] of pages) expect(readFileSync(join(FOLDER, file), 'utf8'), file).toBe(text)
})

test.each([...pages].filter(([, text]) => text.includes('```yaml')))('the example of %s is a valid definition', (file, text) => {
  const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(text) ?? []
  const { zone, diagnostics } = parseDefinition(yaml, { file })
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
  expect(zone?.records.length).toBeGreaterThan(0)
})
