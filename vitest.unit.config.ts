import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { unitTests } from './test/support/unit-tests.ts'

/** `npm run test:unit`: the tests that need no server and no process. */
export default defineConfig({
  test: {
    include: unitTests(import.meta.dirname),
    pool: 'forks',
    isolate: false,
    setupFiles: ['test/support/setup-file.ts', 'test/support/no-processes.ts'],
    // A tenth of the random cases; `npm test` runs all of them.
    env: { ZONEWRIGHT_TEST_ROUNDS: '0.1' },
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 60_000,
    passWithNoTests: false,
  },
})
