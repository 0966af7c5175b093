/** The steps of docs/providers/NAME.md at every scripted service, and what they say if the service refuses them or answers with rubbish. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { type ScriptedRequest, type ScriptedResponse, startScriptedServer } from '../scripted/scripted-server.ts'
import { CLOUD, CLOUD_TYPES, type CloudService, type CloudType, TOKEN } from '../scripted/services.ts'
import { type CliResult, cli, expectEnd } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

type Scene = { folder: string; run(args: readonly string[], env?: Readonly<Record<string, string | undefined>>): Promise<CliResult> }

/** A folder with a config alone. `answer`: an answer instead of that of the service; undefined for that of the service. */
async function start(type: CloudType, answer: (asked: ScriptedRequest) => ScriptedResponse | undefined = () => undefined): Promise<Scene> {
  const { settings, variable, env: more, create }: CloudService = CLOUD[type]
  const { service } = create()
  const server = await startScriptedServer((request) => answer(request) ?? service(request))
  const folder = temporaryDirectory()
  for (const name of ['zones', 'served']) mkdirSync(join(folder, name))
  const providers = `  live: {type: ${type}, ${settings(server.origin)}, timeout: 5}\n  files: {type: zonefile, directory: served}\n`
  const rule = `zones:\n  - {files: 'zones/*', targets: [live]}\n`
  writeFileSync(join(folder, 'zonewright.yaml'), `providers:\n${providers}${rule}`)
  return {
    folder,
    async run(args, env = {}) {
      const result = await cli(args, { cwd: folder, env: { HOME: folder, ...more, [variable]: TOKEN, ...env } })
      const secrets = [TOKEN, ...Object.values(env).filter((value) => value !== undefined && value !== '')]
      for (const secret of secrets) expect(result.stdout + result.stderr).not.toContain(secret)
      return result
    },
  }
}

/** Services where the entry of the config is enough to create any zone. */
const CREATES: ReadonlySet<string> = new Set(['azure', 'desec', 'digitalocean', 'google', 'hetzner', 'route53', 'scaleway', 'vultr'])

const RECORDS = {
  www: { type: 'A', ttl: 7200, values: ['192.0.2.1', '192.0.2.2'] },
  mail: { type: 'MX', ttl: 3600, values: [{ preference: 10, exchange: 'mail.example.net.' }] },
  alias: { type: 'CNAME', ttl: 3600, value: 'www' },
  '*.wild': { type: 'TXT', ttl: 3600, value: 'v=spf1 -all' },
  '_sip._tcp': { type: 'SRV', ttl: 3600, value: { priority: 1, weight: 2, port: 5060, target: 'www' } },
  ca: { type: 'CAA', ttl: 3600, value: { flags: 0, tag: 'issue', value: 'ca.example.net' } },
  sub: { type: 'NS', ttl: 3600, values: ['ns1.example.net.', 'ns2.example.net.'] },
}

const json = (status: number, body: string, headers = {}): ScriptedResponse => {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body }
}
const page = (status: number, headers = {}): ScriptedResponse => {
  return { status, headers: { 'content-type': 'text/html', ...headers }, body: `<html>${'padding'.repeat(100)}</html>` }
}

interface Refused {
  readonly what: string
  /** The answer to every request; that of the service if absent. */
  readonly answer?: ScriptedResponse
  readonly token?: string
}

const REFUSALS: readonly Refused[] = [
  { what: 'a wrong token', token: 'another-token' },
  { what: 'a token with a line break', token: `${TOKEN}-and\nanother` },
  { what: 'a rate limit for a day', answer: json(429, '{}', { 'retry-after': '86400' }) },
  { what: 'a maintenance', answer: page(503, { 'retry-after': '3600' }) },
  { what: 'the page of a gateway', answer: page(200) },
  { what: 'a truncated answer', answer: json(200, '{"records": [{"na') },
  { what: 'an answer of another API', answer: json(200, '{}') },
]

describe.each(CLOUD_TYPES)('%s', (service) => {
  test('import, doctor, plan, apply, verify and copies', async () => {
    const { folder, run } = await start(service)
    const path = join(folder, 'zones/example.com.yaml')
    expect(await run(['import', '--from', 'live', '-o', 'zones'])).toMatchObject({ status: 0 })
    expect(await run(['validate'])).toMatchObject({ status: 0 })
    expect(await run(['doctor'])).toMatchObject({ status: 0, stdout: expect.stringContaining('Everything is in order.') })
    expect(await run(['plan', '--detailed-exitcode'])).toMatchObject({ status: 0 })
    const imported = parse(readFileSync(path, 'utf8'))
    writeFileSync(path, stringify({ ...imported, records: { ...imported.records, ...RECORDS } }))
    expect(await run(['apply', '--yes'])).toMatchObject({ status: 0, stderr: '' })
    expect(await run(['plan', '--detailed-exitcode'])).toMatchObject({ status: 0, stderr: '' })
    expect(await run(['verify', '--no-dns'])).toMatchObject({ status: 0 })
    expectEnd(await run(['copy', 'example.com', '--from', 'live', '--to', 'files', '--apex-ns', 'ns.example.net', '--yes']), 0)
    expectEnd(await run(['copy', 'example.com', '--from', 'files', '--to', 'live', '--yes']), 0, { out: 'No changes.' })
  })

  test.runIf(CREATES.has(service))('a copy that creates the zone keeps the name servers of the service', async () => {
    const { folder, run } = await start(service)
    const [copied, other] = [join(folder, 'served/new.example.com.zone'), 'ns.example.net.']
    writeFileSync(copied, `$TTL 3600\n@ SOA ${other} dns.example.net. 1 14400 14400 1209600 300\n@ NS ${other}\nwww A 192.0.2.1\n`)
    expect(await run(['copy', 'new.example.com', '--from', 'files', '--to', 'live', '--yes'])).toMatchObject({ status: 0 })
    expect(await run(['import', '--from', 'live', 'new.example.com', '-o', 'zones'])).toMatchObject({ status: 0 })
    const imported = readFileSync(join(folder, 'zones/new.example.com.yaml'), 'utf8')
    expect(imported).toContain('www')
    expect(imported).not.toContain('ns.example.net')
  })

  test.each(REFUSALS)('$what: the error says what to do', async ({ answer, token }) => {
    const { folder, run } = await start(service, () => answer)
    writeFileSync(join(folder, 'zones/example.com.yaml'), 'domain: example.com\nrecords: {www: {type: A, value: 192.0.2.1}}\n')
    const { status, stdout, stderr } = await run(['plan'], token === undefined ? {} : { [CLOUD[service].variable]: token })
    expect([status, stdout]).toEqual([1, expect.not.stringContaining('to create')])
    expect(stderr).toMatch(/^(?:\S+: )?error\[(?:provider|secret)-[a-z-]+\] .*\(.+\)$/m)
    expect(stderr).not.toContain('padding')
  })
})
