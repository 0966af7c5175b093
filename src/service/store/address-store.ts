import { sql } from 'kysely'
import { addressAt, poolSize, slotOf } from '../catalogue/address-plan.ts'
import type { Connection } from './database.ts'
import type { AddressPool } from './tables/instances.ts'

/**
 * Gives an instance an address of its region that nobody has. Pools are gone through from one end to the other, so that one that has been
 * given back is not soon another's. Null where all are in use. Holds the pool: to be asked for last in a transaction.
 */
export async function allocateAnyAddress(
  connection: Connection,
  region: string,
  pool: AddressPool,
  instanceId: number,
): Promise<string | null> {
  const { next } = await connection
    .insertInto('address_pools')
    .values({ region, pool, next: 0 })
    .onConflict((conflict) => conflict.columns(['region', 'pool']).doUpdateSet({ next: sql<number>`address_pools.next` }))
    .returning('next')
    .executeTakeFirstOrThrow()
  const size = poolSize(region, pool)
  let slot = await firstFreeSlot(connection, region, pool, next)
  if (slot >= size) slot = await firstFreeSlot(connection, region, pool, 0)
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
async function firstFreeSlot(connection: Connection, region: string, pool: AddressPool, from: number): Promise<number> {
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

/**
 * Gives an instance an IPv4 address that somebody has chosen: one of its region's pool, or one that is in no region's. Whether nobody has
 * it.
 */
export async function allocateAddress(
  connection: Connection,
  region: string,
  pool: AddressPool,
  address: string,
  instanceId: number,
): Promise<boolean> {
  const taken = await connection.selectFrom('addresses').select('slot').where('address', '=', address).executeTakeFirst()
  if (taken !== undefined) return false
  const slot = slotOf(region, pool, address) ?? (await lowestSlot(connection, region, pool)) - 1
  await connection.insertInto('addresses').values({ region, pool, slot, address, instance_id: instanceId }).execute()
  return true
}

/** Addresses that are in no pool stand below the places of one. */
async function lowestSlot(connection: Connection, region: string, pool: AddressPool): Promise<number> {
  const { lowest } = await connection
    .selectFrom('addresses')
    .select(({ fn }) => fn.min('slot').as('lowest'))
    .where('region', '=', region)
    .where('pool', '=', pool)
    .executeTakeFirstOrThrow()
  return Math.min(0, Number(lowest ?? 0))
}
