import type { ListQuery, ListSlice } from '../filter/list-query.ts'
import type { Connection } from './database.ts'
import { type Viewer, visibleTo } from './grant-store.ts'
import { holdAccount } from './hold-account.ts'
import { foldLabel } from './tag-label.ts'

/** The tags of domains by domain, sorted; a domain without tags has no entry. */
export async function labelsOfDomains(connection: Connection, ids: readonly number[]): Promise<Map<number, string[]>> {
  const labels = new Map<number, string[]>()
  if (ids.length === 0) return labels
  const rows = await connection
    .selectFrom('domain_tags')
    .innerJoin('tags', 'tags.id', 'domain_tags.tag_id')
    .select(['domain_tags.domain_id', 'tags.label'])
    .where('domain_tags.domain_id', 'in', ids)
    .orderBy('tags.folded')
    .execute()
  for (const { domain_id, label } of rows) {
    const list = labels.get(domain_id)
    if (list) list.push(label)
    else labels.set(domain_id, [label])
  }
  return labels
}

/**
 * Gives a domain exactly these tags and returns them as they are kept, sorted. A tag is one whatever its case: the account's
 * spelling of it stays. A tag that nothing carries any more is forgotten. Where tags may change, the account must be held before
 * a domain that others see.
 */
export async function setDomainTags(
  connection: Connection,
  accountId: number,
  domainId: number,
  labels: readonly string[],
): Promise<readonly string[]> {
  const wanted = new Map(labels.map((label) => [foldLabel(label), label]))
  const carried = await connection
    .selectFrom('domain_tags')
    .innerJoin('tags', 'tags.id', 'domain_tags.tag_id')
    .select(['tags.id', 'tags.folded'])
    .where('domain_tags.domain_id', '=', domainId)
    .execute()
  if (wanted.size === 0 && carried.length === 0) return []

  const dropped = carried.filter(({ folded }) => !wanted.has(folded)).map(({ id }) => id)
  for (const { folded } of carried) wanted.delete(folded)
  if (dropped.length === 0 && wanted.size === 0) return labelsOf(connection, domainId)
  await holdAccount(connection, accountId)
  if (dropped.length > 0) {
    await connection.deleteFrom('domain_tags').where('domain_id', '=', domainId).where('tag_id', 'in', dropped).execute()
    await connection
      .deleteFrom('tags')
      .where('id', 'in', dropped)
      .where((eb) => eb.not(eb.exists(eb.selectFrom('domain_tags').select('tag_id').whereRef('domain_tags.tag_id', '=', 'tags.id'))))
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
      .insertInto('domain_tags')
      .columns(['domain_id', 'tag_id'])
      .expression((eb) =>
        eb
          .selectFrom('tags')
          .select((select) => [select.val(domainId).as('domain_id'), 'id as tag_id'])
          .where('account_id', '=', accountId)
          .where('folded', 'in', [...wanted.keys()]),
      )
      .execute()
  }
  return labelsOf(connection, domainId)
}

const labelsOf = async (connection: Connection, domainId: number): Promise<readonly string[]> =>
  (await labelsOfDomains(connection, [domainId])).get(domainId) ?? []

/** The labels of the account's tags, sorted; for a restricted viewer of those that something carries which it may see. */
export async function listTags(connection: Connection, viewer: Viewer, list: ListQuery): Promise<ListSlice<{ readonly label: string }>> {
  let selected = connection.selectFrom('tags').where('account_id', '=', viewer.accountId)
  if (viewer.restricted) {
    selected = selected.where((eb) =>
      eb.exists(
        eb
          .selectFrom('domain_tags')
          .innerJoin('domains', 'domains.id', 'domain_tags.domain_id')
          .select('domain_tags.tag_id')
          .whereRef('domain_tags.tag_id', '=', 'tags.id')
          .where(visibleTo(viewer, 'domain')),
      ),
    )
  }
  const { total } = await selected.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const items = await selected.select('label').orderBy('folded').limit(list.limit).offset(list.offset).execute()
  return { items, total: Number(total) }
}

/**
 * Gives all these domains the tag, which is made if the account does not have it. Returns the label as the account spells it;
 * null where one of the numbers is of no domain of the account, and the transaction must not be committed.
 */
export async function tagDomains(
  connection: Connection,
  accountId: number,
  label: string,
  domainIds: readonly number[],
  now: string,
): Promise<string | null> {
  await holdAccount(connection, accountId)
  if (domainIds.length > 0) {
    const held = connection.updateTable('domains').set({ updated: now }).where('id', 'in', domainIds).where('account_id', '=', accountId)
    const { numUpdatedRows } = await held.executeTakeFirstOrThrow()
    if (Number(numUpdatedRows) !== new Set(domainIds).size) return null
  }
  await connection
    .insertInto('tags')
    .values({ account_id: accountId, label, folded: foldLabel(label) })
    .onConflict((conflict) => conflict.columns(['account_id', 'folded']).doNothing())
    .execute()
  const tag = await findTag(connection, accountId, label)
  if (tag === null) throw new Error('a tag is gone that was just made')
  if (domainIds.length > 0) {
    await connection
      .insertInto('domain_tags')
      .values([...new Set(domainIds)].map((id) => ({ domain_id: id, tag_id: tag.id })))
      .onConflict((conflict) => conflict.columns(['domain_id', 'tag_id']).doNothing())
      .execute()
  }
  return tag.label
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

/** Deletes a tag and takes it from all that carries it; whether there was one. */
export async function deleteTag(connection: Connection, accountId: number, label: string, now: string): Promise<boolean> {
  await holdAccount(connection, accountId)
  const tag = await findTag(connection, accountId, label)
  if (tag === null) return false
  await connection
    .updateTable('domains')
    .set({ updated: now })
    .where('id', 'in', (eb) => eb.selectFrom('domain_tags').select('domain_id').where('tag_id', '=', tag.id))
    .execute()
  const { numDeletedRows } = await connection.deleteFrom('tags').where('id', '=', tag.id).executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** Of these domains one that has more than so many tags; null where none has. */
export async function findOvertagged(connection: Connection, domainIds: readonly number[], most: number): Promise<number | null> {
  if (domainIds.length === 0) return null
  const row = await connection
    .selectFrom('domain_tags')
    .select('domain_id')
    .where('domain_id', 'in', domainIds)
    .groupBy('domain_id')
    .having((eb) => eb.fn.countAll(), '>', most)
    .limit(1)
    .executeTakeFirst()
  return row?.domain_id ?? null
}
