import type { RunEnvironment, Workspace } from '../../run-context.ts'

/** What a store is opened with: the journal of the config, and the environment of the run. */
export type StoreContext = Pick<Workspace, 'journal'> & {
  readonly config: Pick<NonNullable<Workspace['config']>, 'journalStore'> | null
} & Pick<RunEnvironment, 'env' | 'secrets'>
