/**
 * Which addresses instances of a region can have. None of them is anybody's: public IPv4 addresses are those of documentation (RFC 5737)
 * that the regions' resolvers leave, and when these are given out, those for benchmarks (RFC 2544: 198.18.0.0/15); private ones are of
 * 192.168.128.0/17; IPv6 addresses are of documentation (RFC 3849). Each region has its own part of each, by its place in the list of
 * regions, so that a region may be added at its end and none taken out.
 */
import type { AddressPool } from '../store/tables/instances.ts'
import { REGIONS } from './regions.ts'

/** Addresses from a first one on. */
interface Range {
  readonly first: number
  readonly size: number
}

const ipv4 = (text: string): number => text.split('.').reduce((value, octet) => value * 256 + Number(octet), 0)

const RANGES: Readonly<Record<AddressPool, (place: number) => readonly Range[]>> = {
  public: (place) => [
    { first: ipv4('198.51.100.1') + 20 * place, size: 20 },
    { first: ipv4('203.0.113.1') + 20 * place, size: 20 },
    { first: ipv4('198.18.0.0') + 8192 * place, size: 8192 },
  ],
  private: (place) => [{ first: ipv4('192.168.128.1') + 2560 * place, size: 2558 }],
}

const placeOf = (region: string): number => REGIONS.findIndex(({ id }) => id === region)

const rangesOf = (region: string, pool: AddressPool): readonly Range[] => {
  const place = placeOf(region)
  return place < 0 ? [] : RANGES[pool](place)
}

/** How many addresses a region has. */
export const poolSize = (region: string, pool: AddressPool): number => rangesOf(region, pool).reduce((sum, { size }) => sum + size, 0)

/** The address at a place of a pool, counted from 0. Throws a `RangeError` where it has none. */
export function addressAt(region: string, pool: AddressPool, slot: number): string {
  let left = slot
  for (const { first, size } of rangesOf(region, pool)) {
    if (left >= 0 && left < size) return [24, 16, 8, 0].map((bits) => ((first + left) >>> bits) & 255).join('.')
    left -= size
  }
  throw new RangeError(`the ${pool} addresses of ${region} have no place ${slot}`)
}

/** The place that an address has in a pool of a region, the inverse of `addressAt`; null where it has none. */
export function slotOf(region: string, pool: AddressPool, address: string): number | null {
  const value = ipv4(address)
  let before = 0
  for (const { first, size } of rangesOf(region, pool)) {
    if (value >= first && value < first + size) return before + value - first
    before += size
  }
  return null
}

/** The region whose instances can be given an address; null where it is in no pool. */
export const regionOfAddress = (pool: AddressPool, address: string): string | null =>
  REGIONS.find(({ id }) => slotOf(id, pool, address) !== null)?.id ?? null

/** The address an instance makes itself (RFC 4862) from the number it has, and nobody else ever. */
export function slaacAddress(region: string, instanceId: number): string {
  const group = (value: number): string => value.toString(16)
  const high = Math.floor(instanceId / 2 ** 24)
  const network = `2001:db8:${group(0x100 + placeOf(region))}:1`
  return `${network}:f03c:${group(0x9100 + high * 256 + 0xff)}:${group(0xfe00 + ((instanceId >>> 16) & 255))}:${group(instanceId & 0xffff)}`
}
