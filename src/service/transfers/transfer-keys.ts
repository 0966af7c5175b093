/**
 * The TSIG keys for zone transfers and NOTIFY (RFC 8945). A key belongs to one account. If a zone has keys for a direction, transfers in that
 * direction must use one of them, and the address must be allowed as well. A key of another account gives no access.
 */
import type { DomainName } from '../../dns/domain-name.ts'
import { canonicalAddress } from '../../dns/ip-address.ts'
import type { TsigKey } from '../../dns/wire/tsig.ts'
import { findLastAccount, findUserByName } from '../store/account-store.ts'
import type { Connection, Database } from '../store/database.ts'

/** `outgoing`: secondaries transfer from the service. `incoming`: the service transfers from masters. */
export type TransferDirection = 'outgoing' | 'incoming'

/** A key from the service's configuration. */
export interface TransferKey extends TsigKey {
  /** The username of any user of the account that owns the key. */
  readonly account: string
  /** Null for all zones of the account. */
  readonly zones: ReadonlySet<DomainName> | null
  /** Addresses in canonical form; null for all. */
  readonly peers: ReadonlySet<string> | null
  readonly directions: ReadonlySet<TransferDirection>
}

/** A zone and the account that owns it. */
export interface OwnedZone {
  readonly name: DomainName
  readonly accountId: number
}

export interface TransferKeys {
  /** The key with this name, in any account. */
  find(name: DomainName): TsigKey | undefined
  /** Whether a peer may transfer the zone or send NOTIFY for it with a message signed by this key; null for an unsigned message. */
  allows(zone: OwnedZone, direction: TransferDirection, address: string, signedBy: TsigKey | null): boolean
  /** The key for messages to a peer: the first matching one in the file. `none`: no key is needed; `missing`: no key of the zone is for this peer. */
  keyFor(zone: OwnedZone, direction: TransferDirection, address: string): TsigKey | 'none' | 'missing'
}

export interface ConfiguredKeys extends TransferKeys {
  /**
   * Replaces the keys. If a user does not exist, rejects with a `RangeError` and keeps the previous keys. `expected` lists the usernames, per
   * account, that the service will create later during startup. Zones of new accounts are not transferred until `use` is called again.
   */
  use(keys: readonly TransferKey[], database: Database, expected?: readonly (readonly string[])[]): Promise<void>
}

interface OwnedKey extends TransferKey {
  /** Null for an account that will be created during startup. */
  readonly accountId: number | null
}

export function createTransferKeys(): ConfiguredKeys {
  let byName: ReadonlyMap<DomainName, OwnedKey> = new Map()
  let byAccount: ReadonlyMap<number | null, readonly OwnedKey[]> = new Map()
  /** While a key waits for its account to be created: the highest id of the existing accounts, which cannot be it. */
  let lastKnownAccount = Number.POSITIVE_INFINITY

  const keysOf = ({ name, accountId }: OwnedZone, direction: TransferDirection): readonly OwnedKey[] =>
    (byAccount.get(accountId) ?? []).filter(({ zones, directions }) => directions.has(direction) && (zones === null || zones.has(name)))

  return {
    find: (name) => byName.get(name),
    allows: (zone, direction, address, signedBy) => {
      const keys = keysOf(zone, direction)
      if (keys.length === 0) return signedBy === null && zone.accountId <= lastKnownAccount
      return signedBy !== null && keys.some((key) => key.name === signedBy.name && isFor(key, address))
    },
    keyFor: (zone, direction, address) => {
      const keys = keysOf(zone, direction)
      if (keys.length === 0) return zone.accountId <= lastKnownAccount ? 'none' : 'missing'
      return keys.find((key) => isFor(key, address)) ?? 'missing'
    },
    use: async (keys, database, expected = []) => {
      const { owned, lastAccount } = await database.read(async (connection) => ({
        owned: await ownedKeys(connection, keys, expected),
        lastAccount: await findLastAccount(connection),
      }))
      byName = new Map(owned.map((key) => [key.name, key]))
      const grouped = new Map<number | null, OwnedKey[]>()
      for (const key of owned) grouped.set(key.accountId, [...(grouped.get(key.accountId) ?? []), key])
      byAccount = grouped
      lastKnownAccount = grouped.has(null) ? lastAccount : Number.POSITIVE_INFINITY
    },
  }
}

const isFor = ({ peers }: TransferKey, address: string): boolean => peers === null || peers.has(canonicalAddress(address) ?? '')

async function ownedKeys(
  connection: Connection,
  keys: readonly TransferKey[],
  expected: readonly (readonly string[])[],
): Promise<OwnedKey[]> {
  const accountIds = new Map<string, number | null>()
  for (const { name, account } of keys) {
    if (accountIds.has(account)) continue
    const group = expected.find((usernames) => usernames.includes(account))
    const id = await findAccount(connection, [account, ...(group ?? [])])
    if (id === null && group === undefined) {
      throw new RangeError(`the key ${name} belongs to the account of the user ${JSON.stringify(account)}, which does not exist`)
    }
    accountIds.set(account, id)
  }
  return keys.map((key) => ({ ...key, accountId: accountIds.get(key.account) ?? null }))
}

/** The account of the first existing user. */
async function findAccount(connection: Connection, usernames: readonly string[]): Promise<number | null> {
  for (const username of usernames) {
    const user = await findUserByName(connection, username)
    if (user !== null) return user.account_id
  }
  return null
}

/** No keys: transfers are allowed by address only. */
export const NO_TRANSFER_KEYS: TransferKeys = createTransferKeys()
