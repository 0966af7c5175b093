import type { Connection } from './database.ts'
import { type DomainSettings, insertDomain, type StoredDomain } from './domain-store.ts'
import type { RecordFields } from './record-store.ts'
import type { ClaimedName } from './zone-name-store.ts'

export interface Import {
  readonly settings: DomainSettings
  /** In the order their numbers are to have. */
  readonly records: readonly RecordFields[]
  /** What is not as it was where it came from, in words. */
  readonly remarks: string
}

/** Rows of one statement: few enough for the parameters a statement can have. */
const CHUNK = 500

/** Stores a domain with all its records. */
export async function storeImport(
  connection: Connection,
  accountId: number,
  name: ClaimedName,
  { settings, records, remarks }: Import,
  now: string,
): Promise<StoredDomain> {
  const domain = await insertDomain(connection, accountId, name, settings, now)
  for (let from = 0; from < records.length; from += CHUNK) {
    const rows = records.slice(from, from + CHUNK).map((fields) => ({ ...fields, domain_id: domain.id, created: now, updated: now }))
    await connection.insertInto('records').values(rows).execute()
  }
  await connection
    .updateTable('domains')
    .set({ record_count: records.length, transfer_errors: remarks })
    .where('id', '=', domain.id)
    .execute()
  return { ...domain, errors: remarks, recordCount: records.length }
}
