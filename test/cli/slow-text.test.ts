/** Text for which regular expressions could take quadratic time or more, in files of a pull request: the program ends quickly. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { startProgram } from '../support/built-program.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const CONFIG = 'providers: {cloud: {type: cloud, preset: linode, token: env:TOKEN}}\n'
const HEAD = 'domain: example.com\nsoa_email: hostmaster@example.com\n'
const LONG = 400_000

/** Seconds of processor time, which other processes do not lengthen. The files take a second or two. */
const MOST = 20

const caa = (value: string, count: number): string =>
  `${HEAD}records:\n  '':\n${Array.from({ length: count }, (_, i) => `    - {type: CAA, value: {flags: 0, tag: issue, value: ${JSON.stringify(`${i}.${value}`)}}}\n`).join('')}`

const cloud = (url: string): string => `{type: cloud, base_url: "http://${url}"}`

const CASES: readonly (readonly [name: string, files: Readonly<Record<string, string>>])[] = [
  [
    'colons and slashes in addresses',
    { 'zonewright.yaml': `providers: {a: ${cloud(':'.repeat(LONG))}, b: ${cloud(`192.0.2.1/${'/'.repeat(LONG)}x`)}}\n` },
  ],
  [
    'globs with many slashes and open brackets',
    { 'zonewright.yaml': `${CONFIG}zones: [{files: "a${'/'.repeat(LONG)}b"}, {files: "${'['.repeat(LONG)}"}]\n` },
  ],
  [
    'a comment after a block indicator, spaces in CAA parameters, braces in invalid YAML',
    {
      'zones/example.com.yaml': `${HEAD}description: | # ${'|#'.repeat(LONG)}\u2028\n  text\n`,
      'zones/example.net.yaml': caa(`ca.example.net; a=${' '.repeat(60_000)}\u0001`, 40).replace('.com', '.net'),
      'zones/example.org.yaml': `${HEAD}records: {${'[,'.repeat(LONG)}\n`,
    },
  ],
]

test.each(CASES)('%s', async (_, files) => {
  const folder = temporaryDirectory()
  for (const [path, text] of Object.entries({ 'zonewright.yaml': CONFIG, 'zones/example.com.yaml': `${HEAD}records: {}\n`, ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const run = await startProgram(['validate'], { cwd: folder, before: ['sh', '-c', `ulimit -t ${MOST}; exec "$@"`, 'sh'] })
  expect((await run.ended).signal).toBeNull()
})
