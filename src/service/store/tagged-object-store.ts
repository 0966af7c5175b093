import { sql } from 'kysely'
import type { ListSlice } from '../filter/list-query.ts'
import type { Connection } from './database.ts'
import { ENTITIES, type Viewer } from './grant-store.ts'
import { lockAccountRow } from './lock-rows.ts'
import type { TaggedKind } from './tables/tagged-objects.ts'
import { foldLabel } from './tag-label.ts'
import { carriersOf, findTag, TAGGED_KINDS } from './tag-store.ts'

/** Objects by number, each kind at most once. */
export type ObjectsByKind = ReadonlyMap<TaggedKind, readonly number[]>

/** One that carries a tag. */
export interface Carrier {
  readonly kind: TaggedKind
  readonly id: number
}

/**
 * Gives all these objects the tag, which is made if the account does not have it. Returns the label as the account spells it, or the
 * kinds of which a number is of no object of the account; then the transaction must not be committed.
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
  const carriers: { readonly kind: TaggedKind; readonly entity_id: number }[] = []
  for (const [kind, named] of objects) {
    const ids = [...new Set(named)]
    if (ids.length === 0) continue
    const held = await touch(connection, kind, sql`account_id = ${accountId} and id in (${sql.join(ids)})`, now)
    if (held !== ids.length) missing.push(kind)
    for (const id of ids) carriers.push({ kind, entity_id: id })
  }
  if (missing.length > 0) return { missing }
  await connection
    .insertInto('tags')
    .values({ account_id: accountId, label, folded: foldLabel(label) })
    .onConflict((conflict) => conflict.columns(['account_id', 'folded']).doNothing())
    .execute()
  const tag = await findTag(connection, accountId, label)
  if (tag === null) throw new Error('a tag is gone that was just made')
  if (carriers.length > 0) {
    await connection
      .insertInto('tagged_objects')
      .values(carriers.map((carrier) => ({ ...carrier, tag_id: tag.id })))
      .onConflict((conflict) => conflict.columns(['kind', 'entity_id', 'tag_id']).doNothing())
      .execute()
  }
  return { label: tag.label }
}

/** What carries a tag of the account and the viewer may see: kind by kind, in the order of their numbers. */
export async function listCarriers(
  connection: Connection,
  viewer: Viewer,
  label: string,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<ListSlice<Carrier>> {
  const tag = await findTag(connection, viewer.accountId, label)
  if (tag === null) return { items: [], total: 0 }
  const carriers = sql.join(
    TAGGED_KINDS.map((kind) => carriersOf(viewer, kind, sql`${tag.id}`)),
    sql` union all `,
  )
  const { rows: counted } = await sql<{ total: number }>`select count(*) as total from (${carriers}) as carriers`.execute(connection)
  const { rows } = await sql<{ place: number; id: number }>`
    select place, id from (${carriers}) as carriers order by place, id limit ${limit} offset ${offset}`.execute(connection)
  const items = rows.map(({ place, id }) => ({ kind: TAGGED_KINDS[place] as TaggedKind, id }))
  return { items, total: Number(counted[0]?.total) }
}

/** Deletes a tag and takes it from all that carries it; whether there was one. */
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

/** A kind of which one of these objects has more than so many tags; null where none has. */
export async function findOvertagged(connection: Connection, objects: ObjectsByKind, most: number): Promise<TaggedKind | null> {
  for (const [kind, ids] of objects) {
    if (ids.length === 0) continue
    const row = await connection
      .selectFrom('tagged_objects')
      .select('entity_id')
      .where('kind', '=', kind)
      .where('entity_id', 'in', ids)
      .groupBy('entity_id')
      .having((eb) => eb.fn.countAll(), '>', most)
      .limit(1)
      .executeTakeFirst()
    if (row !== undefined) return kind
  }
  return null
}

/** Objects of these kinds do not tell when they were changed. */
const WITHOUT_UPDATED: ReadonlySet<TaggedKind> = new Set<TaggedKind>(['loadbalancer'])

/** Holds objects against other writers until the transaction ends, and notes that they change; how many there are. */
async function touch(connection: Connection, kind: TaggedKind, condition: ReturnType<typeof sql>, now: string): Promise<number> {
  const change = WITHOUT_UPDATED.has(kind) ? sql`label = label` : sql`updated = ${now}`
  const { numAffectedRows } = await sql`update ${sql.table(ENTITIES[kind].table)} set ${change} where ${condition}`.execute(connection)
  return Number(numAffectedRows ?? 0n)
}
