/** The SSH keys of users. */
import type { FilterFields, ListQuery, ListSlice } from '../filter/filter.ts'
import type { Connection } from './database.ts'
import { listRows } from './list-sql.ts'

export interface StoredSshKey {
  readonly id: number
  readonly label: string
  readonly ssh_key: string
  readonly created: string
}

/** Clients find a key by its label. */
export const SSH_KEY_FILTER_FIELDS = { label: { kind: 'text' } } as const satisfies FilterFields

const COLUMNS = ['id', 'label', 'ssh_key', 'created'] as const

export const listSshKeys = (connection: Connection, userId: number, list: ListQuery): Promise<ListSlice<StoredSshKey>> =>
  listRows<StoredSshKey>(connection.selectFrom('ssh_keys').where('user_id', '=', userId), { fields: SSH_KEY_FILTER_FIELDS }, list)

export async function findSshKey(connection: Connection, userId: number, id: number): Promise<StoredSshKey | null> {
  const row = await connection.selectFrom('ssh_keys').select(COLUMNS).where('id', '=', id).where('user_id', '=', userId).executeTakeFirst()
  return row ?? null
}

/** Inserts a key that `parseSshKey` returned. */
export async function insertSshKey(
  connection: Connection,
  userId: number,
  { label, key }: { readonly label: string; readonly key: string },
  now: string,
): Promise<StoredSshKey> {
  return connection
    .insertInto('ssh_keys')
    .values({ user_id: userId, label, ssh_key: key, created: now })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

/** Renames a key; null if the user has no key with this id. */
export async function renameSshKey(connection: Connection, userId: number, id: number, label: string): Promise<StoredSshKey | null> {
  const row = await connection
    .updateTable('ssh_keys')
    .set({ label })
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .returning(COLUMNS)
    .executeTakeFirst()
  return row ?? null
}

/** False if there is no such key. */
export async function deleteSshKey(connection: Connection, userId: number, id: number): Promise<boolean> {
  const { numDeletedRows } = await connection
    .deleteFrom('ssh_keys')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/**
 * The SSH keys by username, as lines of an `authorized_keys` file, in the order they were added. A user without keys has an empty list; a name
 * that is not a user of the account has no entry.
 */
export async function sshKeysOfUsers(
  connection: Connection,
  accountId: number,
  usernames: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (usernames.length === 0) return new Map()
  const rows = await connection
    .selectFrom('users')
    .leftJoin('ssh_keys', 'ssh_keys.user_id', 'users.id')
    .select(['users.username', 'ssh_keys.ssh_key'])
    .where('users.account_id', '=', accountId)
    .where('users.username', 'in', [...new Set(usernames)])
    .orderBy('ssh_keys.id')
    .execute()
  const keys = new Map<string, string[]>()
  for (const { username, ssh_key } of rows) {
    const list = keys.get(username) ?? []
    keys.set(username, list)
    if (ssh_key !== null) list.push(ssh_key)
  }
  return keys
}
