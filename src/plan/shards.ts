/**
 * Splits zones into shards for the jobs of a matrix. Every job computes the same split from the same zones.
 *
 * Each zone prefers the shards in an order that depends only on its name (rendezvous hashing, Thaler and Ravishankar 1998). Large zones choose first; a zone
 * takes the first shard of its order that has room (bounded loads, Mirrokni, Thorup and Zadimoghaddam 2018). A shard has room up to 8 to 13 percent above the
 * mean: the total is rounded up to a step, so that the room stays the same while zones come and go. A new zone then displaces only a few small ones that
 * chose last. A zone that is larger than the mean of the rest has a shard alone.
 */
import { createHash } from 'node:crypto'
import { compareText } from '../base/text.ts'

/** The largest number of shards. */
export const MAX_SHARDS = 256

/** One of several jobs; both numbers begin at 1. */
export interface Shard {
  readonly index: number
  readonly count: number
}

export interface WeightedZone {
  readonly name: string
  /** Records. */
  readonly weight: number
}

/** Room above the mean. */
const ROOM = 1.08

/** Totals are rounded up to powers of this. */
const STEP = 2 ** (1 / 16)

/** The shard, from 1 to `count`, of each zone by name. A zone with several definitions is in one shard. */
export function assignShards(zones: readonly WeightedZone[], count: number): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  // A zone without records needs requests, too.
  for (const { name, weight } of zones) weights.set(name, (weights.get(name) ?? 1) + weight)
  const ordered = [...weights]
    .map(([name, weight]) => ({ name, weight, size: Math.floor(Math.log2(weight)), seed: seedOf(name) }))
    .sort((a, b) => b.size - a.size || a.seed - b.seed || compareText(a.name, b.name))
  const shards = new Map<string, number>()
  const loads = Array.from({ length: count }, () => 0)
  let rest = [...weights.values()].reduce((sum, weight) => sum + weight, 0)
  let open = count
  const small = ordered.filter(({ name, weight, seed }) => {
    if (open < 2 || weight <= rest / open) return true
    const own = preferences(seed, count).find((shard) => loads[shard] === 0) as number
    shards.set(name, own + 1)
    loads[own] = Number.POSITIVE_INFINITY
    rest -= weight
    open -= 1
    return false
  })
  const room = (STEP ** Math.ceil(Math.log(Math.max(rest, 1)) / Math.log(STEP)) / open) * ROOM
  for (const { name, weight, seed } of small) {
    const order = preferences(seed, count)
    const fits = (shard: number): boolean => (loads[shard] as number) + weight <= room
    const own = order.find(fits) ?? order.reduce((best, shard) => ((loads[shard] as number) < (loads[best] as number) ? shard : best))
    shards.set(name, own + 1)
    loads[own] = (loads[own] as number) + weight
  }
  return shards
}

/** The shard that a name prefers, whatever other zones there are. */
export const preferredShard = (name: string, count: number): number => (preferences(seedOf(name), count)[0] as number) + 1

const seedOf = (name: string): number => createHash('sha256').update(name).digest().readUInt32LE(0)

/** All shards from 0, the preferred first. */
function preferences(seed: number, count: number): number[] {
  const scores = Array.from({ length: count }, (_, shard) => mix(seed ^ Math.imul(shard + 1, 0x9e3779b1)))
  return [...scores.keys()].sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b)
}

/** The finalizer of MurmurHash3. */
function mix(value: number): number {
  let hash = value
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
