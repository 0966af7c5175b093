import { readFileSync } from 'node:fs'
import { expect, it, test } from 'vitest'
import { readConfig } from '../../src/config/read-config.ts'
import { parseDefinition } from '../../src/definition/parse/parse-definition.ts'

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const text = read('docs/configuration.md')
const schema = JSON.parse(read('schemas/config.schema.json'))
const blocks = (page: string, kind: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`yaml ${kind}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, block]) => block ?? '')
const others = read('docs/tasks/acme-and-external-dns.md')
const definitions = read('docs/definitions.md')
const examples = [...blocks(text, 'config'), ...blocks(others, 'config')]
const PLACE = { file: 'zonewright.yaml', folder: '/srv', cwd: '/srv' }

it('has examples', () => expect(examples.length).toBeGreaterThanOrEqual(2))
test.each(examples)('example %# loads without a diagnostic', (example) => expect(readConfig(example, PLACE).diagnostics).toEqual([]))

test.each([...blocks(others, 'zone'), ...blocks(definitions, 'zone')])('definition %# has no problem', (example) => {
  const { diagnostics, zone } = parseDefinition(example, { file: 'zone.yaml' })
  expect([diagnostics, zone === null]).toEqual([[], false])
})

it('names every key of the schema', () => {
  const objects = [schema, ...['rule', 'defaults', 'safety', 'provider'].map((name) => schema.definitions[name])]
  const missing = objects.flatMap((object) => Object.keys(object.properties)).filter((key) => !text.includes(`\`${key}\``))
  expect(missing).toEqual([])
})

it('names every key of a definition', () => {
  const { settings, record } = JSON.parse(read('schemas/zone.schema.json')).definitions
  const missing = [settings, record]
    .flatMap(({ properties }) => Object.keys(properties))
    .filter((key) => !definitions.includes(`\`${key}\``))
  expect(missing).toEqual([])
})

it('states the defaults of an empty config', () => {
  const { config } = readConfig('', PLACE)
  const row = (key: string): string | undefined =>
    text
      .split('\n')
      .find((line) => line.startsWith(`| \`${key}\``))
      ?.split('|')[2]
      ?.trim()
  expect(row('max_delete_percent')).toBe(String(config?.safety.max_delete_percent))
  expect(row('max_update_percent')).toBe(String(config?.safety.max_update_percent))
  expect(row('min_existing')).toBe(String(config?.safety.min_existing))
  expect(row('octodns_default_ttl')).toBe(String(config?.octodnsDefaultTtl))
  expect(row('octodns_split_extension')).toBe(`\`${config?.octodnsSplitExtension}\``)
  expect(row('files')).toBe(`\`${config?.zoneRules[0]?.files.join()}\``)
})
