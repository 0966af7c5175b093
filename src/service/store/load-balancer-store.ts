import type { Insertable } from 'kysely'
import type { Connection } from './database.ts'
import type { LoadBalancersTable } from './tables/tagged-objects.ts'
import { labelsOf, setTags } from './tag-store.ts'

export interface StoredLoadBalancer {
  readonly id: number
  readonly label: string
  readonly hostname: string
  readonly ipv4: string
  readonly ipv6: string | null
  readonly region: string
  readonly client_conn_throttle: number
  /** MB. */
  readonly transfer: { readonly in: number | null; readonly out: number | null; readonly total: number | null }
  readonly tags: readonly string[]
  readonly created: string
}

/** Load balancers by their numbers. */
export async function findLoadBalancers(connection: Connection, ids: readonly number[]): Promise<readonly StoredLoadBalancer[]> {
  if (ids.length === 0) return []
  const rows = await connection.selectFrom('load_balancers').selectAll().where('id', 'in', ids).execute()
  const tags = await labelsOf(connection, 'loadbalancer', ids)
  return rows.map(({ account_id: _, transfer_in, transfer_out, transfer_total, ...row }) => ({
    ...row,
    transfer: { in: transfer_in, out: transfer_out, total: transfer_total },
    tags: tags.get(row.id) ?? [],
  }))
}

/** The number of the account's load balancer of a label; null where there is none. */
export async function findLoadBalancerByLabel(connection: Connection, accountId: number, label: string): Promise<number | null> {
  const row = await connection
    .selectFrom('load_balancers')
    .select('id')
    .where('account_id', '=', accountId)
    .where('label', '=', label)
    .executeTakeFirst()
  return row?.id ?? null
}

/** Makes a load balancer, whose label must be free; its number. */
export async function insertLoadBalancer(
  connection: Connection,
  balancer: Insertable<LoadBalancersTable>,
  tags: readonly string[],
): Promise<number> {
  const { id } = await connection.insertInto('load_balancers').values(balancer).returning('id').executeTakeFirstOrThrow()
  await setTags(connection, balancer.account_id, 'loadbalancer', id, tags)
  return id
}
