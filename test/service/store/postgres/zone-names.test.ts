/** Several processes concurrently claim overlapping names for two accounts. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunningService } from '../../../../src/service/index.ts'
import { NO_SECRETS } from '../../../../src/service/secrets/prepare-secrets.ts'
import { createUsers } from '../../../../src/service/seed/apply-seed.ts'
import { insertAccount } from '../../../../src/service/store/account-store.ts'
import { claimZoneName, type DomainSettings, insertDomain, lockZoneName } from '../../../../src/service/store/domain-store.ts'
import { openPostgres } from '../../../../src/service/store/postgres/open-postgres.ts'
import { type Answer, type Client, connect, freshDatabase, inParallel, MASTER, seedFrom, startForTest } from '../../harness.ts'
import { queryPostgres } from '../../raw-files.ts'
import { serviceProcesses } from '../../service-process.ts'
import { scriptedMaster, serving, soa } from '../../transfers/scripted-master.ts'

const PEOPLE = ['alice', 'bob']

const SETTINGS: Omit<DomainSettings, 'domain'> = {
  ...{ type: 'master', status: 'active', description: '', group: '', tags: [], soa_email: MASTER.soa_email },
  ...{ master_ips: [], axfr_ips: [], expire_sec: 0, refresh_sec: 0, retry_sec: 0, ttl_sec: 0 },
}

const user = (username: string) => ({ username, email: `${username}@example.com`, tokens: [{ token: username }] })
const seedOf = (accounts: readonly object[]) => seedFrom({ accounts })

const peerPort = await scriptedMaster(
  (query, ...rest) => serving([soa(1, '3600 600 604800 300', query.questions[0]?.name)])(query, ...rest),
  { keep: true },
)
const serve = serviceProcesses()
const database = await freshDatabase()
const baseUrls: string[] = []
let service: RunningService

beforeAll(async () => {
  const seed = seedOf(PEOPLE.map((username) => ({ users: [user(username)] })))
  ;({ service } = await startForTest({ dataFolder: null, database, bootstrapToken: 'bootstrap', seed, peerPort }))
  const options = { dataFolder: null, database, peerPort }
  baseUrls.push(service.baseUrl, ...(await Promise.all([serve(options), serve(options)])).map(({ baseUrl }) => baseUrl))
})

// On a busy machine the changes are rendered later than a stopping service waits.
afterAll(() => service.flush())

const clients = new Map<string, Client>()

/** A client of a process with the token of a user. */
function clientOf(person: string, process: number): Client {
  const baseUrl = baseUrls[process % baseUrls.length] as string
  const key = `${person} ${baseUrl}`
  const client = clients.get(key) ?? connect(baseUrl, person).client
  clients.set(key, client)
  return client
}

const query = (text: string) => queryPostgres(database, text)

const overlaps = () =>
  query(`select upper.domain, lower.domain from domains upper inner join domains lower
    on lower.id <> upper.id and (lower.domain = upper.domain or lower.domain like '%.' || upper.domain and lower.account_id <> upper.account_id)`)

const deadlocks = async (): Promise<number> =>
  Number((await query('select deadlocks from pg_stat_database where datname = current_database()'))[0]?.['deadlocks'])

/** Names that are all ancestors or descendants of each other, up to the largest number of labels. */
const lineOf = (round: string): string[] => {
  const parents = ['', 'a.', 'b.a.', `${'d.'.repeat(20)}c.b.a.`, `${'d.'.repeat(100)}c.b.a.`]
  return parents.map((labels) => `${labels}race-${round}.example`)
}

type Ask = (person: string, process: number, name: string) => Promise<Answer>
const spares = new Map<string, readonly number[]>()

/** Zones of each user, to be cloned and renamed. */
async function makeSpares(prefix: string, count: number): Promise<void> {
  for (const person of PEOPLE) {
    spares.set(
      person,
      await inParallel(count, count, async (index) => {
        const domain = `${prefix}-${index}-${person}.test`
        return (await clientOf(person, index).ok('POST', '/domains', { ...MASTER, domain, tags: ['shared'] })).id
      }),
    )
  }
}

const OPERATIONS: Readonly<Record<string, Ask>> = {
  create: (person, process, domain) =>
    clientOf(person, process).call('POST', '/domains', { ...MASTER, domain, tags: ['shared', `tag ${process % 3}`] }),
  import: (person, process, domain) =>
    clientOf(person, process).call('POST', '/domains/import', { domain, remote_nameserver: '127.0.0.1' }),
  clone: (person, process, domain) => clientOf(person, process).call('POST', `/domains/${spares.get(person)?.[process]}/clone`, { domain }),
  rename: (person, process, domain) =>
    clientOf(person, process).call('PUT', `/domains/${spares.get(person)?.[process]}`, { domain, tags: ['shared', 'renamed'] }),
}

describe('if two accounts claim overlapping names concurrently in three processes, only one account gets any', () => {
  test.each([...Object.keys(OPERATIONS), 'any'])('%s', async (operation) => {
    for (let round = 0; round < 4; round += 1) {
      const asked = lineOf(`${operation}-${round}`).flatMap((name) => PEOPLE.map((person) => ({ person, name })))
      if (operation !== 'create' && operation !== 'import') await makeSpares(`${operation}-${round}`, asked.length)
      const answers = await inParallel(asked.length, asked.length, (index) => {
        const { person, name } = asked[(index + round) % asked.length] as (typeof asked)[number]
        const ask = OPERATIONS[operation] ?? (Object.values(OPERATIONS)[index % 4] as Ask)
        return ask(person, index, name)
      })
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 400]))
      for (const { status, body } of answers) if (status === 400) expect(body.errors).toMatchObject([{ field: 'domain' }])
    }
    expect(await overlaps()).toEqual([])
  })

  test('without a deadlock', async () => expect(await deadlocks()).toBe(0))
})

test('a seed and requests cannot both get overlapping names', async () => {
  const other = await openPostgres({ url: database, onError: () => undefined })
  const outcomes = new Set<string>()
  for (let round = 0; round < 6; round += 1) {
    const names = Array.from({ length: 12 }, (_, index) => `seeded-${round}-${index}.example`)
    const seeding = async (): Promise<string> => {
      const domains = names.map((domain) => ({ ...MASTER, domain, tags: ['shared'] }))
      try {
        await createUsers(other, 'bootstrap', seedOf([{ users: [user('carol')], domains }]), '2026-01-31T09:00:00', NO_SECRETS)
        return 'made'
      } catch (error) {
        return error instanceof RangeError ? error.message.replace(/seeded-\S+/, 'NAME') : String(error)
      }
    }
    const creating = inParallel(6, 3, (index) =>
      clientOf('alice', index).call('POST', '/domains', { ...MASTER, domain: `www.${names[11 - index * 2]}`, tags: ['shared'] }),
    )
    // In half of the rounds, requests are in progress when the seed is applied.
    if (round % 2 === 0) await Promise.race([creating, new Promise((done) => setTimeout(done, 3 * round))])
    outcomes.add(await seeding())
    expect((await creating).every(({ status }) => status === 200 || status === 400)).toBe(true)
    expect(await overlaps()).toEqual([])
  }
  await other.close()
  for (const outcome of outcomes)
    expect(['made', 'the domain NAME of the seed is above or below a domain of another account']).toContain(outcome)
})

test('a claim waits only for claims of overlapping names', async () => {
  const other = await openPostgres({ url: database, onError: () => undefined })
  const create = (domain: string) => clientOf('alice', 1).call('POST', '/domains', { ...MASTER, domain })
  let release = (): void => undefined
  const released = new Promise<void>((done) => {
    release = done
  })
  let answers: Promise<Answer>[] = []
  await new Promise<void>((held, failed) => {
    other
      .write(async (connection) => {
        await lockZoneName(connection, 'b.held.example')
        held()
        await released
      })
      .catch(failed)
  })
  try {
    expect((await create('c.held.example')).status).toBe(200)
    expect((await create('beside.example')).status).toBe(200)
    answers = ['a.b.held.example', 'held.example'].map(create)
    expect(await Promise.race([...answers, new Promise((done) => setTimeout(done, 500, 'waiting'))])).toBe('waiting')
  } finally {
    release()
    await other.close()
  }
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200])
})

test('a claim that has waited sees the other zone at any isolation level', async () => {
  const strict = await freshDatabase()
  const [row] = await queryPostgres(strict, 'select current_database() as name')
  await queryPostgres(strict, `alter database ${row?.['name']} set default_transaction_isolation = 'repeatable read'`)
  const first = await openPostgres({ url: strict, onError: () => undefined })
  const second = await openPostgres({ url: strict, onError: () => undefined })
  const claim = async (at: typeof first, accountId: number, name: string, held: () => Promise<void>) =>
    at.write(async (transaction) => {
      const lock = await lockZoneName(transaction, name)
      await held()
      const claimed = await claimZoneName(transaction, lock, { accountId, userId: accountId, restricted: false }, name)
      if (claimed.ok) await insertDomain(transaction, accountId, claimed.name, { ...SETTINGS, domain: name }, '2026-01-31T09:00:00')
      return claimed.ok
    })
  try {
    const [alice, bob] = await first.write(async (transaction) => [
      await insertAccount(transaction, '2026-01-31T09:00:00'),
      await insertAccount(transaction, '2026-01-31T09:00:00'),
    ])
    let waiting: Promise<boolean> | undefined
    const made = await claim(first, alice as number, 'strict.example', async () => {
      waiting = claim(second, bob as number, 'www.strict.example', async () => undefined)
      await new Promise((done) => setTimeout(done, 300))
    })
    expect([made, await waiting]).toEqual([true, false])
  } finally {
    await Promise.all([first.close(), second.close()])
  }
})

test('an invalid zone name is refused without a lock', async () => {
  const other = await openPostgres({ url: database, onError: () => undefined })
  const { id } = await clientOf('alice', 0).ok('POST', '/domains', { ...MASTER, domain: 'unlocked.example' })
  try {
    await other.write(async (connection) => {
      await lockZoneName(connection, 'somewhere.com')
      // It would wait as long as this transaction lasts.
      expect((await clientOf('alice', 1).call('PUT', `/domains/${id}`, { domain: 'com' })).status).toBe(400)
    })
  } finally {
    await other.close()
  }
})
