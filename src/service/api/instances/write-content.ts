import type { Connection } from '../../store/database.ts'
import type { BackupContent } from '../../store/instance-backup-store.ts'
import { insertConfig, insertDisk, remapDisks } from '../../store/instance-content-store.ts'
import { checkConfigLimit } from './config-limit.ts'

/**
 * Writes disks and configuration profiles, as a backup or a clone has them, to an instance, beside those it has. The profiles name the
 * disks that are made; volumes stay where they are. Returns the numbers of the profiles. Throws 400 where there would be too many.
 */
export async function writeContent(
  connection: Connection,
  instanceId: number,
  { disks, configs }: Pick<BackupContent, 'disks' | 'configs'>,
  now: string,
): Promise<readonly number[]> {
  await checkConfigLimit(connection, instanceId, configs.length)
  const made = new Map<number, number>()
  for (const disk of disks) made.set(disk.id, await insertDisk(connection, instanceId, disk, now))
  const numbers: number[] = []
  for (const config of configs) {
    const devices = remapDisks(config.devices, made)
    numbers.push((await insertConfig(connection, instanceId, { ...config, devices }, now)).id)
  }
  return numbers
}
