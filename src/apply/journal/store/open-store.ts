/** Opens the store of a journal. */
import { LOCAL_JOURNAL } from '../../../definition/config/journal-place.ts'
import { folderStore } from './folder-store.ts'
import type { JournalStore } from './journal-store.ts'
import type { StoreContext } from './store-context.ts'

/** Opens the store that the config names. Sends nothing. Throws `StoreError`. */
export async function openStore({ journal, config, env, secrets }: StoreContext): Promise<JournalStore> {
  const { bucket, isShared } = config?.journalStore ?? LOCAL_JOURNAL
  if (bucket === null) return folderStore(journal, isShared)
  // Few journals are in a bucket.
  return (await import('./bucket-store.ts')).bucketStore(bucket, { env, secrets })
}
