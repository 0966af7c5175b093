/** Programs of DNSControl make what DNSControl itself made of them, but for the differences that docs/tasks/dnsconfig.md lists. */
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { programZones } from '../../src/convert/dnscontrol/program-zones.ts'
import { parseDefinition } from '../../src/definition/parse/parse-definition.ts'
import { printDefinition } from '../../src/definition/print/print-definition.ts'
import type { JsonObject } from '../../src/programs/dnscontrol/json-object.ts'
import { runDnsconfig } from '../../src/programs/dnscontrol/run-dnsconfig.ts'
import { openSandbox } from '../../src/programs/sandbox/run-program.ts'
import type { ProgramFiles } from '../../src/programs/sandbox/sandbox.ts'
import { zoneData } from './zone-data.ts'

interface Case {
  readonly case: string
  readonly tags: readonly string[]
  readonly files: Readonly<Record<string, string>>
  readonly variables?: Readonly<Record<string, string>>
  readonly expected?: unknown
  readonly refused?: string
}

const textOf = (path: string): string => readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8')
const CASES = textOf('../corpora/dnscontrol-js/cases.jsonl')
  .trim()
  .split('\n')
  .map((line): Case => JSON.parse(line))

/** The numbers of cases in the first column of the table of differences. */
const DIFFERENT = new Set(
  [...textOf('../../docs/tasks/dnsconfig.md').matchAll(/^\| (\d{3}(?:, \d{3})*) \|/gm)].flatMap(([, numbers = '']) => numbers.split(', ')),
)
const numberOf = (one: Case): string => one.case.slice(0, 3)

const sandbox = openSandbox()
afterAll(() => sandbox.close())

function filesOf(files: Case['files']): ProgramFiles {
  return {
    read: (path, from) => {
      const file = posix.join(posix.dirname(from), path)
      const text = files[file]
      return text === undefined ? { ok: false, message: `${file} does not exist` } : { ok: true, value: { file, text } }
    },
    list: async (glob, from) => {
      const folder = posix.join(posix.dirname(from), '/')
      const [, below = '', deep, extension = ''] = /^(.*?)\/(\*\*\/)?\*\.(\w+)$/.exec(posix.join(folder, glob)) ?? []
      const isFound = (file: string): boolean =>
        file.startsWith(`${below}/`) &&
        file.endsWith(`.${extension}`) &&
        (deep !== undefined || !file.slice(below.length + 1).includes('/'))
      return {
        ok: true,
        value: Object.keys(files)
          .filter(isFound)
          .map((file) => posix.relative(folder, file)),
      }
    },
  }
}

/** Positions are ours; the other members repeat the data of a record. */
const REPEATED = new Set(['filepos', 'name_raw', 'name_unicode', 'fields'])
const withoutRepeated = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (key, one: unknown) => (REPEATED.has(key) ? undefined : one))

/** What a program makes; null if it is refused. */
async function evaluate({ files, variables = {} }: Case): Promise<JsonObject | null> {
  const entry = { file: 'dnsconfig.js', text: files['dnsconfig.js'] ?? '' }
  const { config, diagnostics } = await runDnsconfig(sandbox, { entry, files: filesOf(files), variables })
  const isRefused = config === null || diagnostics.some(({ severity }) => severity === 'error')
  for (const { at, severity } of diagnostics) expect(severity === 'error' ? at?.line : 1).toBeGreaterThan(0)
  return isRefused ? null : config
}

/** What `render` prints, read as YAML, is the zone that the program made, so that both have one plan. */
function expectRendered(config: JsonObject): void {
  for (const { zone } of programZones(config, 'dnsconfig.js').zones) {
    const text = printDefinition({ ...zone, targets: zone.targets ?? undefined, policy: zone.policy ?? undefined })
    const read = parseDefinition(text, { file: 'rendered.yaml' }).zone
    expect(read && zoneData(read), text).toEqual(zoneData(zone))
  }
}

test('at most five programs differ that are neither odd nor of an old engine', () => {
  expect(CASES).toHaveLength(266)
  const plain = CASES.filter((one) => DIFFERENT.has(numberOf(one)) && !one.tags.some((tag) => /quirk|engine/.test(tag)))
  expect(plain.length).toBeLessThanOrEqual(5)
})

describe.each(['agrees', 'differs'])('%s', (how) => {
  const isListed = how === 'differs'
  for (const [index, one] of CASES.entries()) {
    if (DIFFERENT.has(numberOf(one)) !== isListed) continue
    // `npm test` has every fourth case.
    test(one.case, index % 4 === 0 ? {} : { tags: ['long'] }, async () => {
      const config = await evaluate(one)
      if (config !== null) expectRendered(config)
      const made = withoutRepeated(config)
      const expected = one.expected === undefined ? null : withoutRepeated(one.expected)
      if (isListed) expect(made).not.toEqual(expected)
      else expect(made).toEqual(expected)
    })
  }
})
