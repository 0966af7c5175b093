/** Builds a tree of nodes from YAML events. */
import {
  type AliasEvent,
  EVENT_ID,
  type Event,
  getScalarValue,
  type MappingEvent,
  SCALAR_STYLE,
  type ScalarEvent,
  type SequenceEvent,
} from 'js-yaml'
import type { Diagnostic, SourcePosition } from '../../base/diagnostic.ts'
import { nearestWord } from '../../base/nearest-word.ts'
import { isUnicode } from '../../base/text.ts'
import { mergeEntries, type ReportProblem } from './merge-entries.ts'
import { brokenNode, countNodes, isCoreTag, tagName, type YamlEntry, type YamlNode, type YamlScalar } from './yaml-node.ts'

/** Maximum number of nodes that aliases may add to a document. Each alias adds as many as its whole tree has. */
export const MAX_ALIASED_NODES = 1_000_000

/** Maximum number of problems reported per file. */
const MAX_DIAGNOSTICS = 10_000

/** Returns the content for `!include PATH`; null if it could not be read, which has been reported. */
export type ResolveInclude = (path: string, at: SourcePosition) => YamlNode | null

interface Frame {
  readonly kind: 'document' | 'mapping' | 'sequence'
  readonly at: SourcePosition
  readonly anchor: string | null
  readonly items: YamlNode[]
  readonly entries: YamlEntry[]
  /** The key whose value comes next. */
  key: YamlScalar | null
  /** The last key was not a scalar, so its value is skipped. */
  badKey: boolean
  /** The number of nodes so far, with the whole tree of each alias. */
  size: number
}

/** An anchor. Its node is null until it is complete: an alias inside it would contain itself. */
interface Anchor {
  readonly node: YamlNode | null
  readonly size: number
}

/** Builds the tree of a document from the parser's events. Reports problems and goes on if the tree remains usable. */
export function buildTree(
  text: string,
  events: readonly Event[],
  positionOf: LineIndex,
  resolveInclude: ResolveInclude | undefined,
): { root: YamlNode | null; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = []
  const anchors = new Map<string, Anchor>()
  const stack: Frame[] = []
  let frame: Frame = newFrame('document', positionOf(0), null)
  let documents = 0
  let aliased = 0
  let lastPosition = positionOf(0)

  const report: ReportProblem = (code, message, at, hint, related) => {
    if (diagnostics.length < MAX_DIAGNOSTICS) diagnostics.push({ severity: 'error', code, message, at, hint, related })
  }

  const add = (node: YamlNode, size: number): void => {
    frame.size += size
    if (frame.kind !== 'mapping') frame.items.push(node)
    else if (frame.badKey) frame.badKey = false
    else if (frame.key !== null) {
      frame.entries.push({ key: frame.key, value: node })
      frame.key = null
    } else if (node.kind === 'scalar') frame.key = node
    else {
      frame.badKey = true
      report('yaml-unsupported', 'a key must be text, not a list or other keys', node.at)
    }
  }

  const anchorOf = (event: ScalarEvent | MappingEvent | SequenceEvent | AliasEvent): string | null =>
    event.anchorStart === -1 ? null : text.slice(event.anchorStart, event.anchorEnd)

  /** The local name of the node's tag; null if it has none. Tags that definitions cannot have are reported. */
  const tagOf = (event: ScalarEvent | MappingEvent | SequenceEvent, kind: YamlNode['kind'], at: SourcePosition): string | null => {
    if (event.tagStart === -1) return null
    const tag = tagName(text.slice(event.tagStart, event.tagEnd))
    if (tag === '!include' && kind === 'scalar') return tag
    if (!isCoreTag(tag, kind)) {
      report('yaml-unsupported', `the tag ${text.slice(event.tagStart, event.tagEnd)} is not supported`, at, 'Remove the tag.')
    }
    return tag
  }

  const scalar = (event: ScalarEvent): YamlNode => {
    // An empty value has no position; use that of its key.
    const at = event.valueStart === -1 ? (frame.key?.at ?? lastPosition) : positionOf(scalarStart(text, event))
    lastPosition = at
    const value = event.fast ? text.slice(event.valueStart, event.valueEnd) : getScalarValue(text, event)
    if (!event.fast && !isUnicode(value))
      report('yaml-syntax', 'the text has half a surrogate pair, which is not Unicode', at, 'Write the character itself.')
    const tag = tagOf(event, 'scalar', at)
    if (tag !== '!include') {
      const plain = tag === null ? event.style === SCALAR_STYLE.PLAIN : tag !== 'str' && tag !== '!'
      return { kind: 'scalar', at, text: value, plain }
    }
    if (!resolveInclude) report('yaml-unsupported', `!include ${value} is not possible here: only one file is read`, at)
    return resolveInclude?.(value, at) ?? brokenNode(at)
  }

  const remember = (anchor: string | null, node: YamlNode, size: number): void => {
    if (anchor !== null) anchors.set(anchor, { node, size })
  }

  const alias = (event: AliasEvent): void => {
    const name = anchorOf(event) ?? ''
    const at = positionOf(event.anchorStart - 1)
    lastPosition = at
    const anchor = anchors.get(name)
    if (!anchor) {
      const nearest = nearestWord(name, anchors.keys())
      const hint = `${nearest === null ? 'Quote' : `Did you mean *${nearest}? Quote`} a text that starts with an asterisk.`
      report('yaml-syntax', `the alias *${name} has no anchor &${name} above it`, at, hint)
      add(brokenNode(at), 1)
    } else if (anchor.node === null) {
      report('yaml-unsupported', `the alias *${name} refers to a node that contains it`, at)
      add(brokenNode(at), 1)
    } else {
      aliased += anchor.size
      add(anchor.node, anchor.size)
    }
  }

  for (const event of events) {
    switch (event.type) {
      case EVENT_ID.DOCUMENT:
        documents += 1
        if (event.directives.some((directive) => directive.kind === 'tag')) {
          report('yaml-unsupported', '%TAG directives are not supported', positionOf(0))
        }
        break
      case EVENT_ID.SCALAR: {
        if (documents > 1) break
        const node = scalar(event)
        const size = node.kind === 'scalar' ? 1 : countNodes(node, MAX_ALIASED_NODES)
        remember(anchorOf(event), node, size)
        add(node, size)
        break
      }
      case EVENT_ID.ALIAS:
        if (documents > 1) break
        alias(event)
        if (aliased > MAX_ALIASED_NODES) {
          report('yaml-too-many-aliases', `aliases expand to more than ${MAX_ALIASED_NODES} nodes`, lastPosition)
          return { root: null, diagnostics }
        }
        break
      case EVENT_ID.MAPPING:
      case EVENT_ID.SEQUENCE: {
        if (documents > 1) {
          stack.push(frame)
          break
        }
        const kind = event.type === EVENT_ID.MAPPING ? 'mapping' : 'sequence'
        const at = positionOf(event.start)
        lastPosition = at
        tagOf(event, kind, at)
        const anchor = anchorOf(event)
        if (anchor !== null) anchors.set(anchor, { node: null, size: 0 })
        stack.push(frame)
        frame = newFrame(kind, at, anchor)
        break
      }
      case EVENT_ID.POP: {
        const parent = stack.pop()
        if (!parent || documents > 1) break
        const done = frame
        frame = parent
        const node: YamlNode =
          done.kind === 'mapping'
            ? { kind: 'mapping', at: done.at, entries: mergeEntries(fitted(done.entries), report) }
            : { kind: 'sequence', at: done.at, items: fitted(done.items) }
        remember(done.anchor, node, done.size)
        add(node, done.size)
        break
      }
    }
  }
  const root = frame.items[0] ?? null
  if (documents > 1) {
    const at = positionOf(secondDocument(text))
    report('yaml-unsupported', `the file has ${documents} YAML documents; only one is allowed`, at, 'Write each zone into its own file.')
  }
  return { root, diagnostics }
}

const newFrame = (kind: Frame['kind'], at: SourcePosition, anchor: string | null): Frame => ({
  kind,
  at,
  anchor,
  items: [],
  entries: [],
  key: null,
  badKey: false,
  size: 1,
})

/** A copy of a short list without the spare memory that appending reserves. */
const fitted = <T>(list: readonly T[]): readonly T[] => (list.length < 16 ? list.slice() : list)

/** The offset of the opening quote, the block indicator or the first character. */
function scalarStart(text: string, event: ScalarEvent): number {
  const start = event.valueStart
  switch (event.style) {
    case SCALAR_STYLE.SINGLE_QUOTED:
    case SCALAR_STYLE.DOUBLE_QUOTED:
      return start - 1
    case SCALAR_STYLE.LITERAL_BLOCK:
    case SCALAR_STYLE.FOLDED_BLOCK: {
      let end = start
      if (text[end - 1] === '\n') end -= 1
      if (text[end - 1] === '\r') end -= 1
      let header = end
      while (header > 0 && text[header - 1] !== '\n' && text[header - 1] !== '\r') header -= 1
      const indicator = text.slice(header, end).search(/[|>][-+0-9]{0,2}[ \t]*(?:#[^\r\n]*)?$/)
      return indicator === -1 ? start : header + indicator
    }
    default:
      return start
  }
}

/** The offset of the marker that begins the second document. */
function secondDocument(text: string): number {
  const marker = /^---(?:\s|$)/gm
  const first = marker.exec(text)
  const content =
    first &&
    text
      .slice(0, first.index)
      .replace(/^(?:\s*(?:#.*)?|%.*)$/gm, '')
      .trim() !== ''
  return (content ? first : marker.exec(text))?.index ?? text.length
}

/** Returns the position of an offset in a text. Fast if the offsets increase. */
type LineIndex = (offset: number) => SourcePosition

export function lineIndex(text: string, file: string): LineIndex {
  let line = 1
  let lineStart = text.charCodeAt(0) === 0xfeff ? 1 : 0
  let lineEnd = text.indexOf('\n')
  const restart = (): void => {
    line = 1
    lineStart = text.charCodeAt(0) === 0xfeff ? 1 : 0
    lineEnd = text.indexOf('\n')
  }
  return (offset) => {
    if (offset < lineStart) restart()
    while (lineEnd !== -1 && lineEnd < offset) {
      line += 1
      lineStart = lineEnd + 1
      lineEnd = text.indexOf('\n', lineStart)
    }
    return { file, line, column: Math.max(1, offset - lineStart + 1) }
  }
}
