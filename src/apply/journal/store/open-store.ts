/** Opens the store of a journal. */
import { LOCAL_JOURNAL } from '../../../definition/config/journal-place.ts'
import type { ProcessEnvironment, Workspace } from '../../run-context.ts'
import { folderStore } from './folder-store.ts'
import type { JournalStore } from './journal-store.ts'

/** Opens the store that the config names. Sends nothing. Throws `StoreError`. */
export async function openStore({ journal, config, env, secrets }: StoreContext): Promise<JournalStore> {
  const { bucket, isShared } = config?.journalStore ?? LOCAL_JOURNAL
  if (bucket === null) return folderStore(journal, isShared)
  // Few journals are in a bucket.
  return (await import('./bucket-store.ts')).bucketStore(bucket, { env, secrets })
}

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
