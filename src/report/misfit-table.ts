/** A table of the records and settings that a target leaves out or changes. */
import { oneLine } from '../base/diagnostic.ts'
import { formatCount, listed } from '../base/english.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { relativeName } from '../dns/domain-name.ts'
import type { Misfit } from '../plan/misfits.ts'

/** RRsets that a row names. */
const MOST_NAMED = 3

/** One cause of misfits as the cells of a row. */
export interface MisfitCause {
  readonly what: 'left out' | 'changed'
  /** The number of records; empty for settings. */
  readonly records: string
  readonly which: string
  readonly why: string
}

/** The causes of misfits in the order of their first RRsets; each names some RRsets (all with `verbose`). */
export function misfitCauses(zone: DomainName, misfits: readonly Misfit[], verbose: boolean): MisfitCause[] {
  const causes = new Map<string, { state: Misfit['state']; reason: string; records: number; rrsets: Set<string> }>()
  for (const { rrset, records, state, reason } of misfits) {
    const key = `${state} ${reason}`
    const cause = causes.get(key) ?? { state, reason, records: 0, rrsets: new Set() }
    causes.set(key, cause)
    cause.records += records
    if (rrset !== null) cause.rrsets.add(`${relativeName(rrset.name, zone) || '@'} ${rrset.type}`)
  }
  return [...causes.values()].map(({ state, reason, records, rrsets }) => ({
    what: state === 'left-out' ? 'left out' : 'changed',
    records: records === 0 ? '' : formatCount(records),
    which: records === 0 ? 'settings' : listed([...rrsets], verbose ? undefined : MOST_NAMED),
    why: reason,
  }))
}

/** Lines of text: a title, and one row per cause with its count and some RRsets (all with `verbose`). Empty without misfits. */
export function misfitTable(zone: DomainName, target: string, misfits: readonly Misfit[], verbose: boolean): string[] {
  if (misfits.length === 0) return []
  const rows = misfitCauses(zone, misfits, verbose).map(({ what, records, which, why }) => [what, records, which, why])
  const header = ['', 'records', 'which', 'why']
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] as string).length)))
  const line = (cells: readonly string[]): string =>
    `  ${cells.map((cell, column) => (column === 1 ? cell.padStart(widths[column] as number) : cell.padEnd(widths[column] as number))).join('  ')}`.trimEnd()
  return [`${target} does not support all of ${zone}:`, ...[header, ...rows].map((row) => oneLine(line(row)))]
}
