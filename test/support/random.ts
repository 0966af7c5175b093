/** The seed of all random choices of the suite: fixed, unless ZONEWRIGHT_TEST_SEED is set to another integer, for example in a nightly run. */
export const suiteSeed = Number(process.env['ZONEWRIGHT_TEST_SEED'] ?? 0)
if (!Number.isInteger(suiteSeed)) throw new Error('ZONEWRIGHT_TEST_SEED is not a whole number')

/** Seeded random choices, so that failures are reproducible. */
export interface Random {
  /** A whole number from 0 to `below` - 1. */
  readonly below: (below: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <T>(items: readonly T[]) => T
  readonly shuffle: <T>(items: readonly T[]) => T[]
}

export function seededRandom(seed: number): Random {
  let state = (seed + Math.imul(suiteSeed, 0x9e3779b1)) >>> 0
  // mulberry32: a 32-bit state is enough to choose test cases.
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  const pick = <T>(items: readonly T[]): T => {
    if (items.length === 0) throw new Error('nothing to pick from')
    return items[below(items.length)] as T
  }
  return {
    below,
    chance: (probability) => next() < probability,
    pick,
    shuffle(items) {
      const shuffled = [...items]
      for (let i = shuffled.length - 1; i > 0; i -= 1) {
        const j = below(i + 1)
        const swapped = shuffled[i] as (typeof shuffled)[number]
        shuffled[i] = shuffled[j] as typeof swapped
        shuffled[j] = swapped
      }
      return shuffled
    },
  }
}

/** How many cases a seeded suite runs; ZONEWRIGHT_TEST_ROUNDS=20 makes it twenty times as many. */
export const rounds = (count: number): number => Math.ceil(count * Number(process.env['ZONEWRIGHT_TEST_ROUNDS'] ?? 1))
