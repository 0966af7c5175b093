/** Unified diffs. */
import { structuredPatch } from 'diff'
import { oneLine } from '../base/diagnostic.ts'

/** Lines of context around a difference. */
const CONTEXT = 3

/** How many lines may differ until the texts are shown one after the other: the time grows with its square. */
const MAX_DIFFERENCES = 4000

/** A unified diff. Empty if the texts are equal. */
export function textDiff(file: string, before: string, after: string): string {
  if (before === after) return ''
  const [old, updated] = [linesOf(before), linesOf(after)]
  const patch = structuredPatch('', '', textOf(old), textOf(updated), '', '', { context: CONTEXT, maxEditLength: MAX_DIFFERENCES })
  const all = { oldStart: 1, newStart: 1, lines: [...old.map((line) => `-${line}`), ...updated.map((line) => `+${line}`)] }
  const hunks = (patch?.hunks ?? [{ ...all, oldLines: old.length, newLines: updated.length }]).map(
    ({ oldStart, oldLines, newStart, newLines, lines }) => `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@\n${textOf(lines)}`,
  )
  return `--- ${file}\n+++ ${file}\n${hunks.join('')}`
}

/** Escapes control characters except tabs. */
const shown = (line: string): string => line.split('\t').map(oneLine).join('\t')

function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => shown(line.replace(/\r$/, '')))
  if (lines.at(-1) === '') lines.pop()
  return lines
}

const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')
