/** What the built program reads to start: each file costs time, and Node parses each of its characters. */
import { mkdirSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { builtProgram } from '../support/built-program.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { runTool } from '../support/tools.ts'

/** The files of the program that a command loads, as paths below its folder, with their sizes. */
async function loadedBy(...args: string[]): Promise<Map<string, number>> {
  const program = realpathSync(await builtProgram())
  const [cwd, coverage] = [temporaryDirectory(), temporaryDirectory()]
  mkdirSync(join(cwd, 'zones'))
  writeFileSync(
    join(cwd, 'zones/example.com.yaml'),
    'domain: example.com\nsoa_email: hostmaster@example.com\nrecords:\n  www: {type: A, value: 192.0.2.1}\n',
  )
  writeFileSync(join(cwd, 'zonewright.yaml'), 'providers:\n  cloud: {type: cloud, base_url: https://dns.example, token: env:TOKEN}\n')
  const env = { NODE_V8_COVERAGE: coverage, CI: '' }
  expect(await runTool(process.execPath, [program, ...args], { cwd, env })).toMatchObject({ status: 0 })
  const [report = ''] = readdirSync(coverage)
  const { result } = JSON.parse(readFileSync(join(coverage, report), 'utf8')) as { result: { url: string }[] }
  const files = result.flatMap(({ url }) => (url.startsWith('file:') ? [fileURLToPath(url)] : []))
  return new Map(files.map((file) => [relative(dirname(program), file).replace(basename(program), 'program'), statSync(file).size]))
}

const shown = (files: ReadonlyMap<string, number>): string[] =>
  [...files.keys()].map((name) => name.replace(/-[A-Z0-9]{8}\.js$/, '')).sort()

test('--version and --help load the entry script alone', async () => {
  for (const option of ['--version', '--help']) {
    const files = await loadedBy(option)
    expect(shown(files)).toEqual(['program'])
    expect(files.get('program')).toBeLessThan(90_000)
  }
})

test('validate of a small zone loads one chunk, beside the helpers that it shares with packages', async () => {
  const files = await loadedBy('validate')
  expect(shown(files)).toEqual(['chunks/chunk', 'chunks/chunk', 'chunks/validate.js', 'program'])
  const [core = 0, ...others] = [...files].flatMap(([name, size]) => (name === 'program' ? [] : [size])).sort((a, b) => b - a)
  // Raise it only for something that most runs need, and take it from elsewhere first: 50 KB are 1 % of the time of validate.
  expect(core).toBeLessThan(900_000)
  expect(others.reduce((sum, size) => sum + size, 0)).toBeLessThan(5000)
})
