/** The scripted servers serve the clients of others, unchanged: dns-lexicon and octoDNS's provider of the same service. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { selfSigned } from '../support/certificate.ts'
import { cli } from '../support/cli.ts'
import { findForeignClient } from '../support/foreign-clients.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { runTool } from '../support/tools.ts'
import { type ScriptedServer, type ScriptedService, startScriptedServer } from './scripted-server.ts'

const python = findForeignClient('cloud-clients')

const LEXICON_STEPS = ['create', 'create again', 'list', 'update', 'list pages', 'delete']

interface OctodnsRecord {
  readonly type: string
  readonly [key: string]: unknown
}

/** A record of each type as octoDNS's files have it, with the name that it gets. */
const RECORDS: Readonly<Record<string, readonly [name: string, content: object]>> = {
  ALIAS: ['', { value: 'target.example.net.' }],
  CAA: ['', { value: { flags: 0, tag: 'issue', value: 'ca.example.net' } }],
  MX: ['', { values: [{ preference: 10, exchange: 'mail.example.com.' }] }],
  A: ['www', { values: ['192.0.2.1', '192.0.2.2'] }],
  AAAA: ['www', { value: '2001:db8::1' }],
  TXT: ['www', { values: ['one', `v=DKIM1\\; p=${'A'.repeat(300)}`] }],
  SSHFP: ['www', { value: { algorithm: 1, fingerprint_type: 1, fingerprint: 'ab'.repeat(20) } }],
  CNAME: ['alias', { value: 'www.example.com.' }],
  NS: ['delegated', { values: ['ns1.example.net.', 'ns2.example.net.'] }],
  DS: ['delegated', { value: { key_tag: 1, algorithm: 13, digest_type: 2, digest: 'AB'.repeat(32) } }],
  PTR: ['1', { value: 'host.example.com.' }],
  NAPTR: ['naptr', { value: { order: 1, preference: 2, flags: 'S', service: 'SIP+D2U', regexp: '', replacement: '.' } }],
  SRV: ['_sip._tcp', { value: { priority: 1, weight: 2, port: 5060, target: 'sip.example.com.' } }],
  TLSA: [
    '_443._tcp.www',
    { value: { certificate_usage: 3, selector: 1, matching_type: 1, certificate_association_data: 'ab'.repeat(32) } },
  ],
}

/** The content of a zone with a record of each of these types, by name. */
export function recordsOfTypes(types: string): Record<string, OctodnsRecord[]> {
  const names: Record<string, OctodnsRecord[]> = {}
  for (const type of types.split(' ')) {
    const [name, content] = RECORDS[type] as (typeof RECORDS)[string]
    names[name] = [...(names[name] ?? []), { type, ttl: 300, ...content }]
  }
  return names
}

export interface ClientCase {
  readonly name: string
  /** The hosts that the clients know. */
  readonly hosts: readonly string[]
  readonly start: () => ScriptedService
  readonly lexicon: Readonly<Record<string, string>>
  readonly octodns: readonly [className: string, options: object]
  /** The service without the zone, if octoDNS's provider creates it. */
  readonly startWithoutZone?: () => ScriptedService
  /** A zone with every type, and the same zone after a change. */
  readonly states: readonly [object, object]
}

const PROGRAMS = fileURLToPath(new URL('clients/', import.meta.url))

/** Runs the clients of one service. */
export function clientTests(service: ClientCase): void {
  describeWithTools([python, 'openssl'], `clients of the scripted ${service.name}`, () => {
    async function start({ hosts, start }: ClientCase): Promise<{ server: ScriptedServer; env: Record<string, string> }> {
      const tls = selfSigned('test', ['rsa:2048'], hosts.map((host) => `DNS:${host}`).join(','))
      const folder = temporaryDirectory()
      const certificate = join(folder, 'certificate.pem')
      writeFileSync(certificate, tls.cert)
      const server = await startScriptedServer(start(), tls)
      const trust = { REQUESTS_CA_BUNDLE: certificate, AWS_CA_BUNDLE: certificate }
      const env = { ...trust, SERVER: server.origin, HOSTS: hosts.join(','), TLDEXTRACT_CACHE_PATH: folder }
      return { server, env }
    }
    const run = async (program: string, args: readonly string[], env: Record<string, string>): Promise<unknown> => {
      const { status, stdout, stderr } = await runTool(python, ['-B', join(PROGRAMS, program), ...args], { env })
      expect(status, stderr).toBe(0)
      // A client may print lines of its own before the result.
      return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')
    }

    test('dns-lexicon creates, lists, changes and deletes', async () => {
      const { env } = await start(service)
      expect(await run('lexicon_walk.py', [service.name, 'example.com', JSON.stringify(service.lexicon)], env)).toEqual({
        done: LEXICON_STEPS,
      })
    })

    test('octoDNS creates, changes and deletes every type', async () => {
      const { env } = await start(service)
      const [className, options] = service.octodns
      const states = [...service.states, { '': [{ type: 'TXT', ttl: 300, value: 'last' }] }]
      const { changes } = (await run('octodns_walk.py', [className, JSON.stringify(options), JSON.stringify(states)], env)) as {
        changes: number[]
      }
      const count = (state: object): number => Object.values(state).flat().length
      expect(changes[0]).toBe(count(service.states[0]))
      expect(changes[2]).toBe(count(service.states[1]) + 1)
    })

    test.runIf(service.startWithoutZone !== undefined)('octoDNS creates the zone', async () => {
      const { env } = await start({ ...service, start: service.startWithoutZone ?? service.start })
      const [className, options] = service.octodns
      const states = service.states.slice(0, 1)
      const { changes } = (await run('octodns_walk.py', [className, JSON.stringify(options), JSON.stringify(states)], env)) as {
        changes: number[]
      }
      expect(changes[0]).toBeGreaterThan(0)
    })

    test('Zonewright creates, changes and deletes every type through the class of octoDNS', { timeout: 60_000 }, async () => {
      const { env } = await start(service)
      const [className, options] = service.octodns
      const folder = temporaryDirectory()
      for (const name of ['zones', 'python']) mkdirSync(join(folder, name))
      // Python runs this file when it starts.
      writeFileSync(join(folder, 'python/sitecustomize.py'), 'import direct_to\n')
      const provider = { type: 'octodns', class: className, python, environment: [...Object.keys(env), 'AWS_*'], options }
      writeFileSync(join(folder, 'zonewright.yaml'), JSON.stringify({ providers: { live: provider }, unsupported: 'skip' }))
      const allowed = ['updates', 'deletes', 'empty-zone'].flatMap((limit) => ['--allow', limit])
      const zonewright = (...args: string[]) =>
        cli([...args, '--no-color'], {
          cwd: folder,
          env: { ...env, PATH: process.env['PATH'], PYTHONPATH: `${folder}/python:${PROGRAMS}` },
        })
      for (const state of [...service.states, { '': [{ type: 'TXT', ttl: 3600, value: 'last' }] }]) {
        // A state is a zone file of octoDNS, which is a definition.
        writeFileSync(join(folder, 'zones/example.com.yaml'), JSON.stringify(state))
        const { stdout, stderr } = await zonewright('apply', '--yes', ...allowed, '--format', 'json')
        const [zone] = JSON.parse(stdout || '{"zones": []}').zones as ({ readBack: string } | undefined)[]
        expect([zone?.readBack, stderr]).toEqual(['equal', expect.anything()])
        expect((await zonewright('plan', '--detailed-exitcode')).status).toBe(0)
      }
    })
  })
}
