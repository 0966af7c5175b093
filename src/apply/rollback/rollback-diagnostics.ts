/** The diagnostics of a rollback: conflicts with later changes, and later changes that are kept. */
import { type Diagnostic, oneLine } from '../../dns/diagnostic.ts'
import type { ResourceRecord } from '../../dns/record.ts'
import type { ZonePlan } from '../../plan/plan.ts'
import { listed } from '../../report/english.ts'
import type { RrsetChange, RrsetConflict } from './rollback-records.ts'

/** Whether conflicting changes are overwritten. */
interface Overwriting {
  readonly overwrite: boolean
}

/** A warning that a part of the zone was changed again since the run. */
export function conflict({ zone, target }: ZonePlan, problem: string, { overwrite }: Overwriting): Diagnostic {
  const message = `${zone} at ${target}: ${problem}; it is ${overwrite ? 'overwritten' : 'left as it is'}`
  const hint = overwrite ? undefined : 'give --overwrite to restore the state before the run'
  return { severity: 'warning', code: 'rollback-conflict', message, hint }
}

export function conflictText({ reason, ...set }: RrsetConflict, { overwrite }: Overwriting): string {
  if (reason === 'changed-again') return `${set.name} ${set.type} was changed by the run, and again since: ${describeRrset(set)}`
  return overwrite
    ? `${describeRrset(set)} conflicts with what is restored`
    : `the former records at ${set.name} conflict with what was added there since, so ${set.type} is not restored`
}

/** Maximum RRsets that are listed. */
const SHOWN = 10

/** Notices about RRsets that only other clients changed since the run. */
export function keptNotices(sets: readonly RrsetChange[], { zone, target }: ZonePlan): Diagnostic[] {
  const notice = (text: string): Diagnostic => ({ severity: 'notice', code: 'rollback-kept', message: `${zone} at ${target}: ${text}` })
  const shown = sets.slice(0, SHOWN).map((set) => notice(`another client changed ${describeRrset(set)} since the run; it is kept`))
  if (sets.length <= SHOWN) return shown
  return [...shown, notice(`${sets.length - SHOWN} more record sets that others changed since are kept`)]
}

export const describeRrset = ({ name, type, after, live }: RrsetChange): string =>
  `${name} ${type} (${dataText(live)}, was ${dataText(after)})`

const dataText = (records: readonly ResourceRecord[]): string =>
  records.length === 0 ? 'nothing' : shortList(records.map(({ ttl, data }) => `${ttl === null ? '' : `${ttl} `}${data.slice(0, 60)}`))

export const shortList = (texts: readonly string[]): string => oneLine(listed(texts, 3))
