/** Unified diffs. */
import { oneLine } from '../base/diagnostic.ts'

/** Lines of context around the difference. */
const CONTEXT = 3

/** A unified diff with one hunk, for an edit in one place. Empty if the texts are equal. */
export function textDiff(file: string, before: string, after: string): string {
  if (before === after) return ''
  const [old, updated] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < old.length && start < updated.length && old[start] === updated[start]) start += 1
  let end = 0
  while (end < old.length - start && end < updated.length - start && old[old.length - 1 - end] === updated[updated.length - 1 - end])
    end += 1
  const from = Math.max(0, start - CONTEXT)
  const to = Math.max(0, end - CONTEXT)
  const lines = [
    ...old.slice(from, start).map((line) => ` ${line}`),
    ...old.slice(start, old.length - end).map((line) => `-${line}`),
    ...updated.slice(start, updated.length - end).map((line) => `+${line}`),
    ...old.slice(old.length - end, old.length - to).map((line) => ` ${line}`),
  ]
  const span = (all: readonly string[]): string => `${all.length === 0 ? 0 : from + 1},${all.length - to - from}`
  return `--- ${file}\n+++ ${file}\n@@ -${span(old)} +${span(updated)} @@\n${lines.map((line) => `${line}\n`).join('')}`
}

/** Escapes control characters except tabs. */
const shown = (line: string): string => line.split('\t').map(oneLine).join('\t')

function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => shown(line.replace(/\r$/, '')))
  if (lines.at(-1) === '') lines.pop()
  return lines
}
