/** Zones whose records take little memory: one text. A run may have many zones, and looks at one after the other. */
import type { DomainName } from './domain-name.ts'
import type { DefinedRecord } from './record.ts'
import type { Ttl } from './ttl.ts'
import type { DesiredZone } from './zone.ts'

/** Packs zones. `records` of a packed zone makes the records again, except for the zone that was read last. */
export type ZonePacker = (zone: DesiredZone) => DesiredZone

/** Canonical names, types and data have no control characters (RFC 1035 section 5.1). */
const END = '\n'

/** The properties that are packed. Records with others are kept. */
const PACKED: ReadonlySet<string> = new Set(['name', 'type', 'ttl', 'data', 'at'] satisfies (keyof DefinedRecord)[])

/** Texts per record: name without that of the zone, type, data, TTL, line, column. */
const TEXTS = 6

export function createZonePacker(): ZonePacker {
  let last: DesiredZone | null = null
  let made: readonly DefinedRecord[] = []
  return (zone) => {
    const unpack = packRecords(zone)
    const packed: DesiredZone = {
      ...zone,
      get records() {
        if (last !== packed) [last, made] = [packed, unpack()]
        return made
      },
    }
    return packed
  }
}

/** Returns a function that makes the records again. */
function packRecords({ name: zone, records }: DesiredZone): () => DefinedRecord[] {
  const file = records[0]?.at.file as string
  const count = records.length
  const kept = new Map<number, DefinedRecord>()
  const texts: (string | number)[] = []
  for (const [index, record] of records.entries()) {
    const { name, type, ttl, data, at } = record
    if (isPackable(record, file) && name.endsWith(zone)) texts.push(name.slice(0, -zone.length), type, data, ttl ?? '', at.line, at.column)
    else kept.set(index, record)
  }
  // Outside the heap of V8, which grows by a factor of what it holds.
  const octets = Buffer.from(texts.join(END))
  return () => {
    const parts = octets.toString().split(END)
    let next = -TEXTS
    return Array.from({ length: count }, (_, index): DefinedRecord => {
      const whole = kept.get(index)
      if (whole !== undefined) return whole
      next += TEXTS
      const [name, type, data] = [`${parts[next]}${zone}` as DomainName, parts[next + 1] as string, parts[next + 2] as string]
      const ttl = parts[next + 3] === '' ? null : (Number(parts[next + 3]) as Ttl)
      return { name, type, ttl, data, at: { file, line: Number(parts[next + 4]), column: Number(parts[next + 5]) } }
    })
  }
}

const isPackable = (record: DefinedRecord, file: string): boolean =>
  record.at.file === file && record.at.calledFrom === undefined && Object.keys(record).every((key) => PACKED.has(key))
