/** fast-check with the suite's seed, so that failures are reproducible. The architecture test checks that every test imports it from here. */
import fc from 'fast-check'
import { suiteSeed } from './random.ts'

fc.configureGlobal({ seed: suiteSeed })

export { fc }

/** Checks a property with this many random cases. */
export function forAll<Ts extends [unknown, ...unknown[]]>(
  runs: number,
  // biome-ignore lint/suspicious/noConfusingVoidType: as fast-check has it
  ...args: [...arbitraries: { [K in keyof Ts]: fc.Arbitrary<Ts[K]> }, check: (...args: Ts) => boolean | void]
): void {
  fc.assert(fc.property(...args), { numRuns: runs })
}
