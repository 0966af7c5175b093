/** `trace` with real name servers: two of the zone, one of the parent zone, one of a delegated zone, and a caching resolver. */
import { execFileSync } from 'node:child_process'
import { beforeAll, expect, test } from 'vitest'
import { validate } from '../../generated/trace-schema.js'
import type { TraceStep } from '../../src/report/trace.ts'
import { documentIn, expectEnd } from '../support/cli.ts'
import { type DnsServer, startBind, startResolver } from '../support/dns-servers.ts'
import { describeWithTools } from '../support/skip.ts'
import { openScene, type Scene } from './scene.ts'

const SOA = '@ 300 SOA ns1 hostmaster 1 3600 600 86400 300\n'
const zoneFile = (www: string): string => `${SOA}@ 3600 NS ns1
ns1 300 A 127.0.0.1
www 300 A ${www}
alias 300 CNAME www
gone 300 CNAME nowhere
*.wild 300 TXT "any"
child 300 NS ns.child
ns.child 300 A 127.0.0.1
`
const DEFINITION = `domain: example.com
soa_email: hostmaster@example.com
default_ttl: 5m
records:
  ns1: {type: A, value: 127.0.0.1}
  www: {type: A, value: 192.0.2.1}
  alias: {type: CNAME, value: www}
  gone: {type: CNAME, value: nowhere}
  '*.wild': {type: TXT, value: any}
  child: {type: NS, value: ns.child.example.com.}
  ns.child: {type: A, value: 127.0.0.1}
`

interface Traced {
  readonly status: number
  readonly steps: readonly TraceStep[]
}

const at = ({ port }: DnsServer): string => `127.0.0.1:${port}`

describeWithTools(['named', 'git'], 'trace', () => {
  let [scene, trace]: [Scene, (...args: string[]) => Promise<Traced>] = [] as never
  let [first, second]: [DnsServer, DnsServer] = [] as never

  beforeAll(async () => {
    const parent = (delegation: string) => ({
      name: 'com',
      text: `${SOA}@ NS ns1\nns1 A 127.0.0.1\nexample 7200 NS ${delegation}\nns1.example A 127.0.0.1\n`,
    })
    // The second server also has a parent zone, with another delegation.
    const [one, two, above] = await Promise.all([
      startBind({ zones: [{ name: 'example.com', text: zoneFile('192.0.2.1') }] }),
      startBind({ zones: [{ name: 'example.com', text: zoneFile('192.0.2.9') }, parent('ns1.example')] }),
      startBind({ zones: [parent('ns1.memory.test.')] }),
    ])
    ;[first, second] = [one, two]
    const resolver = await startResolver([{ name: 'example.com', port: second.port }])
    scene = openScene({ files: { 'zones/example.com.yaml': DEFINITION }, config: `nameservers: ['${at(first)}', '${at(second)}']\n` })
    const git = (...args: string[]): Buffer =>
      execFileSync('git', ['-C', scene.folder, '-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args])
    git('init', '-q')
    git('add', 'zones')
    git('commit', '-qm', 'add the zone')
    expectEnd(await scene.run('apply', '--yes'), 0)
    trace = async (...args) => {
      const parents = args.includes('--parent-server') ? [] : ['--parent-server', at(above)]
      const result = await scene.run('trace', ...args, ...parents, '--resolver', at(resolver), '--format', 'json')
      return { status: result.status, steps: documentIn(result, validate).steps }
    }
  })
  const states = ({ steps }: Traced): string[] => steps.map(({ place, state }) => `${place} ${state}`)

  test('aliases, wildcards, names and types that do not exist, and records that servers make', async () => {
    for (const [name, type, status, note] of [
      ['alias.example.com', 'A', 0, /an alias: "zonewright trace www\.example\.com\." follows it/],
      ['gone.example.com', 'A', 2, /the alias leads to NXDOMAIN/],
      ['x.wild.example.com', 'TXT', 0, /\*\.wild\.example\.com\. answers for it/],
      ['www.example.com', 'AAAA', 0, /no records/],
      ['no.example.com', 'A', 0, /no record\n[\s\S]*NXDOMAIN/],
      ['example.com', 'SOA', 0, /the server makes these records/],
    ] as const) {
      const traced = await trace(name, type)
      expect([name, traced.status, traced.steps.flatMap(({ notes }) => notes).join('\n')]).toEqual([
        name,
        status,
        expect.stringMatching(note),
      ])
    }
  })

  test('a delegated name: its name servers answer, one that cannot be reached is named, as is another delegation in the parent zone', async () => {
    const traced = await trace('www.child.example.com', '--parent-server', at(second))
    expect(states(traced).slice(0, 6)).toEqual([
      'definition stated',
      'provider same',
      'parent different',
      'nameserver same',
      'nameserver same',
      'child failed',
    ])
    expect(traced.steps[2]?.notes[0]).toBe('the zone has: ns1.memory.test.')
    expect(traced.steps[0]).toMatchObject({
      records: ['child.example.com. 300 NS ns.child.example.com.'],
      notes: [expect.stringContaining('child.example.com. is delegated'), expect.anything()],
    })
  })

  test('follows a record, and marks the server and the resolver that differ', async () => {
    const traced = await trace('www.example.com')
    expect(traced.status).toBe(2)
    const all = [
      'definition stated',
      'provider same',
      'parent same',
      'nameserver same',
      'nameserver different',
      'resolver different',
      'run stated',
    ]
    expect(states(traced)).toEqual(all)
    const [definition, , parent, , stale, resolver, run] = traced.steps as TraceStep[]
    expect(definition).toMatchObject({
      subject: 'zones/example.com.yaml:6',
      notes: [expect.stringMatching(/^commit [0-9a-f]{12}, \S+, Ada: add the zone$/)],
    })
    expect(parent?.records).toEqual(['example.com. 7200 NS ns1.memory.test.'])
    expect(stale).toMatchObject({ records: ['www.example.com. 300 A 192.0.2.9'], notes: ['expected: A 192.0.2.1'] })
    expect(resolver?.notes.at(-1)).toMatch(/^kept for another (?:5 min|4 min \d+ s)$/)
    expect(run?.notes).toEqual([
      expect.stringMatching(/^apply of \S+, applied; "zonewright history \S+" shows it$/),
      expect.stringMatching(/^create at cloud, applied: www\.example\.com\. \S+ A 192\.0\.2\.1$/),
    ])

    scene.write({ 'zones/example.com.yaml': DEFINITION.replace('192.0.2.1', '192.0.2.9') })
    const edited = await trace('www.example.com.', 'a')
    expect(states(edited).slice(1, 6)).toEqual([
      'provider different',
      'parent same',
      'nameserver different',
      'nameserver same',
      'resolver same',
    ])
    expect(edited.steps[0]?.notes).toEqual(['not committed'])

    await first.stop()
    const down = await trace('www.example.com')
    expect([down.status, states(down)[3], states(down)[4]]).toEqual([2, 'nameserver failed', 'nameserver same'])
  })
})
