import { appendFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { findTool } from './tools.ts'

export interface SuiteOptions {
  readonly tags: string[]
}

const SERVERS: SuiteOptions = { tags: ['servers'] }

export const LONG_SERVERS: SuiteOptions = { tags: ['servers', 'long'] }

/**
 * A suite that needs installed programs: one of `npm run test:servers`, unless it needs none. If a program is missing, the suite is skipped, and the test
 * script lists it at the end. With ZONEWRIGHT_REQUIRE_DNS_SERVERS=1 a missing program is a failure. `options` are `LONG_SERVERS` for a suite of
 * `npm run test:long` only.
 */
export function describeWithTools(tools: readonly string[], name: string, suite: () => void | Promise<void>, options = SERVERS): void {
  const missing = tools.filter((tool) => findTool(tool) === null)
  if (missing.length === 0) {
    describe(name, tools.length === 0 ? {} : options, suite)
    return
  }
  if (process.env['ZONEWRIGHT_REQUIRE_DNS_SERVERS'] === '1') {
    test(`${name}: needs ${missing.join(', ')}`, options, () => expect(missing).toEqual([]))
    return
  }
  skip(missing.join(', '), name, suite, options)
}

/** A suite that needs a right of the process. Without it, the suite is skipped and listed, also where programs are required: a container may not have it. */
export function describeWithRight(isGranted: boolean, right: string, name: string, suite: () => void): void {
  if (isGranted) describe(name, SERVERS, suite)
  else skip(right, name, suite)
}

function skip(needs: string, name: string, suite: () => void | Promise<void>, options = SERVERS): void {
  const log = process.env['ZONEWRIGHT_SKIP_LOG']
  const belongsToRun = !options.tags.includes('long') || process.env['ZONEWRIGHT_TEST_TAGS'] !== undefined
  if (log !== undefined && belongsToRun)
    appendFileSync(
      log,
      `${name} (needs ${needs})
`,
    )
  describe.skip(name, suite)
}
