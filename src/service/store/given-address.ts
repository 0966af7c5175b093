import { slotOf } from '../catalogue/address-plan.ts'
import type { Connection } from './database.ts'
import type { AddressPool } from './tables/instances.ts'

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
