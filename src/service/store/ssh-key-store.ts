/** The SSH keys of users. */
import { type Selectable, sql } from 'kysely'
import type { FilterFields } from '../filter/filter.ts'
import type { Connection } from './database.ts'
import { ownRows } from './rows.ts'
import type { Tables } from './tables.ts'

/** Clients find a key by its label. */
export const SSH_KEY_FILTER_FIELDS = { label: { kind: 'text' } } as const satisfies FilterFields

const COLUMNS = ['id', 'label', 'ssh_key', 'created'] as const

type StoredSshKey = Pick<Selectable<Tables['ssh_keys']>, (typeof COLUMNS)[number]>

export const SSH_KEYS = ownRows<StoredSshKey, [userId: number]>(
  'ssh_keys',
  { fields: SSH_KEY_FILTER_FIELDS, columns: COLUMNS },
  (userId) => sql`user_id = ${userId}`,
)

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
