/** The changes of many zones, with those that are the same in several zones only once. */
import { groupBy } from '../dns/group-by.ts'
import { type ChangeRow, changeRows } from './change-rows.ts'
import type { ZoneView } from './report.ts'

/** Rows that are the same in each of the zones. */
export interface EqualChanges {
  readonly views: readonly ZoneView[]
  readonly rows: readonly ChangeRow[]
}

/** The changes of the zones by RRset, those of the same zones together, in the order of the zones. */
export function equalChanges(views: readonly ZoneView[]): EqualChanges[] {
  const rrsets = views.flatMap((view, index) => {
    const ofName = groupBy(changeRows(view), (row) => (row.subject === 'record' ? `${row.name} ${row.type}` : ''))
    return [...ofName.values()].map((rows) => ({ view, index, rows, key: JSON.stringify(rows.map(shownPart)) }))
  })
  const equal = [...groupBy(rrsets, ({ key }) => key).values()]
  return [...groupBy(equal, (some) => some.map(({ index }) => index).join()).values()].map((groups) => ({
    views: groups[0]?.map(({ view }) => view) ?? [],
    rows: groups.flatMap((some) => some[0]?.rows ?? []),
  }))
}

/** What a reader sees of a row. */
const shownPart = ({ change, id, ...shown }: ChangeRow): object => ({ ...shown, sameCall: null })

/** Whether the rows delete a record, or the zone. */
export const deletes = ({ rows }: EqualChanges): boolean =>
  rows.some((row) => row.marker === '-' && (row.subject === 'domain' || row.sameCall === null))
