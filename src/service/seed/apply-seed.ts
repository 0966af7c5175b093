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
import type { Connection, Database } from '../store/database.ts'
import { findDomainByName, insertDomain } from '../store/domain-store.ts'
import { findByLabel, grant } from '../store/grant-store.ts'
import { insertToken } from '../store/token-store.ts'
import { claimZoneName, lockZoneNames, type NameConflict, type NameLock } from '../store/zone-name-store.ts'
import type { Seed, SeedAccount, SeedOwner, SeedUser } from './seed.ts'

/**
 * Makes what a seed names and the service does not have yet: accounts, found by their users; users and what is the account's, found by
 * their names. What there is stays as it is, so that a seed may be given at every start without bringing back a token that has been
 * revoked. Only quotas of an account replace those it has. Returns the numbers of the domains made. Throws a `RangeError` where the seed contradicts what there is; the transaction must
 * not be committed then.
 */
export async function applySeed(connection: Connection, seed: Seed, now: string, secrets: Secrets): Promise<readonly number[]> {
  const made: number[] = []
  const lock = await lockZoneNames(connection)
  for (const account of seed.accounts) {
    let accountId: number | null = null
    const known = new Map<SeedUser, number>()
    for (const user of account.users) {
      const existing = await findUserByName(connection, user.username)
      if (existing === null) continue
      if (accountId !== null && accountId !== existing.account_id) throw differentAccounts(account)
      accountId = existing.account_id
      known.set(user, existing.id)
    }
    const owners = await makeUsers(connection, accountId ?? (await insertAccount(connection, now)), account, known, now)
    const first = owners.get(account.users[0] as SeedUser) as SeedOwner
    if (account.quotas !== null) await setQuotas(connection, first.accountId, account.quotas)
    made.push(...(await makeDomains(connection, lock, first, account, now)))
    for (const { part, entries } of account.objects) for (const entry of entries) await part.create(connection, first, entry, now, secrets)
    for (const [user, owner] of owners) if (!known.has(user)) await seedUser(connection, owner, user, now, secrets)
  }
  return made
}

/** The users of an account, those made that it does not have. */
async function makeUsers(
  connection: Connection,
  accountId: number,
  { users }: SeedAccount,
  known: ReadonlyMap<SeedUser, number>,
  now: string,
): Promise<Map<SeedUser, SeedOwner>> {
  const owners = new Map<SeedUser, SeedOwner>()
  for (const user of users) {
    const { username, email } = user
    const userId =
      known.get(user) ??
      (await insertUser(connection, {
        ...user.profile,
        account_id: accountId,
        username,
        email,
        restricted: Number(user.restricted),
        created: now,
        account_access: user.accountAccess,
        global_grants: JSON.stringify(user.globalGrants),
      }))
    owners.set(user, { accountId, userId, username })
  }
  return owners
}

async function makeDomains(
  connection: Connection,
  lock: NameLock,
  { accountId, userId }: SeedOwner,
  { domains }: SeedAccount,
  now: string,
): Promise<number[]> {
  const made: number[] = []
  for (const settings of domains) {
    const existing = await findDomainByName(connection, settings.domain)
    if (existing !== null && existing.accountId !== accountId)
      throw new RangeError(`the domain ${settings.domain} of the seed is of another account`)
    if (existing !== null) continue
    // The operator gives the seed, for whom nothing of the account is closed.
    const claim = await claimZoneName(connection, lock, { accountId, userId, restricted: false }, settings.domain)
    if (!claim.ok) throw new RangeError(`the domain ${settings.domain} of the seed ${CONFLICTS[claim.conflict]}`)
    made.push((await insertDomain(connection, accountId, claim.name, settings, now)).id)
  }
  return made
}

const CONFLICTS: Readonly<Record<NameConflict, string>> = {
  taken: 'exists already',
  overlap: 'lies above or below a domain of another account',
  'public-suffix': 'is a public suffix',
}

const differentAccounts = ({ users }: SeedAccount): RangeError =>
  new RangeError(`the users ${users.map(({ username }) => username).join(', ')} of one account of the seed are in several`)

/** Gives a user that a seed has made its tokens, grants and whatever else is its own. */
async function seedUser(connection: Connection, owner: SeedOwner, user: SeedUser, now: string, secrets: Secrets): Promise<void> {
  const { accountId, userId, username } = owner
  for (const token of user.tokens) {
    if ((await insertToken(connection, { userId, ...token }, now)) === null) {
      throw new RangeError(`a token of the user ${username} of the seed is another user's`)
    }
  }
  for (const { kind, label, permissions } of user.grants) {
    const ids = await findByLabel(connection, kind, accountId, label)
    if (ids.length === 0) throw new RangeError(`the user ${username} of the seed is granted ${label}, which is no ${kind} of the account`)
    for (const id of ids) await grant(connection, userId, kind, id, permissions)
  }
  for (const { part, entries } of user.objects) for (const entry of entries) await part.create(connection, owner, entry, now, secrets)
}

interface CreatedUsers {
  /** The administrator's token in clear where it is known: it is stored as a hash only. */
  readonly token: string | null
  /** Numbers of the domains that the seed made. */
  readonly domains: readonly number[]
}

/**
 * Makes the administrator at the first start, with a token for everything: the given one, else one made here. A given token is
 * good for the administrator at every start. With it goes what the seed names, all or nothing: a token made here can be told only
 * once. Throws a `RangeError` where the given token is none, or the seed contradicts what there is.
 */
export async function createUsers(
  database: Database,
  given: string | null,
  seed: Seed | null,
  now: string,
  secrets: Secrets,
): Promise<CreatedUsers> {
  if (given !== null && !isToken(given)) throw new RangeError('a token has 1 to 512 printable ASCII characters without spaces')
  return database.write(async (connection) => {
    const existing = await findAdministrator(connection)
    const token = given ?? (existing === null ? makeToken() : null)
    const userId = existing ?? (await insertAdministrator(connection, now))
    if (token !== null) await insertToken(connection, { userId, label: 'bootstrap', token, scopes: '*', expiry: null }, now)
    return { token, domains: seed === null ? [] : await applySeed(connection, seed, now, secrets) }
  })
}

/** The usernames that `prepareUsers` may make, by account. */
export const usersToCreate = (seed: Seed | null): readonly (readonly string[])[] => [
  [ADMINISTRATOR],
  ...(seed?.accounts ?? []).map(({ users }) => users.map(({ username }) => username)),
]
