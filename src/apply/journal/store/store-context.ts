import type { JournalStoreConfig } from '../../../definition/config/config.ts'
import type { LoadedSecrets } from '../../../definition/config/secret-guard.ts'

/** What a store is opened with: the journal of the config, and the environment of the run. */
export interface StoreContext {
  /** The absolute path of the journal's folder. */
  readonly journal: string
  readonly config: { readonly journalStore: JournalStoreConfig } | null
  readonly env: Readonly<Record<string, string | undefined>>
  readonly secrets: LoadedSecrets
}
