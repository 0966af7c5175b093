/**
 * Changes one RRset of a YAML definition and nothing else. The text outside the owner's entry stays the same, octet by octet; comments within the entry
 * are kept. The entry is changed in a document that two parsers read alike, printed, and spliced into the text.
 */
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, Pair, type Scalar, visit, YAMLMap, YAMLSeq } from 'yaml'
import { failure, ok, type Result } from '../../base/result.ts'
import type { Layout } from '../../definition/parse/parse-state.ts'
import { compareNatural } from '../../definition/print/natural-order.ts'
import { parseEditableYaml, printDocument } from '../../definition/yaml/editable-yaml.ts'
import { plainNode, styled, type YamlData } from '../../definition/yaml/print-yaml.ts'
import { lookUp, type YamlEntry, type YamlMapping, type YamlNode } from '../../definition/yaml/yaml-node.ts'
import { type DomainName, parseDomainName, relativeName } from '../../dns/domain-name.ts'
import type { Ttl } from '../../dns/ttl.ts'
import { keepSpacing } from './keep-spacing.ts'
import { locateEntries, locateFirstEntry, removeEntry, replaceEntry } from './splice-entry.ts'

export interface RrsetEdit {
  readonly name: DomainName
  readonly type: string
  /** Offsets of the values to keep; all other values of the RRset are removed. */
  readonly kept: ReadonlySet<number>
  /** New values in the form of the layout. */
  readonly added: readonly YamlData[]
  /** Undefined keeps the TTLs. */
  readonly ttl?: Ttl | undefined
  /** Whether the RRset has records before the edit. */
  readonly exists: boolean
  /** Whether the edit removes the owner's last records. */
  readonly removesOwner: boolean
  /** Whether the file is included by another, so that `${name}` is a variable. */
  readonly isFragment?: boolean
}

const BY_HAND = 'edit it by hand'

/**
 * Returns the edited text. Forms that cannot be edited without changing other records are refused. With `tree`, the tree of the text, only a part of a
 * file with many names is parsed if that suffices.
 */
export function editRrset(text: string, zone: DomainName, layout: Layout, edit: RrsetEdit, tree: YamlNode | null = null): Result<string> {
  const window = tree && entryWindow(text, tree, { name: edit.name, zone, layout })
  if (window) {
    const kept = [...edit.kept].map(window.toWindowOffset)
    if (kept.every((offset) => offset !== null)) {
      const edited = editEntry(window.text, zone, layout, { ...edit, kept: new Set(kept) }, 'entry')
      if (edited.ok) return ok(window.restore(keepSpacing(window.text, edited.value)))
    }
  }
  const edited = editEntry(text, zone, layout, edit, 'file')
  return edited.ok ? ok(keepSpacing(text, edited.value)) : edited
}

/** With `entry` as the limit, only the entry may be printed. */
function editEntry(text: string, zone: DomainName, layout: Layout, edit: RrsetEdit, limit: 'entry' | 'file'): Result<string> {
  const read = parseEditableYaml(text)
  if (!read.ok) return read
  const { document, keyComments } = read.value
  // Before the document is changed.
  const first = locateFirstEntry(text, document, layout === 'octodns')
  const map = recordMap(document, layout)
  if (!map.ok) return map
  const source = map.value.items.length === 0 ? first : locateEntries(text, map.value, (pair) => ownerOf(pair, zone))
  const owner = map.value.items.find((pair) => ownerOf(pair, zone) === edit.name)
  if (owner === undefined && (edit.exists || edit.added.length === 0))
    return failure(`${edit.name} is not written there by its own name but by a variable or an included file; ${BY_HAND}`)
  const change =
    owner === undefined ? addOwner(document, map.value, zone, layout, edit) : changeOwner(document, map.value, owner as Entry, layout, edit)
  if (!change.ok) return change
  if (source === null) {
    if (limit === 'entry') return failure(BY_HAND)
    const printed = printDocument(document, keyComments, text)
    return ok(text.includes('\r\n') ? printed.replaceAll(/(?<!\r)\r*\n/g, '\r\n') : printed)
  }
  const { items } = map.value
  const index = items.findIndex((pair) => ownerOf(pair, zone) === edit.name)
  if (index === -1) return 'entries' in source ? ok(removeEntry(source, edit.name)) : ok(text)
  const previous = items[index - 1]
  // Only this entry is printed and parsed again, unless it contains aliases.
  map.value.items = items.slice(hasAlias(items[index]?.value ?? null) ? 0 : index, index + 1)
  const alone: Document = document
  alone.contents = map.value
  return replaceEntry(source, edit.name, previous ? ownerOf(previous, zone) : null, printDocument(alone, keyComments, text))
}

type Entry = Pair<Scalar, Node | null>

function recordMap(document: Document, layout: Layout): Result<YAMLMap<Scalar, Node | null>> {
  const { contents } = document
  if (contents === null || (isScalar(contents) && contents.value === null)) {
    const map = new YAMLMap<Scalar, Node | null>()
    document.contents = map
    return ok(map)
  }
  // A fragment is a record map, like a file in octoDNS's layout.
  const isWhole = layout === 'octodns' || !isMap(contents) || !contents.has('domain')
  const map = isWhole ? contents : contents.get('records', true)
  if (isMap(map)) return ok(map as YAMLMap<Scalar, Node | null>)
  if (isWhole || !isMap(contents)) return failure(`the file is not a mapping of names to records; ${BY_HAND}`)
  // `records:` is absent or empty.
  if (map !== undefined && map !== null && !(isScalar(map) && map.value === null)) return failure(`records is not a mapping; ${BY_HAND}`)
  const records = new YAMLMap<Scalar, Node | null>()
  contents.set(styled('records'), records)
  return ok(records)
}

function ownerOf(pair: Pair<unknown, unknown>, zone: DomainName): DomainName | null {
  const text = isScalar(pair.key) ? String(pair.key.value ?? '') : ''
  if (text === '') return zone
  const name = parseDomainName(text, zone)
  return name.ok ? name.value : null
}

function addOwner(document: Document, map: YAMLMap<Scalar, Node | null>, zone: DomainName, layout: Layout, edit: RrsetEdit): Result<void> {
  const key = relativeName(edit.name, zone)
  const index = map.items.findIndex((other) => compareNatural(String(other.key.value ?? ''), key) > 0)
  const neighbours = index === -1 ? [map.items.at(-1)] : [map.items[index - 1], map.items[index]]
  const beside = neighbours.flatMap((pair) => (pair ? (recordsAt(pair.value, document) ?? []) : []))
  // If the neighbours have different styles, it gets the default one.
  const pair = new Pair(styled(key), newRecord(layout, edit, beside.every(isBlock) ? beside : [])) as Entry
  map.items.splice(index === -1 ? map.items.length : index, 0, pair)
  if (map.items.length === 1) map.flow = false
  return ok(undefined)
}

/** Maximum length in characters of a value on one line. */
const WIDTH = 80

/** A record in the style of its neighbours. */
function newRecord(layout: Layout, { type, ttl, added }: RrsetEdit, beside: readonly Node[]): Node {
  const values = added.length === 1 ? { value: added[0] as YamlData } : { values: added }
  const record: YamlData = { type, ...(ttl !== undefined && { ttl }), ...values }
  const ordered = layout === 'octodns' ? inNaturalOrder(record) : record
  const node = plainNode(ordered)
  if (isMap(node)) node.flow = layout === 'settings' && JSON.stringify(ordered).length <= WIDTH && !beside.some(isBlock)
  return node
}

const isBlock = (node: Node): boolean => isMap(node) && node.flow !== true

/** octoDNS requires natural order in every mapping. */
function inNaturalOrder(value: YamlData): YamlData {
  if (typeof value !== 'object') return value
  if (Array.isArray(value)) return (value as readonly YamlData[]).map(inNaturalOrder)
  const entries = Object.entries(value).sort(([a], [b]) => compareNatural(a, b))
  return Object.fromEntries(entries.map(([key, item]) => [key, inNaturalOrder(item as YamlData)]))
}

/** An owner whose records cannot be edited can still be removed as a whole. */
function changeOwner(document: Document, map: YAMLMap<Scalar, Node | null>, owner: Entry, layout: Layout, edit: RrsetEdit): Result<void> {
  const changed = changeRecords(document, map, owner, layout, edit)
  if (changed.ok || !edit.removesOwner) return changed
  map.items.splice(map.items.indexOf(owner), 1)
  return ok(undefined)
}

function changeRecords(document: Document, map: YAMLMap<Scalar, Node | null>, owner: Entry, layout: Layout, edit: RrsetEdit): Result<void> {
  const { value } = owner
  const records = recordsAt(value, document)
  const own = (records ?? []).filter((record) => typeOf(record) === edit.type) as YAMLMap<Scalar, Node | null>[]
  if (value === null || records === null || own.some(hasAlias) || (own.length === 0 && edit.exists))
    return failure(`the value of ${edit.name} is an alias, an included file or not a record; ${BY_HAND}`)
  if ((isSeq(value) && value.anchor !== undefined) || own.some((record) => record.anchor !== undefined))
    return failure(`the value of ${edit.name} has an anchor and is used elsewhere; ${BY_HAND}`)
  if (edit.isFragment && edit.added.length > 0 && own.some((record) => removesVariable(record, edit)))
    return failure(
      'its value contains a variable: change it under "with" of the include, or write the record in the definition with override: true',
    )
  const [first, ...others] = own
  let left = records
  if (first === undefined) {
    if (edit.added.length > 0) left = [...records, newRecord(layout, edit, records)]
  } else {
    // The values of further entries stay where they are.
    for (const record of others) if (!keepValues(record, layout, edit, [])) left = left.filter((one) => one !== record)
    if (!keepValues(first, layout, edit, edit.added)) left = left.filter((one) => one !== first)
    if (edit.ttl !== undefined) for (const record of own) setTtl(record, layout, edit.ttl)
  }
  if (left.length === 0) map.items.splice(map.items.indexOf(owner), 1)
  else if (isSeq(value)) value.items = left
  else if (left.length > 1) {
    const list = new YAMLSeq()
    list.items = left
    if (map.flow) list.flow = true
    const { comment } = value
    value.comment = null
    list.comment = null
    if (comment) value.comment = comment
    owner.value = list as unknown as Node
  }
  return ok(undefined)
}

/** The record or list of records, including aliases of single records; null for anything else. */
function recordsAt(value: Node | null, document: Document): Node[] | null {
  if (isSeq(value)) return value.items as Node[]
  const isOne = isMap(value) || (isAlias(value) && isMap(value.resolve(document)))
  return isOne ? [value] : null
}

function hasAlias(node: Node | null): boolean {
  let found = false
  visit(node, {
    Alias: () => {
      found = true
      return visit.BREAK
    },
    Scalar: (_, { tag, value }) => {
      if (tag === '!include' || value === '<<') found = true
    },
  })
  return found
}

function typeOf(node: Node): string | null {
  const type = isMap(node) ? node.get('type') : null
  return type === null || type === undefined ? null : String(type)
}

/** Removes and adds values of a record. Returns whether any value is left. */
function keepValues(record: YAMLMap<Scalar, Node | null>, layout: Layout, { kept }: RrsetEdit, added: readonly YamlData[]): boolean {
  const pair = pairOf(record, 'values') ?? pairOf(record, 'value')
  if (pair === undefined) return false
  const list = isSeq(pair.value) ? pair.value : null
  const present = (list ? list.items : [pair.value]) as Node[]
  const staying = present.filter((node) => kept.has(node?.range?.[0] ?? -1))
  if (staying.length + added.length === 0) return false
  // A blank line above it separated it from a removed value.
  if (staying[0] && staying[0] !== present[0]) staying[0].spaceBefore = false
  const isInBlock = record.flow !== true && present.some(isBlock)
  const nodes = [...staying, ...added.map((value) => valueNode(layout === 'octodns' ? inNaturalOrder(value) : value, record, isInBlock))]
  if (list) list.items = nodes
  else if (nodes.length === 1 && nodes[0]) {
    if (nodes[0] !== present[0]) takeComments(nodes[0], present[0])
    pair.value = nodes[0]
  } else {
    const values = new YAMLSeq()
    values.items = nodes
    values.flow = record.flow === true || nodes.every((node) => isScalar(node) && !node.comment && String(node.value).length < WIDTH / 4)
    if (staying.length === 0) takeComments(values.flow ? values : (nodes[0] as Node), present[0])
    ;(pair.key as Scalar).value = 'values'
    pair.value = values as unknown as Node
  }
  return true
}

/** Comments on a single value stay with the values that replace it. */
function takeComments(node: Node, replaced: Node | undefined): void {
  const { comment, commentBefore } = replaced ?? {}
  if (comment) node.comment = comment
  if (commentBefore) node.commentBefore = commentBefore
}

/** Whether the edit removes a value that contains a variable. */
function removesVariable(record: YAMLMap<Scalar, Node | null>, { kept }: RrsetEdit): boolean {
  const value = (pairOf(record, 'values') ?? pairOf(record, 'value'))?.value ?? null
  const present = (isSeq(value) ? value.items : [value]) as (Node | null)[]
  return present.some((node) => node !== null && !kept.has(node.range?.[0] ?? -1) && /(?<!\$)\$\{/.test(String(node)))
}

function valueNode(value: YamlData, record: YAMLMap<Scalar, Node | null>, isInBlock: boolean): Node {
  const node = plainNode(value)
  if (isMap(node)) node.flow = record.flow === true || (!isInBlock && JSON.stringify(value).length <= WIDTH)
  return node
}

const pairOf = (map: YAMLMap<Scalar, Node | null>, key: string): Entry | undefined =>
  map.items.find((pair) => String(pair.key.value ?? '') === key) as Entry | undefined

function setTtl(record: YAMLMap<Scalar, Node | null>, layout: Layout, ttl: Ttl): void {
  const pair = pairOf(record, 'ttl')
  const node = plainNode(ttl)
  if (pair) {
    const { comment } = (pair.value ?? {}) as { comment?: string | null }
    if (comment) node.comment = comment
    pair.value = node
    return
  }
  const type = record.items.findIndex(({ key }) => String(key.value ?? '') === 'type')
  record.items.splice(layout === 'octodns' ? type : type + 1, 0, new Pair(styled('ttl'), node) as Entry)
}

// An edit of one name in a definition with thousands needs only that entry and its neighbours. The other entries are cut out of the text before the slow
// parser that keeps comments reads it, and put back afterwards. Whole lines are cut, from the line of one key to the line of another key of the same
// mapping; the lines between two keys belong to the first one, so the rest is still a valid definition.

/** The fewest entries for which this pays off. */
const MANY = 100

interface EntryWindow {
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
  const map = recordNodes(root, layout)
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

function recordNodes(root: YamlNode, layout: Layout): YamlMapping | null {
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
