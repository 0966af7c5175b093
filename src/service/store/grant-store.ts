import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Connection } from './database.ts'
import type { TaggedKind } from './tables/tagged-objects.ts'
import type { GrantKind, Permissions } from './tables.ts'

/** The user a list is made for. */
export interface Viewer {
  readonly accountId: number
  readonly userId: number
  /** Sees only what is granted. */
  readonly restricted: boolean
}

interface Entity {
  readonly table: string
  /** The column that names the objects to people. */
  readonly label: string
  /** The column that is 1 for objects which everybody may read, whosever they are. */
  readonly shared?: string
}

/** Where the objects of each kind are. */
export const ENTITIES = {
  domain: { table: 'domains', label: 'domain' },
  image: { table: 'images', label: 'label' },
  instance: { table: 'instances', label: 'label' },
  loadbalancer: { table: 'load_balancers', label: 'label' },
  script: { table: 'scripts', label: 'label', shared: 'is_public' },
  volume: { table: 'volumes', label: 'label' },
} as const satisfies Record<GrantKind, Entity>

/** True of the account's objects that the viewer may see; not of those that everybody may. */
export const visibleTo = ({ accountId, userId, restricted }: Viewer, kind: GrantKind): RawBuilder<SqlBool> => {
  const { table } = ENTITIES[kind]
  const inAccount = sql<SqlBool>`${sql.ref(`${table}.account_id`)} = ${accountId}`
  if (!restricted) return inAccount
  return sql<SqlBool>`(${inAccount} and exists (
    select 1 from grants
    where grants.user_id = ${userId} and grants.kind = ${kind} and grants.entity_id = ${sql.ref(`${table}.id`)}))`
}

/** What the user may do with an object of the account, or one that everybody may read: null for nothing; undefined where there is no such object. */
export async function findPermissions(
  connection: Connection,
  { accountId, userId }: Viewer,
  kind: GrantKind,
  id: number,
): Promise<Permissions | null | undefined> {
  const { table, shared }: Entity = ENTITIES[kind]
  const forAll = shared === undefined ? sql`1 = 0` : sql`${sql.ref(`entity.${shared}`)} = 1`
  const { rows } = await sql<{ permissions: Permissions | null }>`
    select coalesce(grants.permissions, case when ${forAll} then 'read_only' end) as permissions from ${sql.table(table)} as entity
    left join grants on grants.entity_id = entity.id and grants.kind = ${kind} and grants.user_id = ${userId}
    where entity.id = ${id} and (entity.account_id = ${accountId} or ${forAll})`.execute(connection)
  return rows[0]?.permissions
}

/** The numbers of the account's objects of a kind that have a label. */
export async function findByLabel(
  connection: Connection,
  kind: GrantKind | TaggedKind,
  accountId: number,
  label: string,
): Promise<readonly number[]> {
  if (!(kind in ENTITIES)) return []
  const { table, label: column } = ENTITIES[kind as GrantKind]
  const { rows } = await sql<{ id: number }>`
    select id from ${sql.table(table)} where account_id = ${accountId} and ${sql.ref(column)} = ${label} order by id`.execute(connection)
  return rows.map(({ id }) => id)
}

/** Grants a user what it may do with an object from now on. */
export async function grant(connection: Connection, userId: number, kind: GrantKind, id: number, permissions: Permissions): Promise<void> {
  await connection
    .insertInto('grants')
    .values({ user_id: userId, kind, entity_id: id, permissions })
    .onConflict((conflict) => conflict.columns(['user_id', 'kind', 'entity_id']).doUpdateSet({ permissions }))
    .execute()
}

/** To be called when the object is deleted. */
export async function deleteGrants(connection: Connection, kind: GrantKind, id: number): Promise<void> {
  await connection.deleteFrom('grants').where('kind', '=', kind).where('entity_id', '=', id).execute()
}

export interface Granted {
  readonly id: number
  readonly label: string
  readonly permissions: Permissions
}

/** All objects of a kind that are granted to the user, in the order of their numbers. */
export async function listGranted(connection: Connection, userId: number, kind: GrantKind): Promise<readonly Granted[]> {
  const { table, label } = ENTITIES[kind]
  const { rows } = await sql<Granted>`
    select entity.id, entity.${sql.ref(label)} as label, grants.permissions
    from grants inner join ${sql.table(table)} as entity on entity.id = grants.entity_id
    where grants.user_id = ${userId} and grants.kind = ${kind}
    order by entity.id`.execute(connection)
  return rows
}
