/** DNSControl configurations with a few values replaced at random. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fc } from '../../support/fast-check.ts'

const CORPUS = fileURLToPath(new URL('../../corpora/dnscontrol/parse_tests', import.meta.url))

/** The smaller configurations of DNSControl's own tests. */
export const CONFIGS: readonly string[] = readdirSync(CORPUS)
  .filter((name) => /^\d.*\.json$/.test(name))
  .map((name) => readFileSync(join(CORPUS, name), 'utf8'))
  .filter((text) => text.length < 20_000)

const anything = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    '',
    '@',
    '*',
    'example.com',
    'a'.repeat(300),
    0,
    -1,
    1.5,
    2 ** 40,
    [],
    {},
    [null],
    { a: 1 },
    'R53_ALIAS',
    '1.2.3.4',
    '\\',
    '"',
    'a\u0000b\u2028\ud800',
    'é',
    "it's",
    '{a,b}?',
    '\\*.x',
    '*.*',
    'A,MX',
    '# x: ',
  ),
  fc.jsonValue({ maxDepth: 2 }),
)

/** JSON text of a configuration with one to five values replaced. */
export const mutatedConfigs = fc
  .record({ seed: fc.constantFrom(...CONFIGS), changes: fc.array(fc.tuple(fc.nat(), anything), { minLength: 1, maxLength: 5 }) })
  .map(({ seed, changes }) => {
    const root = JSON.parse(seed)
    for (const [at, value] of changes) {
      const places: [Record<string, unknown>, string][] = []
      const visit = (node: unknown): void => {
        if (typeof node !== 'object' || node === null) return
        for (const key of Object.keys(node)) {
          places.push([node as Record<string, unknown>, key])
          visit((node as Record<string, unknown>)[key])
        }
      }
      visit(root)
      const place = places[at % Math.max(1, places.length)]
      if (place) place[0][place[1]] = structuredClone(value)
    }
    return JSON.stringify(root)
  })
