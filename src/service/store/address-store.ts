import { sql } from 'kysely'
import { addressAt, poolSize } from '../catalogue/address-plan.ts'
import type { Connection } from './database.ts'
import type { AddressPool } from './tables/instances.ts'

/**
 * Gives an instance an address of its region that nobody has. Pools are gone through from one end to the other, so that one that has been
 * given back is not soon another's. Null where all are in use. Holds the pool: to be asked for last in a transaction.
 */
export async function allotAddress(connection: Connection, region: string, pool: AddressPool, instanceId: number): Promise<string | null> {
  const { next } = await connection
    .insertInto('address_pools')
    .values({ region, pool, next: 0 })
    .onConflict((conflict) => conflict.columns(['region', 'pool']).doUpdateSet({ next: sql<number>`address_pools.next` }))
    .returning('next')
    .executeTakeFirstOrThrow()
  const size = poolSize(region, pool)
  let slot = await firstFree(connection, region, pool, next)
  if (slot >= size) slot = await firstFree(connection, region, pool, 0)
  if (slot >= size) return null
  const address = addressAt(region, pool, slot)
  await connection.insertInto('addresses').values({ region, pool, slot, address, instance_id: instanceId }).execute()
  await connection
    .updateTable('address_pools')
    .set({ next: slot + 1 })
    .where('region', '=', region)
    .where('pool', '=', pool)
    .execute()
  return address
}

/** The first place from one on that is not in use: that one, or the one behind the first that is followed by none. */
async function firstFree(connection: Connection, region: string, pool: AddressPool, from: number): Promise<number> {
  const inPool = connection.selectFrom('addresses').where('region', '=', region).where('pool', '=', pool)
  if ((await inPool.select('slot').where('slot', '=', from).executeTakeFirst()) === undefined) return from
  // One pass over the places: an anti-join would be a nested one where the server knows nothing of the table yet.
  const { rows } = await sql<{ last: number }>`
    select slot as last from (
      select slot, lead(slot) over (order by slot) as following from addresses
      where region = ${region} and pool = ${pool} and slot >= ${from}) as places
    where following is null or following > slot + 1 order by slot limit 1`.execute(connection)
  return Number(rows[0]?.last) + 1
}

/** The addresses of instances by instance: public ones first, as they were allotted. */
export async function addressesOf(connection: Connection, instanceIds: readonly number[]): Promise<Map<number, string[]>> {
  const addresses = new Map<number, string[]>()
  if (instanceIds.length === 0) return addresses
  const rows = await connection
    .selectFrom('addresses')
    .select(['instance_id', 'address'])
    .where('instance_id', 'in', instanceIds)
    .orderBy('pool', 'desc')
    .orderBy('slot')
    .execute()
  for (const { instance_id, address } of rows) addresses.set(instance_id, [...(addresses.get(instance_id) ?? []), address])
  return addresses
}
