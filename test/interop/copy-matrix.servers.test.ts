/** `copy` of many records of all types between any two providers: what arrives, and what is listed as left out, is together everything. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BIND, CLOUD, KNOT, POWERDNS_API, type RunningTarget, type TargetKind, ZONE, ZONEFILE } from '../conformance/targets.ts'
import { type CliResult, cli } from '../support/cli.ts'
import { rounds } from '../support/random.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

/** One RRset of each type, in zone-file form. */
const TYPES = [
  '@ 300 A 192.0.2.1',
  '@ 300 AAAA 2001:db8::1',
  '@ 3600 MX 10 mail',
  '@ 3600 CAA 0 issue "ca.example.net"',
  '@ 3600 TXT "v=spf1 -all"',
  'mail 3600 A 192.0.2.2',
  'www 300 CNAME @',
  '*.wild 300 CNAME www',
  'afsdb 3600 AFSDB 1 mail',
  'cert 3600 CERT PGP 0 0 dGVzdA==',
  'csync 3600 CSYNC 66 3 A NS AAAA',
  'dhcid 3600 DHCID AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA=',
  'dname 3600 DNAME example.net.',
  'child 3600 NS ns1.example.net.',
  'child 3600 DS 12345 13 2 1111111111111111111111111111111111111111111111111111111111111111',
  'eui 3600 EUI48 00-00-5e-00-53-2a',
  'hinfo 3600 HINFO "PC" "Linux"',
  'https 300 HTTPS 1 . alpn="h2,h3" ipv4hint=192.0.2.1',
  'svcb 300 SVCB 1 www port=8443',
  'kx 3600 KX 10 mail',
  'loc 3600 LOC 52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m',
  'naptr 3600 NAPTR 100 10 "u" "E2U+sip" "!^.*$!sip:info@example.com!" .',
  'key._openpgpkey 3600 OPENPGPKEY dGVzdA==',
  'ptr 3600 PTR host.example.net.',
  'rp 3600 RP admin.example.net. txt.example.net.',
  'smime._smimecert 3600 SMIMEA 3 1 1 2222222222222222222222222222222222222222222222222222222222222222',
  '_sip._tcp 3600 SRV 1 2 5060 mail',
  'ssh 3600 SSHFP 4 2 3333333333333333333333333333333333333333333333333333333333333333',
  '_443._tcp 3600 TLSA 3 1 1 4444444444444444444444444444444444444444444444444444444444444444',
  `long 3600 TXT "${'abcde'.repeat(51)}" "${'fghij'.repeat(20)}"`,
  'odd 3600 TXT "a;b \\"quoted\\" \\\\ back"',
  'uri 3600 URI 10 1 "https://example.com/"',
  'generic 3600 TYPE65400 \\# 3 010203',
]

const RECORDS = rounds(1) > 1 ? 1000 : 120

const FULL = [
  ...TYPES,
  ...Array.from({ length: RECORDS - TYPES.length }, (_, index) => {
    const name = `h${index >> 1}`
    return index % 2 === 0 ? `${name} 300 A 192.0.2.${(index >> 1) % 250}` : `${name} 3600 TXT "text ${index}"`
  }),
]
const SMALL = ['@ 300 A 192.0.2.200', 'only-here 300 A 192.0.2.201']
const KINDS: Readonly<Record<string, TargetKind>> = { cloud: CLOUD, bind: BIND, knot: KNOT, powerdns: POWERDNS_API, files: ZONEFILE }
const NAMES = Object.keys(KINDS)

/** `name type data` of the lines of a transfer, in which texts are one string; without what a server adds itself. */
function contentOf(lines: readonly string[]): Set<string> {
  const records = lines.flatMap((line) => {
    const [name = '', , , type = '', ...data] = line.split(/\s+/)
    if (['SOA', 'RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM', 'DNSKEY', 'CDS', 'CDNSKEY'].includes(type)) return []
    if (type === 'NS' && name.toLowerCase() === `${ZONE}.`) return []
    const text = type === 'TXT' ? data.join(' ').replaceAll(/" "/g, '') : data.join(' ').toLowerCase()
    return [`${name.toLowerCase()} ${type} ${text}`]
  })
  return new Set(records)
}

/** The RRsets in the table of what does not fit: `name TYPE`, by what happens to them. */
function misfitsOf({ stderr }: CliResult): { leftOut: Set<string>; changed: Set<string> } {
  const found = { leftOut: new Set<string>(), changed: new Set<string>() }
  for (const line of stderr.split('\n')) {
    const [, state, which] = /^ {2}(left out|changed) +[\d,]+ {2}(.*?) {2,}/.exec(line) ?? []
    for (const rrset of (which ?? '').split(/, | and /)) {
      const [name = '', type] = rrset.split(' ')
      if (type !== undefined)
        (state === 'left out' ? found.leftOut : found.changed).add(`${name === '@' ? '' : `${name}.`}${ZONE}. ${type}`)
    }
  }
  return found
}

describeWithTools(
  ['named', 'knotd', 'pdns_server', 'pdnsutil', 'dig', 'named-checkzone', 'nsd-checkzone'],
  'copies between any two providers',
  () => {
    const running = new Map<string, RunningTarget>()
    const folder = temporaryDirectory()
    let env: Record<string, string> = {}
    const run = (...args: string[]): Promise<CliResult> => cli([...args, '--no-color'], { cwd: folder, env })
    const limits = ['deletes', 'updates', 'empty-zone', 'apex-ns'].flatMap((limit) => ['--allow', limit])

    beforeAll(async () => {
      await Promise.all(Object.entries(KINDS).map(async ([name, kind]) => running.set(name, await kind.start())))
      env = Object.assign({}, ...[...running.values()].map((target) => target.env))
      const providers = [...running].map(([name, target]) => `  ${name}: ${target.entry}\n`).join('')
      for (const [size, records] of Object.entries({ full: FULL, small: SMALL })) {
        mkdirSync(join(folder, size))
        const soa = '@ 3600 SOA ns1.example.net. hostmaster.example.com. 1 14400 14400 1209600 300'
        writeFileSync(join(folder, size, `${ZONE}.zone`), `$ORIGIN ${ZONE}.\n${[soa, ...records].join('\n')}\n`)
        const defaults = 'defaults: {soa_email: hostmaster@example.com, axfr_ips: [127.0.0.1]}\nunsupported: skip\n'
        writeFileSync(
          join(folder, `${size}.yaml`),
          `providers:\n${providers}zones: [{files: ${size}/*, targets: [${NAMES.join(', ')}]}]\n${defaults}`,
        )
      }
    })
    afterAll(() => Promise.all([...running.values()].map((target) => target.stop())))

    const contents = async (name: string): Promise<Set<string>> => contentOf(await (running.get(name)?.transfer?.() ?? []))

    const copyFrom = async (from: string): Promise<void> => {
      const filled = await run('apply', '-c', 'full.yaml', '--target', from, '--yes', ...limits)
      expect([filled.status, filled.stderr]).toEqual([0, expect.any(String)])
      const source = await contents(from)
      expect(source.size).toBeGreaterThan(RECORDS - 50)
      for (const to of NAMES.filter((name) => name !== from)) {
        const emptied = await run('apply', '-c', 'small.yaml', '--target', to, '--yes', ...limits)
        expect([to, emptied.status, emptied.stderr]).toEqual([to, 0, expect.any(String)])
        const copied = await run('copy', '-c', 'full.yaml', '--from', from, '--to', to, ZONE, '--lossy', '--yes', '--verbose', ...limits)
        expect([from, to, copied.status, copied.status === 0 ? '' : copied.stderr + copied.stdout]).toEqual([from, to, 0, ''])
        const { leftOut, changed } = misfitsOf(copied)
        const target = await contents(to)
        const rrsetOf = (record: string): string => record.split(' ').slice(0, 2).join(' ')
        const lost = [...source].filter((record) => !target.has(record) && !leftOut.has(rrsetOf(record)) && !changed.has(rrsetOf(record)))
        const surplus = [...target].filter((record) => !source.has(record) && !changed.has(rrsetOf(record)))
        const listedButThere = [...leftOut].filter((rrset) => [...target].some((record) => rrsetOf(record) === rrset))
        expect({ from, to, lost, surplus, listedButThere }).toEqual({ from, to, lost: [], surplus: [], listedButThere: [] })
        const again = await run('copy', '-c', 'full.yaml', '--from', from, '--to', to, ZONE, '--lossy', '--yes')
        expect([from, to, again.status, again.stdout]).toEqual([from, to, 0, expect.stringContaining('No changes')])
      }
    }
    // Each of them copies to every other one.
    test('from bind', () => copyFrom('bind'))
    test.each(NAMES.filter((name) => name !== 'bind'))('from %s', { tags: ['long'] }, copyFrom)
  },
)
