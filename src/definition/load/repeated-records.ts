import type { Diagnostic, SourcePosition } from '../../dns/diagnostic.ts'
import { type DefinedRecord, recordKey } from '../../dns/record.ts'
import { counted } from '../../report/english.ts'

/** Repetitions that are told one by one; those of a file that is included many times are many. */
const TOLD = 100

export interface SingleRecords {
  readonly records: readonly DefinedRecord[]
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * The records each once, as name servers load them (RFC 2181 section 5): of those that are equal in owner, type and data the first stays,
 * with its TTL. A warning names both places.
 */
export function withoutRepeats(all: readonly DefinedRecord[]): SingleRecords {
  const firsts = new Map<string, DefinedRecord>()
  /** Pairs of places that were told: a file that is included twice repeats all records of a line. */
  const places = new Set<string>()
  const records: DefinedRecord[] = []
  const diagnostics: Diagnostic[] = []
  let untold = 0
  let lastUntold: DefinedRecord | null = null
  for (const record of all) {
    const key = recordKey(record)
    const first = firsts.get(key)
    if (first === undefined) {
      firsts.set(key, record)
      records.push(record)
      continue
    }
    const pair = `${placeText(first.at)} ${placeText(record.at)}`
    if (diagnostics.length < TOLD && !places.has(pair)) {
      places.add(pair)
      diagnostics.push(repeated(record, first))
    } else {
      untold += 1
      lastUntold = record
    }
  }
  if (lastUntold !== null) {
    const message = `${counted(untold, 'more record is', 'more records are')} given twice, the last of them here; the first is taken`
    diagnostics.push({ severity: 'warning', code: 'record-duplicate', message, at: lastUntold.at })
  }
  return { records, diagnostics }
}

const placeText = ({ file, line, column }: SourcePosition): string => `${file}:${line}:${column}`

function repeated({ name, type, data, ttl, at }: DefinedRecord, first: DefinedRecord): Diagnostic {
  const shown = data.length > 80 ? `${data.slice(0, 80)}…` : data
  const ttls = ttl === first.ttl ? '' : `, with TTL ${first.ttl ?? 'of the zone'}, not ${ttl ?? 'that of the zone'}`
  return {
    severity: 'warning',
    code: 'record-duplicate',
    message: `${name} has the ${type} record ${shown} twice; the first is taken${ttls}`,
    at,
    hint: 'remove one of the two',
    related: [{ message: 'the same record', at: first.at }],
  }
}
