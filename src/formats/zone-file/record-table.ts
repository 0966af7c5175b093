import type { DomainName } from '../../model/domain-name.ts'
import type { DefinedRecord } from '../../model/record.ts'
import type { Ttl } from '../../model/ttl.ts'
import { type Completion, type PlainText, textOf } from './plain-text.ts'

/** Records in their order. Each is made anew whenever it is come to: who needs one more than once keeps it. */
export interface RecordSequence extends Iterable<DefinedRecord> {
  readonly length: number
}

/**
 * Records by the places in the text at which their parts stand. Objects of a million records are work for the garbage collector, which
 * moves and follows each of them; numbers in columns are none.
 */
export interface RecordTable {
  readonly records: RecordSequence
  readonly add: (record: DefinedRecord) => void
  /** Adds the record whose data were taken last. */
  readonly addPlain: (plain: PlainText, file: string, type: string, ttl: Ttl, line: number, column: number) => void
}

/** The columns: where the owner and the data begin and end, forms and type, TTL in seconds, line, column. */
const COLUMNS = 8

/** Records of the first block of columns, and of the largest: each has as many as all before it together. */
const FIRST_BLOCK = 256
const LARGEST_BLOCK = 16_384

/** In place of forms and type: the record is an object, at the index in the first column. */
const OBJECT = -1

/** What records have in common from one index on. */
interface Stretch extends Completion {
  readonly first: number
  readonly text: string
  readonly file: string
}

export function createRecordTable(): RecordTable {
  const blocks: Int32Array[] = []
  const stretches: Stretch[] = []
  const objects: DefinedRecord[] = []
  /** Texts that do not stand in the file as they are, and types. */
  const made: string[] = []
  const types: string[] = []
  let length = 0
  let block = new Int32Array(0)
  /** Where the next record goes in the block. */
  let free = 0
  let stretch: Stretch | null = null

  const nextRow = (): number => {
    if (free === block.length) {
      block = new Int32Array(Math.min(Math.max(length, FIRST_BLOCK), LARGEST_BLOCK) * COLUMNS)
      blocks.push(block)
      free = 0
    }
    const row = free
    free += COLUMNS
    length += 1
    return row
  }

  /** What stands for a text in a column of starts. */
  const keepText = (text: string): number => {
    if (made[made.length - 1] !== text) made.push(text)
    return ~(made.length - 1)
  }

  const typeIndex = (type: string): number => {
    const index = types.indexOf(type)
    return index === -1 ? types.push(type) - 1 : index
  }

  const addPlain: RecordTable['addPlain'] = (plain, file, type, ttl, line, column) => {
    const { text, origin, suffix } = plain
    if (stretch === null || stretch.text !== text || stretch.origin !== origin || stretch.file !== file) {
      stretch = { first: length, text, file, origin, suffix }
      stretches.push(stretch)
    }
    const row = nextRow()
    if (plain.ownerFrom === -1) block[row] = keepText(plain.ownerText as DomainName)
    else {
      block[row] = plain.ownerFrom
      block[row + 1] = plain.ownerTo
    }
    if (plain.made !== null) block[row + 2] = keepText(plain.made)
    else {
      block[row + 2] = plain.takenFrom
      block[row + 3] = plain.takenTo
    }
    block[row + 4] = (typeIndex(type) << 8) | (plain.ownerForm << 4) | plain.takenForm
    block[row + 5] = ttl
    block[row + 6] = line
    block[row + 7] = column
  }

  const add = (record: DefinedRecord): void => {
    const row = nextRow()
    block[row] = objects.push(record) - 1
    block[row + 4] = OBJECT
  }

  const partOf = (columns: Int32Array, column: number, form: number, stretch: Stretch): string => {
    const from = columns[column] as number
    return from < 0 ? (made[~from] as string) : textOf(stretch.text, from, columns[column + 1] as number, form, stretch)
  }

  /** No generator, which costs as much again as the records do. */
  const iterate = (): Iterator<DefinedRecord> => {
    let index = 0
    let blockIndex = 0
    let columns = blocks[0] as Int32Array
    let row = 0
    let nextStretch = 0
    /** The record from which on the next stretch counts. */
    let stretchEnd = stretches[0]?.first ?? Number.POSITIVE_INFINITY
    let current = stretches[0] as Stretch
    const next = (): IteratorResult<DefinedRecord> => {
      if (index >= length) return { done: true, value: undefined }
      if (row === columns.length) {
        blockIndex += 1
        columns = blocks[blockIndex] as Int32Array
        row = 0
      }
      if (index === stretchEnd) {
        current = stretches[nextStretch] as Stretch
        nextStretch += 1
        stretchEnd = stretches[nextStretch]?.first ?? Number.POSITIVE_INFINITY
      }
      const value = recordAt(columns, row, current)
      index += 1
      row += COLUMNS
      return { done: false, value }
    }
    return { next }
  }

  const recordAt = (columns: Int32Array, row: number, stretch: Stretch): DefinedRecord => {
    const bits = columns[row + 4] as number
    if (bits === OBJECT) return objects[columns[row] as number] as DefinedRecord
    return {
      name: partOf(columns, row, (bits >> 4) & 0xf, stretch) as DomainName,
      type: types[bits >> 8] as string,
      ttl: columns[row + 5] as Ttl,
      data: partOf(columns, row + 2, bits & 0xf, stretch),
      at: { file: stretch.file, line: columns[row + 6] as number, column: columns[row + 7] as number },
    }
  }

  const records: RecordSequence = {
    get length() {
      return length
    },
    [Symbol.iterator]: iterate,
  }
  return { records, add, addPlain }
}
