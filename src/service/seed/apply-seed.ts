/** Creates the administrator and the accounts, users and objects of a seed at a start. */
import { isToken, makeToken } from '../api/authenticate.ts'
import type { Secrets } from '../secrets/secrets.ts'
import {
  ADMINISTRATOR,
  findAdministrator,
  findUserByName,
  insertAccount,
  insertAdministrator,
  insertUser,
  setQuotas,
} from '../store/account-store.ts'
import { OPERATOR } from '../store/audit.ts'
import type { Connection, Database } from '../store/database.ts'
import { claimZoneName, findDomainByName, insertDomain, lockZoneNames, type NameConflict, type NameLock } from '../store/domain-store.ts'
import { findByLabel, grant } from '../store/grant-store.ts'
import { insertToken } from '../store/token-store.ts'
import type { Seed, SeedAccount, SeedOwner, SeedUser } from './seed.ts'

interface CreatedUsers {
  /** The administrator's token in plain text, if known: only its hash is stored. */
  readonly token: string | null
  /** The ids of the domains created from the seed. */
  readonly domains: readonly number[]
}

/**
 * Creates the administrator at the first start, with the given token or a new one, and applies the seed in the same transaction: a new token is shown
 * only once, so it must not be lost to a seed that fails. A given token is added at every start. Throws a `RangeError` if the token is not valid or the
 * seed conflicts with the database.
 */
export async function createUsers(
  database: Database,
  given: string | null,
  seed: Seed | null,
  now: string,
  secrets: Secrets,
): Promise<CreatedUsers> {
  if (given !== null && !isToken(given))
    throw new RangeError('the token is not valid: it must have 1 to 512 printable ASCII characters without spaces')
  return database.write(async (connection) => {
    const existing = await findAdministrator(connection)
    const token = given ?? (existing === null ? makeToken() : null)
    const userId = existing ?? (await insertAdministrator(connection, now))
    if (token !== null) await insertToken(connection, { userId, label: 'bootstrap', token, scopes: '*', expiry: null }, now)
    return { token, domains: seed === null ? [] : await applySeed(connection, seed, now, secrets) }
  }, OPERATOR)
}

/** The usernames that `createUsers` may create, by account. */
export const usersToCreate = (seed: Seed | null): readonly (readonly string[])[] => [
  [ADMINISTRATOR],
  ...(seed?.accounts ?? []).map(({ users }) => users.map(({ username }) => username)),
]

/**
 * Creates everything in a seed that does not exist yet, and returns the ids of the new domains. Accounts are identified by their users; users and
 * objects by their names. Existing ones are not changed, except for the quotas of an account: a seed can be applied at every start without restoring
 * a revoked token. Throws a `RangeError` if the seed conflicts with the database; then the transaction must not be committed.
 */
export async function applySeed(connection: Connection, seed: Seed, now: string, secrets: Secrets): Promise<readonly number[]> {
  const created: number[] = []
  const lock = await lockZoneNames(connection)
  for (const account of seed.accounts) {
    let accountId: number | null = null
    const known = new Map<SeedUser, number>()
    for (const user of account.users) {
      const existing = await findUserByName(connection, user.username)
      if (existing === null) continue
      if (accountId !== null && accountId !== existing.account_id) throw severalAccounts(account)
      accountId = existing.account_id
      known.set(user, existing.id)
    }
    const owners = await findOrCreateUsers(connection, accountId ?? (await insertAccount(connection, now)), account, known, now)
    const first = owners.get(account.users[0] as SeedUser) as SeedOwner
    if (account.quotas !== null) await setQuotas(connection, first.accountId, account.quotas)
    created.push(...(await createDomains(connection, lock, first, account, now)))
    for (const { collection, entries } of account.objects)
      for (const entry of entries) await collection.create(connection, first, entry, now, secrets)
    for (const [user, owner] of owners) if (!known.has(user)) await seedUser(connection, owner, user, now, secrets)
  }
  return created
}

/** Returns the users of an account, after creating the missing ones. */
async function findOrCreateUsers(
  connection: Connection,
  accountId: number,
  { users }: SeedAccount,
  known: ReadonlyMap<SeedUser, number>,
  now: string,
): Promise<Map<SeedUser, SeedOwner>> {
  const owners = new Map<SeedUser, SeedOwner>()
  for (const user of users) {
    const userId = known.get(user) ?? (await insertSeedUser(connection, accountId, user, now))
    owners.set(user, { accountId, userId, username: user.username })
  }
  return owners
}

const insertSeedUser = (connection: Connection, accountId: number, user: SeedUser, now: string): Promise<number> =>
  insertUser(connection, {
    ...user.profile,
    account_id: accountId,
    username: user.username,
    email: user.email,
    restricted: Number(user.restricted),
    created: now,
    account_access: user.accountAccess,
    global_grants: JSON.stringify(user.globalGrants),
  })

/** Creates a user of an existing account with its tokens, grants and objects. */
export async function addUser(connection: Connection, accountId: number, user: SeedUser, now: string, secrets: Secrets): Promise<void> {
  const userId = await insertSeedUser(connection, accountId, user, now)
  await seedUser(connection, { accountId, userId, username: user.username }, user, now, secrets)
}

async function createDomains(
  connection: Connection,
  lock: NameLock,
  { accountId, userId }: SeedOwner,
  { domains }: SeedAccount,
  now: string,
): Promise<number[]> {
  const created: number[] = []
  for (const settings of domains) {
    const existing = await findDomainByName(connection, settings.domain)
    if (existing !== null && existing.accountId !== accountId)
      throw new RangeError(`the domain ${settings.domain} of the seed belongs to another account`)
    if (existing !== null) continue
    // The seed comes from the operator, who has full access.
    const claim = await claimZoneName(connection, lock, { accountId, userId, restricted: false }, settings.domain)
    if (!claim.ok) throw new RangeError(`the domain ${settings.domain} of the seed ${CONFLICTS[claim.conflict]}`)
    created.push((await insertDomain(connection, accountId, claim.name, settings, now)).id)
  }
  return created
}

const CONFLICTS: Readonly<Record<NameConflict, string>> = {
  taken: 'already exists',
  overlap: 'is above or below a domain of another account',
  'public-suffix': 'is a public suffix',
}

const severalAccounts = ({ users }: SeedAccount): RangeError =>
  new RangeError(`the users ${users.map(({ username }) => username).join(', ')} of one account of the seed belong to several accounts`)

/** Creates the tokens, grants and objects of a new user. */
async function seedUser(connection: Connection, owner: SeedOwner, user: SeedUser, now: string, secrets: Secrets): Promise<void> {
  const { accountId, userId, username } = owner
  for (const token of user.tokens) {
    if ((await insertToken(connection, { userId, ...token }, now)) === null) {
      throw new RangeError(`a token of the user ${username} of the seed belongs to another user`)
    }
  }
  for (const { kind, label, permissions } of user.grants) {
    const ids = await findByLabel(connection, kind, accountId, label)
    if (ids.length === 0) throw new RangeError(`the user ${username} of the seed is granted ${label}, but the account has no such ${kind}`)
    for (const id of ids) await grant(connection, userId, kind, id, permissions)
  }
  for (const { collection, entries } of user.objects)
    for (const entry of entries) await collection.create(connection, owner, entry, now, secrets)
}
