import { expect } from 'vitest'
import { readSeed, type ServiceOptions } from '../../../src/service/index.ts'
import { type Client, connect, freshStore, startForTest } from '../harness.ts'

/** The initial time of the clock. */
export const START = Date.parse('2030-01-31T12:00:00Z')
export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const DAY = 24 * 60 * MINUTE
export const textOf = (moment: number): string => new Date(moment).toISOString().slice(0, 19)

export interface ClockedService {
  readonly client: Client
  /** Another client of the same service. */
  as(token: string): Client
  /** A client of a user that no other test uses; requires the default seed. */
  newUser(): Client
  now(): number
  /** Advances the clock. */
  pass(milliseconds: number): void
  catchUp(): Promise<void>
  stop(): Promise<void>
}

/** Users for single tests. */
const USERS = 40

const userSeed = (): ReturnType<typeof readSeed>['seed'] => {
  const users = Array.from({ length: USERS }, (_, index) => {
    return { username: `user-${index + 1}`, email: `user-${index + 1}@example.com`, tokens: [{ token: `user-${index + 1}` }] }
  })
  return readSeed(JSON.stringify({ accounts: [{ users }] }), 'users.json').seed
}

/** A service whose clock only the test advances. */
export async function startClocked(options: Partial<ServiceOptions> = {}): Promise<ClockedService> {
  let now = START
  let users = 0
  const seed = userSeed()
  const store = options.database || options.dataFolder ? {} : await freshStore()
  const { service, client } = await startForTest({ clock: () => now, ...store, bootstrapToken: 'administrator', seed, ...options })
  expect((await client.call('GET', '/profile')).status).toBe(200)
  return {
    client,
    as: (token) => connect(service.baseUrl, token).client,
    newUser: () => {
      users += 1
      return connect(service.baseUrl, `user-${users}`).client
    },
    now: () => now,
    pass: (milliseconds) => {
      now += milliseconds
    },
    catchUp: () => service.catchUp(),
    stop: () => service.stop(),
  }
}
