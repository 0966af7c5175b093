/** The flow of rollback and history. */
import { cpSync, mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { validate as validateHistory } from '../../generated/history-schema.js'
import { JOURNAL_VERSION } from '../../src/stored/journal/journal-format.ts'
import { expectEnd } from '../support/cli.ts'
import { leasesIn } from '../support/leases.ts'
import { openLiveScene, openScene, type Scene, ZONE, zoneFiles } from './scene.ts'

const YES = ['--yes', '--allow', 'deletes', '--allow', 'updates', '--allow', 'empty-zone'] as const
type Run = Record<string, unknown> & { readonly run: string }

const runs = async (scene: Scene): Promise<Run[]> => {
  const { stdout } = await scene.run('history', '--format', 'json')
  const document: unknown = JSON.parse(stdout)
  expect(validateHistory(document), JSON.stringify(validateHistory.errors)).toBe(true)
  return (document as { runs: Run[] }).runs
}

const FIRST = ZONE.replace('soa_email', 'tags: [first]\nsoa_email')
const CHANGED = FIRST.replace('192.0.2.1', '192.0.2.9')
  .replace("www: {type: CNAME, value: '@'}", 'www: {type: A, value: 192.0.2.5}')
  .replace(/ {2}mail: .*\n/, '  new: {type: TXT, value: x}\n')
  .replace('tags: [first]\nsoa_email: hostmaster@', 'tags: [dns]\nsoa_email: dns@')

const held = ({ memory }: Scene): string[] => memory.zone('example.com') ?? []

/** A zone that one run created and a second run changed. */
async function twoRuns(): Promise<{ scene: Scene; before: string[]; after: string[] }> {
  const scene = await openLiveScene({ files: { 'zones/example.com.yaml': FIRST } })
  const before = held(scene)
  scene.write({ 'zones/example.com.yaml': CHANGED })
  expectEnd(await scene.run('apply', ...YES), 0)
  return { scene, before, after: held(scene) }
}

describe('a run of another machine', () => {
  /** Two runs whose journal is only in the folder `copied`; the name of the second run. */
  async function copiedRun(): Promise<{ scene: Scene; before: string[]; id: string }> {
    const { scene, before } = await twoRuns()
    const [last] = await runs(scene)
    const { run: id } = last as Run
    cpSync(join(scene.folder, '.zonewright/runs', id), join(scene.folder, 'copied'), { recursive: true })
    rmSync(join(scene.folder, '.zonewright'), { recursive: true })
    return { scene, before, id }
  }

  it.each(['copied', 'copied/', './copied', 'copied/journal.jsonl'])('is rolled back from %s', async (path) => {
    const { scene, before, id } = await copiedRun()
    expectEnd(await scene.run('rollback', path, ...YES), 0, { err: `Rolling back run ${id}, apply of ` })
    expect(held(scene)).toEqual(before)
    expect(await runs(scene)).toMatchObject([{ command: 'rollback', rollsBack: id, state: 'applied' }])
  })

  it('is named by its path if something is left', async () => {
    const { scene } = await copiedRun()
    scene.memory.change('example.com', 'www A 192.0.2.66')
    expectEnd(await scene.run('rollback', 'copied/journal.jsonl', ...YES), 4, { err: 'rollback copied/journal.jsonl --overwrite"' })
    expect((await scene.run('rollback', 'copied/journal.jsonl', '--overwrite', ...YES)).status).toBe(0)
  })

  let whole: Scene | undefined
  const journal = 'copied/journal.jsonl'
  const HINT = '(name the folder of the run, with journal.jsonl and plans, or its journal.jsonl)'
  const put =
    (text: string, file = journal) =>
    ({ folder }: Scene): void =>
      writeFileSync(join(folder, file), text)
  const without =
    (file: string) =>
    ({ folder }: Scene): void =>
      rmSync(join(folder, file), { recursive: true })
  const line = (more: object): string =>
    `${JSON.stringify({ event: 'begin', format: 'zonewright-journal', version: JOURNAL_VERSION, time: '2026-01-01T00:00:00Z', ...more })}\n`
  const GARBLED = 'the first line of its journal is garbled'

  it.each<[string, (scene: Scene) => void, string, string?]>([
    ['nothing there', without('copied'), `copied/: its journal does not exist ${HINT}`, 'copied/'],
    ['a folder without a journal', without(journal), `./copied: its journal does not exist ${HINT}`, './copied'],
    ['another file', () => undefined, 'copied/plans/1.json: it is not the file journal.jsonl of a run', 'copied/plans/1.json'],
    ['a journal of many runs', ({ folder }) => mkdirSync(join(folder, 'copied/runs')), 'it is the journal of many runs', 'copied/'],
    ['no JSON', put('x\n'), GARBLED],
    ['an empty file', put(''), 'its journal has no first line'],
    ['the name of a run with control characters', put(line({ run: '\u001b[31m', zones: [] })), GARBLED],
    ['a later version', put(line({ version: 9 })), `its journal has version 9; this program reads version ${JOURNAL_VERSION}`],
    ['too much', ({ folder }) => truncateSync(join(folder, journal), 2 ** 28 + 1), 'its journal has 268435457 octets; at most'],
    ['no plans', without('copied/plans'), 'the plan of example.com. at cloud does not exist (copy'],
    ['another plan', put('{"format": "zonewright-plan"}', 'copied/plans/1.json'), 'the plan of example.com. at cloud'],
    ['another target', (scene) => scene.write({ 'zonewright.yaml': scene.config().replace('/v4', '/v5') }), '(roll back with'],
  ])('is refused if it has %s', async (_, damage, message, path = journal) => {
    whole ??= (await copiedRun()).scene
    const scene = { ...whole, ...whole.elsewhere(whole.files()) }
    damage(scene)
    const sent = scene.memory.writes().length
    expectEnd(await scene.run('rollback', path, ...YES), 1, { err: message })
    expect(scene.memory.writes()).toHaveLength(sent)
  })
})

describe('rollback', () => {
  it('reverts the last run without definitions, and a rollback by its name', async () => {
    const { scene, before, after } = await twoRuns()
    rmSync(join(scene.folder, 'zones'), { recursive: true })
    expectEnd(await scene.run('rollback', '--last', ...YES), 0, { err: /^Rolling back run \S+, apply of / })
    expect(held(scene)).toEqual(before)
    expect(scene.memory.settingsOf('example.com')).toMatchObject({ soa_email: 'hostmaster@example.com', tags: ['first'] })
    const [own, undone, first] = (await runs(scene)) as [Run, Run, Run]
    expectEnd(await scene.run('rollback', '--last', '--out', 'back.json'), 1, {
      err: [`${own.run}, is a rollback, so --last means run ${first.run} before it`, `Rolling back run ${first.run}`],
    })
    expect(undone.state).toBe('rolled-back')
    expect((await scene.run('rollback', own.run, ...YES)).status).toBe(0)
    expect(held(scene)).toEqual(after)
    expect(scene.memory.settingsOf('example.com')).toMatchObject({ soa_email: 'dns@example.com', tags: ['dns'] })
    const listed = await runs(scene)
    expect(listed.map(({ command }) => command)).toEqual(['rollback', 'rollback', 'apply', 'apply'])
    expect(listed.map(({ state }) => state)).toEqual(['applied', 'rolled-back', 'applied', 'applied'])
    expect(listed[0]).toMatchObject({ rollsBack: listed[1]?.run })
    expect(listed[1]).toMatchObject({ rollsBack: listed[2]?.run, rolledBackBy: [listed[0]?.run] })
  })

  it('reverts a run by a prefix of its ID, with the fewest calls, after it shows them', async () => {
    const { scene, before } = await twoRuns()
    const [last, first] = (await runs(scene)) as [Run, Run]
    // Both begin in the same second, and the ends of their IDs are random.
    const prefix = first.run.startsWith(last.run.slice(0, -1)) ? last.run : last.run.slice(0, -1)
    const sent = scene.memory.writes().length
    const report = await scene.run('rollback', last.run, 'example.com')
    expect(report).toMatchObject({ status: 1, stdout: expect.stringMatching(/ Plan: \d to create, \d to update, \d to delete in 1 zone/) })
    expect(scene.memory.writes()).toHaveLength(sent)
    const done = expectEnd(await scene.run('rollback', prefix.toLowerCase(), ...YES), 0)
    expect(held(scene)).toEqual(before)
    expect(done.stdout).toContain(`(${scene.memory.writes().length - sent} requests)`)
  })

  it('does not revert what another client changed, exits with 4, and overwrites it only with --overwrite', async () => {
    const { scene, before } = await twoRuns()
    scene.memory.change('example.com', 'www A 192.0.2.66')
    const back = expectEnd(await scene.run('rollback', '--last', ...YES), 4, {
      err: /warning\[rollback-conflict\] example\.com\. at cloud: www\.example\.com\. A was changed by the run, and again since/,
    })
    expect(held(scene)).toContain('www.example.com. - A 192.0.2.66')
    expect((await runs(scene)).map(({ state }) => state)).toEqual(['applied', 'applied', 'applied'])
    const [, run] = await runs(scene)
    expect(back.stderr).toContain(`was not rolled back completely: "zonewright rollback ${(run as Run).run} --overwrite" rolls back the`)
    expect((await scene.run('rollback', (run as Run).run, '--overwrite', ...YES)).status).toBe(0)
    expect(held(scene)).toEqual(before)
    expect((await runs(scene))[2]).toMatchObject({ state: 'rolled-back' })
  })

  it('sends nothing and writes no journal if nothing is left to revert', async () => {
    const { scene } = await twoRuns()
    const [last] = await runs(scene)
    await scene.run('rollback', '--last', ...YES)
    const sent = scene.memory.writes().length
    expect((await scene.run('rollback', (last as Run).run, ...YES)).status).toBe(0)
    expect(scene.memory.writes()).toHaveLength(sent)
    expect(await runs(scene)).toHaveLength(3)
  })

  it('reverts one zone of several', async () => {
    const files = zoneFiles(['example.com', 'example.net'])
    const scene = await openLiveScene({ files })
    const more = (text: string): string => `${text}  more: {type: A, value: 192.0.2.8}\n`
    scene.write(Object.fromEntries(Object.entries(files).map(([path, text]) => [path, more(text)])))
    await scene.run('apply', '--yes')
    expect((await scene.run('rollback', '--last', 'example.net', ...YES)).status).toBe(0)
    const pending = await scene.run('plan', '--format', 'json')
    expect(JSON.parse(pending.stdout).zones).toMatchObject([
      { zone: 'example.com.', changes: [] },
      { zone: 'example.net.', changes: [{}] },
    ])
    expect((await runs(scene))[1]).toMatchObject({ state: 'applied', rolledBackBy: [expect.any(String)] })
  })

  const problems: [string, string[], string][] = [
    ['no run', [], 'usage'],
    ['an unknown run', ['19990101'], 'run-unknown'],
    ['an ambiguous prefix', ['2'], 'run-unknown'],
    ['a path without a run', ['../../etc'], 'journal-unreadable'],
    ['a zone that the run did not change', ['--last', 'example.org'], 'zone-unknown'],
    ['a target that the run did not change', ['--last', '--target', 'elsewhere'], 'zone-unknown'],
    ['an invalid zone name', ['--last', 'a..b'], 'zone-name'],
  ]
  let unchanged: Scene | undefined
  test.each(problems)('does nothing for %s', async (_, args, code) => {
    unchanged ??= (await twoRuns()).scene
    const scene = unchanged
    const sent = scene.memory.requests.length
    expect(await scene.run('rollback', ...args, '--yes')).toMatchObject({ status: 1, stderr: expect.stringContaining(`error[${code}]`) })
    expect(scene.memory.requests).toHaveLength(sent)
  })
})

describe('history', () => {
  it('is empty for a folder without runs', async () => {
    const scene = openScene()
    expect(await scene.run('history')).toEqual({ status: 0, stdout: 'No runs.\n', stderr: '' })
    expect(await runs(scene)).toEqual([])
    expect((await scene.run('history', '--last')).status).toBe(1)
    scene.write({ '.zonewright': 'a file' })
    for (const command of [['history'], ['rollback', '--last', ...YES]])
      expectEnd(await scene.run(...command), 1, {
        err: /error\[journal-unreadable\] the journal in .*\.zonewright .* a file is in the place of/,
      })
  })

  it('lists runs, the latest first, without any request', async () => {
    const { scene } = await twoRuns()
    const requestsBefore = scene.memory.requests.length
    const { status, stdout } = await scene.run('history')
    const time = String.raw`\d{8}T\d{6}Z-[0-9a-f]{4} {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ +\d+(?: ms|\.\d s) {2}`
    expect(stdout).toMatch(
      new RegExp(
        `^${time}apply  applied\\n  \\d created, \\d updated, \\d deleted in example\\.com\\. at cloud\\n${time}apply  applied\\n  4 created in example\\.com\\. at cloud\\n$`,
      ),
    )
    expect(status).toBe(0)
    expect(scene.memory.requests).toHaveLength(requestsBefore)
  })

  it('shows one run with its plan and outcomes', async () => {
    const { scene } = await twoRuns()
    const listed = await runs(scene)
    expectEnd(await scene.run('history', (listed[1] as Run).run), 0, {
      out: [`Run ${listed[1]?.run}\n`, /ended .*with exit status 0/, /\+ mail +3600 +A +192\.0\.2\.2/, /\nApplied: 4 created, .*\n$/],
    })
    const document = JSON.parse((await scene.run('history', '--last', '--format', 'json')).stdout)
    expect(validateHistory(document), JSON.stringify(validateHistory.errors)).toBe(true)
    expect(document.runs).toEqual([listed[0]])
    expect(document.plan.zones[0].changes.every((one: { outcome: { state: string } }) => one.outcome.state === 'applied')).toBe(true)
  })

  it('shows failures with their reasons', async () => {
    const scene = openScene({
      fault: ({ changes: [change] }) =>
        change?.name === 'mail.example.com.' ? { kind: 'refused', code: 'provider-rejected', message: '400 no mail here' } : null,
    })
    expect((await scene.run('apply', '--yes')).status).toBe(4)
    expect(await runs(scene)).toEqual([expect.objectContaining({ state: 'partial', status: 4, failed: 1 })])
    expect((await scene.run('history', '--last')).stdout).toContain('no mail here')
  })

  it('does not list an apply without changes, with a refusal or without confirmation', async () => {
    const scene = openScene()
    await scene.run('apply')
    await scene.run('apply', '--yes')
    await scene.run('apply', '--yes')
    scene.write({ 'zones/example.com.yaml': 'domain: example.com\nsoa_email: hostmaster@example.com\nrecords: {}\n' })
    expect((await scene.run('apply', '--yes')).status).toBe(3)
    expect(await runs(scene)).toHaveLength(1)
    expect(await leasesIn(scene.folder)).toEqual([])
  })

  it('prunes', async () => {
    const { scene } = await twoRuns()
    expect(await scene.run('history', '--prune', '1')).toMatchObject({ status: 0, stdout: 'Removed 1 run.\n' })
    expect(await runs(scene)).toHaveLength(1)
    expect((await scene.run('history', '--prune', '1', '--last')).status).toBe(1)
  })
})

test('records that selectors leave to other clients stay as they are, whatever became of them since the run', async () => {
  const leaving = (text: string): string => text.replace('records:', 'unmanaged: [{owner: external-dns}, {preset: acme}]\nrecords:')
  const scene = await openLiveScene({ files: { 'zones/example.com.yaml': leaving(FIRST) } })
  const { memory } = scene
  const isTheirs = (line: string): boolean => /app|_acme-challenge/.test(line)
  const addApp = (app: string): void => {
    memory.add('example.com', `a-${app} 300 TXT "heritage=external-dns,external-dns/owner=k8s"`)
    memory.add('example.com', `${app} 300 A 192.0.2.9`)
  }
  addApp('app1')
  memory.add('example.com', '_acme-challenge 300 TXT "t1"')
  const before = held(scene).filter((line) => !isTheirs(line))
  scene.write({ 'zones/example.com.yaml': leaving(CHANGED) })
  expectEnd(await scene.run('apply', ...YES), 0)
  memory.remove('example.com', 'a-app1.example.com')
  memory.remove('example.com', '_acme-challenge.example.com')
  addApp('app2')
  const theirs = held(scene).filter(isTheirs)
  expect(theirs).toHaveLength(3)
  expectEnd(await scene.run('rollback', '--last', ...YES), 0)
  expect(held(scene)).toEqual([...before, ...theirs].sort())
})
