import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { findPostgres } from './test/support/postgres.ts'
import { rounds } from './test/support/random.ts'
import { runWithoutTools } from './test/support/skip-project.ts'

const EXCLUDED = ['test/**/fixtures/**', 'test/corpora/**']

/** Only against PostgreSQL. */
const POSTGRES_ONLY = 'test/service/store/postgres/**/*.test.ts'

/** Tests that use no database, or are about SQLite itself. */
const WITHOUT_POSTGRES = [
  'test/service/nameserver/**',
  'test/service/transfers/transfer-zone.test.ts',
  'test/service/store/sqlite/**',
  'test/service/store/make-directory.test.ts',
  'test/service/store/migrate.test.ts',
  'test/service/log.test.ts',
  'test/service/timers.test.ts',
  'test/service/reference/**',
  'test/service/accounts/scopes.test.ts',
  'test/service/images/gzip-check.test.ts',
  'test/service/profile/secrets.test.ts',
  'test/service/profile/ssh-key.test.ts',
  'test/service/scripts/user-defined-fields.test.ts',
]

/** With fewer random cases, as in `.ci/run`, only on SQLite: long tests of zone transfers, uploads and HTTP, whose statements other files send as well. */
const ONCE_IN_SHORT_RUNS = [
  'test/service/secondaries.test.ts',
  'test/service/secondary-servers.test.ts',
  'test/service/transfers/{interop,outdated-masters,signed-transfers}.test.ts',
  'test/service/images/upload-*.test.ts',
  'test/service/{any-body,content-type,http,observability,openapi,request-hosts,tls}.test.ts',
]

const isShort = Number(process.env['ZONEWRIGHT_TEST_ROUNDS'] ?? 1) < 1

const BUILD_FOLDER = 'test/support/build-folder.ts'

const withPostgres = findPostgres() !== null || runWithoutTools('the service on PostgreSQL', ['postgres'])

export default defineConfig({
  test: {
    exclude: EXCLUDED,
    pool: 'forks',
    // A worker loads a module once for all its files, which saves a sixth of the time. Test modules release what they hold in `atFileEnd`.
    isolate: false,
    globalSetup: [BUILD_FOLDER],
    setupFiles: ['test/support/setup-file.ts'],
    // Many tests wait for servers and processes, so two cores have room for four workers.
    maxWorkers: Math.max(4, availableParallelism() - 1),
    globals: false,
    // Bounds a test that hangs. Servers start in well under a second; a busy machine needs room.
    testTimeout: 60_000 * Math.max(1, rounds(1)),
    hookTimeout: 90_000,
    // Servers of others on a busy machine: a test that fails in CI has one more try, which the output shows.
    retry: process.env['CI'] ? 1 : 0,
    teardownTimeout: 20_000,
    expect: { poll: { timeout: 15_000, interval: 20 } },
    passWithNoTests: false,
    projects: [
      { extends: true, test: { name: 'all', include: ['test/**/*.test.ts'], exclude: [...EXCLUDED, POSTGRES_ONLY] } },
      ...(withPostgres ? [postgresProject()] : []),
    ],
  },
})

/** The tests of the service once more, on PostgreSQL. */
function postgresProject() {
  return {
    extends: true as const,
    test: {
      name: 'postgres',
      include: ['test/service/**/*.test.ts'],
      exclude: [...EXCLUDED, ...WITHOUT_POSTGRES, ...(isShort ? ONCE_IN_SHORT_RUNS : [])],
      env: { ZONEWRIGHT_TEST_DATABASE: 'postgres' },
      globalSetup: [BUILD_FOLDER, 'test/support/postgres-setup.ts'],
    },
  }
}
