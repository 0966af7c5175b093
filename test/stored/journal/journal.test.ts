import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { validate } from '../../../generated/journal-schema.js'
import { addSecret, noSecrets } from '../../../src/base/secret-guard.ts'
import { ownProcess, type ProcessIdentity } from '../../../src/files/process-identity.ts'
import type { Changeset } from '../../../src/plan/changesets.ts'
import type { Change, Outcome } from '../../../src/plan/plan.ts'
import { CLOUD_CAPABILITIES } from '../../../src/providers/cloud/capabilities.ts'
import type { Provider } from '../../../src/providers/provider.ts'
import type { ApplicableZone } from '../../../src/run/apply/apply-zones.ts'
import { applyJournalled } from '../../../src/run/apply/locked-run.ts'
import { isRunId, isRunPrefix, runId } from '../../../src/stored/journal/journal-format.ts'
import { type RunRecord, readRuns } from '../../../src/stored/journal/read-journal.ts'
import { findRun, lastRun, pruneRuns, readRunPlans } from '../../../src/stored/journal/runs.ts'
import { beginJournal, type Journal, type JournalRequest } from '../../../src/stored/journal/write-journal.ts'
import { ORIGIN, planOf } from '../../support/plan.ts'
import { callOf } from '../../support/provider-calls.ts'
import { rounds } from '../../support/random.ts'
import { existingZone } from '../../support/records.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'

const OWN = ownProcess()
const DEAD: ProcessIdentity = { ...OWN, started: '1' }
const RUN = '20261121T063000Z-4f2a'
const TARGETS = new Map([['cloud', { name: 'cloud', type: 'cloud', address: 'http://127.0.0.1:8080/v4' }]])
const APPLIED: Outcome = { state: 'applied', id: 7 }
const SECRET = 'journal-secret-55667788'

/** A zone whose plan has two updates and one creation. */
function zoneToApply(): ApplicableZone {
  const [before, after] = ['a A 192.0.2.1\nb A 192.0.2.1', 'a A 192.0.2.2\nb A 192.0.2.2\nc A 192.0.2.3']
  return {
    plan: planOf(before, after),
    reference: null,
    existing: { ...existingZone(ORIGIN, before), id: 1 },
  }
}

/** A clock that advances by a second with each call. */
function clock(from = '2026-11-21T06:30:00.000Z'): () => Date {
  let time = Date.parse(from)
  return () => {
    time += 1000
    return new Date(time)
  }
}

async function begin(journal: string, zones: readonly ApplicableZone[], more: Partial<JournalRequest> = {}): Promise<Journal> {
  const planned = { created: '2026-11-21T06:30:00.000Z', tool: 'zw 1.2.3', zones, diagnostics: [] }
  const common = { run: RUN, command: 'apply', rollsBack: null, approvedBy: [], process: OWN, now: clock() } as const
  return beginJournal({ journal, planned, zones, targets: TARGETS, secrets: noSecrets(), ...common, ...more })
}

/** The call of one change of a zone's plan. */
const nth = ({ plan }: ApplicableZone, index: number): Changeset => callOf(plan.changes[index] as Change, index)

/** Journals all changes of a zone with the given outcome. */
function journalAll(journal: Journal, zone: ApplicableZone, outcome: Outcome = APPLIED): void {
  for (const [index] of zone.plan.changes.entries()) {
    expect(journal.call(zone, nth(zone, index))).toBeNull()
    journal.outcome(zone, index, outcome)
  }
  const outcomes = zone.plan.changes.map(() => outcome)
  journal.zone(zone, { plan: zone.plan, outcomes, readBack: 'equal', diagnostics: [] })
}

const linesOf = (journal: string, run = RUN): Record<string, unknown>[] =>
  readFileSync(join(journal, 'runs', run, 'journal.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

const only = (journal: string): RunRecord => {
  const { runs, diagnostics } = readRuns(journal, OWN)
  expect(diagnostics).toEqual([])
  expect(runs).toHaveLength(1)
  return runs[0] as RunRecord
}

describe('run ID', () => {
  it('consists of the time in seconds and four hexadecimal digits', () => {
    expect(runId(new Date('2026-11-21T06:30:00.987Z'), () => 0.31)).toBe('20261121T063000Z-4f5c')
    expect(runId(new Date(0), () => 0)).toBe('19700101T000000Z-0000')
    expect(runId(new Date(0), () => 1 - Number.EPSILON)).toBe('19700101T000000Z-ffff')
  })

  test.each([RUN, '20261121T063000Z-', '20261121t06', '2', '20261121T063000Z-4F2A'])('%s is a valid prefix', (text) =>
    expect(isRunPrefix(text)).toBe(true),
  )

  test.each(['', 'x', '../..', `${RUN}0`, 'T06'])('%j is not a valid prefix', (text) => {
    expect(isRunPrefix(text)).toBe(false)
    expect(isRunId(text)).toBe(false)
  })
})

describe('a secret of the run', () => {
  const secrets = noSecrets()
  addSecret(secrets, 'providers.cloud.token', SECRET)

  test('in a plan: no journal is created', async () => {
    const journal = temporaryDirectory()
    const zone = { ...zoneToApply(), plan: planOf('a A 192.0.2.1', `a A 192.0.2.1\nt TXT ${SECRET}`) }
    await expect(begin(journal, [zone], { secrets })).rejects.toMatchObject({
      name: 'SecretExposed',
      message: `the saved plan of ${ORIGIN} would contain the secret of providers.cloud.token`,
    })
    expect(readdirSync(join(journal, 'runs'))).toEqual([])
  })

  test('in an existing record that does not change: no journal is created', async () => {
    const journal = temporaryDirectory()
    const zone = zoneToApply()
    const existing = { ...existingZone(ORIGIN, `a A 192.0.2.1\nb A 192.0.2.1\nt TXT ${SECRET}`), id: 1 }
    await expect(begin(journal, [{ ...zone, existing }], { secrets })).rejects.toMatchObject({ name: 'SecretExposed' })
  })

  test('in an outcome: the line is omitted, and no further call is sent', async () => {
    const journal = temporaryDirectory()
    const zone = zoneToApply()
    const begun = await begin(journal, [zone], { secrets })
    expect(begun.call(zone, nth(zone, 0))).toBeNull()
    begun.outcome(zone, 0, { state: 'failed', error: `what is ${SECRET}?` })
    const problem = `the journal of run ${RUN} cannot be written: a line of the journal would contain the secret of providers.cloud.token`
    expect([begun.call(zone, nth(zone, 1)), begun.end(1)]).toEqual([problem, problem])
    expect(readFileSync(join(journal, 'runs', RUN, 'journal.jsonl'), 'utf8')).not.toContain(SECRET)
  })
})

describe('the journal of a run', () => {
  it('contains the existing zone, the plan, and each call before it is sent', async () => {
    const folder = join(temporaryDirectory(), 'journal')
    const zone = zoneToApply()
    const journal = await begin(folder, [zone])
    expect(linesOf(folder).map(({ event }) => event)).toEqual(['begin'])
    journal.call(zone, nth(zone, 0))
    expect(linesOf(folder).at(-1)).toMatchObject({
      event: 'call',
      zone: 0,
      changes: [{ change: 0, action: 'update', name: 'a.example.com.', type: 'A' }],
    })
    journal.outcome(zone, 0, APPLIED)
    expect(linesOf(folder).at(-1)).toMatchObject({ event: 'outcome', outcome: APPLIED })
    journalAll(journal, zone)
    expect(journal.end(0)).toBeNull()
    for (const line of linesOf(folder)) expect(validate(line), JSON.stringify(validate.errors)).toBe(true)

    const run = only(folder)
    expect(run).toMatchObject({ id: RUN, status: 0, state: 'applied', rolledBackBy: [], begin: { tool: 'zw 1.2.3', command: 'apply' } })
    expect(run.figures).toEqual({ applied: { create: 1, update: 2, delete: 0, total: 3 }, failed: 0, skipped: 0, unknown: 0 })
    const details = await readRunPlans(run)
    if (!details.ok) throw new Error(details.message)
    const [detail] = details.value
    expect(detail?.existing).toEqual({ name: ORIGIN, id: 1, settings: zone.existing?.settings, records: zone.existing?.records })
    expect(detail?.plan.changes).toEqual(zone.plan.changes)
    expect(detail?.outcome).toMatchObject({ readBack: 'equal', outcomes: [APPLIED, APPLIED, APPLIED] })
    expect(detail?.target).toEqual(TARGETS.get('cloud'))
  })

  it('is private and kept out of the repository', async () => {
    const folder = join(temporaryDirectory(), 'journal')
    ;(await begin(folder, [zoneToApply()])).end(0)
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
    expect(entries.length).toBeGreaterThan(5)
    for (const entry of entries) {
      const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777
      expect([entry.name, mode]).toEqual([entry.name, entry.isDirectory() ? 0o700 : 0o600])
    }
    expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toBe('*\n')
    expect(readdirSync(join(folder, 'runs'))).toEqual([RUN])
  })

  it('contains the outcomes that a second read resolved', async () => {
    const folder = temporaryDirectory()
    const zone = zoneToApply()
    const journal = await begin(folder, [zone])
    const doubt: Outcome = { state: 'unknown', error: 'no answer' }
    for (const index of [0, 1, 2]) {
      journal.call(zone, nth(zone, index))
      journal.outcome(zone, index, index === 1 ? doubt : APPLIED)
    }
    journal.zone(zone, { plan: zone.plan, outcomes: [APPLIED, APPLIED, APPLIED], readBack: 'equal', diagnostics: [] })
    expect(linesOf(folder).at(-1)).toMatchObject({ event: 'zone', resolved: [{ change: 1, outcome: APPLIED }] })
    journal.end(0)
    expect(only(folder).state).toBe('applied')
  })

  test.each<[string, number, Outcome[], RunRecord['state']]>([
    ['all applied', 0, [APPLIED, APPLIED, APPLIED], 'applied'],
    ['all applied, but the read-back differs', 1, [APPLIED, APPLIED, APPLIED], 'applied'],
    ['all applied despite a signal', 130, [APPLIED, APPLIED, APPLIED], 'applied'],
    ['one failed', 4, [APPLIED, { state: 'failed', error: 'x' }, APPLIED], 'partial'],
    ['all failed', 1, [1, 2, 3].map(() => ({ state: 'failed', error: 'x' })), 'failed'],
    ['one unknown', 4, [1, 2, 3].map((n) => (n === 1 ? { state: 'unknown', error: 'x' } : { state: 'failed', error: 'x' })), 'partial'],
    ['Ctrl-C', 130, [APPLIED, { state: 'skipped', because: 'x' }, { state: 'skipped', because: 'x' }], 'interrupted'],
    ['SIGTERM', 143, [APPLIED, { state: 'skipped', because: 'x' }, { state: 'skipped', because: 'x' }], 'interrupted'],
  ])('%s: exit %i', async (_, status, outcomes, state) => {
    const folder = temporaryDirectory()
    const zone = zoneToApply()
    const journal = await begin(folder, [zone])
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.state !== 'skipped') journal.call(zone, nth(zone, index))
      journal.outcome(zone, index, outcome)
    }
    journal.end(status)
    expect(only(folder)).toMatchObject({ status, state })
  })

  it('shows a running run while its process lives, then an interrupted run with its calls', async () => {
    for (const [owner, state] of [
      [OWN, 'running'],
      [DEAD, 'interrupted'],
    ] as const) {
      const folder = temporaryDirectory()
      const zone = zoneToApply()
      const journal = await begin(folder, [zone], { process: owner })
      journal.call(zone, nth(zone, 0))
      journal.outcome(zone, 0, APPLIED)
      journal.call(zone, nth(zone, 2))
      const run = only(folder)
      expect(run).toMatchObject({ state, status: null })
      expect(run.figures).toEqual({ applied: { create: 0, update: 1, delete: 0, total: 1 }, failed: 0, skipped: 1, unknown: 1 })
      const details = await readRunPlans(run)
      if (!details.ok) throw new Error(details.message)
      expect(details.value[0]?.outcome.outcomes).toEqual([
        APPLIED,
        { state: 'skipped', because: 'the run ended first' },
        { state: 'unknown', error: 'the run ended before the response arrived' },
      ])
      journal.end(1)
    }
  })

  it('truncated after its first line is read up to the last complete line', async () => {
    const folder = temporaryDirectory()
    const zone = zoneToApply()
    const journal = await begin(folder, [zone], { process: DEAD })
    journalAll(journal, zone)
    journal.end(0)
    const path = join(folder, 'runs', RUN, 'journal.jsonl')
    const whole = readFileSync(path, 'utf8')
    const first = whole.indexOf('\n') + 1
    let before = -1
    const step = Math.max(1, Math.floor((whole.length - first) / rounds(400)))
    const lengths = Array.from({ length: Math.ceil((whole.length - first) / step) }, (_, index) => first + index * step)
    for (const length of [...lengths, whole.length]) {
      writeFileSync(path, whole.slice(0, length))
      const { applied, unknown } = only(folder).figures
      expect(applied.total + unknown).toBeGreaterThanOrEqual(before)
      before = applied.total + unknown
      expect(only(folder).state).toBe(length === whole.length ? 'applied' : 'interrupted')
    }
    expect(before).toBe(3)
  })

  it('may contain garbage only at its end, as after a power failure', async () => {
    const folder = temporaryDirectory()
    const zone = zoneToApply()
    const journal = await begin(folder, [zone], { process: DEAD })
    journal.call(zone, nth(zone, 0))
    const path = join(folder, 'runs', RUN, 'journal.jsonl')
    appendFileSync(path, `${'\u0000'.repeat(40)}\n`)
    expect(only(folder).figures.unknown).toBe(1)
    appendFileSync(path, `${'\u0000'.repeat(40)}\n`)
    const { runs, diagnostics } = readRuns(folder, OWN)
    expect(runs).toEqual([])
    expect(diagnostics).toEqual([
      expect.objectContaining({ code: 'journal-unreadable', message: `run ${RUN}: line 3 of its journal is garbled` }),
    ])
    journal.end(0)
  })

  const replacing = (from: string, to: string) => (path: string) => writeFileSync(path, readFileSync(path, 'utf8').replaceAll(from, to))
  const withOutcome = (zone: number, change: number) => (path: string) =>
    appendFileSync(path, `{"event":"outcome","time":"x","zone":${zone},"change":${change},"outcome":{"state":"applied"}}\n`)
  const spoilAsFolder = (path: string): void => {
    rmSync(path)
    mkdirSync(path)
  }
  const spoilAsPipe = (path: string): void => {
    rmSync(path)
    execFileSync('mkfifo', [path])
  }
  const problems: [string, (path: string) => void, RegExp][] = [
    ['is empty', (path) => truncateSync(path), /no first line/],
    ['is missing', (path) => rmSync(path), /does not exist/],
    ['is a folder', spoilAsFolder, /is a folder|cannot be read/],
    ['is a named pipe', spoilAsPipe, /no first line/],
    ['begins with something else', (path) => writeFileSync(path, '{"event":"end"}\n'), /first line of its journal is garbled/],
    ['has a newer version', replacing('"version":2', '"version":3'), /has version 3; this program reads version 2/],
    ['has an older version', replacing('"version":2', '"version":1'), /has version 1; this program reads version 2/],
    ['belongs to another run', replacing('-4f2a', '-4f2b'), /belongs to run .*-4f2b/],
    ['has a line for an unknown zone', withOutcome(1, 0), /names zone 1; it has 1 zones/],
    ['has a line for an unknown change', withOutcome(0, 3), /a change that the plan of example\.com\. does not have/],
  ]
  test.each(problems)('gives a diagnostic if it %s; other runs are read', async (_, spoil, message) => {
    const folder = temporaryDirectory()
    ;(await begin(folder, [zoneToApply()], { run: '20261121T063001Z-0000' })).end(0)
    const journal = await begin(folder, [zoneToApply()])
    spoil(join(folder, 'runs', RUN, 'journal.jsonl'))
    const { runs, diagnostics } = readRuns(folder, OWN)
    expect(runs.map(({ id }) => id)).toEqual(['20261121T063001Z-0000'])
    expect(diagnostics).toEqual([{ severity: 'error', code: 'journal-unreadable', message: expect.stringMatching(message) }])
    journal.end(0)
  })

  const damagedPlans: [string, (path: string) => void, RegExp][] = [
    ['is missing', (path) => rmSync(path), /does not exist/],
    ['was changed', replacing('192.0.2.3', '192.0.2.4'), /was changed after it was saved/],
  ]
  test.each(damagedPlans)('gives an error if its plan %s', async (_, spoil, message) => {
    const folder = temporaryDirectory()
    ;(await begin(folder, [zoneToApply()])).end(0)
    spoil(join(folder, 'runs', RUN, 'plans', '1.json'))
    expect(await readRunPlans(only(folder))).toEqual({ ok: false, message: expect.stringMatching(message) })
  })

  it('is not created if its run ID exists, and leaves no files', async () => {
    const folder = temporaryDirectory()
    ;(await begin(folder, [zoneToApply()])).end(0)
    await expect(begin(folder, [zoneToApply()])).rejects.toMatchObject({ code: 'EEXIST' })
    expect(readdirSync(join(folder, 'runs'))).toEqual([RUN])
  })

  it('is not created in a folder that cannot be written', async () => {
    const folder = temporaryDirectory()
    writeFileSync(join(folder, 'runs'), '')
    await expect(begin(folder, [zoneToApply()])).rejects.toMatchObject({ code: expect.stringMatching(/EEXIST|ENOTDIR/) })
  })

  it('stops further calls after a write error', async () => {
    const zone = zoneToApply()
    const noted: string[] = []
    const full: Journal = {
      run: RUN,
      call: (_, { indexes: [index = 0] }) => (index < 1 ? null : 'the journal cannot be written: the disk is full'),
      outcome: (_, change, { state }) => void noted.push(`${change} ${state}`),
      zone: () => undefined,
      end: () => null,
    }
    const sent: string[] = []
    const provider: Provider = {
      name: 'cloud',
      type: 'cloud',
      address: '',
      capabilities: CLOUD_CAPABILITIES,
      parallelism: 1,
      findZones: async () => new Map(),
      listZones: async () => ({ zones: [], unusable: [] }),
      readZone: async () => zone.existing as never,
      apply: async (_, { changes: [change] }, options) => {
        if (options?.stop?.aborted) {
          const { ProviderError } = await import('../../../src/providers/provider.ts')
          throw new ProviderError('provider-stopped', 'stopped', { notSent: true } as never)
        }
        sent.push(change?.name ?? '')
        return { changes: [{ id: 1 }] }
      },
      close: async () => undefined,
    }
    const outcomes = await applyJournalled([zone], { providers: new Map([['cloud', provider]]), recoveryPause: 0 }, full)
    expect(sent).toEqual(['a.example.com.'])
    expect(outcomes[0]?.outcomes.slice(1)).toEqual(
      [1, 2].map(() => ({ state: 'skipped', because: 'the journal cannot be written: the disk is full' })),
    )
    expect(noted).toEqual(['0 applied', '1 skipped', '2 skipped'])
  })
})

describe('runs', () => {
  /** Consecutive runs; `back` is the index of the run that a rollback reverts. */
  async function journalOf(
    runs: readonly { back?: number; whole?: boolean; outcome?: Outcome }[],
  ): Promise<{ folder: string; ids: string[] }> {
    const folder = temporaryDirectory()
    const ids = runs.map((_, index) => `20261121T06300${index}Z-000${9 - index}`)
    for (const [index, { back, whole = true, outcome }] of runs.entries()) {
      const zone = zoneToApply()
      const rollsBack = back === undefined ? null : { run: ids[back] as string, whole }
      const more = { run: ids[index] as string, rollsBack, command: back === undefined ? ('apply' as const) : ('rollback' as const) }
      const journal = await begin(folder, [zone], { ...more, now: clock(`2026-11-21T06:30:0${index}.000Z`) })
      journalAll(journal, zone, outcome)
      journal.end(outcome === undefined ? 0 : 1)
    }
    return { folder, ids }
  }

  const statesOf = (folder: string): [string, number][] =>
    readRuns(folder, OWN)
      .runs.toReversed()
      .map(({ state, rolledBackBy }) => [state, rolledBackBy.length])

  it('are sorted by time, latest first, also within one second', async () => {
    const folder = temporaryDirectory()
    for (const [index, suffix] of ['ffff', '0000', '8888'].entries()) {
      const now = (): Date => new Date(`2026-11-21T06:30:00.${index}00Z`)
      ;(await begin(folder, [zoneToApply()], { run: `20261121T063000Z-${suffix}`, now })).end(1)
    }
    expect(readRuns(folder, OWN).runs.map(({ id }) => id.slice(-4))).toEqual(['8888', '0000', 'ffff'])
  })

  it('are rolled back unless the rollback was rolled back, incomplete or failed', async () => {
    const failed: Outcome = { state: 'failed', error: 'x' }
    expect(statesOf((await journalOf([{}, { back: 0 }])).folder)).toEqual([
      ['rolled-back', 1],
      ['applied', 0],
    ])
    // The rollback was rolled back: the first run is applied again.
    expect(statesOf((await journalOf([{}, { back: 0 }, { back: 1 }])).folder)).toEqual([
      ['applied', 0],
      ['rolled-back', 1],
      ['applied', 0],
    ])
    expect(statesOf((await journalOf([{}, { back: 0, whole: false }])).folder)).toEqual([
      ['applied', 1],
      ['applied', 0],
    ])
    expect(statesOf((await journalOf([{}, { back: 0, outcome: failed }])).folder)).toEqual([
      ['applied', 0],
      ['failed', 0],
    ])
  })

  it('are found by a prefix of their ID; the last run is the last that changed something', async () => {
    const { folder, ids } = await journalOf([{}, {}, { outcome: { state: 'failed', error: 'x' } }])
    const { runs } = readRuns(folder, OWN)
    expect(lastRun(runs).run?.id).toBe(ids[1])
    expect(lastRun([])).toMatchObject({ run: null, diagnostic: { code: 'run-unknown' } })
    expect(findRun(runs, '20261121t063001').run?.id).toBe(ids[1])
    expect(findRun(runs, ids[2] as string).run?.id).toBe(ids[2])
    expect(findRun(runs, '2026')).toMatchObject({
      run: null,
      diagnostic: { message: expect.stringContaining(`${ids[2]}, ${ids[1]} and ${ids[0]}`) },
    })
    for (const name of ['2025', '', '..', 'x'.repeat(500)]) {
      const found = findRun(runs, name)
      expect(found).toMatchObject({ run: null, diagnostic: { code: 'run-unknown' } })
      if (found.run === null) expect(found.diagnostic.message.length).toBeLessThan(150)
    }
  })

  it('are pruned oldest first, except running ones', async () => {
    const { folder, ids } = await journalOf([{}, {}, {}])
    const old = await begin(folder, [zoneToApply()], { run: '20261120T000000Z-0000', now: clock('2026-11-20T00:00:00.000Z') })
    mkdirSync(join(folder, 'runs', '.20261101T000000Z-0000', 'plans'), { recursive: true })
    mkdirSync(join(folder, 'runs', '.20261121T070000Z-0000'))
    expect(pruneRuns(folder, readRuns(folder, OWN).runs, 1, new Date('2026-11-21T08:00:00Z'))).toEqual([ids[1], ids[0]])
    expect(readdirSync(join(folder, 'runs')).sort()).toEqual(['.20261121T070000Z-0000', '20261120T000000Z-0000', ids[2]])
    old.end(0)
  })

  it('are empty without a journal; other folders are ignored', () => {
    const folder = temporaryDirectory()
    expect(readRuns(folder, OWN)).toEqual({ runs: [], diagnostics: [] })
    mkdirSync(join(folder, 'runs', 'notes'), { recursive: true })
    expect(readRuns(folder, OWN)).toEqual({ runs: [], diagnostics: [] })
    expect(existsSync(join(folder, 'runs', 'notes'))).toBe(true)
    chmodSync(folder, 0o700)
  })
})
