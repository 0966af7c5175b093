/**
 * Of a definition of thousands of names an edit needs one entry and its neighbours. The others are left out of the text before it is read by a parser
 * that keeps comments, and come back afterwards as they were. Left out are whole lines, from the line of one key to that of another of the same map:
 * what stands between two keys at one indentation is of the first of them, so that the rest is a definition too.
 */
import { type DomainName, parseDomainName, relativeName } from '../../dns/domain-name.ts'
import type { Layout } from '../parse/parse-state.ts'
import { compareNatural } from '../print/natural-order.ts'
import { lookUp, type YamlEntry, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts'

/** Entries from which on it is worth it. */
const MANY = 100

export interface EntryWindow {
  readonly text: string
  /** The place in `text` of an offset in the whole; null where it is left out. */
  readonly toWindowOffset: (offset: number) => number | null
  /** The whole with what became of `text` by an edit of the entry. */
  readonly restore: (edited: string) => string
}

/** Null where nothing is left out. `root` is the tree of the text. */
export function entryWindow(
  text: string,
  root: YamlNode,
  { name, zone, layout }: { readonly name: DomainName; readonly zone: DomainName; readonly layout: Layout },
): EntryWindow | null {
  const map = recordMap(root, layout)
  if (map === null || map.entries.length < MANY) return null
  const lines = text.split('\n')
  if (!standOnLines(map.entries, lines)) return null
  const lineOf = (index: number): number => ((map.entries[index] as YamlEntry).key.at.line as number) - 1
  const own = map.entries.findIndex(({ key }) => isOf(key.text, name, zone))
  const relative = relativeName(name, zone)
  const next = own === -1 ? map.entries.findIndex(({ key }) => compareNatural(key.text, relative) > 0) : own + 1
  const last = map.entries.length - 1
  const after = next === -1 ? last + 1 : next
  const from = Math.max(0, (own === -1 ? after : own) - 1)
  const first = { from: lineOf(0), to: lineOf(from) }
  const second = after + 1 < last ? { from: lineOf(after + 1), to: lineOf(last) } : { from: lines.length, to: lines.length }
  const middle = lines.slice(first.to, second.from)
  const [head, left, right, tail] = [
    lines.slice(0, first.from),
    lines.slice(first.from, first.to),
    lines.slice(second.from, second.to),
    lines.slice(second.to),
  ]
  const window = [...head, ...middle, ...tail].join('\n')
  // By them the editor knows how lines end.
  if (text.includes('\r') !== window.includes('\r')) return null
  const start = offsetOf(head)
  const gap = offsetOf(left)
  const end = start + gap + offsetOf(middle)
  return {
    text: window,
    toWindowOffset: (offset) => (offset < start ? offset : offset < start + gap || offset >= end ? null : offset - gap),
    restore(edited) {
      const all = edited.split('\n')
      const behind = all.length - tail.length
      return [...all.slice(0, head.length), ...left, ...all.slice(head.length, behind), ...right, ...all.slice(behind)].join('\n')
    },
  }
}

function recordMap(root: YamlNode, layout: Layout): YamlMapping | null {
  if (root.kind !== 'mapping') return null
  const map = layout === 'octodns' || lookUp(root, 'domain') === undefined ? root : lookUp(root, 'records')
  return map?.kind === 'mapping' ? map : null
}

/** Each on a line after the other, at one indentation: none is in flow style, merged in, or an alias's. */
function standOnLines(entries: readonly YamlEntry[], lines: readonly string[]): boolean {
  let indent = -1
  let before = 0
  for (const { key } of entries) {
    const { line, column } = key.at
    // A key may stand behind a question mark.
    const head = /^( *)(?:\? +)?$/.exec((lines[line - 1] as string).slice(0, column - 1))?.[1]
    if (line <= before || head === undefined || (indent !== -1 && head.length !== indent)) return false
    indent = head.length
    before = line
  }
  return true
}

function isOf(key: string, name: DomainName, zone: DomainName): boolean {
  const parsed = key === '' ? null : parseDomainName(key, zone)
  return parsed === null ? name === zone : parsed.ok && parsed.value === name
}

/** Characters of lines with the ends of all of them. */
const offsetOf = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + line.length + 1, 0)
