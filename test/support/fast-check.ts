/** fast-check with the suite's seed, so that failures are reproducible. The architecture test checks that every test imports it from here. */
import fc from 'fast-check'
import { suiteSeed } from './random.ts'

fc.configureGlobal({ seed: suiteSeed })

export { fc }
