import type { Connection } from '../../store/database.ts'
import { countConfigs } from '../../store/instance-content-store.ts'
import { invalid } from '../request-error.ts'

/** Profiles of an instance at most. */
const MAX_CONFIGS = 200

/** Throws 400 where an instance would have too many configuration profiles with so many more. It is held. */
export async function checkConfigLimit(connection: Connection, instanceId: number, added: number): Promise<void> {
  if ((await countConfigs(connection, instanceId)) + added <= MAX_CONFIGS) return
  throw invalid({ field: null, reason: `An instance can have at most ${MAX_CONFIGS} configuration profiles.` })
}
