/** Copies disks and configuration profiles to an instance, within its limits. */
import type { Connection } from '../../store/database.ts'
import { countConfigProfiles, devicesOfCopy, insertConfigProfile, insertDisk } from '../../store/disk-and-profile-store.ts'
import type { BackupContent } from '../../store/instance-backup-store.ts'
import { badRequest, type RequestProblem } from '../request-error.ts'

/**
 * Adds copies of disks and configuration profiles to an instance, for a restored backup or a clone. The new profiles refer to the new disks;
 * volumes are not copied. Returns the ids of the profiles. Throws 400 if there would be too many.
 */
export async function addContent(
  connection: Connection,
  instanceId: number,
  { disks, configs }: Pick<BackupContent, 'disks' | 'configs'>,
  now: string,
): Promise<readonly number[]> {
  await checkConfigLimit(connection, instanceId, configs.length)
  const copies = new Map<number, number>()
  for (const disk of disks) copies.set(disk.id, await insertDisk(connection, instanceId, disk, now))
  const ids: number[] = []
  for (const config of configs) {
    const devices = devicesOfCopy(config.devices, copies)
    ids.push((await insertConfigProfile(connection, instanceId, { ...config, devices }, now)).id)
  }
  return ids
}

/** The error for disks that need more space than is free, in MB. */
export const spaceProblem = (field: string | null, needed: number, free: number): RequestProblem => ({
  field,
  reason: `There is insufficient space: the disks need ${needed} MB, and ${Math.max(0, free)} MB are free.`,
})

/** Maximum number of profiles of an instance. */
const MAX_CONFIGS = 200

/** Throws 400 if `added` more profiles would be too many. Requires a locked instance. */
export async function checkConfigLimit(connection: Connection, instanceId: number, added: number): Promise<void> {
  if ((await countConfigProfiles(connection, instanceId)) + added <= MAX_CONFIGS) return
  throw badRequest({ field: null, reason: `An instance can have at most ${MAX_CONFIGS} configuration profiles.` })
}
