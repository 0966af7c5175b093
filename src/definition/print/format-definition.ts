/** Formats a definition in the canonical layout. */
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, type Scalar, type YAMLMap } from 'yaml'
import { failure, ok, type Result } from '../../base/result.ts'
import type { FieldKind } from '../../dns/rdata/rdata-types.ts'
import { SOA_FIELDS } from '../../dns/soa.ts'
import type { Layout } from '../parse/parse-state.ts'
import { octodnsName } from '../parse/read-record-map.ts'
import { SETTING_KEYS } from '../parse/read-settings.ts'
import { formKeys, RECORD_KEYS, type ValueForm, valueForm } from '../parse/value-forms.ts'
import { commentsOf } from '../yaml/comments.ts'
import { parseEditableYaml, printDocument, readValidTree } from '../yaml/editable-yaml.ts'
import { styleKey, styleScalar } from '../yaml/print-yaml.ts'
import { isSameTree, lookUp, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts'
import { compareNatural } from './natural-order.ts'

/** Most rounds until the layout no longer changes. Unusual comments and line ends take two. */
const MAX_ROUNDS = 4

/**
 * Formats a definition or fragment in the canonical layout: keys in a fixed order, names in octoDNS's natural order, two spaces of indentation, quotes
 * only if some YAML parser needs them, no folded lines. Comments, anchors, blank lines and the choice between block and flow style are kept. The result
 * has the same meaning, and formatting it again does not change it.
 */
export function formatDefinition(text: string): Result<string> {
  const start = readValidTree(text)
  if (!start.ok) return start
  let before = text
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const after = formatOnce(before)
    if (!after.ok || after.value === before) return after
    const tree = readValidTree(after.value)
    if (!tree.ok || !isSameTree(start.value, tree.value)) return failure('the file cannot be formatted without changing its meaning')
    if (!haveSameComments(text, after.value)) return failure('the file has comments in places where formatting would lose them')
    before = after.value
  }
  return failure('the file changes each time it is formatted')
}

function formatOnce(text: string): Result<string> {
  const read = parseEditableYaml(text)
  if (!read.ok) return read
  const { document, tree, keyComments } = read.value
  const { contents } = document
  if (contents === null || isEmptyScalar(contents)) return ok(text)
  const canSort = canRelocateAnchors(document)
  formatNode(contents, rootPosition(tree), canSort)
  if (canSort) relocateAnchors(contents)
  return ok(printDocument(document, keyComments, text))
}

const isEmptyScalar = (node: Node): boolean => isScalar(node) && node.value === null

function formatNode(node: Node, position: Position, canSort: boolean): void {
  if (isScalar(node)) styleScalar(node, position.isText)
  else if (isSeq(node)) for (const item of node.items) formatNode(item as Node, position.item(), canSort)
  else if (isMap(node)) {
    const textOf = (sibling: string): string | undefined => {
      const value = node.items.find((pair) => keyText(pair) === sibling)?.value
      return isScalar(value) && typeof value.value === 'string' ? value.value : undefined
    }
    const kept = new Set(node.items.map(({ key }) => key as Scalar).filter((key) => isReadOtherwise(key, position)))
    for (const pair of node.items) {
      if (!kept.has(pair.key as Scalar)) styleKey(pair.key as Scalar)
      if (pair.value) formatNode(pair.value as Node, position.child(keyText(pair), textOf), canSort)
    }
    if (canSort) sortEntries(node, position)
    // The printer would put the text "null" in quotes.
    for (const key of kept) if (octodnsName(String(key.value)) === 'none') key.value = null
  }
}

/** Whether octoDNS reads a name without quotes as another name, which quotes would change. `validate` warns of it. */
function isReadOtherwise({ type, value }: Scalar, { readsAsOctodns }: Position): boolean {
  return readsAsOctodns === true && type === 'PLAIN' && octodnsName(String(value ?? '')) !== String(value ?? '').toLowerCase()
}

function haveSameComments(a: string, b: string): boolean {
  const [x, y] = [commentsOf(a).sort(), commentsOf(b).sort()]
  return x.length === y.length && x.every((comment, i) => comment === y[i])
}

/** The layout rules for one node of a definition. */
interface Position extends EntryOrder {
  /** Scalars are text here, never numbers or booleans. */
  readonly isText: boolean
  /** Whether the keys are names that octoDNS may read, too. */
  readonly readsAsOctodns?: boolean
  /** The rules for the value of a key. `textOf` returns the text of another key of the same mapping. */
  readonly child: (key: string, textOf: (sibling: string) => string | undefined) => Position
  /** The rules for the items of a list. */
  readonly item: () => Position
}

const SETTING_TEXTS: ReadonlySet<string> = new Set([
  'domain',
  'type',
  'status',
  'description',
  'group',
  'tags',
  'owner',
  'soa_email',
  'master_ips',
  'axfr_ips',
  'targets',
  'policy',
  'allow',
  'apex_ns',
  'unsupported',
])

const NUMBERS: ReadonlySet<FieldKind> = new Set<FieldKind>(['u8', 'u16', 'u32', 'u64', 'seconds', 'algorithm'])

/** A text or a list of texts. */
const TEXT: Position = { order: null, isText: true, child: () => TEXT, item: () => TEXT }

/** A node whose scalars are not changed. */
const raw = (order: Position['order']): Position => {
  const position: Position = { order, isText: false, child: () => position, item: () => position }
  return position
}

const RAW = raw(null)

const mapping = (order: Position['order'], child: Position['child'], more: Partial<Position> = {}): Position => {
  const position: Position = { order, isText: true, child, item: () => position, ...more }
  return position
}

const SELECTOR = mapping(['name', 'type', 'target', 'owner', 'preset'], () => TEXT)
const SUPPRESSION = mapping(['code', 'reason', 'name', 'type'], () => TEXT)
const OCTODNS_SUPPRESSION = mapping('natural', () => TEXT)
const INCLUDE = mapping(['file', 'with'], () => TEXT)

const SOA = mapping(SOA_FIELDS, (key) => (key === 'primary' || key === 'mailbox' ? TEXT : RAW))

const SETTINGS: Position = mapping(SETTING_KEYS, (key) => {
  if (SETTING_TEXTS.has(key)) return TEXT
  if (key === 'soa') return SOA
  if (key === 'unmanaged') return SELECTOR
  if (key === 'include') return INCLUDE
  if (key === 'ignore') return SUPPRESSION
  return key === 'records' ? recordMap('settings') : RAW
})

/** The rules for a whole file. */
function rootPosition(root: YamlNode): Position {
  return root.kind === 'mapping' && isSettings(root) ? SETTINGS : recordMap('octodns')
}

const isSettings = (root: YamlMapping): boolean => lookUp(root, 'domain')?.kind === 'scalar'

/** octoDNS requires natural order in every mapping. Our own layout has `type` first. */
const ordered = (layout: Layout, keys: readonly string[] | null): Position['order'] => (layout === 'octodns' ? 'natural' : keys)

function recordMap(layout: Layout): Position {
  const record = mapping(ordered(layout, RECORD_KEYS), (key, textOf) => {
    if (key === 'type') return TEXT
    if (key === 'ignore') return layout === 'octodns' ? OCTODNS_SUPPRESSION : SUPPRESSION
    return key === 'value' || key === 'values' ? valuePosition(valueForm(textOf('type') ?? ''), layout) : raw(ordered(layout, null))
  })
  return mapping('natural', () => record, { isRecordMap: true, readsAsOctodns: layout === 'octodns' })
}

function valuePosition(form: ValueForm, layout: Layout): Position {
  const numbers = new Set(
    form.shape === 'mapping' ? form.fields.filter(({ kind }) => NUMBERS.has(kind)).flatMap(({ key, alias }) => [key, alias]) : [],
  )
  const keys = formKeys(form)
  return mapping(ordered(layout, keys), (key) => {
    if (form.shape === 'mapping') return numbers.has(key) ? RAW : TEXT
    return key === 'targetname' || key.endsWith('_direction') ? TEXT : raw(ordered(layout, null))
  })
}

// Keeps anchors before their aliases when entries are sorted.

/** A replaceable child node. */
interface Slot {
  readonly node: Node
  readonly set: (node: Node) => void
}

function* slotsOf(parent: Node): Generator<Slot> {
  if (isMap(parent)) {
    for (const pair of parent.items) {
      if (pair.value === null || pair.value === undefined) continue
      yield { node: pair.value as Node, set: (node) => Object.assign(pair, { value: node }) }
    }
  } else if (isSeq(parent)) {
    const items = parent.items as Node[]
    for (let i = 0; i < items.length; i += 1) yield { node: items[i] as Node, set: (node) => Object.assign(items, { [i]: node }) }
  }
}

/** Whether `relocateAnchors` can repair a document after sorting: each anchor is defined once, and no key is an alias or has an anchor. */
function canRelocateAnchors(document: Document): boolean {
  const names = new Set<string>()
  const visit = (node: Node): boolean => {
    if (!isAlias(node) && node.anchor !== undefined) {
      if (names.has(node.anchor)) return false
      names.add(node.anchor)
    }
    if (isMap(node) && node.items.some(({ key }) => isAlias(key) || (key as { anchor?: string }).anchor !== undefined)) return false
    for (const slot of slotsOf(node)) if (!visit(slot.node)) return false
    return true
  }
  return document.contents === null || visit(document.contents as Node)
}

/** Swaps each anchored value with its first alias if sorting has put the alias first: YAML needs the anchor before its aliases. */
function relocateAnchors(root: Node): void {
  const anchored = new Map<string, Slot>()
  const collect = (node: Node): void => {
    for (const slot of slotsOf(node)) {
      if (!isAlias(slot.node) && slot.node.anchor !== undefined) anchored.set(slot.node.anchor, slot)
      collect(slot.node)
    }
  }
  collect(root)
  if (anchored.size === 0) return
  const placed = new Set<Node>()
  const place = (node: Node): void => {
    for (const slot of slotsOf(node)) {
      const target = isAlias(slot.node) ? anchored.get(slot.node.source) : undefined
      if (isAlias(slot.node) && target !== undefined && !placed.has(target.node)) {
        target.set(slot.node)
        slot.set(target.node)
        placed.add(target.node)
        place(target.node)
      } else if (!isAlias(slot.node)) {
        placed.add(slot.node)
        place(slot.node)
      }
    }
  }
  place(root)
}

// Sorts the entries of a definition with their comments.

interface EntryOrder {
  /** The order of the keys; `natural` for names; null to keep the order of the file. */
  readonly order: readonly string[] | 'natural' | null
  /** The entries are records, so a comment above the first belongs to that record. */
  readonly isRecordMap?: true
}

/** Sorts the entries of a mapping. Comments and blank lines move with the entry below them. */
function sortEntries(map: YAMLMap, { order, isRecordMap }: EntryOrder): void {
  if (order === null) return
  const rank = order === 'natural' ? null : new Map(order.map((key, i) => [key, i]))
  const compare = (a: string, b: string): number => {
    if (a === b) return 0
    // Merge keys come first.
    if (a === '<<' || b === '<<') return a === '<<' ? -1 : 1
    if (rank === null) return compareNatural(a, b)
    return (rank.get(a) ?? rank.size) - (rank.get(b) ?? rank.size)
  }
  const sorted = (map.items as Pair<Node, Node | null>[]).toSorted((a, b) => compare(keyText(a), keyText(b)))
  const [oldFirst] = map.items as Pair<Node>[]
  const [newFirst] = sorted
  map.items = sorted
  if (oldFirst === undefined || newFirst === undefined || oldFirst === newFirst) return
  // The parser stores a blank line with the key below it, so the new first entry hands its own to the old first.
  if (newFirst.key.spaceBefore) oldFirst.key.spaceBefore = true
  newFirst.key.spaceBefore = false
  if (isRecordMap) attachCommentToEntry(map, oldFirst.key)
  keepHeader(map, oldFirst.key, newFirst.key)
  keepModelinesOnTop(oldFirst.key, newFirst.key)
}

const keyText = ({ key }: Pair<unknown, unknown>): string => (isScalar(key) ? String(key.value ?? '') : '')

/** After a document marker the parser attaches the comment above the first entry to the mapping: moves it to the entry. */
function attachCommentToEntry(map: YAMLMap, oldFirst: Node): void {
  if (map.flow || typeof map.commentBefore !== 'string' || oldFirst.commentBefore) return
  oldFirst.commentBefore = map.commentBefore
  map.commentBefore = null
}

/** Only the last paragraph of the comment above the first entry belongs to the entry; the paragraphs above it are the header of the file. */
function keepHeader(map: YAMLMap, oldFirst: Node, newFirst: Node): void {
  const cut = oldFirst.commentBefore?.lastIndexOf('\n\n') ?? -1
  if (map.flow || map.commentBefore || !oldFirst.commentBefore || cut === -1) return
  map.commentBefore = oldFirst.commentBefore.slice(0, cut)
  oldFirst.commentBefore = oldFirst.commentBefore.slice(cut + 2)
  newFirst.spaceBefore = true
}

const MODELINE = /^ *yaml-language-server:/

/** A modeline, which names the file's schema for editors, stays at the top of the file. */
function keepModelinesOnTop(oldFirst: Node, newFirst: Node): void {
  const lines = (oldFirst.commentBefore ?? '').split('\n')
  const modelines = lines.filter((line) => MODELINE.test(line))
  if (modelines.length === 0) return
  const rest = lines.filter((line) => !MODELINE.test(line))
  oldFirst.commentBefore = rest.length === 0 ? null : rest.join('\n')
  newFirst.commentBefore = [...modelines, ...(newFirst.commentBefore ? [newFirst.commentBefore] : [])].join('\n')
}
