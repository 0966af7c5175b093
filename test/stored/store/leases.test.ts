import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { acquireLease, type LeaseRequest } from '../../../src/stored/store/acquire-lease.ts'
import { markUnchanged, outdatedPlan, readFences, takeFences } from '../../../src/stored/store/fences.ts'
import { folderStore } from '../../../src/stored/store/folder-store.ts'
import { type JournalStore, StoreError } from '../../../src/stored/store/journal-store.ts'
import { type LeaseHolder, leaseName, listLeases, ownHolder } from '../../../src/stored/store/leases.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'

const OWN = ownHolder({})
const OLDER = '20261121T063000Z-4f2a'
const YOUNGER = '20261121T070000Z-0001'
/** Seconds of a lease must pass. */
const LONG = { tags: ['long'] }
const ZONE = { zone: 'example.com.', target: 'cloud' }

const request = (store: JournalStore, run: string, more: Partial<LeaseRequest> = {}): LeaseRequest => {
  return { store, run, zones: [ZONE], holder: OWN, command: 'apply', seconds: 60, wait: 0, ...more }
}

const open = (isShared = false): JournalStore => folderStore(join(temporaryDirectory(), 'journal'), isShared)

async function acquired(store: JournalStore, run: string, more: Partial<LeaseRequest> = {}) {
  const lease = await acquireLease(request(store, run, more))
  if (lease.state === 'busy') throw new Error(lease.diagnostic.message)
  return lease
}

/** Makes the last renewal of a lease as old as this many seconds. */
function age(store: JournalStore, run: string, seconds: number): void {
  const folder = join(store.address, 'leases')
  const time = Date.now() / 1000 - seconds
  for (const name of readdirSync(folder)) if (name.startsWith(`${run}.`)) utimesSync(join(folder, name), time, time)
}

/** The identity of a process that has ended. */
async function deadProcess(): Promise<LeaseHolder> {
  const child = spawn('sleep', ['60'])
  const { pid } = child as { pid: number }
  const started = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[21] as string
  child.kill('SIGKILL')
  await once(child, 'exit')
  return { ...OWN, pid, started }
}

/** A store that carries out the next writes, and loses their responses. */
function losing(store: JournalStore): { readonly store: JournalStore; readonly lose: (writes: number) => void } {
  let left = 0
  const write: JournalStore['write'] = async (...args) => {
    const written = await store.write(...args)
    left -= 1
    if (left < 0) return written
    throw new StoreError('no response')
  }
  const lose = (writes: number): void => {
    left = writes
  }
  return { store: { ...store, write }, lose }
}

describe('the lease of a run', () => {
  it('exists during the run, names its holder, and is removed after it', async () => {
    const store = open()
    const lease = await acquired(store, OLDER, { holder: ownHolder({ CI_JOB_URL: 'https://ci.example/7' }) })
    const { leases } = await listLeases(store)
    expect(leases).toMatchObject([
      { run: OLDER, command: 'apply', zones: [ZONE], seconds: 60, holder: { pid: process.pid, job: 'https://ci.example/7' } },
    ])
    expect(await lease.heartbeat.mayWrite(30_000)).toBeNull()
    await lease.heartbeat.end()
    expect((await listLeases(store)).leases).toEqual([])
  })

  it('keeps other runs from the same zone; the message names the holder, and what to do', async () => {
    const store = open()
    const { heartbeat } = await acquired(store, OLDER)
    const busy = await acquireLease(request(store, YOUNGER, { zones: [{ zone: 'example.net.', target: 'cloud' }, ZONE] }))
    expect(busy).toMatchObject({
      state: 'busy',
      diagnostic: {
        code: 'zone-locked',
        message: expect.stringMatching(/^example\.com\. at cloud is locked by apply, run 20261121T063000Z-4f2a, process \d+ on .+, since /),
        hint: expect.stringMatching(
          /--wait SECONDS; unless that run renews its lease, it ends in 1 min.*zonewright unlock --run 20261121T063000Z-4f2a/,
        ),
      },
    })
    // The refused run leaves nothing, and other zones and targets are free.
    expect((await listLeases(store)).leases).toHaveLength(1)
    await (await acquired(store, YOUNGER, { zones: [{ ...ZONE, target: 'other' }] })).heartbeat.end()
    await heartbeat.end()
    await (await acquired(store, YOUNGER)).heartbeat.end()
  })

  it.each([
    ['of a process of this machine that has ended', false, async () => deadProcess(), 'acquired'],
    ['of a process whose number was used again', false, async () => ({ ...OWN, started: '1' }), 'acquired'],
    ['of this machine before it was started again', false, async () => ({ ...OWN, boot: 'another' }), 'acquired'],
    ['of another machine', false, async () => ({ ...OWN, host: 'elsewhere.example' }), 'busy'],
    ['of another machine with the same name', true, async () => ({ ...(await deadProcess()), boot: 'another' }), 'busy'],
    ['of this process', false, async () => OWN, 'busy'],
  ] as const)('%s is judged by its process, and else by its age', async (_, isShared, holder, expected) => {
    const store = open(isShared)
    const { heartbeat } = await acquired(store, OLDER, { holder: await holder() })
    const young = await acquireLease(request(store, YOUNGER))
    expect(young.state).toBe(expected)
    if (young.state === 'acquired') await young.heartbeat.end()
    age(store, OLDER, 62)
    const old = await acquireLease(request(store, '20261121T070000Z-0002'))
    expect(old.state).toBe('acquired')
    // The run that has lost its lease sends nothing more.
    expect(await heartbeat.mayWrite(59_999)).toContain(`run ${OLDER} has lost its lease`)
    expect(heartbeat.lost.aborted).toBe(true)
    if (old.state === 'acquired') await old.heartbeat.end()
  })

  it('can be waited for, until the timeout or an interruption', async () => {
    const store = open()
    const first = await acquired(store, OLDER)
    const messages: string[] = []
    const waiting = acquireLease(request(store, YOUNGER, { wait: 10_000, onWait: ({ message }) => messages.push(message) }))
    setTimeout(() => void first.heartbeat.end(), 250)
    const second = await waiting
    expect(second.state).toBe('acquired')
    expect(messages).toHaveLength(1)
    const begin = performance.now()
    expect((await acquireLease(request(store, '20261121T080000Z-0001', { wait: 300 }))).state).toBe('busy')
    expect(performance.now() - begin).toBeGreaterThanOrEqual(290)
    const stopped = { wait: 3_600_000, signal: AbortSignal.timeout(100) }
    expect((await acquireLease(request(store, '20261121T080000Z-0002', stopped))).state).toBe('busy')
    if (second.state === 'acquired') await second.heartbeat.end()
  })

  it('of many runs that begin at once is given, and only one of them makes its changes', async () => {
    const store = open()
    const runs = Array.from({ length: 6 }, (_, index) => `20261121T06300${index}Z-4f2a`)
    const results = await Promise.all(runs.map((run) => acquireLease(request(store, run))))
    // A run that began first and writes its lease last finds one that has begun later and sees nobody: both go on, to the fence.
    const given = results.flatMap((result, index) => (result.state === 'acquired' ? [{ ...result, run: runs[index] as string }] : []))
    const taken = await Promise.all(given.map(({ fences, run }) => takeFences(store, fences, [ZONE], run, new Date(0))))
    expect(taken.filter((one) => one.taken)).toHaveLength(1)
    await Promise.all(given.map(({ heartbeat }) => heartbeat.end()))
  })

  it('that cannot be understood, and one that is larger than any, keep nobody from a zone', async () => {
    const store = open()
    for (const text of ['', '{', 'null', '{"run":5}', `{"run":"${OLDER}","zones":{}}`]) {
      await store.write(leaseName(OLDER), text, 'any')
      await (await acquired(store, YOUNGER)).heartbeat.end()
    }
  })

  it('is renewed, and made longer for a request that takes longer', LONG, async () => {
    const store = open()
    const { heartbeat } = await acquired(store, OLDER, { seconds: 3 })
    await wait(1500)
    expect(await heartbeat.mayWrite(1900)).toBeNull()
    expect((await listLeases(store)).leases).toMatchObject([{ seconds: 3 }])
    expect(await heartbeat.mayWrite(30_000)).toBeNull()
    expect((await listLeases(store)).leases).toMatchObject([{ seconds: 60 }])
    await heartbeat.end()
  })

  it('that cannot be renewed lets requests pass only as long as it certainly lasts', LONG, async () => {
    const store = open()
    let isDown = false
    const failing: JournalStore = {
      ...store,
      write: async (...args) => {
        if (isDown) throw new StoreError('the store is down')
        return store.write(...args)
      },
    }
    const { heartbeat } = await acquired(failing, OLDER, { seconds: 3 })
    isDown = true
    await wait(300)
    expect(await heartbeat.mayWrite(1000)).toBeNull()
    const begin = performance.now()
    expect(await heartbeat.mayWrite(2900)).toBe(`the lease of run ${OLDER} could not be renewed: the store is down`)
    expect(performance.now() - begin).toBeGreaterThan(1500)
    expect(heartbeat.lost.reason).toBe(`the lease of run ${OLDER} could not be renewed: the store is down`)
    isDown = false
    await heartbeat.end()
    expect((await listLeases(store)).leases).toEqual([])
  })

  it('is not trusted after the machine has slept, even if the monotonic clock stood still', async () => {
    const store = open()
    const { heartbeat } = await acquired(store, OLDER)
    await store.remove(leaseName(OLDER), 'any')
    expect(await heartbeat.mayWrite(1000)).toBeNull()
    const awake = Date.now()
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => awake + 3600_000)
    try {
      expect(await heartbeat.mayWrite(1000)).toContain(`run ${OLDER} has lost its lease`)
    } finally {
      clock.mockRestore()
      await heartbeat.end()
    }
  })

  it('is kept if a renewal was carried out and its response was lost', async () => {
    const store = open()
    const { store: failing, lose } = losing(store)
    const { heartbeat } = await acquired(failing, OLDER, { seconds: 60 })
    lose(1)
    // Longer than the lease: a renewal is needed.
    expect(await heartbeat.mayWrite(90_000)).toBeNull()
    expect(heartbeat.lost.aborted).toBe(false)
    expect((await listLeases(store)).leases).toMatchObject([{ run: OLDER, seconds: 150 }])
    await heartbeat.end()
    expect((await listLeases(store)).leases).toEqual([])
  })
})

describe('the fence of a zone', () => {
  const at = new Date('2026-11-21T07:00:00Z')
  const MADE = '2026-11-21T06:00:00.000Z'

  it('is taken by one of the runs that saw the same number', async () => {
    const store = open()
    const seen = await readFences(store)
    expect(seen).toEqual({ store: null, version: null, zones: new Map() })
    expect(await takeFences(store, seen, [ZONE], YOUNGER, at)).toMatchObject({ taken: true })
    expect(await takeFences(store, seen, [ZONE, { ...ZONE, target: 'b' }], OLDER, at)).toEqual({
      taken: false,
      diagnostics: [
        {
          severity: 'error',
          code: 'plan-outdated',
          message: `example.com. at cloud: run ${YOUNGER} has changed the zone since this plan was made (2026-11-21 07:00:00Z)`,
          hint: 'plan again and review the changes',
        },
      ],
    })
    // All or none; and other zones do not disturb.
    expect([...(await readFences(store)).zones.keys()]).toEqual(['example.com. cloud'])
    expect(await takeFences(store, seen, [{ ...ZONE, target: 'b' }], OLDER, at)).toMatchObject({ taken: true })
  })

  it('is taken once by each of many runs for zones of their own', async () => {
    const store = open()
    const seen = await readFences(store)
    const zones = Array.from({ length: 8 }, (_, index) => ({ zone: `z${index}.example.`, target: 'cloud' }))
    await Promise.all(zones.map((zone) => takeFences(store, seen, [zone], OLDER, at)))
    expect((await readFences(store)).zones.size).toBe(8)
  })

  it('is taken if it was taken before and the response was lost, so that another run wrote in between', async () => {
    const store = open()
    const seen = await readFences(store)
    let isFirst = true
    const other = { ...ZONE, zone: 'example.net.' }
    const busy: JournalStore = {
      ...store,
      write: async (...args) => {
        const written = await store.write(...args)
        if (!isFirst) return written
        isFirst = false
        // The repetition of the request finds what another run wrote.
        await takeFences(store, await readFences(store), [other], YOUNGER, at)
        return { state: 'conflict' }
      },
    }
    expect(await takeFences(busy, seen, [ZONE], OLDER, at)).toEqual({ taken: true, before: seen })
    expect([...(await readFences(store)).zones]).toMatchObject([
      ['example.com. cloud', { number: 1, run: OLDER }],
      ['example.net. cloud', { number: 1, run: YOUNGER }],
    ])
  })

  it('stays current if a run changed nothing, and its numbers never return', async () => {
    const store = open()
    const seen = await readFences(store)
    const taken = await takeFences(store, seen, [ZONE], OLDER, at)
    const during = await readFences(store)
    if (taken.taken) await markUnchanged(store, taken.before, [ZONE], OLDER)
    // A plan from before that run, and one from the middle of it, can both be applied, but only one of them.
    const plan = (number: number) => ({ ...ZONE, fence: { store: during.store, number } })
    const after = await readFences(store)
    for (const number of [0, 1]) expect(outdatedPlan(after, store, plan(number), MADE)).toBeNull()
    expect(await takeFences(store, during, [ZONE], YOUNGER, at)).toMatchObject({ taken: true })
    const last = await readFences(store)
    for (const number of [0, 1, 3]) expect(outdatedPlan(last, store, plan(number), MADE)?.code).toBe('plan-outdated')
    expect(outdatedPlan(last, store, plan(2), MADE)).toBeNull()
  })

  it.each([
    ['of this store', true, 'own', 1, MADE, true],
    ['of this store, with a previous number', true, 'own', 0, '2026-11-21T08:00:00.000Z', false],
    ['from before the first run', true, null, 0, '2026-11-21T08:00:00.000Z', false],
    ['of another store that machines share', true, 'other', 1, '2026-11-21T08:00:00.000Z', false],
    ['of another machine, made later', false, 'other', 7, '2026-11-21T08:00:00.000Z', true],
    ['of another machine, made before', false, 'other', 7, MADE, false],
    ['without a number, made later', true, undefined, 0, '2026-11-21T08:00:00.000Z', true],
    ['without a number, made before', true, undefined, 0, MADE, false],
  ] as const)('a plan %s', async (_, isShared, id, number, made, isAccepted) => {
    const store = open(isShared)
    await takeFences(store, await readFences(store), [ZONE], OLDER, at)
    const fences = await readFences(store)
    const fence = id === undefined ? null : { store: id === 'own' ? fences.store : id, number }
    expect(outdatedPlan(fences, store, { ...ZONE, fence }, made)?.code ?? null).toBe(isAccepted ? null : 'plan-outdated')
  })

  it.each([
    '',
    '{',
    '[]',
    '{"format":"zonewright-fences","version":2}',
    '{"format":"zonewright-fences","version":1,"store":"a","zones":{"a b":{"number":-1}}}',
  ])('that cannot be understood stops the run: %j', async (text) => {
    const store = open()
    await store.write('fences', text, null)
    await expect(readFences(store)).rejects.toThrow(StoreError)
    await expect(acquireLease(request(store, OLDER))).rejects.toThrow(StoreError)
    expect((await listLeases(store)).leases).toEqual([])
    writeFileSync(join(store.address, 'fences.1'), '')
  })
})
