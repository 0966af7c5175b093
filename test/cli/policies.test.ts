import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { DIAGNOSTIC_CODES } from '../../src/base/diagnostic-codes.ts'
import { connect } from '../service/harness.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { gitRepository } from '../support/git-repository.ts'
import { describeWithTools } from '../support/skip.ts'
import { openLiveScene, openScene, type Scene, TOKEN, ZONE, zoneOf } from './scene.ts'
import { openServiceScene } from './service-scene.ts'

const TTL = '- {name: ttl, each: record_set, require: {properties: {ttl: {minimum: 300}}}, message: a TTL is at least 5 minutes}\n'

const NO_DELETION =
  "- {name: no-deletion, each: change, require: {properties: {action: {enum: [create, update]}}}, message: '{name} {type} would be deleted'}\n"

const FEW_CREATIONS =
  '- {name: few, each: plan, require: {properties: {summary: {properties: {create: {maximum: 2}}}}}, message: a plan creates at most two records}\n'

const LOW = ZONE.replace('ttl: 1h', 'ttl: 60')

const withPolicy = (policy: string, zone = ZONE): Scene =>
  openScene({ files: { 'zones/example.com.yaml': zone, 'policies/rules.yaml': policy } })

const applied = async (policy: string): Promise<Scene> => {
  const scene = await openLiveScene()
  scene.write({ 'policies/rules.yaml': policy })
  return scene
}

const WITHOUT_MAIL = ZONE.replace(/ {2}mail:.*\n/, '')

describe('a policy for definitions', () => {
  test('stops validate, plan and apply, with the place of the record, before a server is contacted', async () => {
    const scene = withPolicy(TTL, LOW)
    const line = 'zones/example.com.yaml:5:35: error[policy-ttl] mail.example.com. A: a TTL is at least 5 minutes'
    expect(await scene.run('validate')).toMatchObject({ status: 1, stdout: expect.stringContaining(line) })
    for (const args of [['plan'], ['apply', '--yes'], ['apply', '--yes', '--choreograph']])
      expect(await scene.run(...args)).toMatchObject({ status: 1, stderr: expect.stringContaining(line) })
    expectEnd(await scene.run('plan', '--out', 'plan.json'), 1, { err: 'plan.json was not written' })
    expect(scene.memory.requests).toEqual([])
  })

  test('with --keep-going, leaves out only the zones that break it; of another severity, stops nothing', async () => {
    const scene = withPolicy(TTL, LOW)
    scene.write({ 'zones/example.net.yaml': zoneOf('example.net') })
    const { stdout } = expectEnd(await scene.run('plan', '--keep-going'), 1, { err: 'error[policy-ttl] mail.', out: 'example.net' })
    expect(stdout).not.toContain('example.com')
    scene.write({ 'policies/rules.yaml': TTL.replace('{name', '{severity: warning, name') })
    expect(await scene.run('validate')).toMatchObject({ status: 0, stdout: expect.stringContaining('warning[policy-ttl]') })
    expect(await scene.run('apply', '--yes')).toMatchObject({ status: 0 })
    scene.write({ 'policies/rules.yaml': TTL })
    expect(await scene.run('verify', '--no-dns')).toMatchObject({ status: 0 })
  })
})

test('a policy for addresses from an inventory, and for their zone, waits for the plan', async () => {
  const inventory = `${ZONE}  pool: {type: A, ttl: 300, from: {instances: {tag: web}}}\n`
  const policy = `- name: pool
  each: record_set
  where: {properties: {relativeName: {const: pool}}}
  require: {properties: {data: {maxItems: 0}}}
- name: zone
  each: zone
  require: {properties: {recordSets: {not: {contains: {properties: {relativeName: {const: pool}, data: {minItems: 1}}}}}}}
`
  const scene = await openServiceScene({ files: { 'zones/example.com.yaml': inventory, 'policies/rules.yaml': policy } })
  const { client, close } = connect(scene.service.baseUrl, TOKEN)
  onTestFinished(close)
  await client.ok('POST', '/compute/instances', { region: 'us-east', type: 'g6-nanode-1', label: 'web-1', tags: ['web'] })
  expect(await scene.run('validate')).toMatchObject({ status: 0 })
  expectEnd(await scene.run('apply', '--yes'), 1, { err: [/yaml:7:\d+: error\[policy-pool\] /, /yaml:1:9: error\[policy-zone\] /] })
  expect(scene.proxy.mutations()).toEqual([])
})

test('a policy for changes and plans stops plan and apply, with the place of the definition', async () => {
  const scene = await applied(NO_DELETION + FEW_CREATIONS)
  const before = scene.memory.writes().length
  scene.write({ 'zones/example.com.yaml': WITHOUT_MAIL })
  const line = 'zones/example.com.yaml:1:9: error[policy-no-deletion] mail.example.com. A would be deleted'
  for (const args of [['plan'], ['apply', '--yes'], ['apply', '--yes', '--choreograph']])
    expect(await scene.run(...args)).toMatchObject({ status: 1, stderr: expect.stringContaining(line) })
  const more = ['a', 'b', 'c'].map((name) => `  ${name}: {type: A, value: 192.0.2.3}\n`).join('')
  scene.write({ 'zones/example.com.yaml': ZONE + more })
  const few = 'policies/rules.yaml:2:3: error[policy-few] a plan creates at most two records'
  expect(await scene.run('apply', '--yes')).toMatchObject({ status: 1, stderr: expect.stringContaining(few) })
  expect(scene.memory.writes()).toHaveLength(before)
  scene.write({ 'zones/example.com.yaml': `${ZONE}  a: {type: A, value: 192.0.2.3}\n` })
  expect(await scene.run('apply', '--yes')).toMatchObject({ status: 0 })
  scene.write({
    'zones/example.com.yaml': ZONE.replace('192.0.2.2', '192.0.2.9'),
    'policies/rules.yaml':
      '- {name: up, each: change, where: {properties: {action: {const: update}}}, require: {properties: {desired: {properties: {data: {not: {const: 192.0.2.9}}}}}}, severity: warning}\n',
  })
  const ofRecord = 'zones/example.com.yaml:5:35: warning[policy-up] mail.example.com. A: '
  expect(await scene.run('plan')).toMatchObject({ status: 0, stderr: expect.stringContaining(ofRecord) })
})

test('a saved plan is checked by the policies of the run that applies it', async () => {
  const scene = await openLiveScene()
  const added = "  new: {type: AAAA, ttl: 1h, value: '2001:db8::4', owner: team-shop, expires: 2099-01-01}\n"
  scene.write({ 'zones/example.com.yaml': `${WITHOUT_MAIL}${added}` })
  expect(await scene.run('plan', '--out', 'plan.json')).toMatchObject({ status: 0 })
  const before = scene.memory.writes().length
  const ownedBy = (team: string): string => `- {name: owner, each: record_set, require: {properties: {owner: {const: ${team}}}}}\n`
  const hasMail = '{properties: {recordSets: {contains: {properties: {relativeName: {const: mail}}}}}}'
  for (const [policy, expected] of [
    [NO_DELETION, 'error[policy-no-deletion] mail.example.com. A would be deleted'],
    [FEW_CREATIONS.replace('create: {maximum: 2}', 'delete: {maximum: 0}'), 'rules.yaml:1:3: error[policy-few]'],
    [TTL.replace('300', '7200'), 'error[policy-ttl] new.example.com. AAAA: a TTL'],
    [`- {name: mail, each: zone, require: ${hasMail}}\n`, 'error[policy-mail] example.com.'],
    [ownedBy('team-web'), 'error[policy-owner] new.example.com. AAAA'],
    ['- {name: broken, each: zone, require: {minimun: 1}}\n', 'no keyword "minimun"'],
  ] as const) {
    scene.write({ 'policies/rules.yaml': policy })
    expectEnd(await scene.run('apply', '--yes', './plan.json'), 1, { err: [expected, 'Nothing was applied'] })
  }
  expect(scene.memory.writes()).toHaveLength(before)
  // Rules about what a plan does not say, and what a zone breaks before its changes, too, do not stop it.
  const noSite = '{properties: {recordSets: {not: {contains: {properties: {relativeName: {const: www}}}}}}}'
  scene.write({
    'policies/rules.yaml': `${ownedBy('team-shop')}
- {name: date, each: record_set, require: {properties: {expires: {type: string}}}}
- {name: targets, each: zone, require: {properties: {targets: {minItems: 2}}}}
- {name: others, each: zone, require: {properties: {recordSets: {items: {properties: {owner: {const: team-shop}}}}}}}
- {name: site, each: zone, require: ${noSite}}
`,
  })
  const { status, stderr } = await scene.run('apply', '--yes', './plan.json')
  expect(stderr.match(/(?:error|warning)\[policy-.*/g)).toEqual([expect.stringMatching(/^warning\[policy-site\] .* before these changes/)])
  expect(status).toBe(0)
})

test('a rollback that breaks policies is made, with warnings', async () => {
  const scene = await openLiveScene()
  scene.write({ 'zones/example.com.yaml': `${ZONE}  new: {type: A, value: 192.0.2.4}\n` })
  await scene.run('apply', '--yes')
  scene.write({ 'policies/rules.yaml': NO_DELETION + FEW_CREATIONS.replace('create: {maximum: 2}', 'delete: {maximum: 0}') })
  expectEnd(await scene.run('rollback', '--last', '--yes'), 0, { err: ['warning[policy-no-deletion]', '[policy-few]'], out: '1 deleted' })
  expect(await scene.run('history')).toMatchObject({ status: 0 })
})

describe('validate', () => {
  test('runs the tests of policies and names those without tests, and exceptions that end', async () => {
    const policy = `- name: a
  each: zone
  require: {}
  exceptions: [{zone: example.com, until: 2026-01-01, reason: former}, {zone: example.com, until: 2026-01-20, reason: soon}]
  tests: [{given: {}, expect: fail}]
- {name: b, each: zone, require: {}}
- name: c
  each: record_set
  where: {properties: {type: {const: A}}}
  require: {properties: {ttl: {minimum: 7200}}}
  tests: [{given: {ttl: 7200}, expect: pass}]
  exceptions:
    - {type: A, until: 2026-06-30, reason: used}
    - {zone: example.com, name: mial, until: 2026-06-30, reason: misspelt}
`
    const scene = withPolicy(policy)
    const { stdout } = expectEnd(await scene.runIn({ now: () => new Date('2026-01-10T10:00:00Z') }, 'validate'), 1)
    expect(stdout.split('\n').map((line) => line.replace(/ \(.*/, ''))).toEqual([
      'policies/rules.yaml:4:16: warning[policies-exception-expired] an exception from the policy a expired on 2026-01-01: former',
      'policies/rules.yaml:4:72: notice[policies-exception-ends] an exception from the policy a expires in 10 days, on 2026-01-20: soon',
      'policies/rules.yaml:4:72: notice[policies-exception-unused] an exception from the policy a, until 2026-01-20, suppresses nothing: soon',
      'policies/rules.yaml:5:11: error[policies-test-failed] the policy a: a test expects fail, and the rule accepts the document',
      'policies/rules.yaml:6:3: notice[policies-untested] the policy b has no tests',
      'policies/rules.yaml:14:7: notice[policies-exception-unused] an exception from the policy c, until 2026-06-30, suppresses nothing: misspelt',
      '',
    ])
    // What other zones need is not known.
    expect((await scene.run('validate', 'zones/example.com.yaml')).stdout).not.toContain('policies-exception-unused')
  })

  test('reports two policies with one name, files that are missing, and folders outside that of the config', async () => {
    const scene = openScene({ config: 'policies: [policies, missing.yaml, ../elsewhere]' })
    scene.write({ 'policies/a.yaml': TTL, 'policies/b.yml': TTL, 'policies/readme.md': '#', 'policies/.c.yaml': TTL })
    expectEnd(await scene.run('validate'), 1, {
      out: [
        /error\[file-unreadable\] policies: missing\.yaml does not exist/,
        /error\[path-outside\] policies: \.\.\/elsewhere/,
        /policies\/b\.yml:1:3: error\[policies-invalid\] there are two policies ttl .*policies\/a\.yaml:1:3/,
      ],
    })
    // Folders in the folder are read, too, and links to others are not left out silently.
    scene.write({ 'policies/team/c.yaml': '- {name: team, each: zone, require: {wrong: 1}}\n', 'elsewhere/d.yaml': TTL })
    symlinkSync('../elsewhere', join(scene.folder, 'policies/shared'))
    symlinkSync('/etc/hostname', join(scene.folder, 'policies/link.yaml'))
    writeFileSync(join(scene.folder, '.hidden.yaml'), TTL)
    symlinkSync('../.hidden.yaml', join(scene.folder, 'policies/hidden.yaml'))
    const linked = (await scene.run('validate')).stdout
    expect(linked).toMatch(/error\[path-outside\] policies: policies\/link\.yaml is a link/)
    expect(linked).toMatch(/policies\/team\/c\.yaml:1:45: error\[policies-invalid\] the policy team: /)
    expect(linked).toMatch(/error\[file-unreadable\] policies\/shared is a folder, not a file/)
    expect(linked).toMatch(/error\[path-protected\] policies\/hidden\.yaml is hidden/)
    scene.write({ 'zonewright.yaml': scene.config().replace(/^policies:.*$/m, 'policies: []') })
    expect(await scene.run('validate')).toMatchObject({ status: 0, stdout: '' })
  })
})

describeWithTools(['git'], '--policies-from', () => {
  test('takes the policies, and where they are, from a revision', async () => {
    const scene = withPolicy(TTL)
    const repository = gitRepository({}, scene.folder)
    repository.git('checkout', '-q', '-b', 'branch')
    const line = 'zones/example.com.yaml:5:35: error[policy-ttl] mail.example.com. A'
    scene.write({ 'zones/example.com.yaml': LOW, 'zonewright.yaml': `${scene.config()}\npolicies: []\n` })
    repository.commit({ 'policies/rules.yaml': '' })
    expect(await scene.run('validate')).toMatchObject({ status: 0 })
    for (const revision of ['main', 'main..']) {
      expect(await scene.run('validate', '--policies-from', revision)).toMatchObject({ status: 1, stdout: expect.stringContaining(line) })
      expect(await scene.run('plan', '--policies-from', revision)).toMatchObject({ status: 1, stderr: expect.stringContaining(line) })
    }
    // A branch may have moved the config.
    scene.write({ 'other.yaml': scene.config() })
    expectEnd(await scene.run('validate', '-c', 'other.yaml', '--policies-from', 'main..'), 0, { out: 'warning[config-missing]' })
    expectEnd(await scene.run('plan', '--policies-from', 'nowhere'), 1, { err: 'revision-unreadable' })
  })
})

test('every report format names the policy', async () => {
  const scene = withPolicy(TTL, LOW)
  const report = async (format: string): Promise<string> => (await scene.run('validate', '--format', format)).stdout
  expect(JSON.parse(await report('json')).diagnostics).toContainEqual(expect.objectContaining({ code: 'policy-ttl', line: 5 }))
  const [run] = JSON.parse(await report('sarif')).runs
  expect(run.tool.driver.rules).toContainEqual({ id: 'policy-ttl', shortDescription: { text: 'a TTL is at least 5 minutes' } })
  const at = { physicalLocation: { artifactLocation: { uri: 'policies/rules.yaml' } } }
  expect(run.results[0]).toMatchObject({ ruleId: 'policy-ttl', relatedLocations: [at] })
  expect(await report('junit')).toContain('<error type="policy-ttl" message="mail.example.com. A: a TTL is at least 5 minutes">')
  expect(await report('markdown')).toContain('error[policy-ttl] mail.example.com. A: a TTL is at least 5 minutes')
  expect(await report('github')).toContain('::error file=zones/example.com.yaml,line=5,col=35,title=policy-ttl::mail.example.com. A: a TTL')
  scene.write({ 'policies/rules.yaml': FEW_CREATIONS })
  const [planned] = JSON.parse((await scene.run('plan', '--format', 'sarif')).stdout).runs
  expect(planned.results).toContainEqual(expect.objectContaining({ ruleId: 'policy-few' }))
  expect((await scene.run('plan', '--format', 'markdown')).stdout).toContain('error[policy-few] a plan creates at most two records')
  expect((await scene.run('plan', '--format', 'junit')).stdout).toContain('<error type="policy-few"')
})

test('explain describes the codes of policies', async () => {
  expectEnd(await cli(['explain', 'policy-my-rule'], { cwd: process.cwd() }), 0, { out: 'policy-NAME\n\n' })
})

test('no code of the program but two begins like those of policies', () =>
  expect(Object.keys(DIAGNOSTIC_CODES).filter((code) => code.startsWith('policy-'))).toEqual(['policy-multiple', 'policy-kept']))
