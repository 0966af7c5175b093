/** Opens the store of a journal. */
import type { Config } from '../../../definition/config/config.ts'
import { folderStore } from './folder-store.ts'
import { type JournalStore, StoreError } from './journal-store.ts'

/** Opens the store that the config names. Sends nothing. Throws `StoreError`. */
export async function openStore({
  journal,
  journalStore: { bucket, isShared },
}: Pick<Config, 'journal' | 'journalStore'>): Promise<JournalStore> {
  if (bucket === null) return folderStore(journal, isShared)
  throw new StoreError('a journal in a bucket cannot be opened')
}
