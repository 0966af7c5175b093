/** The IPv4 addresses of instances. */
import { sql } from 'kysely'
import { addressAt, poolSize, slotOf } from '../catalogue/address-plan.ts'
import type { Connection } from './database.ts'
import type { AddressPool } from './tables/instances.ts'

/**
 * Assigns a free address of its region to an instance. Pools are used round-robin, so that a released address is not reused soon. Null if all
 * are in use. Locks the pool: call it last in a transaction.
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

/** The first free slot at or after `from`: `from` itself, or the first slot after a used one. */
async function firstFreeSlot(connection: Connection, region: string, pool: AddressPool, from: number): Promise<number> {
  const inPool = connection.selectFrom('addresses').where('region', '=', region).where('pool', '=', pool)
  if ((await inPool.select('slot').where('slot', '=', from).executeTakeFirst()) === undefined) return from
  // One pass over the slots. An anti-join would become a nested loop while the server has no statistics about the table.
  const { rows } = await sql<{ last: number }>`
    select slot as last from (
      select slot, lead(slot) over (order by slot) as following from addresses
      where region = ${region} and pool = ${pool} and slot >= ${from}) as places
    where following is null or following > slot + 1 order by slot limit 1`.execute(connection)
  return Number(rows[0]?.last) + 1
}

/** The addresses by instance: public ones first, in the order of their slots. */
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
 * Assigns a chosen IPv4 address to an instance: one from the pool of its region, or one outside all pools. Returns false if the address is
 * already in use.
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

/** Addresses outside all pools get negative slots. */
async function lowestSlot(connection: Connection, region: string, pool: AddressPool): Promise<number> {
  const { lowest } = await connection
    .selectFrom('addresses')
    .select(({ fn }) => fn.min('slot').as('lowest'))
    .where('region', '=', region)
    .where('pool', '=', pool)
    .executeTakeFirstOrThrow()
  return Math.min(0, Number(lowest ?? 0))
}
