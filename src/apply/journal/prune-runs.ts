import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { RunRecord } from './run-record.ts'

/** Milliseconds after which a run that never began is rubbish. */
const DAY = 86_400_000

/** Removes all runs but the latest so many; of those that go on none. Gives the names of what it removed. Throws the system's error. */
export function pruneRuns(journal: string, runs: readonly RunRecord[], keep: number, now: Date): string[] {
  const folder = join(journal, 'runs')
  const rubbish = runs.slice(keep).filter(({ state }) => state !== 'running')
  for (const { id } of rubbish) rmSync(join(folder, id), { recursive: true, force: true })
  // What a process that was killed had not put in its place.
  const limit = new Date(now.getTime() - DAY).toISOString().replace(/[-:]|\.[0-9]+/g, '')
  const unfinished = existsSync(folder) ? readdirSync(folder).filter((name) => /^\.[0-9]{8}T/.test(name) && name.slice(1) < limit) : []
  for (const name of unfinished) rmSync(join(folder, name), { recursive: true, force: true })
  return rubbish.map(({ id }) => id)
}
