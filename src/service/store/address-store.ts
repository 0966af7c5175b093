/**
 * The addresses of instances, all from reserved ranges. Public IPv4 addresses are documentation addresses (RFC 5737) that the resolvers do not use,
 * then benchmark addresses (RFC 2544, 198.18.0.0/15). Private ones are in 192.168.128.0/17, IPv6 addresses in the documentation range (RFC 3849).
 * Each region's part depends on its index in the list of regions: regions may be appended, but never removed.
 */
import { sql } from 'kysely'
import { REGIONS } from '../catalogue/regions.ts'
import type { Connection } from './database.ts'
import type { AddressPool } from './tables.ts'

/** Consecutive addresses. */
interface Range {
  readonly first: number
  readonly size: number
}

const ipv4 = (text: string): number => text.split('.').reduce((value, octet) => value * 256 + Number(octet), 0)

const RANGES: Readonly<Record<AddressPool, (index: number) => readonly Range[]>> = {
  public: (index) => [
    { first: ipv4('198.51.100.1') + 20 * index, size: 20 },
    { first: ipv4('203.0.113.1') + 20 * index, size: 20 },
    { first: ipv4('198.18.0.0') + 8192 * index, size: 8192 },
  ],
  private: (index) => [{ first: ipv4('192.168.128.1') + 2560 * index, size: 2558 }],
}

const indexOf = (region: string): number => REGIONS.findIndex(({ id }) => id === region)

const rangesOf = (region: string, pool: AddressPool): readonly Range[] => {
  const index = indexOf(region)
  return index < 0 ? [] : RANGES[pool](index)
}

/** The number of addresses in a region's pool. */
export const poolSize = (region: string, pool: AddressPool): number => rangesOf(region, pool).reduce((sum, { size }) => sum + size, 0)

/** The address in a slot of a pool, counted from 0. Throws a `RangeError` if the pool has no such slot. */
export function addressAt(region: string, pool: AddressPool, slot: number): string {
  let left = slot
  for (const { first, size } of rangesOf(region, pool)) {
    if (left >= 0 && left < size) return [24, 16, 8, 0].map((bits) => ((first + left) >>> bits) & 255).join('.')
    left -= size
  }
  throw new RangeError(`the ${pool} addresses of ${region} have no slot ${slot}`)
}

/** The slot of an address in a pool, the inverse of `addressAt`; null if it is not in the pool. */
function slotOf(region: string, pool: AddressPool, address: string): number | null {
  const value = ipv4(address)
  let offset = 0
  for (const { first, size } of rangesOf(region, pool)) {
    if (value >= first && value < first + size) return offset + value - first
    offset += size
  }
  return null
}

/** The region whose pool contains an address; null if none does. */
export const regionOfAddress = (pool: AddressPool, address: string): string | null =>
  REGIONS.find(({ id }) => slotOf(id, pool, address) !== null)?.id ?? null

/** The IPv6 address that an instance configures itself (RFC 4862), derived from its id. */
export function slaacAddress(region: string, instanceId: number): string {
  const group = (value: number): string => value.toString(16)
  const high = Math.floor(instanceId / 2 ** 24)
  const network = `2001:db8:${group(0x100 + indexOf(region))}:1`
  return `${network}:f03c:${group(0x9100 + high * 256 + 0xff)}:${group(0xfe00 + ((instanceId >>> 16) & 255))}:${group(instanceId & 0xffff)}`
}

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
