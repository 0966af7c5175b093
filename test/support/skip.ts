import { appendFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { findTool } from './tools.ts'

/**
 * A suite that needs installed programs. If one is missing, the suite is skipped with a message; the test script lists such
 * suites at the end. With ZONEWRIGHT_REQUIRE_DNS_SERVERS=1 a missing program is a failure.
 */
export function describeWithTools(tools: readonly string[], name: string, suite: () => void | Promise<void>): void {
  const missing = tools.filter((tool) => findTool(tool) === null)
  if (missing.length === 0) {
    describe(name, suite)
    return
  }
  if (process.env['ZONEWRIGHT_REQUIRE_DNS_SERVERS'] === '1') {
    test(`${name}: needs ${missing.join(', ')}`, () => expect(missing).toEqual([]))
    return
  }
  const line = `${name} (needs ${missing.join(', ')})`
  process.stderr.write(`!!! SKIPPED: ${line}\n`)
  const log = process.env['ZONEWRIGHT_SKIP_LOG']
  if (log !== undefined) appendFileSync(log, `${line}\n`)
  describe.skip(name, suite)
}
