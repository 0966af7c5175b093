import { expect, test } from 'vitest'
import { assignShards, preferredShard, type WeightedZone } from '../../src/plan/shards.ts'
import { rounds, seededRandom } from '../support/random.ts'

/** Zones as teams have them: most have a few records, some hundreds, a few thousands. */
function mixedZones(count: number, seed: number): WeightedZone[] {
  const { below } = seededRandom(seed)
  return Array.from({ length: count }, (_, index) => ({
    name: `zone-${index}.example.`,
    weight: Math.min(3000, Math.floor(4 / (1 - below(10_000) / 10_000) ** 1.1)),
  }))
}

function loadsOf(zones: readonly WeightedZone[], count: number): number[] {
  const shards = assignShards(zones, count)
  const loads = Array.from({ length: count }, () => 0)
  for (const { name, weight } of zones)
    loads[(shards.get(name) as number) - 1] = (loads[(shards.get(name) as number) - 1] as number) + weight
  return loads
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)

/** Zones that both have and that are in another shard. */
function moved(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): number {
  return [...after].filter(([name, shard]) => before.has(name) && before.get(name) !== shard).length
}

test.each([2, 3, 4, 8, 10, 16])('gives each of %i jobs at most 1.2 times the mean of 400 zones', (count) => {
  for (let seed = 1; seed <= rounds(6); seed += 1) {
    const zones = mixedZones(400, seed)
    const mean = sum(zones.map(({ weight }) => weight)) / count
    const largest = Math.max(...zones.map(({ weight }) => weight))
    const loads = loadsOf(zones, count)
    // A zone is not split, so one that is larger than that has a job alone.
    expect(Math.max(...loads), `seed ${seed}`).toBeLessThanOrEqual(Math.max(1.2 * mean, largest))
  }
})

test('moves few zones when one is added or removed', () => {
  for (const count of [4, 8]) {
    const zones = mixedZones(400, 7)
    const before = assignShards(zones, count)
    const removed = zones.flatMap(({ weight }, index) => (index % 25 === 0 && weight < 300 ? [zones.toSpliced(index, 1)] : []))
    const added = removed.map((_, index) => [...zones, { name: `new-${index}.example.`, weight: 1 + ((index * 37) % 300) }])
    const moves = [...removed, ...added].map((others) => moved(before, assignShards(others, count))).sort((a, b) => a - b)
    // Of 400. The most move when the room changes by a step.
    expect(sum(moves) / moves.length).toBeLessThan(12)
    expect(moves[Math.floor(moves.length / 2)]).toBeLessThanOrEqual(4)
    expect(moves.at(-1)).toBeLessThan(80)
  }
})

test('does not depend on the order of the zones, and keeps definitions of one zone together', () => {
  const zones = mixedZones(100, 3)
  const split = [...zones, { name: 'zone-5.example.', weight: 10 }]
  expect(assignShards([...split].reverse(), 4)).toEqual(assignShards(split, 4))
  expect(assignShards(split, 4).size).toBe(100)
})

test('every job has a zone if there are enough of one size, and one job has all', () => {
  const zones = Array.from({ length: 64 }, (_, index) => ({ name: `${index}.example.`, weight: 60 }))
  expect(loadsOf(zones, 16).every((load) => load > 0)).toBe(true)
  expect(new Set(assignShards(zones, 1).values())).toEqual(new Set([1]))
  expect(assignShards([], 4).size).toBe(0)
  expect(assignShards([{ name: 'one.example.', weight: 0 }], 256).size).toBe(1)
})

test('a zone larger than all others has a job alone', () => {
  const zones = [...mixedZones(40, 2).map(({ name }) => ({ name, weight: 10 })), { name: 'huge.example.', weight: 100_000 }]
  const shards = assignShards(zones, 4)
  expect([...shards].filter(([, shard]) => shard === shards.get('huge.example.'))).toHaveLength(1)
})

test('a removed zone has a stable shard', () => {
  expect(preferredShard('gone.example.', 4)).toBe(preferredShard('gone.example.', 4))
  const used = new Set(Array.from({ length: 100 }, (_, index) => preferredShard(`${index}.example.`, 4)))
  expect([...used].sort()).toEqual([1, 2, 3, 4])
})
