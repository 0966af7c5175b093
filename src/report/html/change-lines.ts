/**
 * Changes as lines of text with tabs between the fields, which the page shows as a table: sign, name, TTL, type, data, notes. `~-` and `~+` are the two
 * sides of an update; a field of `~+` is empty if it equals that of `~-`. A state other than applied follows the sign: `!` failed, `?` unknown, `.` skipped.
 * Fields contain no control characters, so no tabs.
 */
import { type ChangeRow, changeRows, type DomainRow } from '../change-rows.ts'
import type { ZoneView } from '../report.ts'

const STATES = { applied: '', failed: '!', unknown: '?', skipped: '.' } as const

/** One side of a change. */
export interface Side {
  readonly name: string
  readonly ttl: string
  readonly type: string
  readonly data: string
  readonly notes: readonly string[]
  /** As in `RecordRow`; the first is shown. None if absent. */
  readonly places?: readonly string[]
}

/** The line of a removed or added record. */
export const sideLine = (sign: string, { name, ttl, type, data, notes, places = [] }: Side): string =>
  [sign, name, ttl, type, data, ...notes, ...places.slice(0, 1)].join('\t')

/** The two lines of an update. */
export function pairLines(state: string, existing: Side, desired: Side): string[] {
  const differing = (key: 'name' | 'ttl' | 'type' | 'data'): string => (existing[key] === desired[key] ? '' : desired[key])
  const changed = { ...desired, name: differing('name'), ttl: differing('ttl'), type: differing('type'), data: differing('data') }
  return [sideLine(`~-${state}`, existing), sideLine(`~+${state}`, changed)]
}

/** The lines of a zone's changes, in the order of owners and types. The sides of an update follow one another. */
export function changeLines(view: ZoneView): string[] {
  const byChange = new Map<number, ChangeRow[]>()
  for (const row of changeRows(view)) byChange.set(row.change, [...(byChange.get(row.change) ?? []), row])
  const lines: string[] = []
  for (const group of byChange.values()) {
    const [first, second] = group
    if (first === undefined) continue
    const state = first.state === null ? '' : STATES[first.state]
    if (first.subject === 'domain') lines.push(...domainLines(first, state))
    else if (second?.subject === 'record') {
      const [existing, desired] = first.marker === '-' ? [first, second] : [second, first]
      lines.push(...pairLines(state, existing, desired))
    } else lines.push(sideLine(`${first.marker}${state}`, first))
  }
  return lines
}

/** A change of the zone itself has no type. Each changed setting is one update; the notes follow the first. */
function domainLines({ marker, settings, notes }: DomainRow, state: string): string[] {
  const side = (data: string, more: readonly string[] = []): Side => ({ name: '(zone)', ttl: '', type: '', data, notes: more })
  if (marker === '-') return [sideLine(`-${state}`, side('the zone and all its records', notes))]
  if (marker === '+') {
    const values = settings.map(({ key, value }) => `${key} ${value.join(' ')}`)
    return [sideLine(`+${state}`, side(values.length === 0 ? 'with the default settings' : values.join(', '), notes))]
  }
  return settings.flatMap(({ key, value: [existing, desired = existing] }, index) =>
    pairLines(state, side(`${key} ${existing}`), side(`${key} ${desired}`, index === 0 ? notes : [])),
  )
}
