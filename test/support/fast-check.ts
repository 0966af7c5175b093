/** fast-check with the seed of the suite, so that a property fails the same way twice. Every test takes it from here; a test of the architecture sees to that. */
import fc from 'fast-check'
import { suiteSeed } from './random.ts'

fc.configureGlobal({ seed: suiteSeed })

export { fc }
