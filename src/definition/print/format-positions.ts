import type { FieldKind } from '../../dns/rdata/kinds.ts'
import { RECORD_KEYS, SETTING_KEYS } from '../parse/keys.ts'
import type { Layout } from '../parse/parse-state.ts'
import { formKeys, type ValueForm, valueForm } from '../parse/value-forms.ts'
import { lookUp, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts'

/** What stands at a place of a definition, as far as its layout goes. */
export interface Position {
  /** Keys in their order; `natural` for names; null for the order they are written in. */
  readonly order: readonly string[] | 'natural' | null
  /** Scalars here are text, never numbers or booleans. */
  readonly isText: boolean
  /** Entries here are records with comments of their own, so that a comment above the first belongs to it. */
  readonly isRecordMap?: true
  /** The place of the value of a key; `textOf` gives the text of a scalar beside it. */
  readonly child: (key: string, textOf: (sibling: string) => string | undefined) => Position
  /** The place of an item of a list. */
  readonly item: () => Position
}

const SETTING_TEXTS: ReadonlySet<string> = new Set([
  'domain',
  'type',
  'status',
  'description',
  'group',
  'tags',
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

/** Text, or a list of texts. */
const TEXT: Position = { order: null, isText: true, child: () => TEXT, item: () => TEXT }

/** Something whose scalars are left as they are. */
const raw = (order: Position['order']): Position => {
  const position: Position = { order, isText: false, child: () => position, item: () => position }
  return position
}

const RAW = raw(null)

const mapping = (order: Position['order'], child: Position['child'], more: Partial<Position> = {}): Position => {
  const position: Position = { order, isText: true, child, item: () => position, ...more }
  return position
}

const SELECTOR = mapping(['name', 'type', 'target'], () => TEXT)
const INCLUDE = mapping(['file', 'with'], () => TEXT)

const SETTINGS: Position = mapping(SETTING_KEYS, (key) => {
  if (SETTING_TEXTS.has(key)) return TEXT
  if (key === 'unmanaged') return SELECTOR
  if (key === 'include') return INCLUDE
  return key === 'records' ? recordMap('settings') : RAW
})

/** The place of a whole file. */
export function rootPosition(root: YamlNode): Position {
  return root.kind === 'mapping' && isSettings(root) ? SETTINGS : recordMap('octodns')
}

const isSettings = (root: YamlMapping): boolean => lookUp(root, 'domain')?.kind === 'scalar'

/** octoDNS wants every mapping in natural order; beside settings, a record reads type first. */
const ordered = (layout: Layout, keys: readonly string[] | null): Position['order'] => (layout === 'octodns' ? 'natural' : keys)

function recordMap(layout: Layout): Position {
  const record = mapping(ordered(layout, RECORD_KEYS), (key, textOf) => {
    if (key === 'type') return TEXT
    return key === 'value' || key === 'values' ? valuePosition(valueForm(textOf('type') ?? ''), layout) : raw(ordered(layout, null))
  })
  return mapping('natural', () => record, { isRecordMap: true })
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
