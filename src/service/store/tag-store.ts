import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { ListQuery, ListSlice } from '../filter/list-query.ts'
import type { Connection } from './database.ts'
import type { SetCondition } from './filter-sql.ts'
import { ENTITIES, type Viewer, visibleTo } from './grant-store.ts'
import { lockAccountRow } from './lock-rows.ts'
import type { TaggedKind } from './tables/tagged-objects.ts'
import { foldLabel } from './tag-label.ts'

/** The kinds of objects that carry tags, in the order that lists of them have. */
export const TAGGED_KINDS = ['instance', 'domain', 'volume', 'loadbalancer'] as const satisfies readonly TaggedKind[]

/** The tags of objects by object, sorted; an object without tags has no entry. */
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
  for (const { entity_id, label } of rows) {
    const list = labels.get(entity_id)
    if (list) list.push(label)
    else labels.set(entity_id, [label])
  }
  return labels
}

/** True of objects one of whose tags fits; `table` is that of the objects. */
export const taggedWith =
  (kind: TaggedKind, table: string): SetCondition =>
  (fits) =>
    sql<SqlBool>`exists (
  select 1 from tagged_objects inner join tags on tags.id = tagged_objects.tag_id
  where tagged_objects.kind = ${kind} and tagged_objects.entity_id = ${sql.ref(`${table}.id`)} and ${fits(sql.ref<string>('tags.folded'))})`

/**
 * Gives an object exactly these tags and returns them as they are kept, sorted. A tag is one whatever its case: the account's
 * spelling of it stays. A tag that nothing carries any more is forgotten. Where tags may change, the account must be held before
 * an object that others see. An object that is deleted is given none first.
 */
export async function setTags(
  connection: Connection,
  accountId: number,
  kind: TaggedKind,
  id: number,
  labels: readonly string[],
): Promise<readonly string[]> {
  const wanted = new Map(labels.map((label) => [foldLabel(label), label]))
  const carried = await connection
    .selectFrom('tagged_objects')
    .innerJoin('tags', 'tags.id', 'tagged_objects.tag_id')
    .select(['tags.id', 'tags.folded'])
    .where('tagged_objects.kind', '=', kind)
    .where('tagged_objects.entity_id', '=', id)
    .execute()
  if (wanted.size === 0 && carried.length === 0) return []

  const dropped = carried.filter(({ folded }) => !wanted.has(folded)).map((tag) => tag.id)
  for (const { folded } of carried) wanted.delete(folded)
  if (dropped.length === 0 && wanted.size === 0) return labelsOfOne(connection, kind, id)
  await lockAccountRow(connection, accountId)
  if (dropped.length > 0) {
    await connection
      .deleteFrom('tagged_objects')
      .where('kind', '=', kind)
      .where('entity_id', '=', id)
      .where('tag_id', 'in', dropped)
      .execute()
    await connection
      .deleteFrom('tags')
      .where('id', 'in', dropped)
      .where((eb) => eb.not(eb.exists(eb.selectFrom('tagged_objects').select('tag_id').whereRef('tagged_objects.tag_id', '=', 'tags.id'))))
      .execute()
  }
  if (wanted.size > 0) {
    const rows = [...wanted].map(([folded, label]) => ({ account_id: accountId, label, folded }))
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
          .where('folded', 'in', [...wanted.keys()]),
      )
      .execute()
  }
  return labelsOfOne(connection, kind, id)
}

const labelsOfOne = async (connection: Connection, kind: TaggedKind, id: number): Promise<readonly string[]> =>
  (await labelsOf(connection, kind, [id])).get(id) ?? []

/** The labels of the account's tags, sorted; for a restricted viewer of those that something carries which it may see. */
export async function listTags(connection: Connection, viewer: Viewer, list: ListQuery): Promise<ListSlice<{ readonly label: string }>> {
  let selected = connection.selectFrom('tags').where('account_id', '=', viewer.accountId)
  if (viewer.restricted) {
    selected = selected.where(
      sql<SqlBool>`(${sql.join(
        TAGGED_KINDS.map((kind) => sql`exists (${carriersOf(viewer, kind, sql.ref('tags.id'))})`),
        sql` or `,
      )})`,
    )
  }
  const { total } = await selected.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const items = await selected.select('label').orderBy('folded').limit(list.limit).offset(list.offset).execute()
  return { items, total: Number(total) }
}

/** Selects the objects of a kind that carry a tag, as `place` (that of the kind) and `id`, as far as the viewer may see them. */
export function carriersOf(viewer: Viewer, kind: TaggedKind, tagId: RawBuilder<unknown>): RawBuilder<unknown> {
  const { table } = ENTITIES[kind]
  return sql`select ${sql.lit(TAGGED_KINDS.indexOf(kind))} as place, ${sql.ref(`${table}.id`)} as id
    from tagged_objects inner join ${sql.table(table)} on ${sql.ref(`${table}.id`)} = tagged_objects.entity_id
    where tagged_objects.tag_id = ${tagId} and tagged_objects.kind = ${kind} and ${visibleTo(viewer, kind)}`
}

export async function findTag(
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
