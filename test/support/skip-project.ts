import { appendFileSync } from 'node:fs'

/**
 * Whether to run a whole project of suites though programs of the machine are missing: with ZONEWRIGHT_REQUIRE_DNS_SERVERS=1, so that
 * it fails. Otherwise this says that it is skipped, for the test script to list at the end.
 */
export function runWithoutTools(name: string, missing: readonly string[]): boolean {
  if (process.env['ZONEWRIGHT_REQUIRE_DNS_SERVERS'] === '1') return true
  const line = `${name} (needs ${missing.join(', ')})`
  process.stderr.write(`!!! SKIPPED: ${line}\n`)
  const log = process.env['ZONEWRIGHT_SKIP_LOG']
  if (log !== undefined) appendFileSync(log, `${line}\n`)
  return false
}
