import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer } from 'vitest/node'
import { isCi } from './scripts/is-ci.mjs'
import { findPostgres } from './test/support/postgres.ts'
import { rounds } from './test/support/random.ts'

/**
 * The tests of the service whose subject differs on PostgreSQL: locks, claims, transactions, migrations, backups, erased values and the SQL of filters. All
 * others run on SQLite only: their statements are the same.
 */
const POSTGRES = [
  'test/service/store/postgres/**/*.test.ts',
  'test/service/{admin,audit,backup,durability,filter,former-schema,lists,record-limit,rotate-key,secrets-at-rest,upgrade,zone-names}.test.ts',
  'test/service/accounts/quotas.test.ts',
  'test/service/images/upload-restart.test.ts',
  'test/service/instances/{addresses,processes.servers}.test.ts',
  'test/service/jobs/job-runner.test.ts',
  'test/service/profile/apps-devices-logins.test.ts',
  'test/service/transfers/processes.servers.test.ts',
]

/** Only against PostgreSQL. */
const POSTGRES_ONLY = 'test/service/store/postgres/**/*.test.ts'

const BUILD_FOLDER = 'test/support/build-folder.ts'
/** An option of the command line would not reach the projects. */
const EXCLUDED = ['test/**/fixtures/**', 'test/corpora/**', ...(process.env['ZONEWRIGHT_TEST_EXCLUDE']?.split(',') ?? [])]

/** Short files with long tables and suites. Vitest starts large files first, and one that starts last keeps a worker busy when the others have ended. */
const SLOW = [
  ...['conformance', 'ci', 'programs', 'faults', 'library'].map((folder) => `/test/${folder}/`),
  ...['access-matrix', 'any-operation', 'clouds', 'first-steps', 'hostile-data'].map((name) => `${name}.test.ts`),
]

class SlowFirst extends BaseSequencer {
  override async sort(files: Parameters<BaseSequencer['sort']>[0]) {
    const isSlow = ({ moduleId }: { moduleId: string }): number => Number(SLOW.some((part) => moduleId.includes(part)))
    return (await super.sort(files)).sort((one, two) => isSlow(two) - isSlow(one))
  }
}

/** The package by its name, as examples and users import it. */
const PACKAGE = { '/testing': 'library/testing', '/provider': 'providers/package/package-interface', '': 'library/zonewright' }

export default defineConfig({
  resolve: {
    alias: Object.entries(PACKAGE).map(([name, path]) => ({
      find: new RegExp(`^zonewright${name}$`),
      replacement: fileURLToPath(new URL(`src/${path}.ts`, import.meta.url)),
    })),
  },
  test: {
    exclude: EXCLUDED,
    pool: 'forks',
    // A worker loads a module once for all its files, which saves a sixth of the time. Test modules release what they hold in `atFileEnd`.
    isolate: false,
    globalSetup: [BUILD_FOLDER],
    setupFiles: ['test/support/setup-file.ts'],
    // Many tests wait for servers and processes, so two cores have room for four workers.
    maxWorkers: Math.max(4, availableParallelism() - 1),
    sequence: { sequencer: SlowFirst },
    globals: false,
    // Compiled modules are kept in node_modules, for the next run.
    experimental: { fsModuleCache: true },
    tags: [
      // Servers of others on a busy machine: a test that fails in CI has one more try, which the output shows.
      { name: 'servers', description: 'Needs installed programs: `npm run test:servers`.', retry: isCi ? 1 : 0 },
      { name: 'long', description: 'Takes seconds: `npm run test:long`.' },
    ],
    // Bounds a test that hangs. Servers start in well under a second; a busy machine needs room.
    testTimeout: 300_000 * Math.max(1, rounds(1)),
    hookTimeout: 300_000,
    teardownTimeout: 20_000,
    expect: { poll: { timeout: 30_000, interval: 20 } },
    passWithNoTests: false,
    projects: [
      {
        extends: true,
        test: { name: 'all', include: ['test/**/*.test.ts', 'examples/**/*.test.ts'], exclude: [...EXCLUDED, POSTGRES_ONLY] },
      },
      ...(findPostgres() === null ? [] : [postgresProject()]),
    ],
  },
})

function postgresProject() {
  return {
    extends: true as const,
    test: {
      name: 'postgres',
      include: POSTGRES,
      env: { ZONEWRIGHT_TEST_DATABASE: 'postgres' },
      globalSetup: [BUILD_FOLDER, 'test/support/postgres-setup.ts'],
    },
  }
}
