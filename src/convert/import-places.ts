import type { ImportedZone } from '../definition/imported-zone.ts'
import { type Diagnostic, hasErrors, type SourcePosition } from '../dns/diagnostic.ts'
import { type DefinedRecord, recordKey } from '../dns/record.ts'

/** A zone as the files that would be written define it. */
interface DefinedZone {
  readonly name: ImportedZone['name']
  readonly records: readonly DefinedRecord[]
}

/**
 * What is told of files that are not written yet, at places that its reader can open: with an error nothing will be written, so that
 * the place is where the record comes from, or none where it comes from no file; else it is where the file will be.
 */
export function placedForReader(
  diagnostics: readonly Diagnostic[],
  zones: readonly ImportedZone[],
  defined: readonly DefinedZone[],
  shownPath: (path: string) => string,
): Diagnostic[] {
  const place = hasErrors(diagnostics)
    ? placesInSource(zones, defined)
    : (at: SourcePosition): SourcePosition => ({ ...at, file: shownPath(at.file) })
  return diagnostics.map((diagnostic) => ({
    ...diagnostic,
    at: diagnostic.at && place(diagnostic.at),
    related: diagnostic.related?.flatMap(({ message, at }) => {
      const placed = place(at)
      return placed === undefined ? [] : [{ message, at: placed }]
    }),
  }))
}

/** Zones that are written as they stand have their places already. */
function placesInSource(
  zones: readonly ImportedZone[],
  defined: readonly DefinedZone[],
): (at: SourcePosition) => SourcePosition | undefined {
  const printed = new Map(zones.filter(({ files }) => files === undefined).map((zone) => [zone.name, zone.records]))
  const places = new Map<string, SourcePosition | undefined>()
  const files = new Set<string>()
  for (const { name, records } of defined) {
    const sources = printed.get(name)
    if (sources === undefined) continue
    const placeOf = new Map(sources.map((record) => [recordKey(record), record.at]))
    for (const record of records) {
      places.set(keyOf(record.at), placeOf.get(recordKey(record)))
      files.add(record.at.file)
    }
  }
  return (at) => (files.has(at.file) ? places.get(keyOf(at)) : at)
}

const keyOf = ({ file, line, column }: SourcePosition): string => `${line}:${column}:${file}`
