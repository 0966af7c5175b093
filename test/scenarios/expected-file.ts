import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'

/** Set by `npm run update-scenarios` alone. */
const UPDATES = process.env['ZONEWRIGHT_UPDATE_SCENARIOS'] === '1'

/** Compares a text with the file that says what it should be; null where there should be none. The update command writes the file instead. */
export function expectFile(path: string, text: string | null): void {
  const expected = existsSync(path) ? readFileSync(path, 'utf8') : null
  if (!UPDATES) expect(text, path).toBe(expected)
  else if (text === null) rmSync(path, { force: true })
  else if (text !== expected) writeFileSync(path, text)
}

/** Lines at either end of a long text that are kept. */
const KEPT_LINES = 12

/** A text of many lines with its middle left out: a thousand records of one kind show no more than a few of them. */
export function shortened(text: string): string {
  const lines = text.split('\n')
  const left = lines.length - 2 * KEPT_LINES
  if (left < 2 * KEPT_LINES) return text
  return [...lines.slice(0, KEPT_LINES), `… ${left} lines …`, ...lines.slice(-KEPT_LINES)].join('\n')
}
