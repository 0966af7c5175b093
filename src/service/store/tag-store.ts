import type { Connection } from './database.ts'

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
 * spelling of it stays. A tag that nothing carries any more is forgotten.
 */
export async function setDomainTags(
  connection: Connection,
  accountId: number,
  domainId: number,
  labels: readonly string[],
): Promise<readonly string[]> {
  const wanted = new Map(labels.map((label) => [label.toLowerCase(), label]))
  const carried = await connection
    .selectFrom('domain_tags')
    .innerJoin('tags', 'tags.id', 'domain_tags.tag_id')
    .select(['tags.id', 'tags.folded'])
    .where('domain_tags.domain_id', '=', domainId)
    .execute()
  if (wanted.size === 0 && carried.length === 0) return []

  const dropped = carried.filter(({ folded }) => !wanted.has(folded)).map(({ id }) => id)
  if (dropped.length > 0) {
    await connection.deleteFrom('domain_tags').where('domain_id', '=', domainId).where('tag_id', 'in', dropped).execute()
    await connection
      .deleteFrom('tags')
      .where('id', 'in', dropped)
      .where((eb) => eb.not(eb.exists(eb.selectFrom('domain_tags').select('tag_id').whereRef('domain_tags.tag_id', '=', 'tags.id'))))
      .execute()
  }
  for (const { folded } of carried) wanted.delete(folded)
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
  return (await labelsOfDomains(connection, [domainId])).get(domainId) ?? []
}
