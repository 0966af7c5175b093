import { appendFileSync } from 'node:fs'

/**
 * Whether to run a whole project of suites although programs are missing: with ZONEWRIGHT_REQUIRE_DNS_SERVERS=1, so that
 * it fails. Otherwise records that it is skipped, for the summary of the test script.
 */
export function runWithoutTools(name: string, missing: readonly string[]): boolean {
  if (process.env['ZONEWRIGHT_REQUIRE_DNS_SERVERS'] === '1') return true
  const line = `${name} (needs ${missing.join(', ')})`
  process.stderr.write(`!!! SKIPPED: ${line}\n`)
  const log = process.env['ZONEWRIGHT_SKIP_LOG']
  if (log !== undefined) appendFileSync(log, `${line}\n`)
  return false
}
