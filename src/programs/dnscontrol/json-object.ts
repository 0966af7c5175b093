/** Objects of DNSControl's JSON, and the positions in them. */
import type { SourcePosition } from '../../base/diagnostic.ts'

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

const made = new WeakSet<object>()

/** A value of a program with positions for the numbers of its places, which no program can forge. */
export function withPositions(value: unknown, positions: readonly SourcePosition[]): unknown {
  for (const position of positions) made.add(position)
  return JSON.parse(JSON.stringify(value), (key, one: unknown) => (key === 'filepos' && typeof one === 'number' ? positions[one] : one))
}

/** The position of the call that made a record, from our own evaluation; DNSControl's are texts. Else `otherwise`. */
export const positionOf = (filepos: unknown, otherwise: SourcePosition): SourcePosition =>
  typeof filepos === 'object' && filepos !== null && made.has(filepos) ? (filepos as SourcePosition) : otherwise
