/** Rotates the key of the secrets while services run on the database; the command is killed and repeated. */
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, lstatSync, readdirSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { backUpService, restoreService } from '../../src/service/backup.ts'
import { rotateKey } from '../../src/service/index.ts'
import { createSecrets, type KeyRing, keysFromFile, keysFromText } from '../../src/service/secrets/secrets.ts'
import { insertUser } from '../../src/service/store/account-store.ts'
import { countSealed } from '../../src/service/store/sealed-values.ts'
import { insertToken } from '../../src/service/store/token-store.ts'
import { insertAnswer } from '../../src/service/store/user-secret-store.ts'
import { builtProgram, type ProgramRun, startProgram } from '../support/built-program.ts'
import { rounds, seededRandom } from '../support/random.ts'
import type { Client, Store } from './harness.ts'
import { connect, during, filledStores, freshStore, ON_POSTGRES, openStore, placeOf, TEST_KEY, temporaryDirectory } from './harness.ts'
import { filesWith, numberOf } from './raw-files.ts'
import { answered, keyFile, responsesOf } from './security-answers.ts'
import { serviceProcesses } from './service-process.ts'

const serve = serviceProcesses()
const NEW_KEY = 'the next key of the secrets for tests only'
const random = seededRandom(13)

/** Users besides the administrator, each with three answers: several batches. */
const USERS = 160
const keysIn = (store: Store): string[] => readFileSync(keyFile(store), 'utf8').trimEnd().split('\n')

/** The options of processes during the rotation. */
const bothKeys = (store: Store): Store => (ON_POSTGRES ? { ...store, secretsKey: `${NEW_KEY},${TEST_KEY}` } : store)
const ringOf = (store: Store): KeyRing => (ON_POSTGRES ? keysFromText(store.secretsKey as string) : keysFromFile(keyFile(store)))

/** A store with many users who have answers. */
const filledStore = filledStores(fillStore)

async function fillStore(): Promise<Store> {
  const store = await freshStore()
  await during(store, async () => undefined)
  const database = await openStore(store)
  const secrets = createSecrets(ringOf(store))
  const created = '2026-01-31T09:00:00'
  await database.write(async (connection) => {
    for (let number = 0; number < USERS; number += 1) {
      const username = `user-${number}`
      const userId = await insertUser(connection, { account_id: 1, username, email: `${username}@example.com`, restricted: 0, created })
      await insertToken(connection, { userId, label: '', token: username, scopes: '*', expiry: null }, created)
      for (const question of [1, 2, 3]) await insertAnswer(connection, secrets, userId, question, `${number}-${question}`)
    }
  })
  await database.close()
  return store
}

/** The number of secrets per key. */
async function countsOf(store: Store): Promise<Record<string, number>> {
  const database = await openStore(store)
  const counts = await database.read(countSealed)
  await database.close()
  return Object.fromEntries([...counts].map(([kind, count]) => [String(kind), count]))
}

const rotate = (store: Store): Promise<ProgramRun> =>
  startProgram(['serve', 'rotate-key', ...(store.database ? [] : ['--data', store.dataFolder as string])], {
    cwd: temporaryDirectory(),
    env: store.database ? { ZONEWRIGHT_DATABASE: store.database, ZONEWRIGHT_SECRETS_KEY: `${NEW_KEY},${TEST_KEY}` } : {},
  })

const answersOf = (prefix: string | number): string[] => [1, 2, 3].map((question) => `${prefix}-${question}`)

/** A service can read the secrets of the store. */
const expectAnswers = (store: Store): Promise<void> =>
  during(store, async (_, { baseUrl }) => expect(await responsesOf(connect(baseUrl, 'user-7').client)).toEqual(answersOf(7)))

/** Users who keep writing and reading their secrets; every request must succeed. The returned function stops them. */
function startUsers(clients: readonly ((token: string) => Client)[]): () => Promise<Map<number, string>> {
  const last = new Map<number, string>()
  let stopped = false
  const worker = async (first: number): Promise<void> => {
    for (let round = 0; !stopped; round += 1) {
      for (let number = first; number < USERS && !stopped; number += 8) {
        const client = (clients[(number + round) % clients.length] as (token: string) => Client)(`user-${number}`)
        const text = randomBytes(4).toString('hex')
        await client.ok('POST', '/profile/security-questions', answered(...answersOf(text)))
        last.set(number, text)
        expect(await responsesOf(client)).toEqual(answersOf(text))
        // A wrong code writes the row back.
        if (round === 0)
          await client.ok('POST', '/profile/phone-number', {
            iso_code: 'US',
            phone_number: `201-555-${String(100 + number)}`.padEnd(12, '0'),
          })
        await client.call('POST', '/profile/phone-number/verify', { otp_code: '000000' })
        await client.ok('POST', '/profile/tfa-enable')
      }
    }
  }
  const work = [0, 1, 2, 3].map(worker)
  return async () => {
    stopped = true
    await Promise.all(work)
    return last
  }
}

beforeAll(async () => void (await builtProgram()))

test('re-encrypts everything while processes serve, even if it is killed at various times', {
  tags: ['long'],
}, async () => {
  const store = await filledStore()
  const [former] = Object.keys(await countsOf(store)) as [string]
  const processes = ON_POSTGRES ? [await serve(bothKeys(store)), await serve(bothKeys(store))] : [await serve(store)]
  const connected = processes.map(
    ({ baseUrl }) =>
      (token: string) =>
        connect(baseUrl, token).client,
  )
  const stop = startUsers(connected)
  const formerLeft = () => numberOf(store, `select count(*) as number from security_answers where response like 'aes:${former}:%'`)
  for (let kills = 0; kills < Math.min(5, rounds(5)); kills += 1) {
    const left = await formerLeft()
    const run = await rotate(store)
    let hasEnded = false
    void run.ended.then(() => {
      hasEnded = true
    })
    // Before the new key is current, and after each batch.
    if (kills === 0) await sleep(random.below(1000))
    else while (!hasEnded && (await formerLeft()) === left && left > 0) await sleep(1)
    run.kill('SIGKILL')
    await run.ended
  }
  const run = await rotate(store)
  expect([(await run.ended).status, run.stderr()]).toEqual([0, expect.stringContaining('All secrets are encrypted with the new key')])
  await sleep(300)
  const last = await stop()

  // Nothing is encrypted with the old key, neither earlier nor concurrent writes.
  if (ON_POSTGRES) for (const { kill } of processes) await kill()
  else await processes[0]?.kill()
  const counts = await countsOf(store)
  expect(Object.keys(counts)).toHaveLength(1)
  expect(counts).not.toHaveProperty(former)
  expect(Object.values(counts)[0]).toBeGreaterThanOrEqual(USERS * 3)

  // The new key is sufficient, and every answer is the last acknowledged one.
  if (!ON_POSTGRES) writeFileSync(keyFile(store), `${keysIn(store)[0]}\n`)
  const alone = { ...store, ...(ON_POSTGRES ? { secretsKey: NEW_KEY } : {}) }
  await during(alone, async (_, { baseUrl }) => {
    for (let number = 0; number < USERS; number += 1) {
      const prefix = last.get(number) ?? String(number)
      expect(await responsesOf(connect(baseUrl, `user-${number}`).client)).toEqual(answersOf(prefix))
    }
  })
})

test('a start completes a killed rotation, and before that refuses the new key alone', async () => {
  const store = await filledStore()
  const [former] = Object.keys(await countsOf(store)) as [string]
  // The state after a run that was killed just after the new key became current.
  if (!ON_POSTGRES) writeFileSync(keyFile(store), `${NEW_KEY}\n${keysIn(store)[0]}\n`)
  const ring = keysFromText(`${NEW_KEY}`)
  const database = await openStore(store)
  await database.write((connection) => connection.updateTable('secret_key').set({ key_id: ring.newest().id }).execute())
  await database.close()
  const start = (secretsKey: string | null) => during({ ...store, secretsKey }, async () => undefined)
  await expect(start(NEW_KEY)).rejects.toThrow(`480 secrets in the database are encrypted with another key (${former})`)
  await start(ON_POSTGRES ? `${NEW_KEY},${TEST_KEY}` : null)
  expect(await countsOf(store)).toEqual({ [ring.newest().id]: 480 })
})

test('a start with both keys keeps the old one current', async () => {
  const store = await filledStore()
  const before = await countsOf(store)
  if (!ON_POSTGRES) writeFileSync(keyFile(store), `${NEW_KEY}\n${keysIn(store)[0]}\n`)
  await during(bothKeys(store), (client) => client.ok('POST', '/profile/security-questions', answered(...answersOf('new'))))
  expect(await countsOf(store)).toEqual({ [Object.keys(before)[0] as string]: 483 })
})

describe.skipIf(ON_POSTGRES)('with a key file', () => {
  test('the file contains the new key, then the old one, and no other', async () => {
    const store = await filledStore()
    const [first] = keysIn(store)
    expect(await rotateKey(placeOf(store), null)).toEqual({ resealed: 480, keyFile: keyFile(store), notErased: null })
    const [second] = keysIn(store)
    expect(keysIn(store)).toEqual([second, first])
    expect(second).toMatch(/^[A-Za-z0-9+/]{43}=$/)
    expect(await rotateKey(placeOf(store), null)).toMatchObject({ resealed: 480 })
    expect(keysIn(store)).toEqual([expect.not.stringContaining(first as string), second])
    expect(statSync(keyFile(store)).mode & 0o777).toBe(0o600)
    expect(readdirSync(store.dataFolder as string).filter((name) => name.startsWith('secrets'))).toEqual(['secrets.key'])
  })

  test.skipIf(process.geteuid?.() !== 0)('keeps the user of the service as owner of every file if root runs it', async () => {
    const store = await filledStore()
    const folder = store.dataFolder as string
    const user = 65534
    for (const name of ['', ...readdirSync(folder)]) chownSync(join(folder, name), user, user)
    await rotateKey(placeOf(store), null)
    for (const name of readdirSync(folder)) expect([name, statSync(join(folder, name)).uid]).toEqual([name, user])
  })

  test('keeps a link to the file, and the mode of its target', async () => {
    const store = await filledStore()
    const elsewhere = join(temporaryDirectory(), 'zonewright.key')
    renameSync(keyFile(store), elsewhere)
    chmodSync(elsewhere, 0o640)
    symlinkSync(elsewhere, keyFile(store))
    const [first] = keysIn(store)
    await rotateKey(placeOf(store), null)
    expect(lstatSync(keyFile(store)).isSymbolicLink()).toBe(true)
    expect(readFileSync(elsewhere, 'utf8').trimEnd().split('\n')).toEqual([expect.not.stringContaining(first as string), first])
    expect(statSync(elsewhere).mode & 0o777).toBe(0o640)
  })

  test('leaves no value encrypted with the old key in a file of the database', async () => {
    const store = await filledStore()
    const database = await openStore(store)
    const rows = await database.read((connection) => connection.selectFrom('security_answers').select('response').limit(20).execute())
    await database.close()
    await rotateKey(placeOf(store), null)
    expect(await filesWith(store, ...rows.map(({ response }) => response))).toEqual([])
  })

  test('an earlier backup can be read with the old key, on the second line', async () => {
    const store = await filledStore()
    const backup = join(temporaryDirectory(), 'all.backup')
    await backUpService(placeOf(store), backup)
    await rotateKey(placeOf(store), null)
    const dataFolder = temporaryDirectory()
    await restoreService({ dataFolder }, backup)
    writeFileSync(join(dataFolder, 'secrets.key'), readFileSync(keyFile(store)))
    await expectAnswers({ dataFolder })
  })

  test('several concurrent commands create one new key together', { tags: ['long'] }, async () => {
    const store = await filledStore()
    const [first] = keysIn(store)
    const runs = await Promise.all([rotate(store), rotate(store), rotate(store)])
    const ended = await Promise.all(runs.map(async (run) => ({ ...(await run.ended), stderr: run.stderr() })))
    for (const { status, stderr } of ended) if (status !== 0) expect(stderr).toContain('another process is changing the key')
    await expectAnswers(store)
    if (ended.filter(({ status }) => status === 0).length === 1) expect(keysIn(store)[1]).toBe(first)
  })
})

test('is refused with a message without keys if it is impossible', async () => {
  const store = await filledStore()
  const place = placeOf(store)
  if (ON_POSTGRES) {
    await expect(rotateKey(place, null)).rejects.toThrow('set ZONEWRIGHT_SECRETS_KEY to two keys')
    await expect(rotateKey(place, TEST_KEY)).rejects.toThrow('set ZONEWRIGHT_SECRETS_KEY to two keys')
  } else {
    await expect(rotateKey({ dataFolder: temporaryDirectory() }, null)).rejects.toThrow('there is no database in')
  }
  await expect(rotateKey(place, `${NEW_KEY},${'y'.repeat(40)}`)).rejects.toThrow(
    /the database is encrypted with another key \([0-9a-f]{16}\)/,
  )
  expect(Object.values(await countsOf(store))).toEqual([480])
})
