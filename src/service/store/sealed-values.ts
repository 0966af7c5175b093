/** All columns with encrypted values, and the operations on all of them: counting them by key and encrypting them with a new key. */
import { type Kysely, sql } from 'kysely'
import { findKeyId, keyIdOf, lockKeyId, SealedValueError, type Secrets, sealedPrefix } from '../secrets/secrets.ts'
import { lockUserRow } from './account-store.ts'
import type { Connection, Database } from './database.ts'
import { contextOfAnswer, contextOfPhoneCode, contextOfSecondFactor } from './user-secret-store.ts'

interface SealedColumn {
  readonly table: 'security_answers' | 'second_factors' | 'phone_codes'
  readonly column: string
  /** The primary key columns besides `user_id`. */
  readonly key: readonly string[]
  readonly context: (row: SealedRow) => string
}

interface SealedRow {
  readonly user_id: number
  readonly value: string
  readonly question_id?: number
}

const SEALED_COLUMNS: readonly SealedColumn[] = [
  {
    table: 'security_answers',
    column: 'response',
    key: ['question_id'],
    context: ({ user_id, question_id = 0 }) => contextOfAnswer(user_id, question_id),
  },
  { table: 'second_factors', column: 'secret', key: [], context: ({ user_id }) => contextOfSecondFactor(user_id) },
  { table: 'second_factors', column: 'pending', key: [], context: ({ user_id }) => contextOfSecondFactor(user_id) },
  { table: 'phone_codes', column: 'code', key: [], context: ({ user_id }) => contextOfPhoneCode(user_id) },
]

/** The tables with encrypted values. */
export const SEALED_TABLES: readonly string[] = [...new Set(SEALED_COLUMNS.map(({ table }) => table))]

/** Users per transaction when values are encrypted again. */
const BATCH_USERS = 50

/** The length of the prefix that identifies the key: `aes:` and the key id. */
const PREFIX_LENGTH = sealedPrefix('0'.repeat(16)).length

/** Counts the values by key id. */
export async function countSealed(connection: Connection): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for (const { table, column } of SEALED_COLUMNS) {
    const value = sql.ref<string>(column)
    const { rows } = await sql<{ prefix: string; count: number | string }>`
      select substr(${value}, 1, ${PREFIX_LENGTH}) as prefix, count(*) as count from ${sql.table(table)}
      where ${value} like 'aes:%' group by 1`.execute(connection)
    for (const { prefix, count } of rows) {
      const id = keyIdOf(prefix)
      if (id !== null) counts.set(id, (counts.get(id) ?? 0) + Number(count))
    }
  }
  return counts
}

export interface Resealed {
  /** The number of values encrypted with the current key by this call. */
  readonly resealed: number
  /** The number of values that cannot be decrypted and were left unchanged. */
  readonly left: number
}

/**
 * Encrypts all remaining values with the current key, a few users per transaction. Other processes may read and write at the same time, because
 * each user is locked while its values change. It can be interrupted and run again at any time.
 */
export async function resealAll(database: Database, secrets: Secrets): Promise<Resealed> {
  const sum = { resealed: 0, left: 0 }
  for (const sealed of SEALED_COLUMNS) {
    for (let last = 0; ; ) {
      const users = await database.read((connection) => findStaleUsers(connection, sealed, last))
      if (users.length === 0) break
      const done = await database.write((connection) => resealUsers(connection, secrets, sealed, users))
      sum.resealed += done.resealed
      sum.left += done.left
      last = users[users.length - 1] as number
    }
  }
  return sum
}

/** The next users, after `last`, with values that are not encrypted with the current key. */
async function findStaleUsers(connection: Connection, { table, column }: SealedColumn, last: number): Promise<number[]> {
  const keyId = await findKeyId(connection)
  const rows = await anyTable(connection)
    .selectFrom(table)
    .select('user_id')
    .distinct()
    .where('user_id', '>', last)
    .where(column, '!=', '')
    .where(column, 'not like', `${sealedPrefix(keyId)}%`)
    .orderBy('user_id')
    .limit(BATCH_USERS)
    .execute()
  return rows.map(({ user_id }) => Number(user_id))
}

async function resealUsers(connection: Connection, secrets: Secrets, sealed: SealedColumn, users: readonly number[]): Promise<Resealed> {
  // Lock users before the key, as all transactions do, so that there is no deadlock.
  for (const user of users) await lockUserRow(connection, user)
  const prefix = sealedPrefix(await lockKeyId(connection))
  let resealed = 0
  let left = 0
  for (const row of await selectValues(connection, sealed).where('user_id', 'in', users).execute()) {
    if (row.value === '' || row.value.startsWith(prefix)) continue
    const context = sealed.context(row)
    try {
      const value = await secrets.seal(connection, secrets.open(row.value, context), context)
      let update = anyTable(connection)
        .updateTable(sealed.table)
        .set({ [sealed.column]: value })
        .where('user_id', '=', row.user_id)
      for (const column of sealed.key) update = update.where(column, '=', row[column as 'question_id'])
      await update.execute()
      resealed += 1
    } catch (error) {
      if (!(error instanceof SealedValueError)) throw error
      left += 1
    }
  }
  return { resealed, left }
}

const selectValues = (connection: Connection, { table, column, key }: SealedColumn) =>
  anyTable(connection)
    .selectFrom(table)
    .select(['user_id', ...key, `${column} as value`])
    .$castTo<SealedRow>()

// biome-ignore lint/suspicious/noExplicitAny: the columns are known only at run time
const anyTable = (connection: Connection): Kysely<any> => connection as unknown as Kysely<any>
