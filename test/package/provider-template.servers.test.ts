/**
 * @module-tag servers
 * The template of a provider package, packed and installed beside the packed program as an author would: it loads, applies and passes the suite.
 */
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { beforeAll, expect, inject, test } from 'vitest'
import { buildProgram } from '../../scripts/build.mjs'
import type {} from '../support/build-folder.ts'
import { runTool } from '../support/tools.ts'

const root = resolve(import.meta.dirname, '../..')
let folder: string

const npm = async (cwd: string, ...args: string[]): Promise<string> => {
  const quiet = ['--offline', '--no-audit', '--no-fund', '--ignore-scripts', '--silent']
  const { status, stdout, stderr } = await runTool('npm', [...args, ...quiet], { cwd })
  if (status !== 0) throw new Error(`npm ${args.join(' ')}: ${stderr}${stdout}`)
  return stdout.trim()
}

const zonewright = (...args: string[]) =>
  runTool(process.execPath, ['node_modules/zonewright/dist/zonewright.js', ...args], { cwd: folder })

const writeConfig = (entry: string): void => writeFileSync(join(folder, 'zonewright.yaml'), `providers:\n  files: ${entry}\n`)
const ENTRY = '{type: npm:json-folder, folder: stored}'

/** Below the build folder, where the program finds its packages without installing them. */
beforeAll(async () => {
  folder = mkdtempSync(join(inject('buildFolder'), 'author-'))
  const staged = join(folder, 'staged')
  mkdirSync(staged)
  await buildProgram({ out: join(staged, 'dist'), types: true })
  const { dependencies: _, devDependencies: __, scripts: ___, ...manifest } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  writeFileSync(join(staged, 'package.json'), JSON.stringify(manifest))
  cpSync(join(root, 'schemas'), join(staged, 'schemas'), { recursive: true })
  const packed = await npm(staged, 'pack', '--pack-destination', folder)
  const provider = await npm(join(root, 'templates/provider'), 'pack', '--pack-destination', folder)
  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}')
  await npm(folder, 'install', `./${packed}`, `./${provider}`)
  mkdirSync(join(folder, 'zones'))
  writeFileSync(join(folder, 'zones/example.com.yaml'), 'domain: example.com\nrecords:\n  www: {type: A, value: 192.0.2.1}\n')
  writeConfig(ENTRY)
})

test('validate, plan, apply and plan again', async () => {
  expect((await zonewright('validate')).status).toBe(0)
  expect((await zonewright('plan', '--detailed-exitcode')).status).toBe(2)
  expect(await zonewright('apply', '--yes', '--quiet')).toMatchObject({ status: 0, stderr: '' })
  const stored: unknown = JSON.parse(readFileSync(join(folder, 'stored/example.com.json'), 'utf8'))
  expect(stored).toEqual([{ name: 'www.example.com.', type: 'A', ttl: 3600, data: ['192.0.2.1'] }])
  expect((await zonewright('plan', '--detailed-exitcode')).status).toBe(0)
})

test('the suite passes, and says what each step does', async () => {
  const { status, stdout, stderr } = await zonewright('conformance', 'test.example', '--delete-records', '--max-size', '513')
  const said = stdout + stderr
  expect(said).toContain('passed  1. A: Create A (1 request)')
  expect(said).toContain('skipped 35. pager601: 601 records (more than 513 records)')
  expect(said.match(/^failed.*$/gm)).toBeNull()
  expect(said).toMatch(/^\d{3} steps passed, 0 failed, \d+ skipped\.$/m)
  expect(status).toBe(0)
})

test('the library of the package plans, and its types fit the examples', async () => {
  const script = `import { plan } from 'zonewright'
import { inMemoryProvider } from 'zonewright/testing'
const { result, plan: { summary } } = await plan({ journal: 'journal', providers: { files: inMemoryProvider({ type: 'powerdns' }) } })
console.log(result, summary.create)`
  writeFileSync(join(folder, 'library.js'), script)
  expect(await runTool(process.execPath, ['library.js'], { cwd: folder })).toMatchObject({ stdout: 'pending 2\n', stderr: '' })
  cpSync(join(root, 'examples'), join(folder, 'examples'), { recursive: true })
  const strict = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2023', '--module', 'nodenext', '--types', 'node']
  const tsc = (...args: string[]) =>
    runTool(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '--ignoreConfig', ...strict, ...args], { cwd: folder })
  const examples = readdirSync(join(folder, 'examples')).filter((file) => file.endsWith('.ts'))
  expect(await tsc('--skipLibCheck', ...examples.map((file) => join('examples', file)))).toMatchObject({ stdout: '', status: 0 })
  writeFileSync(join(folder, 'types.ts'), ['', '/testing', '/provider'].map((one) => `export type {} from 'zonewright${one}'\n`).join(''))
  expect(await tsc('types.ts')).toMatchObject({ stdout: '', status: 0 })
})

test('import checks the settings', async () => {
  writeConfig('{type: npm:json-folder}')
  const { status, stdout, stderr } = await zonewright('import', '--from', 'files', '-o', 'imported')
  writeConfig(ENTRY)
  expect([status, stdout + stderr]).toEqual([1, expect.stringContaining("must have required property 'folder'")])
})

test('the suite does not start without consent', async () => {
  const { status, stderr } = await zonewright('conformance', 'example.com')
  expect([status, stderr]).toEqual([1, expect.stringContaining('deletes every record of example.com.')])
  expect(readdirSync(join(folder, 'stored'))).toContain('example.com.json')
})

test('another client is not overwritten', async () => {
  writeFileSync(join(folder, 'zones/example.com.yaml'), 'domain: example.com\nrecords:\n  www: {type: A, value: 192.0.2.2}\n')
  expect((await zonewright('plan', '--out', 'plan.json')).status).toBe(0)
  const changed = [{ name: 'www.example.com.', type: 'A', ttl: 3600, data: ['203.0.113.7'] }]
  writeFileSync(join(folder, 'stored/example.com.json'), JSON.stringify(changed))
  expect((await zonewright('apply', 'plan.json', '--yes', '--allow', 'updates')).status).not.toBe(0)
  expect(JSON.parse(readFileSync(join(folder, 'stored/example.com.json'), 'utf8'))).toEqual(changed)
})

test.each([
  ['{type: npm:json-folder}', "providers.files must have required property 'folder'"],
  ['{type: npm:json-folder, folder: x, foler: y}', 'must NOT have additional properties "foler"'],
  ['{type: npm:absent, folder: x}', 'the package zonewright-provider-absent is not installed'],
  ['{type: npm:future}', 'has version 99 of the provider interface; this Zonewright has 1'],
  ['{type: npm:empty}', 'does not export "provider"'],
  ['{type: npm:broken}', 'cannot be loaded'],
  ['{type: npm:../evil}', 'must match pattern'],
])('%s is one clear error', async (entry, message) => {
  const install = (name: string, code: string): void => {
    const target = join(folder, 'node_modules', `zonewright-provider-${name}`)
    mkdirSync(target, { recursive: true })
    writeFileSync(join(target, 'package.json'), '{"type": "module", "exports": {".": {"default": "./main.js"}}}')
    writeFileSync(join(target, 'main.js'), code)
  }
  install('future', 'export const provider = { apiVersion: 99 }')
  install('empty', 'export const other = 1')
  install('broken', 'throw new Error("this module is broken")')
  writeConfig(entry)
  const { status, stdout, stderr } = await zonewright('plan')
  writeConfig(ENTRY)
  expect([status, stderr + stdout]).toEqual([1, expect.stringContaining(message)])
  expect((stderr + stdout).match(/error\[/g)).toHaveLength(1)
  expect(stderr + stdout).toMatch(/zonewright\.yaml:2:\d+/)
})

test('a restricted run loads it if it is listed', async () => {
  const env = { ZONEWRIGHT_ALLOWED_HOSTS: 'dns.example.net', ZONEWRIGHT_ALLOWED_PACKAGES: 'zonewright-provider-json-folder' }
  expect((await runTool(process.execPath, ['node_modules/zonewright/dist/zonewright.js', 'doctor'], { cwd: folder, env })).status).toBe(0)
})

test('the template agrees with the published types', async () => {
  copyFileSync(join(root, 'templates/provider/index.js'), join(folder, 'checked.mjs'))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const flags = ['--ignoreConfig', '--noEmit', '--allowJs', '--checkJs', '--module', 'nodenext', '--target', 'es2023', '--types', 'node']
  const words = [compiler, ...flags, '--typeRoots', join(root, 'node_modules/@types'), 'checked.mjs']
  expect(await runTool(process.execPath, words, { cwd: folder })).toMatchObject({ status: 0, stdout: '' })
})
