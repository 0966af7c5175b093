/** The types of `zonewright/definition`, as the compiler of a user reads them. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { parseCsv } from '../../src/base/csv.ts'
import { definitionPrelude } from '../../src/programs/definition/prelude.ts'
import { TYPE_FUNCTIONS } from '../../src/programs/definition/run-definition.ts'
import type { SandboxHost } from '../../src/programs/sandbox/sandbox.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const root = resolve(import.meta.dirname, '../..')

const PROGRAM = `import { A, caa, CAA, dkim, ip, load, LOC, loc, MX, record, reverse, spf, SRV, TXT, type Records, zone } from 'zonewright/definition'
const hosts = load('hosts.csv')
const mail = (): Records => [MX('@', { preference: 10, exchange: 'mx' }), TXT('@', spf({ mx: true, all: '-all' }))]
zone('example.com', { soa_email: 'hostmaster@example.com', default_ttl: '1h', unmanaged: [{ name: '_acme-challenge*' }] }, [
  A('@', ['192.0.2.1', ip.add('192.0.2.1', 1)], { ttl: 300, owner: 'web', cloudflare: { proxied: true } }),
  hosts.filter((h) => h['site'] === 'ams').map((h) => A(h['name']!, h['ip']!)),
  mail(), CAA('@', caa({ issue: 'ca.example' })), LOC('@', loc({ latitude: 1, longitude: 2 })), TXT('k._domainkey', dkim({ p: 'AAAA' })),
  SRV('_x._tcp', { priority: 1, weight: 1, port: 1, target: 'x' }), record('x', 'TYPE65280', '\\\\# 0'),
])
reverse('192.0.2.0/24', [{ name: 'www', ip: '192.0.2.1' }], { domain: 'example.com', default_ttl: 60 })
// @ts-expect-error: no text
A('@', 5)
// @ts-expect-error: the exchange is missing
MX('@', { preference: 10 })
// @ts-expect-error: no setting
zone('example.net', { soa_mail: 'x' }, [])
// @ts-expect-error: no option
A('@', '192.0.2.1', { tll: 5 })
// @ts-expect-error: no mechanism
spf({ al: '-all' })
// @ts-expect-error: no record
zone('example.net', {}, ['192.0.2.1'])
`

const TSC = join(root, 'node_modules/typescript/bin/tsc')

/** A folder with a program, and the package beside it. */
function project(program: string): string {
  const folder = temporaryDirectory()
  execFileSync(process.execPath, ['-e', "import('./scripts/definition-types.mjs').then((one) => one.writeDefinitionTypes())"], {
    cwd: root,
  })
  mkdirSync(join(folder, 'node_modules/zonewright'), { recursive: true })
  writeFileSync(join(folder, 'node_modules/zonewright/definition.d.ts'), readFileSync(join(root, 'generated/definition.d.ts')))
  writeFileSync(
    join(folder, 'node_modules/zonewright/package.json'),
    JSON.stringify({ name: 'zonewright', exports: { './definition': { types: './definition.d.ts' } } }),
  )
  writeFileSync(join(folder, 'zone.ts'), program)
  return folder
}

test('correct programs compile, and mistakes do not', () => {
  const flags = [
    '--ignoreConfig',
    '--noEmit',
    '--strict',
    '--noUncheckedIndexedAccess',
    '--target',
    'es2023',
    '--module',
    'preserve',
    '--types',
    '',
  ]
  expect(spawnSync(process.execPath, [TSC, ...flags, 'zone.ts'], { cwd: project(PROGRAM), encoding: 'utf8' }).stdout).toBe('')
})

test('an editor completes functions, settings and options, explains them, and marks mistakes', async () => {
  const text =
    "import { A, caa, zone } from 'zonewright/definition'\nzone('example.com', { soa_mail: 'x' }, [A('@', '192.0.2.1', {  }), caa({  })])\n"
  const folder = project(text)
  const server = startLanguageServer(folder)
  const uri = pathToFileURL(join(folder, 'zone.ts')).href
  server.notify('textDocument/didOpen', { textDocument: { uri, languageId: 'typescript', version: 1, text } })
  const at = (line: number, part: string, offset = 0) => {
    const character = (text.split('\n')[line]?.indexOf(part) ?? 0) + offset
    return { textDocument: { uri }, position: { line, character } }
  }
  const completed = async (place: object): Promise<string[]> => {
    const { items } = (await server.ask('textDocument/completion', place)) as { readonly items: readonly { readonly label: string }[] }
    return items.map(({ label }) => label)
  }
  expect(await completed(at(0, 'A, '))).toEqual(expect.arrayContaining(['A', 'HTTPS', 'NSAP_PTR', 'reverse', 'variables']))
  expect(await completed(at(1, '{ soa', 2))).toEqual(expect.arrayContaining(['soa_email?', 'unmanaged?', 'targets?', 'ignore?']))
  expect(await completed(at(1, '{  })', 2))).toEqual(expect.arrayContaining(['ttl?', 'owner?', 'expires?', 'cloudflare?']))
  expect(await completed(at(1, 'caa({', 6))).toEqual(expect.arrayContaining(['issue?', 'iodef?']))
  const hover = await server.ask('textDocument/hover', at(1, 'caa('))
  expect(JSON.stringify(hover)).toContain('Values for CAA (RFC 8659)')
  const { items } = (await server.ask('textDocument/diagnostic', { textDocument: { uri } })) as { readonly items: readonly object[] }
  expect(items).toMatchObject([
    { severity: 1, range: { start: { line: 1, character: 22 } }, message: expect.stringContaining('soa_email') },
  ])
})

/** The language server of TypeScript on its standard streams (Language Server Protocol 3.17). */
function startLanguageServer(folder: string) {
  const child = spawn(process.execPath, [TSC, '--lsp', '--stdio'], { stdio: ['pipe', 'pipe', 'ignore'] })
  onTestFinished(() => void child.kill())
  const waiting = new Map<number, (result: unknown) => void>()
  const send = (message: object): void => {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message })
    child.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  }
  let rest = Buffer.alloc(0)
  child.stdout.on('data', (octets: Buffer) => {
    rest = Buffer.concat([rest, octets])
    for (let end = rest.indexOf('\r\n\r\n'); end !== -1; end = rest.indexOf('\r\n\r\n')) {
      const next = end + 4 + Number(/Content-Length: (\d+)/i.exec(rest.toString('latin1', 0, end))?.[1])
      if (rest.length < next) return
      const { id, method, result, error } = JSON.parse(rest.toString('utf8', end + 4, next))
      rest = rest.subarray(next)
      if (method === undefined) waiting.get(id)?.(result ?? error)
      else if (id !== undefined) send({ id, result: null })
    }
  })
  const ask = (method: string, params: object): Promise<unknown> =>
    new Promise((resolve) => {
      waiting.set(waiting.size, resolve)
      send({ id: waiting.size - 1, method, params })
    })
  void ask('initialize', {
    processId: process.pid,
    rootUri: pathToFileURL(folder).href,
    capabilities: { textDocument: { diagnostic: {} } },
  })
  send({ method: 'initialized', params: {} })
  return { ask, notify: (method: string, params: object): void => send({ method, params }) }
}

test('the reference page is made of them', async () => {
  const { referenceOf, writeDefinitionTypes } = await import('../../scripts/definition-types.mjs')
  expect(readFileSync(join(root, 'docs/programs/reference.md'), 'utf8')).toBe(referenceOf(await writeDefinitionTypes()))
})

test('they declare what programs can import', () => {
  const text = readFileSync(join(root, 'generated/definition.d.ts'), 'utf8')
  const declared = [...text.matchAll(/^export declare (?:function|const) (\w+)/gm)].map(([, name]) => name)
  const host = { exports: {}, variables: {} } as unknown as SandboxHost
  definitionPrelude(host, TYPE_FUNCTIONS, parseCsv)
  expect([...new Set(declared)].sort()).toEqual(Object.keys(host.exports).sort())
})
