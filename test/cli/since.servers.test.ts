/** The zones that changed since a revision. */
import { describe, expect, test } from 'vitest'
import { cli, expectEnd } from '../support/cli.ts'
import { GIT_ENVIRONMENT, type GitRepository, gitRepository } from '../support/git-repository.ts'
import { describeWithTools } from '../support/skip.ts'

const zone = (name: string, rest = '') => `domain: ${name}\nsoa_email: a@example.com\n${rest}records:\n  www: {type: A, value: 192.0.2.1}\n`

const CONFIG = `providers:
  one: {type: rfc2136, server: 192.0.2.53}
  two: {type: rfc2136, server: 192.0.2.54}
defaults: {ttl_sec: 1h}
zones:
  - {files: zones/team/*.yaml, targets: [two], owner: team}
  - {files: 'zones/*', targets: [one]}
`

const FILES = {
  'zonewright.yaml': CONFIG,
  'zones/a.test.yaml': zone('a.test', 'include: [../shared/mail.yaml]\n'),
  'zones/b.test.yaml': zone('b.test'),
  'zones/c.test.zone': '$ORIGIN c.test.\n$TTL 300\n$INCLUDE c.inc\nwww A 192.0.2.1\n',
  'zones/c.inc': 'mail A 192.0.2.2\n',
  'zones/team/d.test.yaml': zone('d.test', 'include: [{file: ../../shared/web.yaml, with: {ip: 192.0.2.9}}]\n'),
  'zones/team/e.test.yaml': zone('e.test'),
  'shared/mail.yaml': 'mail: {type: A, value: 192.0.2.2}\n"": !include deep.yaml\n',
  'shared/deep.yaml': '{type: TXT, value: deep}\n',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of fragments
  'shared/web.yaml': 'web: {type: A, value: "${ip}"}\n',
  'README.md': 'text\n',
}

const REVERSE = { 'zones/2.0.192.in-addr.arpa.yaml': 'domain: 2.0.192.in-addr.arpa\nsoa_email: a@example.com\nrecords: {}\n' }
const ALL = ['a.test.', 'b.test.', 'c.test.', 'd.test.', 'e.test.']

async function selected({ folder }: Pick<GitRepository, 'folder'>, since = 'main', ...more: string[]) {
  const args = ['zones', '--format', 'json', '--since', since, ...more]
  const { status, stdout, stderr } = await cli(args, { cwd: folder, env: GIT_ENVIRONMENT })
  return { status, zones: (JSON.parse(stdout || '{"zones":[]}').zones as { zone: string }[]).map((one) => one.zone), stderr }
}

let shared: GitRepository | null = null

/** The zones selected after these changes of the files, which are not committed; null removes one. */
async function selectedAfter(changes: Readonly<Record<string, string | null>>, before: Readonly<Record<string, string>> = FILES) {
  if (before !== FILES) {
    const own = gitRepository(before)
    own.write(changes)
    return selected(own)
  }
  shared ??= gitRepository(FILES)
  shared.write(changes)
  const found = await selected(shared)
  const added = Object.keys(changes).filter((file) => !(file in FILES))
  shared.write({ ...FILES, ...Object.fromEntries(added.map((file) => [file, null])) })
  return found
}

const config = (from: string, to: string) => ({ 'zonewright.yaml': CONFIG.replace(from, to) })

describeWithTools(['git'], '--since', () => {
  describe('selects the zones of', () => {
    test.each<[string, Record<string, string | null>, string[]]>([
      ['a definition', { 'zones/b.test.yaml': `${FILES['zones/b.test.yaml']}# a comment\n` }, ['b.test.']],
      ['a fragment', { 'shared/mail.yaml': `${FILES['shared/mail.yaml']}x: {type: A, value: 192.0.2.3}\n` }, ['a.test.']],
      ['a fragment of a fragment', { 'shared/deep.yaml': '{type: TXT, value: deeper}\n' }, ['a.test.']],
      ['a variable', { 'zones/team/d.test.yaml': FILES['zones/team/d.test.yaml'].replace('192.0.2.9', '192.0.2.10') }, ['d.test.']],
      ['a file that a zone file includes', { 'zones/c.inc': 'mail A 192.0.2.3\n' }, ['c.test.']],
      ['a new definition', { 'zones/f.test.yaml': zone('f.test') }, ['f.test.']],
      ['a moved definition', { 'zones/b.test.yaml': null, 'zones/moved.yaml': zone('b.test') }, ['b.test.']],
      ['a provider', config('192.0.2.54', '192.0.2.55'), ['d.test.', 'e.test.']],
      ['a rule', config('owner: team', 'owner: team, policy: upsert-only'), ['d.test.', 'e.test.']],
      ['an owner', config('owner: team', 'owner: other'), ['d.test.', 'e.test.']],
      ['a rule for one zone', config('zones:\n', 'zones:\n  - {zone: e.test, targets: [two], safety: {max_deletes: 1}}\n'), ['e.test.']],
      ['a default', config('ttl_sec: 1h', 'ttl_sec: 2h'), ALL],
      ['a limit', config('defaults:', 'safety: {max_deletes: 3}\ndefaults:'), ALL],
      ['an order of keys only', config('targets: [two], owner: team', 'owner: team, targets: [two]'), []],
      ['a provider that no zone uses', config('  two:', '  three: {type: rfc2136, server: 192.0.2.55}\n  two:'), []],
      ['another file', { 'README.md': 'more\n', 'shared/unused.yaml': 'x: 1\n' }, []],
      ['line ends only', { 'zones/b.test.yaml': FILES['zones/b.test.yaml'].replaceAll('\n', '\r\n') }, []],
    ])('%s', async (_, changes, zones) => {
      const found = await selectedAfter(changes)
      expect([found.zones, found.status]).toEqual([zones, 0])
      const count = ['No zone has', '1 zone'][zones.length] ?? `${zones.length} zones`
      expect(found.stderr).toBe(`${count} changed since main.\n`)
    })

    test('a PTR record, when the address in another zone changes', async () => {
      const feeding = (address: string) => ({ 'zones/p.test.yaml': zone('p.test', 'auto_ptr: true\n').replace('192.0.2.1', address) })
      const { zones } = await selectedAfter(feeding('192.0.2.21'), { ...FILES, ...REVERSE, ...feeding('192.0.2.20') })
      expect(zones).toEqual(['2.0.192.in-addr.arpa.', 'p.test.'])
    })
  })

  test('uncommitted and untracked files count, and what main changed meanwhile does not', async () => {
    const repository = gitRepository(FILES)
    repository.git('checkout', '-qb', 'topic')
    repository.commit({ 'zones/a.test.yaml': zone('a.test') })
    repository.git('checkout', '-q', 'main')
    repository.commit({ 'zones/team/e.test.yaml': zone('e.test', 'ttl_sec: 2h\n') })
    repository.git('checkout', '-q', 'topic')
    repository.write({ 'zones/b.test.yaml': zone('b.test', 'ttl_sec: 2h\n'), 'zones/new.test.yaml': zone('new.test') })
    expect((await selected(repository)).zones).toEqual(['a.test.', 'b.test.', 'new.test.'])
    // Compared with main itself, its change of e.test. differs too.
    expect((await selected(repository, 'main..')).zones).toEqual(['a.test.', 'b.test.', 'e.test.', 'new.test.'])
  })

  describe('a definition that is gone is named', () => {
    const GONE = 'no definition describes b.test. at one; zones/b.test.yaml described it in main '
    const onlyTwo = CONFIG.replace(/ {2}one:.*\n/, '').replace('targets: [one]', 'targets: [two]')
    const without = Object.fromEntries(['a.test.yaml', 'b.test.yaml', 'c.test.zone'].map((file) => [`zones/${file}`, null]))

    test.each<[string, Record<string, string | null>, string]>([
      ['deleted', { 'zones/b.test.yaml': null }, `${GONE}(to delete it, set "delete_removed: true"`],
      ['of another zone', { 'zones/b.test.yaml': zone('renamed.test') }, `${GONE}(to delete it`],
      ['that no glob matches', config("files: 'zones/*'", "files: ['zones/*', '!zones/b*']"), `${GONE}(no rule of the config matches`],
      ['for another provider', { 'zones/b.test.yaml': zone('b.test', 'targets: [two]\n') }, `${GONE}(its definition has the targets two`],
      ['of a provider that is gone', { ...without, 'zonewright.yaml': onlyTwo }, '(one is not in the config'],
    ])('%s', async (_, changes, text) => {
      const { stderr } = await selectedAfter(changes)
      expect(stderr).toContain('warning[zone-removed]')
      expect(stderr).toContain(text)
    })

    test('but not if it is disabled, has errors, or the revision deleted the zone', async () => {
      const absent = { ...FILES, 'zones/b.test.yaml': 'domain: b.test\nabsent: true\n' }
      for (const [changes, before] of [
        [{ 'zones/b.test.yaml': `enabled: false\n${FILES['zones/b.test.yaml']}` }, FILES],
        [config("  - {files: 'zones/*'", "  - {files: zones/b*, enabled: false}\n  - {files: 'zones/*'"), FILES],
        [{ 'zones/b.test.yaml': 'domain: [\n' }, FILES],
        [{ 'zones/b.test.yaml': null }, absent],
      ] as const)
        expect((await selectedAfter(changes, before)).stderr).not.toContain('zone-removed')
    })
  })

  describe('--since of other commands', () => {
    test('validate reports only what changed; fmt only changed files', async () => {
      const bad = '  x: {type: A, value: 192.0.2.256}\n'
      const before = { ...FILES, 'zones/b.test.yaml': FILES['zones/b.test.yaml'] + bad, 'zones/e.test.yaml': zone('e.test') }
      const repository = gitRepository({ ...before, 'zones/a.test.yaml': 'records:   {}\ndomain:   a.test\nsoa_email: a@example.com\n' })
      const run = (...args: string[]) => cli(args, { cwd: repository.folder, env: GIT_ENVIRONMENT })
      expect((await run('validate', '--since', 'HEAD')).status).toBe(0)
      expect((await run('validate')).status).toBe(1)
      repository.write({
        'zones/team/e.test.yaml': `${zone('e.test')}${bad}`,
        'zones/c.inc': 'mail  A  192.0.2.7\n',
        'zones/new.test.yaml': 'records:   {}\ndomain:   new.test\n',
      })
      const validated = await run('validate', '--since', 'HEAD')
      expectEnd(validated, 1, { out: 'zones/team/e.test.yaml:5' })
      expect(validated.stdout).not.toContain('b.test')
      expect((await run('fmt', '--check', '--since', 'HEAD')).stdout).toBe('zones/new.test.yaml\n')
    })

    test('an unknown revision is an error of each', async () => {
      const { folder } = gitRepository(FILES)
      const message = expect.stringContaining('the repository has no revision "nowhere"')
      for (const command of ['validate', 'plan', 'verify', 'zones', 'fmt', 'apply']) {
        const { status, stdout, stderr } = await cli([command, '--since', 'nowhere'], { cwd: folder, env: GIT_ENVIRONMENT })
        expect([command, status, stdout + stderr]).toEqual([command, 1, message])
      }
    })
  })

  test('a changed reverse zone is not planned without the PTR records of an unchanged definition with errors', async () => {
    const feeding = zone('p.test', 'auto_ptr: true\n').replace('192.0.2.1', 'nonsense')
    const repository = gitRepository({ ...FILES, ...REVERSE, 'zones/p.test.yaml': feeding })
    repository.write({ 'zones/b.test.yaml': zone('b.test', 'ttl_sec: 2h\n') })
    expect(await selected(repository)).toMatchObject({ status: 0, zones: ['b.test.'] })
    repository.write({ 'zones/2.0.192.in-addr.arpa.yaml': 'domain: 2.0.192.in-addr.arpa\nsoa_email: a@example.com\nttl_sec: 2h\n' })
    const setting = { cwd: repository.folder, env: GIT_ENVIRONMENT }
    expectEnd(await cli(['plan', '--since', 'main', '--target', 'one'], setting), 1, { err: '"nonsense" is not an IPv4 address', out: '' })
  })

  test('everything is selected if the revision has no usable config', async () => {
    const { zones, stderr } = await selectedAfter({ 'zonewright.yaml': CONFIG }, { ...FILES, 'zonewright.yaml': 'zones: 7\n' })
    expect([zones, stderr]).toEqual([ALL, expect.stringContaining('main has no config that can be read, so every zone is selected')])
  })

  test('names limit the zones that changed', async () => {
    const repository = gitRepository(FILES)
    repository.write({ 'zones/a.test.yaml': zone('a.test'), 'zones/team/d.test.yaml': zone('d.test') })
    expect((await selected(repository, 'HEAD', 'zones/team', 'b.test')).zones).toEqual(['d.test.'])
    expect(await selected(repository, 'HEAD', 'none.test')).toMatchObject({ status: 1, stderr: expect.stringContaining('zone-unknown') })
  })
})
