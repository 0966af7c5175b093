import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'

/** Set only by `npm run update-scenarios`. */
const UPDATES = process.env['ZONEWRIGHT_UPDATE_SCENARIOS'] === '1'

/** Compares a text with its expected file; null means no file. The update command writes the file instead. */
export function expectFile(path: string, text: string | null): void {
  const expected = existsSync(path) ? readFileSync(path, 'utf8') : null
  if (!UPDATES) expect(text, path).toBe(expected)
  else if (text === null) rmSync(path, { force: true })
  else if (text !== expected) writeFileSync(path, text)
}

/** The number of lines to keep at each end of a long text. */
const KEPT_LINES = 12

/** Omits the middle of a long text: a few of a thousand similar records are sufficient. */
export function shortened(text: string): string {
  const lines = text.split('\n')
  const left = lines.length - 2 * KEPT_LINES
  if (left < 2 * KEPT_LINES) return text
  return [...lines.slice(0, KEPT_LINES), `… ${left} lines …`, ...lines.slice(-KEPT_LINES)].join('\n')
}
