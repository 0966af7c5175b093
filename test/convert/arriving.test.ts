/** Repositories of DNSControl and octoDNS arrive with the documented commands: the import ends where the next command begins. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { cli, expectEnd } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

/** A folder with these files, and a function that runs a command line of words in it. */
function repository(files: Readonly<Record<string, string>>) {
  const cwd = temporaryDirectory()
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true })
    writeFileSync(join(cwd, path), text)
  }
  const run = (line: string, env: Readonly<Record<string, string>> = {}) => cli(line.split(' '), { cwd, env })
  return { run, has: (path: string) => existsSync(join(cwd, path)), text: (path: string) => readFileSync(join(cwd, path), 'utf8') }
}

const domain = (name: string, address: string, rest: object = {}) => ({
  name,
  registrar: 'none',
  dnsProviders: { cf: -1 },
  records: [{ type: 'A', name: 'www', ttl: 300, target: address }],
  ...rest,
})

const dnscontrol = (...domains: readonly object[]) =>
  repository({ 'ir.json': JSON.stringify({ domains }), 'creds.json': '{"cf": {"TYPE": "CLOUDFLAREAPI", "apitoken": "$CF_TOKEN"}}' })

describe('a split horizon of DNSControl', () => {
  const open = () => dnscontrol(...['', 'inside', 'lab'].map((tag, i) => domain('example.com', `192.0.2.${i}`, { tag })))

  test.each([
    ['example.com', '192.0.2.0'],
    ['example.com!inside', '192.0.2.1'],
  ])('%s is imported without the other variants, which are no loss then', async (variant, address) => {
    const { run, text } = open()
    expectEnd(await run(`import dnscontrol ir.json ${variant} -o zones`), 0)
    expect(text('zones/example.com.yaml')).toContain(address)
  })

  test.each([
    ['example.com!other', 'zone-unknown'],
    ['example.com!inside example.com!lab', 'import it separately, as example.com!inside'],
  ])('%s is not taken for another one', async (variant, err) => {
    expectEnd(await open().run(`import dnscontrol ir.json ${variant} -o zones`), 1, { err })
  })
})

describe('--lossy=NAME', () => {
  const open = () =>
    repository({
      'in/example.com.yaml':
        'geo: {type: A, value: 192.0.2.1, geo: {NA: [192.0.2.2]}}\n' +
        'old: {type: Ns1Provider/REDIRECT, value: {a: b}}\nwww: {type: A, value: 192.0.2.1, dynamic: {pools: {}}}\n',
    })

  test('accepts the losses that it names and no others', async () => {
    const { run, has } = open()
    expectEnd(await run('import octodns in -o out --lossy=geo,Ns1Provider/REDIRECT'), 1, {
      err: [/warning\[import-lossy\] geo/, /warning\[import-lossy\] old/, /error\[import-lossy\] www.*--lossy=dynamic leaves it out/],
    })
    expect(has('out')).toBe(false)
    expectEnd(await run('import octodns in -o out --lossy=geo,Ns1Provider/REDIRECT --lossy=dynamic'), 0)
  })

  test('every name is one that a message shows', async () => {
    const { run } = dnscontrol(domain('example.com', '192.0.2.1', { tag: 'a' }), domain('example.com', '192.0.2.1', { tag: 'b' }))
    const { stderr } = expectEnd(await run('import dnscontrol ir.json -o zones'), 1)
    const [option = ''] = /--lossy=\S+/.exec(stderr) ?? []
    expectEnd(await run(`import dnscontrol ir.json -o zones ${option}`), 0)
  })

  test('without a name it accepts all, and takes no argument for a name', async () => {
    expectEnd(await open().run('import octodns --lossy in -o out'), 0)
  })
})
