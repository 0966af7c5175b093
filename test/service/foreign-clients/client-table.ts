/** The table of clients in docs/service/behaviour.md, a row from the test of each client. With ZONEWRIGHT_UPDATE_CLIENTS=1 the tests write their rows. */
import { readFileSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'

const PAGE = new URL('../../../docs/service/behaviour.md', import.meta.url)

/** The version of a package that `package.json`, or a lock file of a folder here, names. */
export function pinnedVersion(file: string, name: string): string {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8')
  const [, version] = new RegExp(`${name}(?:==|": "| v)([\\d.]+)`).exec(text) ?? []
  return version ?? `of no known version in ${file}`
}

/** Expects the row of a client: what it does, as the page names it, its number of operations for the service, and those that the service refuses. */
export function expectRow(client: string, version: string, operations: number, refused: readonly string[] = []): void {
  const text = readFileSync(PAGE, 'utf8')
  const names = refused.map((name) => `\`${name}\``).join(', ')
  const row = `| ${client} ${version} | ${operations} | ${operations - refused.length} | ${names} |`.replace('|  |', '| |')
  const found = text.split('\n').find((line) => line.startsWith(`| ${client} `) && /^\|[^|]* [\d.]+ \| \d/.test(line))
  if (process.env['ZONEWRIGHT_UPDATE_CLIENTS'] === '1')
    writeFileSync(
      PAGE,
      text.replace(found ?? '', () => row),
    )
  else expect(found).toBe(row)
}
