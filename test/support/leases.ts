import { join } from 'node:path'
import { folderStore } from '../../src/stored/store/folder-store.ts'
import { type FoundLease, listLeases } from '../../src/stored/store/leases.ts'

/** The leases in the journal of a folder with a config, also those of processes that have ended. */
export const leasesIn = async (folder: string): Promise<readonly FoundLease[]> =>
  (await listLeases(folderStore(join(folder, '.zonewright'), false))).leases
