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
import type { Diagnostic, SourcePosition } from '../../dns/diagnostic.ts'
import { mergeEntries, type ReportProblem } from './merge-entries.ts'
import { brokenNode, countNodes, isCoreTag, tagName, type YamlEntry, type YamlNode, type YamlScalar } from './yaml-node.ts'

/** Nodes that aliases may add to a document in all. Every alias counts as the whole tree it stands for. */
export const MAX_ALIASED_NODES = 1_000_000

/** Faults of a file that are told. Beyond them no reader is helped by more. */
const MAX_DIAGNOSTICS = 10_000

/** The content that stands in place of `!include PATH`; null where it could not be had and that was reported. */
export type ResolveInclude = (path: string, at: SourcePosition) => YamlNode | null

interface Frame {
  readonly kind: 'document' | 'mapping' | 'sequence'
  readonly at: SourcePosition
  readonly anchor: string | null
  readonly items: YamlNode[]
  readonly entries: YamlEntry[]
  /** The key that waits for its value. */
  key: YamlScalar | null
  /** A key that is no scalar waits for its value; both are left out. */
  badKey: boolean
  /** Nodes in the tree so far, aliases counted in full. */
  size: number
}

/** An anchor whose node is not complete has no node yet: an alias to it would hold itself. */
interface Anchor {
  readonly node: YamlNode | null
  readonly size: number
}

/** Makes the tree of one document from the parser's events. Faults that leave a tree to speak of are reported and stepped over. */
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
  let here = positionOf(0)

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
      report('yaml-unsupported', 'a key must be text, not a mapping or a list', node.at)
    }
  }

  const anchorOf = (event: ScalarEvent | MappingEvent | SequenceEvent | AliasEvent): string | null =>
    event.anchorStart === -1 ? null : text.slice(event.anchorStart, event.anchorEnd)

  /** The local name of the node's tag; null for none. A tag that definitions do not have is reported. */
  const tagOf = (event: ScalarEvent | MappingEvent | SequenceEvent, kind: YamlNode['kind'], at: SourcePosition): string | null => {
    if (event.tagStart === -1) return null
    const tag = tagName(text.slice(event.tagStart, event.tagEnd))
    if (tag === '!include' && kind === 'scalar') return tag
    if (!isCoreTag(tag, kind)) {
      report(
        'yaml-unsupported',
        `the tag ${text.slice(event.tagStart, event.tagEnd)} has no meaning in a definition`,
        at,
        'Leave the tag out.',
      )
    }
    return tag
  }

  const scalar = (event: ScalarEvent): YamlNode => {
    // An empty value has no place of its own: that of its key is nearest.
    const at = event.valueStart === -1 ? (frame.key?.at ?? here) : positionOf(scalarStart(text, event))
    here = at
    const value = event.fast ? text.slice(event.valueStart, event.valueEnd) : getScalarValue(text, event)
    const tag = tagOf(event, 'scalar', at)
    if (tag !== '!include') {
      const plain = tag === null ? event.style === SCALAR_STYLE.PLAIN : tag !== 'str' && tag !== '!'
      return { kind: 'scalar', at, text: value, plain }
    }
    if (!resolveInclude) report('yaml-unsupported', `!include ${value} needs the other file, which is not at hand here`, at)
    return resolveInclude?.(value, at) ?? brokenNode(at)
  }

  const remember = (anchor: string | null, node: YamlNode, size: number): void => {
    if (anchor !== null) anchors.set(anchor, { node, size })
  }

  const alias = (event: AliasEvent): void => {
    const name = anchorOf(event) ?? ''
    const at = positionOf(event.anchorStart - 1)
    here = at
    const anchor = anchors.get(name)
    if (!anchor) {
      report('yaml-syntax', `there is no anchor &${name} above this alias`, at, 'Quote a value that starts with an asterisk.')
      add(brokenNode(at), 1)
    } else if (anchor.node === null) {
      report('yaml-unsupported', `the alias *${name} stands inside what it refers to`, at)
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
          report('yaml-unsupported', 'a %TAG directive has no meaning in a definition', positionOf(0))
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
          report('yaml-too-many-aliases', `aliases add more than ${MAX_ALIASED_NODES} nodes to the file`, here)
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
        here = at
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
    report('yaml-unsupported', `the file holds ${documents} YAML documents; a definition is one`, at, 'Give each zone a file of its own.')
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

/** A list that was filled one by one in just the memory it needs: growing leaves room for many more, and most are short. */
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

/** Gives the place of an offset in a text. Cheap where offsets come in rising order. */
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
