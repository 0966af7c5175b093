/** Tags, and the objects that have them. */
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { append } from '../../base/group-by.ts'
import { filterItems, type ListQuery, type ListSlice } from '../filter/filter.ts'
import { lockAccountRow } from './account-store.ts'
import type { Connection } from './database.ts'
import { GRANT_TABLES, type Viewer, visibleTo } from './grant-store.ts'
import type { SetField } from './rows.ts'
import type { TaggedKind } from './tables.ts'

/** The kinds of objects with tags, in list order. */
export const TAGGED_KINDS = ['instance', 'domain', 'volume', 'loadbalancer'] as const satisfies readonly TaggedKind[]

/** The sorted tags by object. An object without tags has no entry. */
export async function labelsOf(connection: Connection, kind: TaggedKind, ids: readonly number[]): Promise<Map<number, string[]>> {
  const labels = new Map<number, string[]>()
  if (ids.length === 0) return labels
  const rows = await connection
    .selectFrom('tagged_objects')
    .innerJoin('tags', 'tags.id', 'tagged_objects.tag_id')
    .select(['tagged_objects.entity_id', 'tags.label'])
    .where('tagged_objects.kind', '=', kind)
    .where('tagged_objects.entity_id', 'in', ids)
    .orderBy('tags.folded')
    .execute()
  for (const { entity_id, label } of rows) append(labels, entity_id, label)
  return labels
}

/** The tags of the objects of `table`, for filters. */
export const tagsField = (kind: TaggedKind, table: string): SetField => ({
  text: sql.ref('tags.folded'),
  rows: sql`from tagged_objects inner join tags on tags.id = tagged_objects.tag_id
    where tagged_objects.kind = ${kind} and tagged_objects.entity_id = ${sql.ref(`${table}.id`)}`,
})

/**
 * Sets the tags of an object and returns them as stored, sorted. Tags are case-insensitive: the account's existing spelling is kept. A tag that
 * is no longer used is deleted. If tags may change, lock the account before the object. Set no tags before deleting an object.
 */
export async function setTags(
  connection: Connection,
  accountId: number,
  kind: TaggedKind,
  id: number,
  labels: readonly string[],
): Promise<readonly string[]> {
  const desired = new Map(labels.map((label) => [foldLabel(label), label]))
  const existing = await connection
    .selectFrom('tagged_objects')
    .innerJoin('tags', 'tags.id', 'tagged_objects.tag_id')
    .select(['tags.id', 'tags.folded'])
    .where('tagged_objects.kind', '=', kind)
    .where('tagged_objects.entity_id', '=', id)
    .execute()
  if (desired.size === 0 && existing.length === 0) return []

  const removed = existing.filter(({ folded }) => !desired.has(folded)).map((tag) => tag.id)
  const kept = new Set(existing.map(({ folded }) => folded))
  const added = [...desired].filter(([folded]) => !kept.has(folded))
  if (removed.length === 0 && added.length === 0) return labelsOfOne(connection, kind, id)
  await lockAccountRow(connection, accountId)
  if (removed.length > 0) {
    await connection
      .deleteFrom('tagged_objects')
      .where('kind', '=', kind)
      .where('entity_id', '=', id)
      .where('tag_id', 'in', removed)
      .execute()
    await connection
      .deleteFrom('tags')
      .where('id', 'in', removed)
      .where((eb) => eb.not(eb.exists(eb.selectFrom('tagged_objects').select('tag_id').whereRef('tagged_objects.tag_id', '=', 'tags.id'))))
      .execute()
  }
  if (added.length > 0) {
    const rows = added.map(([folded, label]) => ({ account_id: accountId, label, folded }))
    const newTags = added.map(([folded]) => folded)
    await connection
      .insertInto('tags')
      .values(rows)
      .onConflict((conflict) => conflict.columns(['account_id', 'folded']).doNothing())
      .execute()
    await connection
      .insertInto('tagged_objects')
      .columns(['kind', 'entity_id', 'tag_id'])
      .expression((eb) =>
        eb
          .selectFrom('tags')
          .select((select) => [select.val(kind).as('kind'), select.val(id).as('entity_id'), 'id as tag_id'])
          .where('account_id', '=', accountId)
          .where('folded', 'in', newTags),
      )
      .execute()
  }
  return labelsOfOne(connection, kind, id)
}

const labelsOfOne = async (connection: Connection, kind: TaggedKind, id: number): Promise<readonly string[]> =>
  (await labelsOf(connection, kind, [id])).get(id) ?? []

/** Whether a filter selects nothing. Lists of tags have no fields to filter by, so any filter selects all or nothing. */
const selectsNone = ({ filter }: ListQuery): boolean => filter !== null && filterItems([{}], filter, {}).length === 0

/** The sorted labels of the account's tags; for a restricted viewer, only tags of objects that it may see. */
export async function listTags(connection: Connection, viewer: Viewer, list: ListQuery): Promise<ListSlice<{ readonly label: string }>> {
  if (selectsNone(list)) return { items: [], total: 0 }
  let selected = connection.selectFrom('tags').where('account_id', '=', viewer.accountId)
  if (viewer.restricted) {
    selected = selected.where(
      sql<SqlBool>`(${sql.join(
        TAGGED_KINDS.map((kind) => sql`exists (${selectTagged(viewer, kind, sql.ref('tags.id'))})`),
        sql` or `,
      )})`,
    )
  }
  const { total } = await selected.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const items = await selected.select('label').orderBy('folded').limit(list.limit).offset(list.offset).execute()
  return { items, total: Number(total) }
}

/** Selects the objects of a kind with a tag that the viewer may see, as `place` (the index of the kind) and `id`. */
function selectTagged(viewer: Viewer, kind: TaggedKind, tagId: RawBuilder<unknown>): RawBuilder<unknown> {
  const { table } = GRANT_TABLES[kind]
  return sql`select ${sql.lit(TAGGED_KINDS.indexOf(kind))} as place, ${sql.ref(`${table}.id`)} as id
    from tagged_objects inner join ${sql.table(table)} on ${sql.ref(`${table}.id`)} = tagged_objects.entity_id
    where tagged_objects.tag_id = ${tagId} and tagged_objects.kind = ${kind} and ${visibleTo(viewer, kind)}`
}

async function findTag(
  connection: Connection,
  accountId: number,
  label: string,
): Promise<{ readonly id: number; readonly label: string } | null> {
  const row = await connection
    .selectFrom('tags')
    .select(['id', 'label'])
    .where('account_id', '=', accountId)
    .where('folded', '=', foldLabel(label))
    .executeTakeFirst()
  return row ?? null
}

/** Maximum number of tags per object. */
export const MAX_TAGS = 500

/** The case-insensitive form of a label. */
export const foldLabel = (label: string): string => label.toLowerCase()

/** The ids of objects by kind. */
type ObjectsByKind = ReadonlyMap<TaggedKind, readonly number[]>

/** An object with a tag. */
export interface TaggedEntity {
  readonly kind: TaggedKind
  readonly id: number
}

/**
 * Adds a tag to objects and creates it if necessary. Returns the label in the account's spelling, or the kinds for which an id is not an object
 * of the account; then the transaction must not be committed.
 */
export async function tagObjects(
  connection: Connection,
  accountId: number,
  label: string,
  objects: ObjectsByKind,
  now: string,
): Promise<{ readonly label: string } | { readonly missing: readonly TaggedKind[] }> {
  await lockAccountRow(connection, accountId)
  const missing: TaggedKind[] = []
  const tagged: { readonly kind: TaggedKind; readonly entity_id: number }[] = []
  for (const [kind, named] of objects) {
    const ids = [...new Set(named)]
    if (ids.length === 0) continue
    const locked = await touch(connection, kind, sql`account_id = ${accountId} and id in (${sql.join(ids)})`, now)
    if (locked !== ids.length) missing.push(kind)
    for (const id of ids) tagged.push({ kind, entity_id: id })
  }
  if (missing.length > 0) return { missing }
  await connection
    .insertInto('tags')
    .values({ account_id: accountId, label, folded: foldLabel(label) })
    .onConflict((conflict) => conflict.columns(['account_id', 'folded']).doNothing())
    .execute()
  const tag = await findTag(connection, accountId, label)
  if (tag === null) throw new Error('a tag that was just created is missing')
  if (tagged.length > 0) {
    await connection
      .insertInto('tagged_objects')
      .values(tagged.map((object) => ({ ...object, tag_id: tag.id })))
      .onConflict((conflict) => conflict.columns(['kind', 'entity_id', 'tag_id']).doNothing())
      .execute()
  }
  return { label: tag.label }
}

/**
 * The objects with a tag that the viewer may see, by kind and id. Null if the tag does not exist; for a restricted viewer also if it is on no object
 * that the viewer may see, as in `listTags`.
 */
export async function listTaggedEntities(
  connection: Connection,
  viewer: Viewer,
  label: string,
  list: ListQuery,
): Promise<ListSlice<TaggedEntity> | null> {
  const tag = await findTag(connection, viewer.accountId, label)
  if (tag === null) return null
  const tagged = sql.join(
    TAGGED_KINDS.map((kind) => selectTagged(viewer, kind, sql`${tag.id}`)),
    sql` union all `,
  )
  const { rows: counted } = await sql<{ total: number }>`select count(*) as total from (${tagged}) as tagged`.execute(connection)
  const total = Number(counted[0]?.total)
  if (total === 0) return viewer.restricted ? null : { items: [], total }
  if (selectsNone(list)) return { items: [], total: 0 }
  const { rows } = await sql<{ place: number; id: number }>`
    select place, id from (${tagged}) as tagged order by place, id limit ${list.limit} offset ${list.offset}`.execute(connection)
  const items = rows.map(({ place, id }) => ({ kind: TAGGED_KINDS[place] as TaggedKind, id }))
  return { items, total }
}

/** Deletes a tag and removes it from all objects. False if there is no such tag. */
export async function deleteTag(connection: Connection, accountId: number, label: string, now: string): Promise<boolean> {
  await lockAccountRow(connection, accountId)
  const tag = await findTag(connection, accountId, label)
  if (tag === null) return false
  for (const kind of TAGGED_KINDS) {
    await touch(connection, kind, sql`id in (select entity_id from tagged_objects where tag_id = ${tag.id} and kind = ${kind})`, now)
  }
  const { numDeletedRows } = await connection.deleteFrom('tags').where('id', '=', tag.id).executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** The kind of an object with more than `limit` tags; null if there is none. */
export async function findKindOverTagLimit(connection: Connection, objects: ObjectsByKind, limit: number): Promise<TaggedKind | null> {
  for (const [kind, ids] of objects) {
    if (ids.length === 0) continue
    const row = await connection
      .selectFrom('tagged_objects')
      .select('entity_id')
      .where('kind', '=', kind)
      .where('entity_id', 'in', ids)
      .groupBy('entity_id')
      .having((eb) => eb.fn.countAll(), '>', limit)
      .limit(1)
      .executeTakeFirst()
    if (row !== undefined) return kind
  }
  return null
}

/** Kinds without an `updated` column. */
const WITHOUT_UPDATED: ReadonlySet<TaggedKind> = new Set<TaggedKind>(['loadbalancer'])

/** Locks objects until the transaction ends and updates their `updated` time. Returns how many there are. */
async function touch(connection: Connection, kind: TaggedKind, condition: ReturnType<typeof sql>, now: string): Promise<number> {
  const change = WITHOUT_UPDATED.has(kind) ? sql`label = label` : sql`updated = ${now}`
  const { numAffectedRows } = await sql`update ${sql.table(GRANT_TABLES[kind].table)} set ${change} where ${condition}`.execute(connection)
  return Number(numAffectedRows ?? 0n)
}
