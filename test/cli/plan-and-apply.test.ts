import { describe, expect, test } from 'vitest'
import type { FaultChoice } from '../../src/providers/memory/memory-provider.ts'
import { expectEnd } from '../support/cli.ts'
import { openLiveScene, openScene, ZONE, zoneOf } from './scene.ts'

const ELEVEN = `domain: example.com
soa_email: hostmaster@example.com
records:
${Array.from({ length: 11 }, (_, index) => `  host${index}: {type: A, value: 192.0.2.${index + 1}}\n`).join('')}`

const ONE = `domain: example.com
soa_email: hostmaster@example.com
records:
  host0: {type: A, value: 192.0.2.1}
`

describe('plan', () => {
  test('prints the report on standard output; a plan with changes exits with 0', async () => {
    const scene = openScene()
    const { stdout, stderr } = expectEnd(await scene.run('plan'), 0)
    expect(stdout).toBe(`example.com. at cloud (new zone, 0 → 3 of 12,000 records)
  + zone  soa_email hostmaster@example.com
          type master
  + @     86400 (default)  A      192.0.2.1
  + mail             3600  A      192.0.2.2
  + www   86400 (default)  CNAME  example.com.
  4 to create (4 requests)

Plan: 4 to create, 0 to update, 0 to delete in 1 zone (4 requests)
`)
    expect(stderr).toBe('')
    expect(scene.memory.writes()).toEqual([])
  })

  test('--detailed-exitcode exits with 2 for pending changes, otherwise 0', async () => {
    const scene = openScene()
    expect((await scene.run('plan', '--detailed-exitcode')).status).toBe(2)
    expect((await scene.run('apply', '--yes')).status).toBe(0)
    expect(await scene.run('plan', '--detailed-exitcode')).toMatchObject({ status: 0, stdout: 'No changes. 1 zone matches.\n', stderr: '' })
  })

  test('exits with 3 for a refusal, also with --detailed-exitcode', async () => {
    const scene = openScene({ files: { 'zones/example.com.yaml': ELEVEN } })
    expect((await scene.run('apply', '--yes')).status).toBe(0)
    scene.write({ 'zones/example.com.yaml': ONE })
    expectEnd(await scene.run('plan', '--detailed-exitcode'), 3, { out: / {2}REFUSED deletes: .*\n {4}to allow it: --allow deletes\n/ })
    expect((await scene.run('plan', '--detailed-exitcode', '--allow', 'deletes')).status).toBe(2)
  })

  test('exits with 1 for an error in one zone, also if another zone is refused; reports both', async () => {
    const scene = openScene({ files: { 'zones/example.com.yaml': ELEVEN } })
    expect((await scene.run('apply', '--yes')).status).toBe(0)
    const unsupported = `${zoneOf('example.net')}  x: {type: HINFO, value: {cpu: a, os: b}}\n`
    scene.write({ 'zones/example.com.yaml': ONE, 'zones/example.net.yaml': unsupported })
    expectEnd(await scene.run('plan'), 1, { err: ['zones/example.net.yaml:7:', 'error[type-unsupported]'], out: 'REFUSED deletes' })
  })

  test('plans only the given zones and target', async () => {
    const scene = openScene({
      files: {
        'zones/example.com.yaml': ZONE,
        'zones/example.net.yaml': `${zoneOf('example.net')}targets: [cloud]\n`,
        'zones/example.org.yaml': `${zoneOf('example.org')}targets: [other]\n`,
      },
      also: ['other'],
    })
    const config = scene.config().replace(/^( {2})cloud(.*)$/m, '$1cloud$2\n$1other$2')
    scene.write({ 'zonewright.yaml': `${config}zones: [{targets: [cloud]}]\n` })
    const zonesIn = async (...args: string[]): Promise<string[]> =>
      [...(await scene.run('plan', ...args)).stdout.matchAll(/^(\S+ at \w+) \(/gm)].map(([, zone]) => zone as string)
    expect(await zonesIn()).toEqual(['example.com. at cloud', 'example.net. at cloud', 'example.org. at other'])
    expect(await zonesIn('example.net')).toEqual(['example.net. at cloud'])
    expect(await zonesIn('--target', 'other')).toEqual(['example.org. at other'])
    const elsewhere = await scene.run('plan', 'example.net', '--target', 'other')
    expect(elsewhere.status).toBe(1)
    expect(elsewhere.stderr).toContain('error[target-missing] example.net. does not have the target other; its targets are cloud')
  })

  test('counts warnings of definitions; validate shows them', async () => {
    const scene = openScene({ files: { 'zones/example.com.yaml': `${ZONE}  alias: {type: MX, value: {preference: 1, exchange: www}}\n` } })
    expect(expectEnd(await scene.run('plan'), 0).stderr).toBe('1 warning about the definitions: "zonewright validate" shows them.\n')
    expect((await scene.run('plan', '--quiet')).stderr).toBe('')
  })

  test('shows a target without records in full if the plan causes it', async () => {
    const odd = '  odd: {type: MX, value: {preference: 1, exchange: mail}}\n'
    const scene = await openLiveScene({ files: { 'zones/example.com.yaml': `${ZONE}${odd}` } })
    const without = ZONE.replace(/ {2}mail: .*\n/, '')
    scene.write({ 'zones/example.com.yaml': `${without}${odd}` })
    const said = 'warning[target-nonexistent] odd.example.com. MX points to mail.example.com., which'
    expectEnd(await scene.run('plan', '--allow', 'deletes'), 0, { said })
    expectEnd(await scene.run('apply', '--yes', '--allow', 'deletes'), 0, { said })
    expectEnd(await scene.run('plan'), 0, { err: '1 warning about the definitions: "zonewright validate" shows them.\n' })
  })

  test('shows notices with their positions; --quiet hides them, and many are summarised', async () => {
    const odd = Array.from({ length: 12 }, (_, index) => `  h${index}: {type: A, value: 192.0.2.1, ttl: ${301 + index}}\n`).join('')
    const scene = openScene({ files: { 'zones/example.com.yaml': ZONE + odd } })
    const { stderr } = await scene.run('plan')
    expect(stderr).toMatch(/^zones\/example\.com\.yaml:7:\d+: notice\[ttl-rounded\] .*TTL 301 down to 300 for h0\.example\.com\. A$/m)
    expect(stderr).toMatch(/^12 notices\.$/m)
    expect((await scene.run('plan', '--quiet')).stderr).toBe('')
  })

  test('--verbose also shows unchanged records, and full values', async () => {
    const long = 'k'.repeat(900)
    const scene = openScene({
      files: { 'zones/example.com.yaml': `${ZONE}  long: {type: TXT, value: ${long}}\n`, 'zones/example.net.yaml': zoneOf('example.net') },
    })
    expect((await scene.run('apply', '--yes', 'example.net')).status).toBe(0)
    const brief = await scene.run('plan')
    expect(brief.stdout).not.toContain('example.net.')
    expect(brief.stdout).not.toContain('k'.repeat(500))
    const full = await scene.run('plan', '--verbose')
    expect(full.stdout).toContain('example.net. at cloud (3 of 12,000 records)\n  no changes\n')
    expect(full.stdout).toContain('k'.repeat(255))
    expect(full.stdout).toContain('rendered zone file: matches the records')
  })
})

describe('apply', () => {
  test('without --yes and without a terminal: the plan, one error, exit 1, no call', async () => {
    const scene = openScene()
    expectEnd(await scene.run('apply'), 1, { err: /^error\[not-confirmed\] .*--yes.*\n$/, out: /Plan: 4 to create, .*\n$/ })
    expect(scene.memory.writes()).toEqual([])
  })

  test('with --yes: the plan, and a one-line summary', async () => {
    const scene = openScene()
    const { status, stdout, stderr } = await scene.run('apply', '--yes')
    expect(status).toBe(0)
    expect(stdout).toMatch(/\nPlan: .*\nApplied: 4 created, 0 updated, 0 deleted in 1 zone \(4 requests\)\n$/)
    expect(stdout.match(/^ +\+ mail/gm)).toHaveLength(1)
    expect(stderr).toBe('')
    expect(scene.memory.writes()).toHaveLength(4)
  })

  test('--verbose lists every applied change with its ID', async () => {
    const scene = openScene()
    const { stdout } = await scene.run('apply', '--yes', '--verbose')
    expect(stdout.match(/^ +\+ mail/gm)).toHaveLength(2)
    expect(stdout).toContain('confirmed: the zone equals the planned result')
  })

  test('without changes: no question, exit 0', async () => {
    const scene = openScene()
    await scene.run('apply', '--yes')
    expect(await scene.run('apply')).toMatchObject({ status: 0, stdout: 'No changes. 1 zone matches.\n', stderr: '' })
  })

  test('a refusal exits with 3 and sends no call; --allow lifts the given refusal', async () => {
    const scene = openScene({ files: { 'zones/example.com.yaml': ELEVEN } })
    await scene.run('apply', '--yes')
    const calls = scene.memory.writes().length
    scene.write({ 'zones/example.com.yaml': ONE, 'zones/example.net.yaml': zoneOf('example.net') })
    const refused = expectEnd(await scene.run('apply', '--yes', '--allow', 'updates'), 3)
    expect(refused.stderr).toBe('Nothing was applied. 1 zone has no problem: name zones or targets (--target) to apply only these.\n')
    expect(scene.memory.writes()).toHaveLength(calls)
    expect((await scene.run('apply', '--yes', 'example.net')).status).toBe(0)
    expectEnd(await scene.run('apply', '--yes', '--allow', 'deletes'), 0, { out: 'allowed deletes:' })
    expect((await scene.run('plan', '--detailed-exitcode')).status).toBe(0)
  })

  /** Refuses the creation of one name. */
  const refusing =
    (name: string): FaultChoice =>
    ({ changes }) =>
      changes[0]?.name === name ? { kind: 'refused', code: 'provider-rejected', message: '400 target: Not on a Friday.' } : null

  test('one refused record: exit 4, the full failure, the rest applied', async () => {
    const scene = openScene({ fault: refusing('mail.example.com.') })
    const { stdout, stderr } = expectEnd(await scene.run('apply', '--yes'), 4)
    const report = stdout.slice(stdout.indexOf('Plan:'))
    expect(report).toMatch(/ \+ mail {2}3600 {2}A {2}192\.0\.2\.2\n +failed: cloud: creating mail\.\S+ A: 400 target: Not on a Friday\.\n/)
    expect(report).not.toContain('www')
    expect(report).toMatch(/\nApplied in part: 1 failed; 3 created, 0 updated, 0 deleted in 1 zone \(3 requests\)\n$/)
    expect(stderr).toBe('')
    expect((await scene.run('plan', '--detailed-exitcode')).status).toBe(2)
  })

  test('a refused zone: exit 1, its records skipped, only the first few listed', async () => {
    const many = Array.from({ length: 60 }, (_, index) => `  h${index}: {type: A, value: 192.0.2.1}\n`).join('')
    const scene = openScene({ files: { 'zones/example.com.yaml': ZONE + many }, fault: refusing('example.com.') })
    const { stdout } = expectEnd(await scene.run('apply', '--yes'), 1)
    const report = stdout.slice(stdout.indexOf('Plan:'))
    expect(report.match(/skipped: waiting for create example\.com\./g)?.length).toBe(20)
    expect(report).toContain('and 43 more skipped')
    expect(report).toMatch(/\nNothing applied: 1 failed, 63 skipped\n$/)
  })

  test('reports changes that another client reverts during the run, and fails', async () => {
    const scene = openScene({
      fault: ({ kind }, memory) => {
        // After the last answer and before the records are read back.
        if (kind === 'read') memory.remove('example.com', 'mail.example.com')
        return null
      },
    })
    expectEnd(await scene.run('apply', '--yes'), 1, { err: /error\[apply-unconfirmed\] example\.com\. at cloud.* mail\.example\.com\. / })
  })
})
