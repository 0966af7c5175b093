import type { Connection } from '../store/database.ts'
import { findDomainByName, insertDomain } from '../store/domain-store.ts'
import { grant } from '../store/grant-store.ts'
import { insertToken } from '../store/token-store.ts'
import { findUserByName, insertAccount, insertUser } from '../store/user-store.ts'
import type { Seed, SeedAccount, SeedUser } from './seed.ts'

/**
 * Makes what a seed names and the service does not have yet: accounts, found by their users; users, found by their names; domains.
 * What there is stays as it is, so that a seed may be given at every start without bringing back a token that has been revoked.
 * Returns the numbers of the domains made. Throws a `RangeError` where the seed contradicts what there is; the transaction must not be committed then.
 */
export async function applySeed(connection: Connection, seed: Seed, now: string): Promise<readonly number[]> {
  const made: number[] = []
  for (const account of seed.accounts) {
    const newcomers: SeedUser[] = []
    let accountId: number | null = null
    for (const user of account.users) {
      const existing = await findUserByName(connection, user.username)
      if (existing === null) newcomers.push(user)
      else if (accountId !== null && accountId !== existing.account_id) throw differentAccounts(account)
      else accountId = existing.account_id
    }
    accountId ??= await insertAccount(connection, now)
    made.push(...(await makeDomains(connection, accountId, account, now)))
    for (const user of newcomers) await makeUser(connection, accountId, user, now)
  }
  return made
}

async function makeDomains(connection: Connection, accountId: number, { domains }: SeedAccount, now: string): Promise<number[]> {
  const made: number[] = []
  for (const settings of domains) {
    const existing = await findDomainByName(connection, settings.domain)
    if (existing !== null && existing.accountId !== accountId)
      throw new RangeError(`the domain ${settings.domain} of the seed is of another account`)
    if (existing !== null) continue
    const domain = await insertDomain(connection, accountId, settings, now)
    if (domain === null) throw new RangeError(`the domain ${settings.domain} of the seed cannot be made`)
    made.push(domain.id)
  }
  return made
}

async function makeUser(connection: Connection, accountId: number, user: SeedUser, now: string): Promise<void> {
  const userId = await insertUser(connection, {
    account_id: accountId,
    username: user.username,
    email: user.email,
    restricted: Number(user.restricted),
    created: now,
    account_access: user.accountAccess,
    global_grants: JSON.stringify(user.globalGrants),
  })
  for (const token of user.tokens) {
    if ((await insertToken(connection, { userId, ...token }, now)) === null) {
      throw new RangeError(`a token of the user ${user.username} of the seed is another user's`)
    }
  }
  for (const { domain, permissions } of user.domainGrants) {
    const found = await findDomainByName(connection, domain)
    if (found?.accountId !== accountId) {
      throw new RangeError(`the user ${user.username} of the seed is granted ${domain}, which is no domain of the account`)
    }
    await grant(connection, userId, 'domain', found.id, permissions)
  }
}

const differentAccounts = ({ users }: SeedAccount): RangeError =>
  new RangeError(`the users ${users.map(({ username }) => username).join(', ')} of one account of the seed are in several`)
