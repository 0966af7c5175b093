/** Runs before each test file, in its worker. */
import { afterAll } from 'vitest'
import { cleanUpFile } from './after-file.ts'

// In a job of CI, runs are limited to its checkout. Tests of that set the variables themselves; the others behave the same everywhere.
for (const name of ['CI', 'GITHUB_ACTIONS', 'GITHUB_WORKSPACE', 'GITLAB_CI', 'CI_PROJECT_DIR']) delete process.env[name]

afterAll(cleanUpFile)
