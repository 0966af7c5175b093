/** Opens the store of a journal. */
import type { JournalStoreConfig } from '../../config/config.ts'
import { LOCAL_JOURNAL } from '../../config/journal-place.ts'
import { folderStore } from './folder-store.ts'
import type { JournalStore, StoreEnvironment } from './journal-store.ts'

/** Opens the store that the config names. Sends nothing. Throws `StoreError`. */
export async function openStore({ journal, config, env, secrets }: StoreContext): Promise<JournalStore> {
  const { bucket, isShared } = config?.journalStore ?? LOCAL_JOURNAL
  if (bucket === null) return folderStore(journal, isShared)
  // Few journals are in a bucket.
  return (await import('./bucket-store.ts')).bucketStore(bucket, { env, secrets })
}

/** What a store is opened with. */
export interface StoreContext extends StoreEnvironment {
  /** The absolute path of the journal's folder. */
  readonly journal: string
  readonly config: { readonly journalStore: JournalStoreConfig } | null
}

/** The store of a run. */
export const storeContext = ({
  environment: { env, secrets },
  workspace: { config, journal },
}: {
  readonly environment: StoreEnvironment
  readonly workspace: Pick<StoreContext, 'config' | 'journal'>
}): StoreContext => ({ env, secrets, config, journal })
