/**
 * An edit of one name in a definition with thousands needs only that entry and its neighbours. The other entries are cut out of the text before the slow
 * parser that keeps comments reads it, and put back afterwards. Whole lines are cut, from the line of one key to the line of another key of the same
 * mapping; the lines between two keys belong to the first one, so the rest is still a valid definition.
 */
import { type DomainName, parseDomainName, relativeName } from '../../dns/domain-name.ts'
import type { Layout } from '../parse/parse-state.ts'
import { compareNatural } from '../print/natural-order.ts'
import { lookUp, type YamlEntry, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts'

/** The fewest entries for which this pays off. */
const MANY = 100

export interface EntryWindow {
  readonly text: string
  /** The offset in `text` for an offset in the whole text; null if that part was cut out. */
  readonly toWindowOffset: (offset: number) => number | null
  /** The whole text with the edited window. */
  readonly restore: (edited: string) => string
}

/** Returns null if nothing can be cut out. `root` is the tree of the text. */
export function entryWindow(
  text: string,
  root: YamlNode,
  { name, zone, layout }: { readonly name: DomainName; readonly zone: DomainName; readonly layout: Layout },
): EntryWindow | null {
  const map = recordMap(root, layout)
  if (map === null || map.entries.length < MANY) return null
  const lines = text.split('\n')
  if (!haveOwnLines(map.entries, lines)) return null
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
  // The editor infers the line ends from the text.
  if (text.includes('\r') !== window.includes('\r')) return null
  const start = lengthOf(head)
  const gap = lengthOf(left)
  const end = start + gap + lengthOf(middle)
  return {
    text: window,
    toWindowOffset: (offset) => (offset < start ? offset : offset < start + gap || offset >= end ? null : offset - gap),
    restore(edited) {
      const all = edited.split('\n')
      const tailStart = all.length - tail.length
      return [...all.slice(0, head.length), ...left, ...all.slice(head.length, tailStart), ...right, ...all.slice(tailStart)].join('\n')
    },
  }
}

function recordMap(root: YamlNode, layout: Layout): YamlMapping | null {
  if (root.kind !== 'mapping') return null
  const map = layout === 'octodns' || lookUp(root, 'domain') === undefined ? root : lookUp(root, 'records')
  return map?.kind === 'mapping' ? map : null
}

/** Whether each key begins a new line at the same indentation: no flow style, no merge keys, no aliases. */
function haveOwnLines(entries: readonly YamlEntry[], lines: readonly string[]): boolean {
  let indent = -1
  let before = 0
  for (const { key } of entries) {
    const { line, column } = key.at
    // An explicit key follows a question mark.
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

/** The length of the lines including their line ends. */
const lengthOf = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + line.length + 1, 0)
