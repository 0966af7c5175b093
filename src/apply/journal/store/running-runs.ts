/** Whether runs of other machines still run. */
import type { Diagnostic } from '../../../dns/diagnostic.ts'
import type { RunRecord } from '../read-journal.ts'
import { StoreError } from './journal-store.ts'
import { isLive, listLeases, ownHolder } from './leases.ts'
import { openStore } from './open-store.ts'
import type { StoreContext } from './store-context.ts'

/** A run that has not ended is `running` while its lease is live, on whatever machine. Costs requests only if there is such a run. */
export async function withRunning(
  context: StoreContext,
  runs: readonly RunRecord[],
): Promise<{ readonly runs: readonly RunRecord[]; readonly problem: Diagnostic | null }> {
  if (!runs.some(mayRun)) return { runs, problem: null }
  try {
    const store = await openStore(context)
    try {
      const { leases, now } = await listLeases(store)
      const live = new Set(leases.filter((lease) => isLive(lease, now, store, ownHolder(context.env))).map(({ run }) => run))
      return { runs: runs.map((run) => (mayRun(run) && live.has(run.id) ? { ...run, state: 'running' } : run)), problem: null }
    } finally {
      await store.close()
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return { runs, problem: { severity: 'error', code: 'journal-unreadable', message: error.message, hint: error.hint } }
  }
}

const mayRun = ({ status, state }: RunRecord): boolean => status === null && state === 'interrupted'
