import type { DomainName } from '../domain-name.ts'
import type { DefinedRecord } from '../record.ts'
import type { Ttl } from '../ttl.ts'
import { type Completion, type PlainText, textOf } from './plain-text.ts'

/** Records in their order. Each is made anew whenever it is come to: who needs one more than once keeps it. */
export interface RecordSequence extends Iterable<DefinedRecord> {
  readonly length: number
}

/**
 * Records by the places in the text at which their parts stand. Objects of a million records are work for the garbage collector, which
 * moves and follows each of them; numbers in columns are none. The functions that fill and read a table are those of this file, not
 * its own: what the engine has compiled for them then outlives the table.
 */
export interface RecordTable {
  /** Records. */
  length: number
  readonly blocks: Int32Array[]
  /** The last of them, and where in it the next record goes. */
  block: Int32Array
  free: number
  readonly stretches: Stretch[]
  readonly objects: DefinedRecord[]
  /** Texts that do not stand in the file as they are. */
  readonly made: string[]
}

/** What records have in common from one index on. */
interface Stretch extends Completion {
  readonly first: number
  readonly text: string
  readonly file: string
}

/** The columns: where the owner and the data begin and end, forms and type, TTL in seconds, line, column. */
const COLUMNS = 8

/** Records of the first block of columns, and of the largest: each has as many as all before it together. */
const FIRST_BLOCK = 256
const LARGEST_BLOCK = 16_384

/** In place of forms and type: the record is an object, at the index in the first column. */
const OBJECT = -1

const NO_BLOCK: Int32Array = new Int32Array(0)
const NO_STRETCH: Stretch = { first: 0, text: '', file: '', origin: null, suffix: '' }

/** The types of records that are kept as places. */
export const PLAIN_TYPES = ['A', 'AAAA', 'NS', 'CNAME', 'PTR', 'DNAME', 'MX', 'SRV', 'TXT', 'CAA'] as const

export const createRecordTable = (): RecordTable => ({
  length: 0,
  blocks: [NO_BLOCK],
  block: NO_BLOCK,
  free: 0,
  stretches: [NO_STRETCH],
  objects: [],
  made: [],
})

export function addRecord(table: RecordTable, record: DefinedRecord): void {
  const row = nextRow(table)
  table.block[row] = table.objects.push(record) - 1
  table.block[row + 4] = OBJECT
}

/** Says what the records that are added from now on are places in. */
export function startStretch({ length, stretches }: RecordTable, { text, origin, suffix }: PlainText, file: string): void {
  const last = stretches[stretches.length - 1] as Stretch
  if (last.text === text && last.origin === origin && last.file === file) return
  if (last.first === length) stretches.pop()
  stretches.push({ first: length, text, file, origin, suffix })
}

/** Adds the record read last. */
export function addPlain(table: RecordTable, plain: PlainText, ttl: Ttl, line: number): void {
  const row = nextRow(table)
  const { block } = table
  if (plain.ownerFrom === -1) block[row] = keepText(table, plain.ownerText as DomainName)
  else {
    block[row] = plain.ownerFrom
    block[row + 1] = plain.ownerTo
  }
  if (plain.made !== null) block[row + 2] = keepText(table, plain.made)
  else {
    block[row + 2] = plain.takenFrom
    block[row + 3] = plain.takenTo
  }
  block[row + 4] = (plain.type << 8) | (plain.ownerForm << 4) | plain.takenForm
  block[row + 5] = ttl
  block[row + 6] = line
  block[row + 7] = plain.column
}

function nextRow(table: RecordTable): number {
  if (table.free === table.block.length) {
    table.block = new Int32Array(Math.min(Math.max(table.length, FIRST_BLOCK), LARGEST_BLOCK) * COLUMNS)
    table.blocks.push(table.block)
    table.free = 0
  }
  const row = table.free
  table.free += COLUMNS
  table.length += 1
  return row
}

/** What stands for a text in a column of starts. */
function keepText({ made }: RecordTable, text: string): number {
  if (made[made.length - 1] !== text) made.push(text)
  return ~(made.length - 1)
}

const sequenceOf = (table: RecordTable): RecordSequence => ({ length: table.length, [Symbol.iterator]: () => iterate(table) })

/** Of all tables without records; that it stays keeps the engine from forgetting the shape of the others between two files. */
const NO_RECORDS = sequenceOf(createRecordTable())

export const recordsOf = (table: RecordTable): RecordSequence => (table.length === 0 ? NO_RECORDS : sequenceOf(table))

/** From the first to the last. No generator, which costs as much again as the records do. */
function iterate(table: RecordTable): Iterator<DefinedRecord> {
  const { length, blocks, stretches } = table
  let index = 0
  let blockIndex = 0
  let columns = NO_BLOCK
  let row = 0
  let current = NO_STRETCH
  let nextStretch = 0
  /** The record from which on the next stretch counts. */
  let stretchEnd = 0
  const next = (): IteratorResult<DefinedRecord> => {
    if (index === length) return { done: true, value: undefined }
    if (row === columns.length) {
      blockIndex += 1
      columns = blocks[blockIndex] as Int32Array
      row = 0
    }
    if (index === stretchEnd) {
      current = stretches[nextStretch] as Stretch
      nextStretch += 1
      stretchEnd = stretches[nextStretch]?.first ?? length
    }
    const value = recordAt(table, columns, row, current)
    index += 1
    row += COLUMNS
    return { done: false, value }
  }
  return { next }
}

function recordAt(table: RecordTable, columns: Int32Array, row: number, stretch: Stretch): DefinedRecord {
  const bits = columns[row + 4] as number
  if (bits === OBJECT) return table.objects[columns[row] as number] as DefinedRecord
  return {
    name: partOf(table, columns, row, (bits >> 4) & 0xf, stretch) as DomainName,
    type: PLAIN_TYPES[bits >> 8] as string,
    ttl: columns[row + 5] as Ttl,
    data: partOf(table, columns, row + 2, bits & 0xf, stretch),
    at: { file: stretch.file, line: columns[row + 6] as number, column: columns[row + 7] as number },
  }
}

function partOf({ made }: RecordTable, columns: Int32Array, column: number, form: number, stretch: Stretch): string {
  const from = columns[column] as number
  return from < 0 ? (made[~from] as string) : textOf(stretch.text, from, columns[column + 1] as number, form, stretch)
}
