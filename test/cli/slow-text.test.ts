/** Text for which regular expressions could take quadratic time or more, in files of a pull request: the program ends quickly. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { startProgram } from '../support/built-program.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const CONFIG = 'providers: {cloud: {type: cloud, preset: linode, token: env:TOKEN}}\n'
const HEAD = 'domain: example.com\nsoa_email: hostmaster@example.com\n'
const LONG = 400_000

/** Milliseconds. The files take a second or two. */
const DEADLINE = 40_000

const caa = (value: string, count: number): string =>
  `${HEAD}records:\n  '':\n${Array.from({ length: count }, (_, i) => `    - {type: CAA, value: {flags: 0, tag: issue, value: ${JSON.stringify(`${i}.${value}`)}}}\n`).join('')}`

const CASES: readonly (readonly [name: string, files: Readonly<Record<string, string>>])[] = [
  ['colons in an address', { 'zonewright.yaml': `providers: {cloud: {type: cloud, base_url: "http://${':'.repeat(LONG)}"}}\n` }],
  ['slashes in a URL', { 'zonewright.yaml': `providers: {cloud: {type: cloud, base_url: "http://192.0.2.1/${'/'.repeat(LONG)}x"}}\n` }],
  ['a glob with many slashes', { 'zonewright.yaml': `${CONFIG}zones: [{files: "a${'/'.repeat(LONG)}b"}]\n` }],
  ['a glob with many open brackets', { 'zonewright.yaml': `${CONFIG}zones: [{files: "${'['.repeat(LONG)}"}]\n` }],
  ['a comment after a block indicator', { 'zones/example.com.yaml': `${HEAD}description: | # ${'|#'.repeat(LONG)}\u2028\n  text\n` }],
  ['spaces in CAA parameters', { 'zones/example.com.yaml': caa(`ca.example.net; a=${' '.repeat(60_000)}\u0001`, 40) }],
  ['braces in an invalid YAML line', { 'zones/example.com.yaml': `${HEAD}records: {${'[,'.repeat(LONG)}\n` }],
]

test.each(CASES)('%s', async (_, files) => {
  const folder = temporaryDirectory()
  for (const [path, text] of Object.entries({ 'zonewright.yaml': CONFIG, 'zones/example.com.yaml': `${HEAD}records: {}\n`, ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const run = await startProgram(['validate'], { cwd: folder })
  const deadline = setTimeout(() => run.kill('SIGKILL'), DEADLINE)
  const { signal } = await run.ended
  clearTimeout(deadline)
  expect(signal).toBeNull()
})
