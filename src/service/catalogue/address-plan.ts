/**
 * The addresses of instances, all from reserved ranges. Public IPv4 addresses are documentation addresses (RFC 5737) that the resolvers do not use,
 * then benchmark addresses (RFC 2544, 198.18.0.0/15). Private ones are in 192.168.128.0/17, IPv6 addresses in the documentation range (RFC 3849).
 * Each region's part depends on its index in the list of regions: regions may be appended, but never removed.
 */
import type { AddressPool } from '../store/tables/instances.ts'
import { REGIONS } from './regions.ts'

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
export function slotOf(region: string, pool: AddressPool, address: string): number | null {
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
