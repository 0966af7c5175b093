import type { ProcessEnvironment, Workspace } from '../../run-context.ts'

/** What a store is opened with: the journal of the config, and the environment of the run. */
export type StoreContext = Pick<Workspace, 'journal'> & {
  readonly config: Pick<NonNullable<Workspace['config']>, 'journalStore'> | null
} & Pick<ProcessEnvironment, 'env' | 'secrets'>

/** The store of a run. */
export const storeContext = ({
  environment: { env, secrets },
  workspace: { config, journal },
}: {
  readonly environment: Pick<ProcessEnvironment, 'env' | 'secrets'>
  readonly workspace: Pick<Workspace, 'config' | 'journal'>
}): StoreContext => ({ env, secrets, config, journal })
