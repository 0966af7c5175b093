import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { createJobRunner, type JobHandlers, type JobRunner } from '../../../src/service/jobs/job-runner.ts'
import { SILENT } from '../../../src/service/observability/log.ts'
import type { Database } from '../../../src/service/store/database.ts'
import { cancelJobs, countJobs, enqueueJob, type NewJob } from '../../../src/service/store/job-store.ts'
import { createTimers } from '../../../src/service/time.ts'
import { freshStore, ON_POSTGRES, openStore } from '../harness.ts'
import { eventually } from '../transfers/eventually.ts'

const START = Date.UTC(2026, 0, 31, 9)

/** A database that is closed after the tests of the file. */
async function openDatabase(): Promise<Database> {
  const database = await openStore(await freshStore())
  afterAll(() => database.close())
  return database
}

/** The jobs that ran, stored in the same transaction. */
const ranOf = async (database: Database): Promise<string[]> => {
  const rows = await database.read((connection) => connection.selectFrom('tags').select('label').orderBy('id').execute())
  return rows.map(({ label }) => label)
}

const note: JobHandlers[string] = async (connection, { kind, subject, payload }, { nowText }) => {
  const account = await connection.selectFrom('accounts').select('id').executeTakeFirst()
  const id =
    account?.id ?? (await connection.insertInto('accounts').values({ created: nowText }).returning('id').executeTakeFirstOrThrow()).id
  const label = [kind, subject, ...Object.values(payload), nowText].join(' ')
  await connection
    .insertInto('tags')
    .values({ account_id: id, label, folded: `${label} ${Math.random()}` })
    .execute()
}

interface Running extends JobRunner {
  readonly errors: unknown[]
}

/** A runner that is closed after the tests of the file. */
function runnerOf(database: Database, handlers: JobHandlers, clock: () => number): Running {
  const errors: unknown[] = []
  const timers = createTimers({ clock, speed: 1 })
  const runner = createJobRunner({ database, timers, handlers, log: SILENT, onError: (error) => errors.push(error) })
  afterAll(async () => {
    await runner.close()
    timers.close()
  })
  return { ...runner, errors }
}

const enqueue = (database: Database, job: NewJob) => database.write((connection) => enqueueJob(connection, job))

describe('a job', () => {
  test('runs once, when it is due, in order', async () => {
    const database = await openDatabase()
    let now = START
    const runner = runnerOf(database, { note }, () => now)
    for (const [subject, seconds] of [
      [1, 20],
      [2, 10],
      [3, 0],
      [4, 3600],
    ] as const)
      await enqueue(database, { kind: 'note', subject, due: START + seconds * 1000, payload: { word: `w${subject}` } })
    await runner.catchUp()
    expect(await ranOf(database)).toEqual(['note 3 w3 2026-01-31T09:00:00'])
    now += 9_999
    await runner.catchUp()
    expect(await ranOf(database)).toHaveLength(1)
    now += 1
    await runner.catchUp()
    now += 10_000
    await runner.catchUp()
    await runner.catchUp()
    expect((await ranOf(database)).slice(1)).toEqual(['note 2 w2 2026-01-31T09:00:10', 'note 1 w1 2026-01-31T09:00:20'])
    expect(runner.errors).toEqual([])
  })

  test('does not run if it is cancelled, or if the transaction that queued it fails', async () => {
    const database = await openDatabase()
    const runner = runnerOf(database, { note, other: note }, () => START)
    for (const subject of [1, 2]) for (const kind of ['note', 'other']) await enqueue(database, { kind, subject, due: START })
    await database.write((connection) => cancelJobs(connection, 'note', 1))
    const failing = database.write(async (connection) => {
      await enqueueJob(connection, { kind: 'note', subject: 3, due: START })
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    await runner.catchUp()
    expect((await ranOf(database)).map((label) => label.slice(0, 7)).sort()).toEqual(['note 2 ', 'other 1', 'other 2'])
  })

  test('may queue another due job, which runs in the same pass after the follow-up work', async () => {
    const database = await openDatabase()
    let after = 0
    const first: JobHandlers[string] = async (connection, _job, { now }) => {
      await enqueueJob(connection, { kind: 'note', subject: 9, due: now })
      return async () => {
        after += await database.read((reading) => countJobs(reading, 'note', 9))
      }
    }
    const runner = runnerOf(database, { note, first }, () => START)
    await enqueue(database, { kind: 'first', subject: 1, due: START })
    await runner.catchUp()
    expect(await ranOf(database)).toHaveLength(1)
    // After the commit, the new job exists.
    expect(after).toBe(1)
  })
})

test('a runner catches up at the start, and wakes for new jobs', async () => {
  const database = await openDatabase()
  for (let subject = 1; subject <= 150; subject += 1) await enqueue(database, { kind: 'note', subject, due: START - subject })
  const runner = runnerOf(database, { note }, Date.now)
  runner.start()
  await eventually(async () => expect(await ranOf(database)).toHaveLength(150))
  await enqueue(database, { kind: 'note', subject: 151, due: Date.now() + 120 })
  runner.wake()
  await eventually(async () => expect(await ranOf(database)).toHaveLength(151), 10_000)
  await runner.close()
  await enqueue(database, { kind: 'note', subject: 152, due: 0 })
  runner.wake()
  await sleep(50)
  expect(await ranOf(database)).toHaveLength(151)
})

test('a failing job is rolled back, reported and retried with doubled delay, while others run', async () => {
  const database = await openDatabase()
  let now = START
  let failures = 0
  const failing: JobHandlers[string] = async (connection, job, moment) => {
    await note(connection, job, moment)
    if (failures < 3) {
      failures += 1
      throw new Error(`failure ${failures}`)
    }
  }
  const runner = runnerOf(database, { note, failing }, () => now)
  await enqueue(database, { kind: 'failing', subject: 1, due: START - 1 })
  await enqueue(database, { kind: 'unknown', subject: 1, due: START - 1 })
  await enqueue(database, { kind: 'note', subject: 2, due: START })
  await runner.catchUp()
  expect(await ranOf(database)).toEqual(['note 2 2026-01-31T09:00:00'])
  expect(runner.errors.map(String).sort()).toEqual(['Error: failure 1', 'Error: no handler for job kind unknown'])
  for (const [seconds, expected] of [
    [4, 1],
    [1, 2],
    [9, 2],
    [1, 3],
    [19, 3],
  ] as const) {
    now += seconds * 1000
    await runner.catchUp()
    expect(failures).toBe(expected)
  }
  now += 1000
  await runner.catchUp()
  expect(await ranOf(database)).toEqual(['note 2 2026-01-31T09:00:00', 'failing 1 2026-01-31T09:00:35'])
})

test.runIf(ON_POSTGRES)('several processes run each job once, and a long job blocks no other', async () => {
  const store = await freshStore()
  const databases = await Promise.all([openStore(store), openStore(store), openStore(store)])
  afterAll(() => Promise.all(databases.map((database) => database.close())))
  const database = databases[0] as Database
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const long: JobHandlers[string] = async (connection, job, moment) => {
    await held
    await note(connection, job, moment)
  }
  const runners = databases.map((each) => runnerOf(each, { note, long }, () => START))
  await enqueue(database, { kind: 'long', subject: 1000, due: 0 })
  for (let subject = 1; subject <= 60; subject += 1) await enqueue(database, { kind: 'note', subject, due: START })
  const caughtUp = Promise.all(runners.map((runner) => runner.catchUp()))
  await eventually(async () => expect(await ranOf(database)).toHaveLength(60))
  release()
  await caughtUp
  const ran = await ranOf(database)
  expect(ran.filter((label) => label.startsWith('long'))).toHaveLength(1)
  expect(new Set(ran.map((label) => label.split(' ')[1])).size).toBe(61)
  expect(ran).toHaveLength(61)
  expect(runners.flatMap(({ errors }) => errors)).toEqual([])
})
