/**
 * Reads the YAML that nearly all definitions consist of, several times faster than the parser for all of YAML: mappings and lists in block style, flow
 * collections on one line, and scalars on one line without escapes. It makes the same tree; a test compares the two.
 */
import { mergeEntries } from './merge-entries.ts'
import type { YamlEntry, YamlMapping, YamlNode, YamlScalar, YamlSequence } from './yaml-node.ts'

/** Tabs, carriage returns, surrogates, and characters that YAML does not allow. */
const UNUSUAL = /[^\n\x20-\x7e\u00a1-\ud7ff]/

const MAX_DEPTH = 12

const SPACE = 0x20
const DOUBLE_QUOTE = 0x22
const HASH = 0x23
const SINGLE_QUOTE = 0x27
const COMMA = 0x2c
const DASH = 0x2d
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** The ASCII characters that a plain scalar begins with whatever follows. */
const BEGINS_PLAIN = new Uint8Array(128)
for (const c of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./~=+<^$();\\') BEGINS_PLAIN[c.charCodeAt(0)] = 1

const isFlowIndicator = (c: number): boolean =>
  c === COMMA || c === OPEN_BRACKET || c === CLOSE_BRACKET || c === OPEN_BRACE || c === CLOSE_BRACE

/** Ends the attempt: the other parser reads the text, and reports its problems. */
const NOT_SIMPLE = new Error('the YAML is not simple')

const giveUp = (): never => {
  throw NOT_SIMPLE
}

/** The tree of a text; null if it has anything else, also any error. */
export function readSimpleYaml(text: string, file: string): YamlNode | null {
  if (UNUSUAL.test(text)) return null
  try {
    return readDocument(text, file)
  } catch (error) {
    if (error === NOT_SIMPLE) return null
    throw error
  }
}

function readDocument(text: string, file: string): YamlNode {
  let line = 0
  let lineStart = 0
  /** The offset of the end of the line. */
  let end = -1
  /** The offset of what is read next. */
  let at = 0
  /** The column of the first content of the line; -1 after the last line. For a mapping that begins in a list, that of its first key. */
  let indent = 0

  /** Goes to the next line with content. */
  const nextLine = (): void => {
    for (;;) {
      lineStart = end + 1
      if (lineStart >= text.length) {
        indent = -1
        return
      }
      line += 1
      end = text.indexOf('\n', lineStart)
      if (end === -1) end = text.length
      at = lineStart
      skipSpaces()
      if (at === end || text.charCodeAt(at) === HASH) continue
      indent = at - lineStart
      return
    }
  }

  const skipSpaces = (): void => {
    while (text.charCodeAt(at) === SPACE) at += 1
  }

  const place = (offset: number) => ({ file, line, column: offset - lineStart + 1 })

  const isSpaceOrEnd = (offset: number): boolean => offset >= end || text.charCodeAt(offset) === SPACE

  const beginsItem = (): boolean => text.charCodeAt(at) === DASH && isSpaceOrEnd(at + 1)

  /** Whether the rest of the line is blank or a comment. */
  const isLineRead = (): boolean => {
    skipSpaces()
    return at === end || (text.charCodeAt(at) === HASH && text.charCodeAt(at - 1) === SPACE)
  }

  const block = (depth: number): YamlNode => {
    if (depth > MAX_DEPTH) giveUp()
    return beginsItem() ? list(depth) : mapping(depth)
  }

  const mapping = (depth: number): YamlMapping => {
    const own = indent
    const start = place(at)
    const entries: YamlEntry[] = []
    do {
      if (own === 0 && (text.startsWith('---', at) || text.startsWith('...', at))) giveUp()
      const key = scalar(false)
      if (text.charCodeAt(at) !== COLON || !isSpaceOrEnd(at + 1)) giveUp()
      at += 1
      entries.push({ key, value: valueAfter(key, own, depth) })
    } while (indent === own)
    if (indent > own) giveUp()
    return { kind: 'mapping', at: start, entries: mergeEntries(entries.slice(), giveUp) }
  }

  const valueAfter = (key: YamlScalar, own: number, depth: number): YamlNode => {
    if (!isLineRead()) return lineEnd(inline(false, depth), own)
    nextLine()
    if (indent > own) return block(depth + 1)
    if (indent === own && beginsItem()) return list(depth + 1)
    return { kind: 'scalar', at: key.at, text: '', plain: true }
  }

  /** Checks that the line and the node end here. */
  const lineEnd = (node: YamlNode, own: number): YamlNode => {
    if (!isLineRead()) giveUp()
    nextLine()
    if (indent > own) giveUp()
    return node
  }

  const list = (depth: number): YamlSequence => {
    const own = indent
    const start = place(at)
    const items: YamlNode[] = []
    do {
      at += 1
      if (isLineRead() || depth > MAX_DEPTH) giveUp()
      const begin = at
      const node = inline(false, depth)
      if (text.charCodeAt(at) === COLON) {
        at = begin
        indent = begin - lineStart
        items.push(mapping(depth + 1))
      } else items.push(lineEnd(node, own))
    } while (indent === own && beginsItem())
    if (indent > own) giveUp()
    return { kind: 'sequence', at: start, items: items.slice() }
  }

  const inline = (inFlow: boolean, depth: number): YamlNode => {
    const c = text.charCodeAt(at)
    return c === OPEN_BRACE || c === OPEN_BRACKET ? flow(c === OPEN_BRACE, depth + 1) : scalar(inFlow)
  }

  const flow = (isMapping: boolean, depth: number): YamlNode => {
    if (depth > MAX_DEPTH) giveUp()
    const start = place(at)
    const close = isMapping ? CLOSE_BRACE : CLOSE_BRACKET
    const entries: YamlEntry[] = []
    const items: YamlNode[] = []
    at += 1
    skipSpaces()
    while (text.charCodeAt(at) !== close) {
      if (entries.length + items.length > 0) {
        if (text.charCodeAt(at) !== COMMA) giveUp()
        at += 1
        skipSpaces()
      }
      if (isMapping) {
        const key = scalar(true)
        if (text.charCodeAt(at) !== COLON || text.charCodeAt(at + 1) !== SPACE) giveUp()
        at += 1
        skipSpaces()
        entries.push({ key, value: inline(true, depth) })
      } else items.push(inline(true, depth))
      skipSpaces()
    }
    at += 1
    return isMapping ? { kind: 'mapping', at: start, entries: mergeEntries(entries, giveUp) } : { kind: 'sequence', at: start, items }
  }

  /** Reads a scalar and the spaces after it. */
  const scalar = (inFlow: boolean): YamlScalar => {
    const begin = at
    const first = text.charCodeAt(at)
    if (first === DOUBLE_QUOTE || first === SINGLE_QUOTE) return quoted(first)
    const isPlain = first < 128 ? BEGINS_PLAIN[first] === 1 : at < end
    if (!isPlain && !(first === DASH && !isSpaceOrEnd(at + 1) && !isFlowIndicator(text.charCodeAt(at + 1)))) giveUp()
    let last = at
    for (; at < end; at += 1) {
      const c = text.charCodeAt(at)
      if (c === SPACE) continue
      if (c === COLON) {
        if (isSpaceOrEnd(at + 1) || (inFlow && isFlowIndicator(text.charCodeAt(at + 1)))) break
      } else if (c === HASH) {
        if (text.charCodeAt(at - 1) === SPACE) break
      } else if (inFlow && isFlowIndicator(c)) break
      last = at
    }
    return { kind: 'scalar', at: place(begin), text: text.slice(begin, last + 1), plain: true }
  }

  const quoted = (quote: number): YamlScalar => {
    const begin = at
    const close = text.indexOf(quote === DOUBLE_QUOTE ? '"' : "'", begin + 1)
    if (close === -1 || close > end) giveUp()
    const content = text.slice(begin + 1, close)
    if (quote === DOUBLE_QUOTE ? content.includes('\\') : text.charCodeAt(close + 1) === SINGLE_QUOTE) giveUp()
    at = close + 1
    skipSpaces()
    return { kind: 'scalar', at: place(begin), text: content, plain: false }
  }

  nextLine()
  if (text.startsWith('---', lineStart)) {
    at = lineStart + 3
    if (!isLineRead()) giveUp()
    nextLine()
  }
  if (indent !== 0) giveUp()
  const root = block(0)
  return indent === -1 ? root : giveUp()
}
