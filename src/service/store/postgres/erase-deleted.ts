import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'

/** Milliseconds to wait for transactions that began before, and between two looks. */
const PATIENCE = 20_000
const PAUSE = 100

/**
 * Writes tables anew without the rows that were deleted or replaced. PostgreSQL keeps such rows for every transaction that may still read them, so that
 * those must end first. Rejects if they do not in time. The transaction log of the server keeps former rows until the server writes over it.
 */
export async function eraseDeletedRows<T>(db: Kysely<T>, tables: readonly string[]): Promise<void> {
  const { rows } = await sql<{ id: string }>`select txid_current()::text as id`.execute(db)
  const { id } = rows[0] as { id: string }
  for (const end = performance.now() + PATIENCE; !(await isPast(db, id)); await sleep(PAUSE)) {
    if (performance.now() > end) throw new Error('transactions that began before are still under way in the PostgreSQL server')
  }
  // Each statement is a transaction of its own; the tables are small.
  for (const table of tables) await sql`vacuum (full) ${sql.table(table)}`.execute(db)
}

/** Whether all transactions of the server that began before this one have ended, and nobody reads the database as it was then. */
async function isPast<T>(db: Kysely<T>, id: string): Promise<boolean> {
  const { rows } = await sql<{ past: boolean }>`
    select txid_snapshot_xmin(txid_current_snapshot()) > ${id}::bigint and not exists (
      select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
        and age(backend_xmin) > age((${id}::bigint % 4294967296)::text::xid)
    ) as past`.execute(db)
  return rows[0]?.past === true
}
