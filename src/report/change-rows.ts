/** The changes of a zone as rows, by owner in canonical order. A renamed record has two rows, out and in. Text in rows contains no control characters. */
import { compareText } from '../dns/compare-text.ts'
import { oneLine } from '../dns/diagnostic.ts'
import { type DomainName, isAtOrBelow, relativeName, sortKey } from '../dns/domain-name.ts'
import type { ResourceRecord } from '../dns/record.ts'
import type { ZoneSettings } from '../dns/zone.ts'
import type { Change, DomainChange, Outcome } from '../plan/plan.ts'
import type { ZoneView } from './report.ts'

/** One value, or the existing and the desired value if they differ. */
export type Cell = readonly [value: string] | readonly [existing: string, desired: string]

export type Marker = '+' | '~' | '-'

interface RowBase {
  readonly marker: Marker
  readonly id: string | null
  readonly state: Outcome['state'] | null
  /** Why a change was split, failed or skipped. */
  readonly notes: readonly string[]
}

export interface RecordRow extends RowBase {
  readonly subject: 'record'
  /** For a rename, which half this is: `out` comes directly before `in`. */
  readonly joint: 'out' | 'in' | null
  /** Relative to the zone, `@` at the apex. */
  readonly name: string
  readonly ttl: Cell
  readonly type: string
  readonly data: Cell
}

export interface DomainRow extends RowBase {
  readonly subject: 'domain'
  readonly settings: readonly { readonly key: string; readonly value: Cell }[]
}

export type ChangeRow = RecordRow | DomainRow

/** The rows of one change; a rename has two. */
export type RowGroup = readonly [ChangeRow] | readonly [RecordRow, RecordRow]

export function changeRows({ plan, outcomes }: ZoneView): RowGroup[] {
  const keyed = plan.changes.map((change, index) => ({ change, index, ...orderKeys(change) }))
  keyed.sort((a, b) => compareText(a.owner, b.owner) || compareText(a.kind, b.kind) || a.index - b.index)
  return keyed.map(({ change, index }) => rowsOf(change, outcomes?.[index] ?? null, plan.zone))
}

const ACTION_ORDER = { delete: 0, update: 1, create: 2 } as const

/** Changes of the zone itself come first. At one owner, deletes come before updates and creates. */
function orderKeys(change: Change): { readonly owner: string; readonly kind: string } {
  if (change.subject === 'domain') return { owner: '', kind: '' }
  const { name } = change.existing ?? change
  return { owner: sortKey(name), kind: `${ACTION_ORDER[change.action]} ${change.type}` }
}

function rowsOf(change: Change, outcome: Outcome | null, zone: DomainName): RowGroup {
  if (change.subject === 'domain') return [domainRow(change, outcome)]
  const { existing, desired } = change
  const split = change.split === undefined ? [] : [`separate calls: ${oneLine(change.split)}`]
  const source = desired?.source === undefined ? [] : [`from ${oneLine(desired.source)}`]
  const facts = { id: idText(change), state: outcome?.state ?? null, notes: [...source, ...split, ...outcomeNotes(outcome)] }
  if (existing && desired && existing.name !== desired.name) {
    return [recordRow(existing, null, '-', 'out', zone, { ...facts, notes: [] }), recordRow(desired, null, '+', 'in', zone, facts)]
  }
  if (existing && desired) return [recordRow(desired, existing, '~', null, zone, facts)]
  const record = desired ?? existing
  if (!record) throw new Error('a change without records')
  return [recordRow(record, null, desired ? '+' : '-', null, zone, facts)]
}

type Facts = Pick<RecordRow, 'id' | 'state' | 'notes'>

/** The row of a record. If `before` is given, cells show both values where they differ. */
function recordRow(
  record: ResourceRecord,
  before: ResourceRecord | null,
  marker: Marker,
  joint: RecordRow['joint'],
  zone: DomainName,
  { id, state, notes }: Facts,
): RecordRow {
  const ttl = ttlText(record)
  const data = oneLine(record.data)
  return {
    subject: 'record',
    marker,
    joint,
    name: ownerText(record.name, zone),
    ttl: before === null || before.ttl === record.ttl ? [ttl] : [ttlText(before), ttl],
    type: oneLine(record.type),
    data: before === null || before.data === record.data ? [data] : [oneLine(before.data), data],
    id,
    state,
    notes,
  }
}

function domainRow(change: DomainChange, outcome: Outcome | null): DomainRow {
  const { action, existing, desired, fields } = change
  const settings = action === 'delete' ? [] : fields.map((key) => ({ key, value: settingCell(action, existing?.[key], desired?.[key]) }))
  return {
    subject: 'domain',
    marker: action === 'create' ? '+' : action === 'delete' ? '-' : '~',
    settings,
    id: idText(change),
    state: outcome?.state ?? null,
    notes: outcomeNotes(outcome),
  }
}

type Setting = ZoneSettings[keyof ZoneSettings]

const settingCell = (action: Change['action'], existing: Setting, desired: Setting): Cell =>
  action === 'create' ? [settingText(desired)] : [settingText(existing), settingText(desired)]

const idText = ({ id }: Change): string | null => (id === null ? null : oneLine(String(id)))

function outcomeNotes(outcome: Outcome | null): string[] {
  switch (outcome?.state) {
    case 'failed':
      return [`failed: ${oneLine(outcome.error)}`]
    case 'unknown':
      return [`unknown whether it was carried out: ${oneLine(outcome.error)}`]
    case 'skipped':
      return [`skipped: ${oneLine(outcome.because)}`]
    default:
      return []
  }
}

function ownerText(name: DomainName, zone: DomainName): string {
  if (!isAtOrBelow(name, zone)) return oneLine(name)
  return oneLine(relativeName(name, zone)) || '@'
}

const ttlText = ({ ttl }: ResourceRecord): string => (ttl === null ? 'default' : String(ttl))

function settingText(value: Setting): string {
  if (value === undefined) return '(none)'
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') return value === '' ? '""' : oneLine(value)
  return `[${value.map(oneLine).join(', ')}]`
}
