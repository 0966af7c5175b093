import { appendFileSync } from 'node:fs'

/**
 * For a whole project of suites that need programs of the machine which are missing: says so, for the test script to list at the
 * end, and returns false. With ZONEWRIGHT_REQUIRE_DNS_SERVERS=1 a missing program is an error.
 */
export function requireOrSkip(name: string, missing: readonly string[]): false {
  const line = `${name} (needs ${missing.join(', ')})`
  if (process.env['ZONEWRIGHT_REQUIRE_DNS_SERVERS'] === '1') throw new Error(`required and missing: ${line}`)
  process.stderr.write(`!!! SKIPPED: ${line}\n`)
  const log = process.env['ZONEWRIGHT_SKIP_LOG']
  if (log !== undefined) appendFileSync(log, `${line}\n`)
  return false
}
