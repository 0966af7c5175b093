/** Imports of data that no definition can contain: each item is reported, and with --lossy the next plan does not change it. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { validate as validateDoctor } from '../../generated/doctor-schema.js'
import { expectEnd } from '../support/cli.ts'
import { holding, type ListedDomain } from './listed-zones.ts'
import { openServiceScene, openWireScene, type WireScene } from './service-scene.ts'

const A = { type: 'A', name: '', target: '192.0.2.1' }

const openListed = (domains: readonly ListedDomain[], config = ''): Promise<WireScene> =>
  openWireScene(holding(domains), { files: { 'zones/.keep': '' }, config })

const held = (records: readonly object[], settings: object = {}): ListedDomain[] => [{ id: 9, domain: 'example.com', ...settings, records }]

/** Imports without `--lossy`, which must write nothing, and with it; returns both standard errors. */
async function importBoth(scene: WireScene): Promise<{ strict: string; lossy: string }> {
  const before = scene.files()
  const strict = expectEnd(await scene.run('import', '--from', 'cloud', '-o', 'zones'), 1, { err: /\nNothing was written\.\n$/, out: '' })
  expect(scene.files()).toEqual(before)
  const lossy = await scene.run('import', '--from', 'cloud', '-o', 'zones', '--lossy')
  expect(lossy).toMatchObject({ status: 0, stderr: expect.not.stringContaining('error[') })
  return { strict: strict.stderr, lossy: lossy.stderr }
}

const planOf = (scene: WireScene) => scene.run('plan', '--detailed-exitcode')

describe('domains without a valid zone name', () => {
  const LONG = `${'x'.repeat(64)}.example`
  const DOMAINS: ListedDomain[] = [
    { id: 7, domain: 'a..b' },
    { id: 8, domain: LONG },
    { id: 9, domain: 'example.com', records: [A] },
    { id: 10, domain: 'Example.COM' },
    { id: 11, domain: '.' },
    { id: 12, domain: 'exa mple.com' },
  ]
  const NAMED = [
    /"a\.\.b", number 7 at cloud: "a\.\.b\." has two dots in a row/,
    new RegExp(`"${LONG}", number 8 at cloud: the label "x{64}" takes 64 octets; 63 are allowed`),
    /"Example\.COM", number 10 at cloud: the domain number 9 has the same name, example\.com\./,
    /"\.", number 11 at cloud: the root cannot be managed as a zone/,
    /"exa mple\.com", number 12 at cloud: "exa mple\.com\." has a space/,
  ]

  it('are reported with their IDs, and skipped with --lossy', async () => {
    const scene = await openListed(DOMAINS)
    const { strict, lossy } = await importBoth(scene)
    for (const named of NAMED) {
      expect(strict).toMatch(new RegExp(`error\\[import-lossy\\] a definition cannot express ${named.source}`))
      expect(lossy).toMatch(new RegExp(`warning\\[import-lossy\\] a definition cannot express ${named.source}`))
    }
    expect(Object.keys(scene.files())).toContain('zones/example.com.yaml')
    expect(await planOf(scene)).toMatchObject({ status: 0 })
  })

  it('do not matter in an import of other zones by name', async () => {
    const scene = await openListed(DOMAINS)
    const { stderr } = await scene.run('import', '--from', 'cloud', 'example.com', '-o', 'zones')
    expect(stderr).toMatch(/^1 zone with 1 record, read back and compared\.\nNext:\n/)
  })

  it('are reported by doctor', async () => {
    const scene = await openServiceScene({ script: holding(DOMAINS) })
    scene.write({ 'zones/example.com.yaml': 'domain: example.com\nrecords: {}\n' })
    const { stdout } = await scene.run('doctor', '--format', 'json')
    const document = JSON.parse(stdout)
    expect(validateDoctor(document)).toBe(true)
    expect(document.findings).toContainEqual(
      expect.objectContaining({
        subject: 'cloud',
        check: 'zones',
        status: 'warning',
        message: expect.stringMatching(/^no definition can describe "a\.\.b" \(number 7\): .*"Example\.COM" \(number 10\): /),
      }),
    )
  })

  it('fail "init --from" without --lossy', async () => {
    const scene = await openListed(DOMAINS)
    rmSync(join(scene.folder, 'zonewright.yaml'))
    const from = ['init', '--from', `${scene.proxy.origin}/v4`]
    expect(await scene.run(...from)).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('"a..b", number 7') })
    const expected = { status: 0, stderr: expect.stringContaining('"a..b", number 7') }
    expect(await scene.run(...from, '--lossy', '--quiet')).toMatchObject(expected)
    expect(await planOf(scene)).toMatchObject({ status: 0 })
  })

  it('are reported as duplicates if they are spellings of one zone, in any order', async () => {
    const scene = await openListed([
      { id: 8, domain: 'EXAMPLE.com', records: [{ ...A, target: '192.0.2.8' }] },
      { id: 9, domain: 'example.com', records: [A] },
      { id: 10, domain: 'Example.com' },
    ])
    expect((await importBoth(scene)).lossy).toContain('"EXAMPLE.com", number 8 at cloud: the domain number 9 has the same name')
    expect(scene.files()['zones/example.com.yaml']).toContain('192.0.2.1')
    expect(await planOf(scene)).toMatchObject({ status: 0 })
  })
})

const record = (type: string, target: string, more: object = {}): object => ({ type, name: 'x', target, ...more })
const address = (name: string): object => ({ ...A, name })

/** What is said of a record that no definition can have, at the owner `x` unless another is given. */
const lost = (type: string, why: string, owner = 'x.example.com.'): string => `${owner} ${type}: a definition cannot express ${why}`
const EMPTY_TXT = lost('TXT', '"": the service accepts no empty TXT')
const INVALID = 'its data is invalid'
const [FIRST, SECOND] = ['a.example.net', 'b.example.net']
const LONG_LABEL = 'n'.repeat(70)
const APEX = 'example.com.'

describe('records that no definition can have', () => {
  it.each<[name: string, records: object[], named: string[], selector: string]>([
    ['an empty TXT', [record('TXT', '')], [EMPTY_TXT], '{name: x, type: TXT}'],
    ['an empty TXT beside others', [record('TXT', ''), record('TXT', 'text')], [EMPTY_TXT], `{name: x, type: TXT, target: '""'}`],
    ['half a letter', [record('TXT', 'a\ud800')], [lost('TXT', `"a\\239\\191\\189" (of half a character)`)], '{name: x, type: TXT}'],
    ['NUL in a text', [record('TXT', 'a\0b')], [lost('TXT', '"a\\000b": the service accepts no text')], '{name: x, type: TXT}'],
    [
      'the apex as @',
      [address('@')],
      [lost('A', '192.0.2.1: the service accepts names of letters', `\\@.${APEX}`)],
      '{name: \\@, type: A}',
    ],
    ['a space', [address('a b')], [lost('A', `192.0.2.1 (named "a b"): ${INVALID}`, `a\\032b.${APEX}`)], '{name: a\\032b, type: A}'],
    ['a label of 70 octets', [address(LONG_LABEL)], [`192.0.2.1 (named "${LONG_LABEL}"): ${INVALID}`], 'type: A}'],
    ['an empty label', [address('x..y'), address('x.y')], [lost('A', '192.0.2.1 (named "x..y")', `x.y.${APEX}`)], '(named "x..y")}'],
    ['a name of 300 octets', [address('abcdefghi.'.repeat(30))], [INVALID], 'type: A\n'],
    ['an invalid address', [record('A', 'none')], [lost('A', `none: ${INVALID}`)], '{name: x, type: A}'],
    ['an invalid target', [record('CNAME', 'b c.example.net')], [lost('CNAME', `b c.example.net: ${INVALID}`)], '{name: x, type: CNAME}'],
    ['no target', [record('PTR', '')], [lost('PTR', '.: the service does not support the root as a target')], '{name: x, type: PTR}'],
    ['a TTL beyond all', [{ ...A, ttl_sec: 2 ** 33 }], [lost('A', '192.0.2.1: its TTL of 8589934592 s', APEX)], "{name: '@', type: A}"],
    ['a type of others', [record('ALIAS', FIRST)], [lost('ALIAS', `${FIRST}.: cloud does not support ALIAS`)], '{name: x, type: ALIAS}'],
    ['an unknown type', [record('WEIRD', 'foo')], [lost('WEIRD', `foo: ${INVALID}`)], '{name: x, target: foo}'],
    ['an SOA', [record('SOA', 'x', { name: '' })], [lost('SOA', `x: ${INVALID}`, APEX)], "{name: '@', type: SOA}"],
    ['a CAA tag', [record('CAA', 'a', { name: '', tag: 'tbs' })], [lost('CAA', '0 tbs "a": the service', APEX)], "{name: '@', type: CAA}"],
    [
      'NS at a wildcard, beside the same NS at another name',
      [record('NS', FIRST, { name: '*' }), record('NS', SECOND, { name: 'sub' })],
      [lost('NS', `${FIRST}.: the service has no NS records at a wildcard`, `*.${APEX}`)],
      `{name: '*', type: NS, target: ${FIRST}.}`,
    ],
    ['a CNAME beside others', [record('CNAME', FIRST), address('x')], [lost('CNAME', `${FIRST}.: x.`)], '{name: x, type: CNAME}'],
    ['a CNAME at the apex', [record('CNAME', FIRST, { name: '' })], ['the service has no CNAME at the apex'], "{name: '@', type: CNAME}"],
    ['CNAMEs', [record('CNAME', FIRST), record('CNAME', SECOND)], [lost('CNAME', FIRST), lost('CNAME', SECOND)], '{name: x, type: CNAME}'],
    [
      'a null MX beside others',
      [record('MX', ''), record('MX', SECOND, { priority: 10 })],
      [lost('MX', '0 .: a null MX refuses all mail')],
      '{name: x, type: MX, target: 0 .}',
    ],
  ])('are reported and not changed: %s', async (_, records, named, selector) => {
    const scene = await openListed(held([...records, address('kept')]))
    const { strict, lossy } = await importBoth(scene)
    for (const text of named) {
      expect(strict).toContain(text)
      expect(lossy).toContain(text)
    }
    const definition = scene.files()['zones/example.com.yaml'] as string
    expect(definition).toMatch(/^# Records at cloud that no definition can contain; "unmanaged" keeps them:\n# {3}\S/)
    expect(definition).toContain(selector)
    const plan = await planOf(scene)
    expect(plan).toMatchObject({ status: 0, stderr: expect.not.stringContaining('error') })
    expect(plan.stdout).toMatch(/No changes\. 1 zone matches\.\n$/)
    expect(await scene.run('fmt', '--check')).toMatchObject({ status: 0 })
  })

  it('stay at the provider also if no selector can separate them', async () => {
    const scene = await openListed(held([address('x.*'), address('x.y')]))
    const { strict, lossy } = await importBoth(scene)
    for (const text of [strict, lossy]) expect(text).toContain('plans leave it unchanged at cloud')
    expect(lossy).not.toContain('import-pending')
    expectEnd(await planOf(scene), 0, { err: 'notice[record-unplanned] x.*.example.com. A 192.0.2.1' })
  })

  it('are summarised in the comment if there are many', async () => {
    const scene = await openListed(held(Array.from({ length: 50 }, (_, index) => record('TXT', '', { name: `t${index}` }))))
    await importBoth(scene)
    expect(scene.files()['zones/example.com.yaml']).toContain('\n#   and 30 more\n')
    expect(await planOf(scene)).toMatchObject({ status: 0 })
  })
})

it.each<[name: string, settings: object, named: string]>([
  ['a description too long', { description: 'd'.repeat(300) }, 'description: description has 300 characters'],
  ['a group too long', { group: 'g'.repeat(60) }, 'group: group has 60'],
  ['tags too short', { tags: ['a', 'abc'] }, 'tags: the tag "a" has 1 characters'],
  ['no mail address', { soa_email: 'not an email' }, 'soa_email: not an email is not an e-mail address'],
  ['no addresses', { axfr_ips: ['192.0.2.1', 'ns1.example.net'] }, 'axfr_ips: ns1.example.net among its addresses'],
  ['invalid masters', { type: 'slave', master_ips: ['192.0.2.1', 'ns1.example.net'] }, 'master_ips: ns1.example.net among'],
  ['an unknown status', { status: 'edit_mode' }, 'status "edit_mode"'],
  ['no masters', { type: 'slave', master_ips: [] }, 'type: slave, without masters'],
])('settings that no definition can have are reported and not changed: %s', async (_, settings, named) => {
  const scene = await openListed(held([], settings))
  const { strict, lossy } = await importBoth(scene)
  expect(strict).toContain(`error[import-lossy] example.com.: a definition cannot express the setting ${named}`)
  expect(lossy).toContain('(it is left out of the definition and stays unchanged at cloud)')
  expect(await planOf(scene)).toMatchObject({ status: 0 })
})

describe('exact duplicates', () => {
  it('are reported with their calls in the next plan', async () => {
    const records = [A, A, { ...A, ttl_sec: 300 }, record('TXT', 'a'), record('TXT', 'a'), address('www')]
    const scene = await openListed(held(records))
    const imported = expectEnd(await scene.run('import', '--from', 'cloud', '-o', 'zones'), 0)
    for (const text of [
      'example.com. has example.com. A 192.0.2.1 3 times; a definition can contain a record once, and the next plan deletes number 2, 3',
      'example.com. has x.example.com. TXT "a" 2 times; a definition can contain a record once, and the next plan deletes number 5',
      'example.com.: the next plan has 3 calls to delete duplicates and no others',
    ])
      expect(imported.stderr).toContain(`warning[surplus-duplicate] ${text}\n`)
    const { stdout, status } = await scene.run('plan', '--format', 'json', '--detailed-exitcode')
    const [zone] = JSON.parse(stdout).zones
    expect(status).toBe(2)
    expect(zone.calls).toEqual({ create: 0, update: 0, delete: 3, total: 3 })
    expect(zone.changes.map(({ id }: { id: number }) => id).sort()).toEqual([2, 3, 5])
    expect(zone.refusals).toEqual([])
  })

  it('of apex NS records stay, since the provider serves its own', async () => {
    const ns = { type: 'NS', name: '', target: 'ns1.example.net' }
    const scene = await openListed(held([ns, ns]))
    expectEnd(await scene.run('import', '--from', 'cloud', '-o', 'zones'), 0, { err: '2 times; a definition can contain a record once' })
    expect(await planOf(scene)).toMatchObject({ status: 0 })
  })
})

it('a slave is imported without its records, and the plan is empty', async () => {
  const slave = { id: 9, domain: 'example.com', type: 'slave', master_ips: ['192.0.2.53'], records: [A, { ...A, name: 'www' }] }
  const scene = await openListed([slave])
  expect(await scene.run('import', '--from', 'cloud', '-o', 'zones')).toMatchObject({ status: 0 })
  expect(scene.files()['zones/example.com.yaml']).toBe(
    'domain: example.com\ntype: slave\nsoa_email: hostmaster@example.com\nmaster_ips: [192.0.2.53]\n',
  )
  expect(await planOf(scene)).toMatchObject({ status: 0, stdout: expect.not.stringContaining('REFUSED') })
})

it('reports a TTL that the provider does not store, with its call in the next plan', async () => {
  const scene = await openListed(held([{ ...A, ttl_sec: 301 }]))
  expectEnd(await scene.run('import', '--from', 'cloud', '-o', 'zones'), 0, {
    err: 'warning[import-pending] example.com.: the next plan has 1 call to make it equal to the definition: update example.com. A (ttl)',
  })
  expect(await planOf(scene)).toMatchObject({ status: 2, stdout: expect.stringContaining('(1 request)') })
})

it('reports the config default that replaces an unsupported setting', async () => {
  const scene = await openListed(held([A], { group: 'g'.repeat(60) }), 'defaults: {group: dns}\n')
  expect((await importBoth(scene)).lossy).toContain('the next plan has 1 call to make it equal to the definition: update the zone (group)')
  expect(await planOf(scene)).toMatchObject({ status: 2 })
})
