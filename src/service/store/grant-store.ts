/** The grants of restricted users, and the tables of the objects that they apply to. */
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Connection } from './database.ts'
import type { GrantKind, Permissions, TaggedKind } from './tables.ts'

/** The user who views a list. */
export interface Viewer {
  readonly accountId: number
  readonly userId: number
  /** Sees only granted objects. */
  readonly restricted: boolean
}

interface Entity {
  readonly table: string
  /** The column with the name for people. */
  readonly label: string
  /** The column that is 1 for objects that every account may read. */
  readonly shared?: string
}

/** The tables of all kinds of objects. */
export const GRANT_TABLES = {
  domain: { table: 'domains', label: 'domain' },
  image: { table: 'images', label: 'label' },
  instance: { table: 'instances', label: 'label' },
  loadbalancer: { table: 'load_balancers', label: 'label' },
  script: { table: 'scripts', label: 'label', shared: 'is_public' },
  volume: { table: 'volumes', label: 'label' },
} as const satisfies Record<GrantKind, Entity>

/** Grants of a restricted user that apply to no single object. */
export const GLOBAL_GRANTS = [
  'add_databases',
  'add_domains',
  'add_firewalls',
  'add_images',
  'add_instances',
  'add_monitors',
  'add_loadbalancers',
  'add_scripts',
  'add_volumes',
  'cancel_account',
  'monitor_subscription',
] as const

export type GlobalGrant = (typeof GLOBAL_GRANTS)[number]

/** True for the account's objects that the viewer may see. Does not include public objects. */
export const visibleTo = ({ accountId, userId, restricted }: Viewer, kind: GrantKind): RawBuilder<SqlBool> => {
  const { table } = GRANT_TABLES[kind]
  const inAccount = sql<SqlBool>`${sql.ref(`${table}.account_id`)} = ${accountId}`
  if (!restricted) return inAccount
  return sql<SqlBool>`(${inAccount} and exists (
    select 1 from grants
    where grants.user_id = ${userId} and grants.kind = ${kind} and grants.entity_id = ${sql.ref(`${table}.id`)}))`
}

/** The user's permissions for an object of the account or a public object. Null if it has none; undefined if there is no such object. */
export async function findPermissions(
  connection: Connection,
  { accountId, userId }: Viewer,
  kind: GrantKind,
  id: number,
): Promise<Permissions | null | undefined> {
  const { table, shared }: Entity = GRANT_TABLES[kind]
  const forAll = shared === undefined ? sql`1 = 0` : sql`${sql.ref(`entity.${shared}`)} = 1`
  const { rows } = await sql<{ permissions: Permissions | null }>`
    select coalesce(grants.permissions, case when ${forAll} then 'read_only' end) as permissions from ${sql.table(table)} as entity
    left join grants on grants.entity_id = entity.id and grants.kind = ${kind} and grants.user_id = ${userId}
    where entity.id = ${id} and (entity.account_id = ${accountId} or ${forAll})`.execute(connection)
  return rows[0]?.permissions
}

/** The ids of the account's objects with a label. */
export async function findByLabel(
  connection: Connection,
  kind: GrantKind | TaggedKind,
  accountId: number,
  label: string,
): Promise<readonly number[]> {
  if (!(kind in GRANT_TABLES)) return []
  const { table, label: column } = GRANT_TABLES[kind as GrantKind]
  const { rows } = await sql<{ id: number }>`
    select id from ${sql.table(table)} where account_id = ${accountId} and ${sql.ref(column)} = ${label} order by id`.execute(connection)
  return rows.map(({ id }) => id)
}

/** Sets a user's permissions for an object. */
export async function grant(connection: Connection, userId: number, kind: GrantKind, id: number, permissions: Permissions): Promise<void> {
  await connection
    .insertInto('grants')
    .values({ user_id: userId, kind, entity_id: id, permissions })
    .onConflict((conflict) => conflict.columns(['user_id', 'kind', 'entity_id']).doUpdateSet({ permissions }))
    .execute()
}

/** Deletes all grants for an object. Call it when the object is deleted. */
export async function deleteGrants(connection: Connection, kind: GrantKind, id: number): Promise<void> {
  await connection.deleteFrom('grants').where('kind', '=', kind).where('entity_id', '=', id).execute()
}

export interface Granted {
  readonly id: number
  readonly label: string
  readonly permissions: Permissions
}

/** All objects of a kind that are granted to the user, in the order of their ids. */
export async function listGranted(connection: Connection, userId: number, kind: GrantKind): Promise<readonly Granted[]> {
  const { table, label } = GRANT_TABLES[kind]
  const { rows } = await sql<Granted>`
    select entity.id, entity.${sql.ref(label)} as label, grants.permissions
    from grants inner join ${sql.table(table)} as entity on entity.id = grants.entity_id
    where grants.user_id = ${userId} and grants.kind = ${kind}
    order by entity.id`.execute(connection)
  return rows
}
