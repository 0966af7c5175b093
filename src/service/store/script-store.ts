/** Provisioning scripts. */
import { createHash } from 'node:crypto'
import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import type { FilterFields, ListQuery, ListSlice } from '../filter/filter.ts'
import type { Connection } from './database.ts'
import { deleteGrants, type Viewer, visibleTo } from './grant-store.ts'
import { listRows } from './rows.ts'
import type { ScriptRow } from './tables.ts'

/** The settings of a script that its author controls. */
export interface ScriptContent {
  readonly label: string
  readonly description: string
  /** Image ids; `any/all` means all images. */
  readonly images: readonly string[]
  readonly is_public: boolean
  readonly rev_note: string
  readonly script: string
}

export interface StoredScript extends ScriptContent {
  readonly id: number
  readonly username: string
  /** MD5 of the author's email address, in the form of Gravatar. */
  readonly user_gravatar_id: string
  readonly deployments_total: number
  /** Existing instances that were deployed with it. */
  readonly deployments_active: number
  /** Whether it belongs to the viewer's account. */
  readonly mine: boolean
  readonly created: string
  readonly updated: string
}

/** Means all images in the list of a script. */
export const ANY_IMAGE = 'any/all'

export const SCRIPT_FILTER_FIELDS = {
  label: { kind: 'text' },
  description: { kind: 'text' },
  deployments_total: { kind: 'number' },
  is_public: { kind: 'boolean' },
  rev_note: { kind: 'text' },
  mine: { kind: 'boolean' },
} as const satisfies FilterFields

interface Row extends ScriptRow {
  readonly username: string
  readonly email: string
  readonly mine: number
  readonly deployments_active: number
}

/** The scripts that the viewer may see: public scripts and those of its account; only public ones without a viewer. */
export async function listScripts(connection: Connection, viewer: Viewer | null, list: ListQuery): Promise<ListSlice<StoredScript>> {
  const { items, total } = await listRows<Row>(selectScripts(connection, viewer), { fields: SCRIPT_FILTER_FIELDS }, list)
  return { items: items.map(scriptOf), total }
}

/** A script that the viewer may see and therefore deploy; null if there is none. */
export async function findScript(connection: Connection, viewer: Viewer, id: number): Promise<StoredScript | null> {
  const row = await selectScripts(connection, viewer).selectAll().where('id', '=', id).executeTakeFirst()
  return row === undefined ? null : scriptOf(row)
}

/** The scripts that a viewer may see, with their computed columns. */
function selectScripts(connection: Connection, viewer: Viewer | null): SelectQueryBuilder<{ scripts: Row }, 'scripts', object> {
  const seen =
    viewer === null ? sql<SqlBool>`scripts.is_public = 1` : sql<SqlBool>`(scripts.is_public = 1 or ${visibleTo(viewer, 'script')})`
  return connection.selectFrom((eb) =>
    eb
      .selectFrom('scripts')
      .innerJoin('users', 'users.id', 'scripts.user_id')
      .selectAll('scripts')
      .select(['users.username', 'users.email'])
      .select([
        sql<number>`case when scripts.account_id = ${viewer?.accountId ?? 0} then 1 else 0 end`.as('mine'),
        sql<number>`(select count(*) from instances where instances.script_id = scripts.id)`.as('deployments_active'),
      ])
      .where(seen)
      .as('scripts'),
  ) as unknown as SelectQueryBuilder<{ scripts: Row }, 'scripts', object>
}

/** Creates a script. Returns its id. */
export async function insertScript(connection: Connection, viewer: Viewer, content: ScriptContent, now: string): Promise<number> {
  const { id } = await connection
    .insertInto('scripts')
    .values({ ...columnsOf(content), account_id: viewer.accountId, user_id: viewer.userId, created: now, updated: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Locks a script of the account until the transaction ends. False if there is no such script. */
export async function lockScriptRow(connection: Connection, accountId: number, id: number): Promise<boolean> {
  const locked = connection
    .updateTable('scripts')
    .set((eb) => ({ updated: eb.ref('updated') }))
    .where('id', '=', id)
    .where('account_id', '=', accountId)
  return (await locked.executeTakeFirstOrThrow()).numUpdatedRows > 0n
}

export async function updateScript(connection: Connection, id: number, content: ScriptContent, now: string): Promise<void> {
  await connection
    .updateTable('scripts')
    .set({ ...columnsOf(content), updated: now })
    .where('id', '=', id)
    .execute()
}

export async function deleteScript(connection: Connection, id: number): Promise<void> {
  await connection.deleteFrom('scripts').where('id', '=', id).execute()
  await deleteGrants(connection, 'script', id)
}

/** Counts a deployment of a script. Call it in the transaction that creates the instance with this `script_id`. */
export async function countDeployment(connection: Connection, id: number): Promise<void> {
  await connection
    .updateTable('scripts')
    .set((eb) => ({ deployments_total: eb('deployments_total', '+', 1) }))
    .where('id', '=', id)
    .execute()
}

/** Whether a script can be deployed with an image. */
export const takesImage = ({ images }: Pick<ScriptContent, 'images'>, image: string): boolean =>
  images.includes(ANY_IMAGE) || images.includes(image)

const columnsOf = ({ label, description, images, is_public, rev_note, script }: ScriptContent) => ({
  ...{ label, description, rev_note, script },
  images: JSON.stringify(images),
  is_public: Number(is_public),
})

const scriptOf = (row: Row): StoredScript => ({
  id: row.id,
  username: row.username,
  user_gravatar_id: createHash('md5').update(row.email.trim().toLowerCase()).digest('hex'),
  label: row.label,
  description: row.description,
  images: JSON.parse(row.images),
  is_public: row.is_public === 1,
  rev_note: row.rev_note,
  script: row.script,
  deployments_total: row.deployments_total,
  deployments_active: Number(row.deployments_active),
  mine: row.mine === 1,
  created: row.created,
  updated: row.updated,
})
