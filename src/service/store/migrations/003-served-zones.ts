import { type Kysely, sql } from 'kysely'
import type { SchemaDialect } from '../schema-dialect.ts'

/** What is served under which serial, and in which order that changed, for the processes that serve. */
export async function createServedZones(db: Kysely<unknown>, { announceUpdates }: SchemaDialect): Promise<void> {
  await db.schema
    .alterTable('domains')
    .addColumn('revision', 'bigint', (column) => column.notNull().defaultTo(1))
    .execute()
  await db.schema
    .alterTable('domains')
    .addColumn('settled', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute()
  await db.schema.createIndex('domains_unsettled').on('domains').column('id').where(sql.ref('settled'), '<', sql.ref('revision')).execute()

  // No key of another table: a serial outlives its domain.
  await db.schema
    .createTable('served_zones')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('domain_id', 'bigint', (column) => column.notNull())
    .addColumn('serial', 'bigint')
    .addColumn('served', 'integer', (column) => column.notNull())
    .addColumn('revision', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('served_zones_by_revision').on('served_zones').column('revision').execute()
  await db.schema.createIndex('served_zones_by_domain').on('served_zones').column('domain_id').execute()
  await sql`insert into served_zones (name, domain_id, serial, served, revision)
    select domains.domain, domains.id, zone_files.serial, 0, 0
    from domains inner join zone_files on zone_files.domain_id = domains.id`.execute(db)

  await db.schema
    .createTable('served_revision')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('revision', 'bigint', (column) => column.notNull())
    .addColumn('rendering', 'text', (column) => column.notNull())
    .execute()
  await sql`insert into served_revision (id, revision, rendering) values (1, 0, '')`.execute(db)
  await announceUpdates(db, 'served_revision')
}
