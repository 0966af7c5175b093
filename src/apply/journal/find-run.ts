import type { Diagnostic } from '../../dns/diagnostic.ts'
import { isRunPrefix } from './run-id.ts'
import type { RunRecord } from './run-record.ts'

export type FoundRun = { readonly run: RunRecord } | { readonly run: null; readonly diagnostic: Diagnostic }

/** Runs that are named where a name is of more than one. */
const SHOWN = 5

/** The run of that name, or the only one whose name begins so. */
export function findRun(runs: readonly RunRecord[], name: string): FoundRun {
  const wanted = name.toLowerCase()
  const found = isRunPrefix(name) ? runs.filter(({ id }) => id.toLowerCase().startsWith(wanted)) : []
  const [run] = found
  if (run !== undefined && found.length === 1) return { run }
  if (run === undefined) return unknown(`no run ${JSON.stringify(name.slice(0, 60))} is in the journal`)
  const more = found.length > SHOWN ? `, and ${found.length - SHOWN} more` : ''
  return unknown(
    `${name} is the beginning of ${found.length} runs: ${found
      .slice(0, SHOWN)
      .map(({ id }) => id)
      .join(', ')}${more}`,
  )
}

/** The latest run that changed something, or may have. */
export const lastRun = (runs: readonly RunRecord[]): FoundRun => {
  const run = runs.find(({ figures }) => figures.applied.total + figures.unknown > 0)
  return run === undefined ? unknown('no run in the journal changed anything') : { run }
}

const unknown = (message: string): FoundRun => ({
  run: null,
  diagnostic: { severity: 'error', code: 'run-unknown', message, hint: 'see "zonewright history"' },
})
