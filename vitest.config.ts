import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/**/fixtures/**', 'test/corpora/**'],
    pool: 'forks',
    globals: false,
    // Real servers start in well under a second; a busy machine with two cores gets room.
    testTimeout: 20_000,
    hookTimeout: 40_000,
    teardownTimeout: 10_000,
    passWithNoTests: false,
  },
})
