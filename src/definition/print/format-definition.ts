/** Formats a definition in the canonical layout. */
import { isMap, isScalar, isSeq, type Node, type Scalar } from 'yaml'
import type { FieldKind } from '../../dns/rdata/rdata-types.ts'
import { failure, ok, type Result } from '../../dns/result.ts'
import { SOA_FIELDS } from '../../dns/soa.ts'
import { octodnsName } from '../parse/octodns-name.ts'
import type { Layout } from '../parse/parse-state.ts'
import { SETTING_KEYS } from '../parse/read-settings.ts'
import { formKeys, RECORD_KEYS, type ValueForm, valueForm } from '../parse/value-forms.ts'
import { commentsOf } from '../yaml/comments.ts'
import { parseEditableYaml, printDocument, readValidTree } from '../yaml/editable-yaml.ts'
import { isSameTree, lookUp, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts'
import { canRelocateAnchors, relocateAnchors } from './relocate-anchors.ts'
import { type EntryOrder, keyText, sortEntries } from './sort-entries.ts'
import { styleKey, styleScalar } from './styled-nodes.ts'

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
