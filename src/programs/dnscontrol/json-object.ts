/** Objects of DNSControl's JSON, and the positions in them. */
import type { SourcePosition } from '../../base/diagnostic.ts'

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The position of the call that made a record, as our own evaluation writes it: `FILE:LINE:COLUMN`. Else `otherwise`. */
export function positionOf(filepos: unknown, otherwise: SourcePosition): SourcePosition {
  const [, file, line, column] = (typeof filepos === 'string' && /^(?!\[)(.{1,1000}):(\d{1,9}):(\d{1,9})$/.exec(filepos)) || []
  return file === undefined ? otherwise : { file, line: Number(line), column: Number(column) }
}
