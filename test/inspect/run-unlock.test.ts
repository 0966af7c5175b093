/** What `unlock` shows and breaks, and how `history` shows a run of another machine. One folder that machines share. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { noSecrets } from '../../src/base/secret-guard.ts'
import { runUnlock } from '../../src/inspect/run-unlock.ts'
import type { Answer } from '../../src/run/context/run-context.ts'
import { folderStore } from '../../src/stored/store/folder-store.ts'
import { type Lease, leaseName, listLeases, ownHolder } from '../../src/stored/store/leases.ts'
import { cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const RUN = '20261121T063000Z-4f2a'
const LATER = '20261121T070000Z-0001'

/** Judged by its lease alone. */
const ELSEWHERE = { ...ownHolder({}), host: 'runner-7', boot: 'another' }
/** A process of this machine whose number was used again. */
const ENDED = { ...ownHolder({}), started: '1' }

function open() {
  const cwd = temporaryDirectory()
  const journal = join(cwd, 'journal')
  writeFileSync(
    join(cwd, 'zonewright.yaml'),
    `journal: {url: "file://${journal}"}\nproviders:\n  cloud: {type: cloud, base_url: 'https://api.example.com/v4', token: 'env:TOKEN'}\n`,
  )
  const store = folderStore(journal, true)
  /** The journal of a run that has sent one call, and has no end. */
  const begin = (run: string, time: string, first?: string): void => {
    const calls = { create: 2, update: 0, delete: 0, total: 2 }
    const lines = [
      {
        event: 'begin',
        format: 'zonewright-journal',
        version: 2,
        time,
        run,
        tool: 'zonewright 0.1.0',
        command: 'apply',
        rollsBack: null,
        process: { pid: 7, started: null, host: 'runner-7' },
        zones: [{ zone: 'example.com.', target: 'cloud', calls }],
      },
      { event: 'call', time, zone: 0, changes: [{ change: 0, action: 'create', name: 'www.example.com.', type: 'A' }] },
    ]
    mkdirSync(join(journal, 'runs', run), { recursive: true })
    writeFileSync(join(journal, 'runs', run, 'journal.jsonl'), first ?? lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  }
  const lease = (run: string, holder: Lease['holder'], renewals = 0): string => {
    const common = { command: 'apply', since: '2026-11-21T06:30:00.000Z', zones: [{ zone: 'example.com.', target: 'cloud' }] } as const
    return JSON.stringify({ ...common, run, holder, seconds: 60, renewals } satisfies Lease)
  }
  const said: string[] = []
  const { signal } = new AbortController()
  const unlock = (ask: () => Promise<Answer>, ...args: string[]) =>
    runUnlock(
      {
        environment: {
          env: { TOKEN: 'zw-test-token-1' },
          cwd,
          now: () => new Date(),
          secrets: noSecrets(),
          listen: () => ({ signal, abort: signal, status: () => null, release: () => undefined }),
        },
        options: {},
        output: {
          say: (text: string) => said.push(text),
          diagnostics: (all: readonly { message: string }[]) => all.map(({ message }) => said.push(message)),
          ask,
        },
      } as unknown as Parameters<typeof runUnlock>[0],
      args,
    )
  return { cwd, store, begin, lease, said, unlock, history: (...args: string[]) => cli(['history', ...args], { cwd, env: { TOKEN: 'x' } }) }
}

test('unlock breaks a lease that was renewed while the question waited for its answer', async () => {
  const { store, begin, lease, said, unlock } = open()
  begin(RUN, '2026-11-21T06:30:00.000Z')
  await store.write(leaseName(RUN), lease(RUN, ENDED), null)
  const renewed = await unlock(async () => {
    for (const renewals of [1, 2]) await store.write(leaseName(RUN), lease(RUN, ENDED, renewals), 'any')
    return 'yes'
  }, 'example.com')
  expect([renewed, said.slice(-2)]).toEqual([
    0,
    ['  0 changes applied, 1 request without a known outcome, 1 not begun', `The lease of run ${RUN} is broken.`],
  ])
  expect((await listLeases(store)).leases).toEqual([])
})

test('unlock says that a run has ended while the question waited for its answer, and what it cannot know', async () => {
  const { store, begin, lease, said, unlock } = open()
  begin(RUN, '', 'not a journal\n')
  await store.write(leaseName(RUN), lease(RUN, ELSEWHERE), null)
  const ended = await unlock(async () => {
    await store.remove(leaseName(RUN), 'any')
    return 'yes'
  }, 'example.com')
  expect([ended, said.slice(-2)]).toEqual([
    0,
    ['  its journal cannot be read, so nobody knows what it has sent', `Run ${RUN} has ended meanwhile.`],
  ])
})

test('history shows a run of another machine as running while its lease is live, and does not prune it', async () => {
  const { store, begin, lease, history } = open()
  begin(RUN, '2026-11-21T06:30:00.000Z')
  begin(LATER, '2026-11-21T07:00:00.000Z')
  const states = async () => JSON.parse((await history('--format', 'json')).stdout).runs.map(({ state }: { state: string }) => state)
  await store.write(leaseName(RUN), lease(RUN, ELSEWHERE), null)
  expect(await states()).toEqual(['interrupted', 'running'])
  expect((await history(RUN)).stdout).toMatch(/ running\n.*, process 7 on runner-7$/m)
  expect((await history('--prune', '1')).stdout).toBe('Removed 0 runs.\n')
  await store.remove(leaseName(RUN), 'any')
  expect(await states()).toEqual(['interrupted', 'interrupted'])
  expect((await history('--prune', '1')).stdout).toBe('Removed 1 run.\n')
})
