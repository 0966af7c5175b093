/** Rows as aligned lines of text, for terminals and for code blocks. */
import { formatCount } from '../base/english.ts'
import type { Cell, ChangeRow, DomainRow, Marker, RecordRow } from './change-rows.ts'
import type { Paint, Palette } from './palette.ts'

export interface RowStyle {
  readonly palette: Palette
  /** Maximum number of columns of a line; null without a limit. */
  readonly width: number | null
  /** Maximum length of one value in characters; null without a limit. */
  readonly longestValue: number | null
  /** Whether to show identifiers, which records one call carries, and the calls of a program above the one that makes a record. */
  readonly calls: boolean
  /** The text before a row; always as wide. */
  readonly prefix: (marker: Marker) => string
}

/** Longer names do not widen the column. On a narrow terminal it leaves room for data, up to the least width. */
const NAME_COLUMN = 32
const LEAST_NAME_COLUMN = 10
/** Columns for the begin of a value and its length. */
const LEAST_ROOM = 28
/** Maximum length of data that only identify a record. */
const LONGEST_MENTION = 60
const GAP = '  '

interface Columns {
  readonly prefix: number
  readonly name: number
  readonly ttl: number
  readonly type: number
}

/** The lines of each row, in order. */
export function layoutRows(rows: readonly ChangeRow[], style: RowStyle): string[][] {
  const columns = measure(rows, style)
  return rows.map((row) => rowLines(row, columns, style))
}

function measure(rows: readonly ChangeRow[], style: RowStyle): Columns {
  const columns = { prefix: style.prefix('+').length, name: 1, ttl: 1, type: 1 }
  const records = rows.filter((row) => row.subject === 'record')
  for (const { ttl, type } of records) {
    columns.ttl = Math.max(columns.ttl, ttl.length)
    columns.type = Math.max(columns.type, type.length)
  }
  const left = (style.width ?? Number.POSITIVE_INFINITY) - columns.prefix - columns.ttl - columns.type - 3 * GAP.length - LEAST_ROOM
  const widest = Math.min(NAME_COLUMN, Math.max(LEAST_NAME_COLUMN, left))
  for (const { name } of records) if (name.length <= widest) columns.name = Math.max(columns.name, name.length)
  return columns
}

const ARROW = ' → '

const cellText = (cell: Cell): string => (cell.length === 1 ? cell[0] : cell.join(ARROW))

function rowLines(row: ChangeRow, columns: Columns, style: RowStyle): string[] {
  const lines = row.subject === 'domain' ? domainLines(row, columns, style) : recordLines(row, columns, style)
  if (style.calls) lines[0] += style.palette.dim(callText(row))
  const indent = ' '.repeat(columns.prefix + 2)
  const paint = row.state === 'failed' || row.state === 'unknown' ? style.palette.error : style.palette.dim
  for (const note of row.notes) lines.push(indent + paint(note))
  return lines
}

/** The identifier and the other record of the same call, in brackets; empty if there are none. */
function callText(row: ChangeRow): string {
  const other = row.subject === 'record' ? row.sameCall : null
  const parts = [
    ...(row.id === null ? [] : [`id ${row.id}`]),
    ...(other === null ? [] : [`same request as ${other.marker} ${other.name} ${shorten(other.data, LONGEST_MENTION)}`]),
  ]
  return parts.length === 0 ? '' : `${GAP}[${parts.join('; ')}]`
}

function recordLines(row: RecordRow, columns: Columns, style: RowStyle): string[] {
  const paint = markerPaint(row.marker, style.palette)
  const name = row.name.padEnd(columns.name)
  const ttl = style.palette.dim(row.ttl.padStart(columns.ttl))
  const head = `${paint(style.prefix(row.marker) + name)}${GAP}${ttl}${GAP}${row.type.padEnd(columns.type)}${GAP}`
  const [first, ...above] = row.places
  const place = first === undefined ? '' : GAP + (style.calls && above.length > 0 ? `${first}, called at ${above.join(', ')}` : first)
  const before = columns.prefix + name.length + columns.ttl + columns.type + 3 * GAP.length
  // Of two long texts in one call, the first difference is visible.
  const data = (room: number): string =>
    paint(row.sameCall === null ? shorten(row.data, room) : shortenPair(row.data, row.sameCall.data, room)[0])
  const indent = ' '.repeat(columns.prefix + GAP.length)
  const room = (style.width ?? Number.POSITIVE_INFINITY) - before
  const roomBelow = room + before - indent.length
  if (row.data.length + place.length <= room) return [head + data(roomFor(before + place.length, style)) + style.palette.dim(place)]
  const places = place === '' ? [] : [indent + style.palette.dim(place.trim())]
  const isBelow = row.data.length > room && (row.data.length <= roomBelow || room < LEAST_ROOM)
  return isBelow
    ? [head.trimEnd(), indent + data(roomFor(indent.length, style)), ...places]
    : [head + data(roomFor(before, style)), ...places]
}

function domainLines(row: DomainRow, columns: Columns, style: RowStyle): string[] {
  const { palette } = style
  const paint = markerPaint(row.marker, palette)
  const lead = `${paint(`${style.prefix(row.marker)}zone`)}${GAP}`
  const width = columns.prefix + 'zone'.length + GAP.length
  if (row.settings.length === 0) return [lead + paint(row.marker === '-' ? 'and all its records' : 'with the default settings')]
  return row.settings.flatMap(({ key, value }, index) => {
    const head = `${index === 0 ? lead : ' '.repeat(width)}${key} `
    return valueLines(head, width + key.length + 1, value, row.marker, style)
  })
}

/** The head and its value on one line; two values on two lines if they do not fit on one. */
function valueLines(head: string, before: number, cell: Cell, marker: Marker, style: RowStyle): string[] {
  const { palette } = style
  const room = roomFor(before, style)
  if (cell.length === 1) {
    const text = shorten(cell[0], room)
    return [head + (marker === '~' ? palette.dim(text) : markerPaint(marker, palette)(text))]
  }
  if (cellText(cell).length <= Math.min(room, style.width === null ? 120 : room)) return [head + paintCell(cell, palette, palette.dim)]
  const [existing, desired] = shortenPair(cell[0], cell[1], room)
  const arrow = ARROW.trim()
  return [head + palette.removed(existing), `${' '.repeat(Math.max(0, before - 2))}${arrow} ${palette.added(desired)}`]
}

function roomFor(before: number, { width, longestValue }: RowStyle): number {
  const onLine = width === null ? Number.POSITIVE_INFINITY : Math.max(LEAST_ROOM, width - before)
  return Math.min(onLine, longestValue ?? Number.POSITIVE_INFINITY)
}

const paintCell = (cell: Cell, palette: Palette, unchanged: Paint): string =>
  cell.length === 1 ? unchanged(cell[0]) : `${palette.removed(cell[0])}${ARROW}${palette.added(cell[1])}`

const markerPaint = (marker: Marker, palette: Palette): Paint =>
  marker === '+' ? palette.added : marker === '-' ? palette.removed : palette.changed

const lengthNote = (text: string): string => ` (${formatCount(text.length)} characters)`

/** Cuts a text to `room` characters and appends its full length. */
export function shorten(text: string, room: number): string {
  if (text.length <= room) return text
  const note = lengthNote(text)
  return `${cut(text, 0, Math.max(8, room - note.length - 1))}…${note}`
}

/** Cuts both texts to `room` characters, so that the first difference is visible. */
function shortenPair(existing: string, desired: string, room: number): readonly [string, string] {
  if (existing.length <= room && desired.length <= room) return [existing, desired]
  const start = firstDifference(existing, desired)
  const longest = existing.length > desired.length ? existing : desired
  const kept = Math.max(8, room - lengthNote(longest).length - 2)
  if (start < kept - 4) return [shorten(existing, room), shorten(desired, room)]
  const from = Math.max(0, start - 6)
  const view = (text: string): string => {
    const end = Math.min(text.length, from + kept)
    return `…${cut(text, from, end)}${end < text.length ? '…' : ''}${lengthNote(text)}`
  }
  return [view(existing), view(desired)]
}

function firstDifference(a: string, b: string): number {
  let index = 0
  while (index < a.length && index < b.length && a[index] === b[index]) index += 1
  return index
}

/** A slice that splits no surrogate pair. */
function cut(text: string, from: number, to: number): string {
  const begin = isLowSurrogate(text, from) ? from + 1 : from
  const end = isLowSurrogate(text, to) ? to - 1 : to
  return text.slice(begin, end)
}

const isLowSurrogate = (text: string, index: number): boolean => {
  const code = text.charCodeAt(index)
  return code >= 0xdc00 && code <= 0xdfff
}
