/** fast-check with the suite's seed, so that failures are reproducible. The architecture test checks that every test imports it from here. */
import fc from 'fast-check'
import { suiteSeed } from './random.ts'

fc.configureGlobal({ seed: suiteSeed })

export { fc }

/** Any Unicode character. For strings of them the library's own generator, `unit: 'binary'`, needs seconds of each worker. */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - 0x800 })
  .map((code) => String.fromCodePoint(code < 0xd800 ? code : code + 0x800))

/** One of the texts, with cuts and insertions in a few places. */
export const damagedText = (texts: readonly string[], pieces: readonly string[], edits: fc.ArrayConstraints): fc.Arbitrary<string> => {
  const insert = fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 4 }))
  const edit = fc.record({ at: fc.nat(), cut: fc.oneof(fc.constant(0), fc.nat(12)), insert })
  return fc.tuple(fc.constantFrom(...texts), fc.array(edit, edits)).map(([whole, list]) =>
    list.reduce((text, { at, cut, insert }) => {
      const start = at % (text.length + 1)
      return text.slice(0, start) + insert + text.slice(start + cut)
    }, whole),
  )
}

/** Checks a property with this many random cases. */
export function forAll<Ts extends [unknown, ...unknown[]]>(
  runs: number,
  // biome-ignore lint/suspicious/noConfusingVoidType: as fast-check has it
  ...args: [...arbitraries: { [K in keyof Ts]: fc.Arbitrary<Ts[K]> }, check: (...args: Ts) => boolean | void]
): void {
  fc.assert(fc.property(...args), { numRuns: runs })
}
