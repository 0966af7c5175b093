import { oneLine } from '../dns/diagnostic.ts'

/** Lines of context around what differs. */
const CONTEXT = 3

/** How a text changes, as a unified diff of one hunk: it is for edits of one place. Empty where nothing does. */
export function textDiff(file: string, before: string, after: string): string {
  if (before === after) return ''
  const [old, fresh] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start += 1
  let end = 0
  while (end < old.length - start && end < fresh.length - start && old[old.length - 1 - end] === fresh[fresh.length - 1 - end]) end += 1
  const from = Math.max(0, start - CONTEXT)
  const to = Math.max(0, end - CONTEXT)
  const lines = [
    ...old.slice(from, start).map((line) => ` ${line}`),
    ...old.slice(start, old.length - end).map((line) => `-${line}`),
    ...fresh.slice(start, fresh.length - end).map((line) => `+${line}`),
    ...old.slice(old.length - end, old.length - to).map((line) => ` ${line}`),
  ]
  const span = (all: readonly string[]): string => `${all.length === 0 ? 0 : from + 1},${all.length - to - from}`
  return `--- ${file}\n+++ ${file}\n@@ -${span(old)} +${span(fresh)} @@\n${lines.map((line) => `${line}\n`).join('')}`
}

/** What could drive a terminal is shown as an escape; tabs stay. */
const shown = (line: string): string => line.split('\t').map(oneLine).join('\t')

function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => shown(line.replace(/\r$/, '')))
  if (lines.at(-1) === '') lines.pop()
  return lines
}
