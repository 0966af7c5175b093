/** docs/providers/NAME.md: every example is valid, and every page says what a newcomer needs. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { STARTER_TYPES } from '../../src/providers/registry.ts'
import { cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const FOLDER = new URL('../../docs/providers/', import.meta.url)

const PAGES = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.md'))
  .map((file) => [file.slice(0, -'.md'.length), readFileSync(new URL(file, FOLDER), 'utf8')] as const)

/** The examples of a language, without the indentation of the list that they are in. */
const examplesOf = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\`$`, 'gm'))].map(([, indent = '', body = '']) =>
    body.replace(new RegExp(`^${indent}`, 'gm'), ''),
  )

const DEFINITION = 'domain: example.com\nrecords: {}\n'

test('every type of provider that init --from knows has a page', () => {
  const types = STARTER_TYPES.filter((type) => type !== 'cloud')
  expect(types.filter((type) => !PAGES.some(([name]) => name === type))).toEqual([])
})

describe.each(PAGES)('the page of %s', (name, text) => {
  const examples = examplesOf(text, 'yaml')
  const configs = examples.filter((example) => example.startsWith('providers:'))
  const definitions = examples.filter((example) => /^(?:domain|records):/.test(example))

  test('its examples are valid', async () => {
    expect(configs.length).toBeGreaterThan(0)
    const folder = temporaryDirectory()
    mkdirSync(join(folder, 'zones'))
    const validated = async (config: string, definition: string) => {
      writeFileSync(join(folder, 'zonewright.yaml'), config)
      writeFileSync(join(folder, 'zones/example.com.yaml'), definition)
      return cli(['validate'], { cwd: folder })
    }
    for (const config of configs)
      expect(
        await validated(`${config}zones:\n  - {files: 'zones/*', targets: [${/^ {2}(\w+):/m.exec(config)?.[1]}]}\n`, DEFINITION),
      ).toMatchObject({ status: 0, stdout: '' })
    for (const example of definitions)
      expect(await validated(configs[0] ?? '', example.startsWith('domain:') ? example : `domain: example.com\n${example}`)).toMatchObject({
        status: 0,
        stdout: '',
      })
    for (const example of examplesOf(text, 'json')) JSON.parse(example)
  })

  // The rights and steps of a class of octoDNS are those of its service.
  test.runIf(STARTER_TYPES.includes(name) && name !== 'octodns')('it says the least rights, how to begin, and what a plan costs', () => {
    expect(text).toMatch(/least rights/)
    expect(text).toMatch(new RegExp(`In an empty folder, \`zonewright init --from ${name}(?:=\\w+)?\` does steps \\d and \\d`))
    expect(text).toMatch(/\*\*Requests\.\*\* /)
    for (const step of ['import --from', 'doctor', 'plan']) expect(examplesOf(text, 'sh').join('')).toContain(`zonewright ${step}`)
  })
})
