/**
 * The changes of a zone as rows, like a diff: each record is under its owner and type, in canonical order, removed ones first. Text in rows contains no
 * control characters.
 */
import { oneLine, placeText } from '../base/diagnostic.ts'
import { compareText } from '../base/text.ts'
import { sortKey } from '../dns/domain-name.ts'
import type { ResourceRecord } from '../dns/record.ts'
import type { ZoneSettings } from '../dns/zone.ts'
import type { Change, DomainChange, Outcome, ZonePlan } from '../plan/plan.ts'
import type { ZoneView } from './report.ts'
import { ownerText, takeUsageNotes, zoneUsageNote } from './summary.ts'

/** One value, or the existing and the desired value of a setting. */
export type Cell = readonly [value: string] | readonly [existing: string, desired: string]

export type Marker = '+' | '~' | '-'

interface RowBase {
  readonly marker: Marker
  /** The index of the change in the plan. An update of a record has two rows. */
  readonly change: number
  readonly id: string | null
  readonly state: Outcome['state'] | null
  /** Why a change was split, failed or skipped. */
  readonly notes: readonly string[]
}

export interface RecordRow extends RowBase {
  readonly subject: 'record'
  /** Relative to the zone, `@` at the apex. */
  readonly name: string
  readonly ttl: string
  readonly type: string
  readonly data: string
  /** The call of a program that makes the record, and those above it, innermost first; empty for others. */
  readonly places: readonly string[]
  /** The other record of an update, which the same call removes or adds; null if the call carries only this one. */
  readonly sameCall: Pick<RecordRow, 'marker' | 'name' | 'data'> | null
}

export interface DomainRow extends RowBase {
  readonly subject: 'domain'
  readonly settings: readonly { readonly key: string; readonly value: Cell }[]
}

export type ChangeRow = RecordRow | DomainRow

export function changeRows(view: ZoneView): ChangeRow[] {
  const usageOf = takeUsageNotes(view.plan)
  const keyed = view.plan.changes.flatMap((change, index) => rowsOf(change, index, view, usageOf))
  keyed.sort(
    (a, b) => compareText(a.owner, b.owner) || compareText(a.type, b.type) || compareMarkers(a.row, b.row) || a.row.change - b.row.change,
  )
  const said = new Set<string>()
  return keyed.map(({ row }) => withoutRepetition(row, view, said))
}

/** The row without the error of its call if `said` has it from an earlier row, by call and note. */
function withoutRepetition(row: ChangeRow, { plan, outcomes }: ZoneView, said: Set<string>): ChangeRow {
  if (row.state !== 'failed' && row.state !== 'unknown') return row
  const errors = outcomeNotes(outcomes?.[row.change] ?? null)
  const notes = row.notes.map((note) => {
    const key = `${plan.changes[row.change]?.call} ${note}`
    if (!errors.includes(note) || !said.has(key)) {
      said.add(key)
      return note
    }
    return `${row.state} with its request (see above)`
  })
  return { ...row, notes }
}

/** A row with its sort keys. Changes of the zone itself have no owner and come first. */
interface KeyedRow {
  readonly row: ChangeRow
  readonly owner: string
  readonly type: string
}

const MARKER_ORDER = { '~': 0, '-': 1, '+': 2 } as const

const compareMarkers = (a: ChangeRow, b: ChangeRow): number => MARKER_ORDER[a.marker] - MARKER_ORDER[b.marker]

function rowsOf(change: Change, index: number, { plan, outcomes }: ZoneView, usageOf: ReturnType<typeof takeUsageNotes>): KeyedRow[] {
  const outcome = outcomes?.[index] ?? null
  if (change.subject === 'domain') return [{ row: domainRow(change, index, outcome, plan), owner: '', type: '' }]
  const { existing, desired } = change
  const split = change.split === undefined ? [] : [`separate requests: ${oneLine(change.split)}`]
  const owner = change.owner === undefined ? [] : [`owner: ${oneLine(change.owner)}`]
  const source = desired?.source === undefined ? [] : [`from ${oneLine(desired.source)}`]
  const result = outcomeNotes(outcome)
  const used = existing === null ? null : usageOf(existing)
  const usage = used === null ? [] : [used]
  const facts = { change: index, id: idText(change), state: outcome?.state ?? null }
  const rows: KeyedRow[] = []
  const add = (record: ResourceRecord, marker: '-' | '+', other: ResourceRecord | null, notes: readonly string[]): void => {
    const sameCall = other && {
      marker: marker === '-' ? ('+' as const) : ('-' as const),
      name: ownerText(other.name, plan.zone),
      data: oneLine(other.data),
    }
    const places = marker === '+' && change.at ? [change.at, ...(change.at.calledFrom ?? [])].map(placeText) : []
    const row = { ...facts, ...recordCells(record, marker, plan), marker, places, sameCall, notes }
    rows.push({ row, owner: sortKey(record.name), type: record.type })
  }
  // The notes of a renamed record are at both names.
  const isRenamed = existing !== null && desired !== null && existing.name !== desired.name
  if (existing)
    add(existing, '-', desired, [...settingsNote(existing), ...usage, ...(desired ? [] : split), ...(desired && !isRenamed ? [] : result)])
  if (desired) add(desired, '+', existing, [...settingsNote(desired), ...owner, ...source, ...split, ...result])
  return rows
}

/** `proxied: true, comment: "web servers"`: the settings that an update changes, or those of a created or deleted record. */
function settingsNote({ settings = {} }: ResourceRecord): string[] {
  const texts = Object.entries(settings).map(([key, value]) => `${oneLine(key)}: ${oneLine(JSON.stringify(value))}`)
  return texts.length === 0 ? [] : [texts.join(', ')]
}

const recordCells = (
  record: ResourceRecord,
  marker: '-' | '+',
  { zone, defaultTtl }: ZonePlan,
): Pick<RecordRow, 'subject' | 'name' | 'ttl' | 'type' | 'data'> => ({
  subject: 'record',
  name: ownerText(record.name, zone),
  ttl: ttlText(record, (marker === '-' ? defaultTtl?.existing : defaultTtl?.desired) ?? null),
  type: oneLine(record.type),
  data: oneLine(record.data),
})

function domainRow(change: DomainChange, index: number, outcome: Outcome | null, plan: ZonePlan): DomainRow {
  const { action, existing, desired, fields } = change
  const used = action === 'delete' ? zoneUsageNote(plan) : null
  const settings = action === 'delete' ? [] : fields.map((key) => ({ key, value: settingCell(action, existing?.[key], desired?.[key]) }))
  return {
    subject: 'domain',
    marker: action === 'create' ? '+' : action === 'delete' ? '-' : '~',
    settings,
    change: index,
    id: idText(change),
    state: outcome?.state ?? null,
    notes: [...(used === null ? [] : [used]), ...outcomeNotes(outcome)],
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

const ttlText = ({ ttl }: ResourceRecord, defaultTtl: number | null): string =>
  ttl !== null ? String(ttl) : defaultTtl === null ? 'default' : `${defaultTtl} (default)`

function settingText(value: Setting): string {
  if (value === undefined) return '(none)'
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') return value === '' ? '""' : oneLine(value)
  return `[${value.map(oneLine).join(', ')}]`
}
