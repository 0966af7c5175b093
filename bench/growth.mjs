/**
 * How the time of pure work grows with its input: `node bench/growth.mjs`. Each line takes eight inputs of one size and one of eight times that size,
 * so that both allocate about the same, and prints the ratio of their CPU times: about 1 if the work is linear, 8 if it is quadratic. A ratio above 4 fails the run.
 * Most inputs are hostile.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const FACTOR = 8
const MOST = 4

const SOURCE = `
export { parseDefinition } from './src/definition/parse/parse-definition.ts'
export { readYaml } from './src/definition/yaml/read-yaml.ts'
export { formatDefinition } from './src/definition/print/format-definition.ts'
export { checkZone } from './src/checks/rules/rules.ts'
export { parseZoneFile } from './src/dns/zone-file/parse-zone-file.ts'
export { globTest } from './src/dns/glob.ts'
export { parseSshKey } from './src/service/api/profile/ssh-key-routes.ts'
export { parseUserDefinedFields } from './src/service/api/scripts/script-routes.ts'
`

const repeated = (text, size) => text.repeat(Math.ceil(size / text.length)).slice(0, size)
const range = (count, make) => Array.from({ length: count }, (_, index) => make(index))

/** Name, the smaller size, and the work for an input size. */
function cases(code) {
  const parse = (text) => code.parseDefinition(text, { file: 'example.com.yaml', zoneName: 'example.com.' })
  const zoneFile = (text) =>
    code.parseZoneFile(`$TTL 300\n@ SOA ns h 1 2 3 4 5\n${text}`, { origin: 'example.com.', zone: 'example.com.', file: 'zone' })
  return [
    ['definition: records', 1_500, (n) => parse(range(n, (i) => `h${i}: {type: A, value: 192.0.2.${i % 250}}\n`).join(''))],
    [
      'definition: records with errors',
      3_000,
      (n) => parse(range(n, (i) => `h${i}: {tttl: 300, type: MX, values: [{preference: 1}]}\n`).join('')),
    ],
    ['definition: words in one value', 250_000, (n) => parse(`a: {type: TYPE65280, value: "${repeated('00 ', n)}"}`)],
    ['definition: open strings in one value', 250_000, (n) => parse(`a: {type: RESINFO, value: '${repeated('="', n)}'}`)],
    ['definition: brackets', 250_000, (n) => parse(repeated('[', n))],
    [
      'definition: layout',
      2_000,
      (n) => code.formatDefinition(range(n, (i) => `h${n - i}:\n  type: A\n  value: 192.0.2.${i % 250}\n`).join(''), { file: 'a.yaml' }),
    ],
    ['YAML: keys of one mapping', 10_000, (n) => code.readYaml(range(n, (i) => `k${i}: 1`).join('\n'), { file: 'a.yaml' })],
    ['zone file: records', 50_000, (n) => zoneFile(range(n, (i) => `h${i} 300 A 192.0.2.${i % 250}\n`).join(''))],
    ['zone file: empty lines in parentheses', 250_000, (n) => zoneFile(`(${'\n'.repeat(n)})`)],
    ['zone file: escapes', 250_000, (n) => zoneFile(repeated('\\.', n))],
    ['zone file: open quotes', 250_000, (n) => zoneFile(repeated('a 1 TXT "\n', n))],
    ['glob of many parts', 200_000, (n) => code.globTest(`${'*a'.repeat(n)}*b`)('a'.repeat(4 * n))],
    ['SSH key with white space', 50_000, (n) => code.parseSshKey(`ssh-ed25519 AAAA${' '.repeat(n)}\u0001`)],
    ['script of tags that do not end', 8_000, (n) => attempt(() => code.parseUserDefinedFields(`${repeated('<udf a="', n)}>`))],
  ]
}

function attempt(work) {
  try {
    return work()
  } catch {
    return null
  }
}

/** CPU milliseconds of runs one after another. */
function cpuTime(work, size, count) {
  const before = process.cpuUsage()
  for (let run = 0; run < count; run += 1) work(size)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** Times of a few milliseconds say nothing about growth. */
const isSteep = (small, large) => large > 20 && large / Math.max(small, 16) > MOST

const directory = mkdtempSync(join(tmpdir(), 'zonewright-growth-'))
try {
  const outfile = join(directory, 'code.mjs')
  await build({
    stdin: { contents: SOURCE, resolveDir: root, loader: 'ts' },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    logLevel: 'warning',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" },
  })
  for (const [name, size, work] of cases(await import(pathToFileURL(outfile).href))) {
    work(size)
    let [small, large] = [Infinity, Infinity]
    // Other processes only make a run longer, so one good run is enough.
    for (let runs = 0; runs < 1 || (runs < 4 && isSteep(small, large)); runs += 1) {
      small = Math.min(small, cpuTime(work, size, FACTOR))
      large = Math.min(large, cpuTime(work, FACTOR * size, 1))
    }
    const grows = isSteep(small, large)
    console.log(
      `${name.padEnd(42)} ${small.toFixed(1).padStart(8)} ms ${large.toFixed(1).padStart(8)} ms  ×${(large / Math.max(small, 0.1)).toFixed(1).padStart(5)}${grows ? '  TOO STEEP' : ''}`,
    )
    if (grows) process.exitCode = 1
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
