import { isIPv4, isIPv6 } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { REGIONS } from '../../../src/service/catalogue/regions.ts'
import { insertAccount } from '../../../src/service/store/account-store.ts'
import { addressAt, allocateAnyAddress, poolSize, slaacAddress } from '../../../src/service/store/address-store.ts'
import type { Connection, Database } from '../../../src/service/store/database.ts'
import { insertInstance } from '../../../src/service/store/instance-store.ts'
import { freshStore, inParallel, ON_POSTGRES, openStore } from '../harness.ts'

const NOW = '2026-01-31T09:00:00'
const DOCUMENTATION = /^(198\.51\.100|203\.0\.113|198\.1[89]\.\d+)\.\d+$/

describe('the address plan', () => {
  test('assigns each address to one region and one slot, all from reserved ranges', () => {
    const resolvers = new Set(REGIONS.flatMap(({ resolvers }) => [...resolvers.ipv4, ...resolvers.ipv6]))
    const seen = new Set<string>(resolvers)
    let total = resolvers.size
    for (const { id } of REGIONS) {
      for (const pool of ['public', 'private'] as const) {
        const size = poolSize(id, pool)
        // The bounds of each range, and some addresses between them.
        const slots = new Set([19, 20, 39, 40, size - 1, ...Array.from({ length: Math.ceil(size / 16) }, (_, step) => step * 16)])
        total += slots.size
        for (const slot of slots) seen.add(addressAt(id, pool, slot))
      }
    }
    expect(seen.size).toBe(total)
    for (const address of seen) {
      if (resolvers.has(address)) continue
      expect(isIPv4(address)).toBe(true)
      if (!DOCUMENTATION.test(address) && !/^192\.168\.(1[3-9]\d|12[89]|2\d\d)\.\d+$/.test(address)) throw new Error(address)
    }
    expect(poolSize('us-east', 'public')).toBe(8232)
    expect(() => addressAt('us-east', 'public', 8232)).toThrow(RangeError)
    expect(poolSize('nowhere', 'public')).toBe(0)
  })

  test('has an IPv6 address for each instance, in the notation of RFC 5952', () => {
    const ids = [1, 2, 65_535, 65_536, 2 ** 24 - 1, 2 ** 24, 2 ** 30]
    const addresses = REGIONS.flatMap(({ id }) => ids.map((number) => slaacAddress(id, number)))
    expect(new Set(addresses).size).toBe(addresses.length)
    for (const address of addresses) {
      expect(isIPv6(address)).toBe(true)
      expect(address).toBe(new URL(`http://[${address}]`).hostname.slice(1, -1))
      expect(address).toMatch(/^2001:db8:/)
    }
  })
})

describe('addresses', async () => {
  const store = await freshStore()
  const databases = await Promise.all((ON_POSTGRES ? [0, 1, 2] : [0]).map(() => openStore(store)))
  afterAll(() => Promise.all(databases.map((database) => database.close())))
  const database = databases[0] as Database
  const accountId = await database.write((connection) => insertAccount(connection, NOW))
  const newInstance = async (connection: Connection, account = accountId): Promise<number> => {
    const texts = { label: null, group: '', region: 'us-east', type: 'g6-nanode-1', alerts: '{}', status: 'offline' as const }
    const host_uuid = crypto.randomUUID()
    return (await insertInstance(connection, { ...texts, account_id: account, host_uuid, created: NOW, updated: NOW })).id
  }
  const used = (region: string) =>
    database.read((connection) => connection.selectFrom('addresses').select(['address', 'slot']).where('region', '=', region).execute())

  test('are unique, also with concurrent requests and processes', async () => {
    const allotted = await inParallel(120, 12, async (index) => {
      const process = databases[index % databases.length] as Database
      return process.write(async (connection) => {
        const account = await insertAccount(connection, NOW)
        return allocateAnyAddress(connection, 'us-west', 'public', await newInstance(connection, account))
      })
    })
    expect(new Set(allotted).size).toBe(120)
    expect(allotted).not.toContain(null)
    expect(await used('us-west')).toHaveLength(120)
  })

  test('are reused only after all others, and run out if all are in use', async () => {
    const region = 'ap-west'
    const size = poolSize(region, 'public')
    const id = await database.write(newInstance)
    const fill = Array.from({ length: size - 3 }, (_, slot) => ({
      ...{ region, pool: 'public' as const, slot, address: addressAt(region, 'public', slot), instance_id: id },
    }))
    await database.write(async (connection) => {
      for (let at = 0; at < fill.length; at += 1000)
        await connection
          .insertInto('addresses')
          .values(fill.slice(at, at + 1000))
          .execute()
    })
    const allot = () => database.write((connection) => allocateAnyAddress(connection, region, 'public', id))
    const release = (slot: number) =>
      database.write((connection) => connection.deleteFrom('addresses').where('region', '=', region).where('slot', '=', slot).execute())
    expect(await allot()).toBe(addressAt(region, 'public', size - 3))
    await release(7)
    expect(await allot()).toBe(addressAt(region, 'public', size - 2))
    expect(await allot()).toBe(addressAt(region, 'public', size - 1))
    expect(await allot()).toBe(addressAt(region, 'public', 7))
    expect(await allot()).toBeNull()
    await release(0)
    expect(await allot()).toBe(addressAt(region, 'public', 0))
    expect(await allot()).toBeNull()
  })
})
