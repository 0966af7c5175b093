/** The zones that former runs of `apply` changed, from the first lines of their journals. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isRunId, JOURNAL_FILE, type RunZone } from './journal-format.ts'
import { beginOf, outerLinesOf } from './journal-lines.ts'

/** Maximum runs that are read, the latest first. */
const MAX_RUNS = 500

export interface AppliedZone extends Pick<RunZone, 'zone' | 'target'> {
  /** The latest run that changed the zone. */
  readonly run: string
}

/** Each zone and target once, sorted. A journal that cannot be read is left out: `history` reports it. */
export function lastAppliedZones(journal: string): AppliedZone[] {
  const folder = join(journal, 'runs')
  const ids = namesIn(folder).filter(isRunId).sort().reverse().slice(0, MAX_RUNS)
  const applied = new Map<string, AppliedZone>()
  for (const run of ids) {
    try {
      const { first } = outerLinesOf(join(folder, run, JOURNAL_FILE))
      const begin = first === null ? null : beginOf(first, run)
      if (!begin?.ok || begin.value.command !== 'apply') continue
      for (const { zone, target } of begin.value.zones)
        if (!applied.has(`${zone} ${target}`)) applied.set(`${zone} ${target}`, { zone, target, run })
    } catch {
      // The run was removed meanwhile, or is not readable.
    }
  }
  return [...applied].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, zone]) => zone)
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    // There is no journal yet, or it is not readable.
    return []
  }
}
