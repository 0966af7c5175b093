import VOLUME from '../../../schemas/service/seed-volumes.json' with { type: 'json' }
import { findRegion } from '../catalogue/regions.ts'
import { findByLabel } from '../store/grant-store.ts'
import { isNumberFree, reserveNumber } from '../store/row-number.ts'
import type { VolumesTable } from '../store/tables/tagged-objects.ts'
import { findVolumeByLabel, insertVolume } from '../store/volume-store.ts'
import { readMoments } from './read-moments.ts'
import { defineSeedPart } from './seed-part.ts'

interface Entry {
  readonly id?: number
  readonly label: string
  readonly region: string
  readonly size?: number
  readonly hardware_type?: VolumesTable['hardware_type']
  readonly status?: VolumesTable['status']
  /** The label of an instance of the account. */
  readonly instance?: string | null
  readonly tags?: readonly string[] | null
  readonly created?: string
  readonly updated?: string
}

/** GiB of a volume that the seed says nothing of. */
const SIZE = 20

/** Volumes, by label. */
export const VOLUMES = defineSeedPart<Entry, Entry>({
  key: 'volumes',
  schema: VOLUME,
  unique: { owner: ['label'], file: ['id'] },
  read: (entry, tell) => {
    if (findRegion(entry.region) === null) tell(['region'], 'region is not valid')
    return { ...entry, ...readMoments(entry, ['created', 'updated'], tell) }
  },
  make: async (connection, { accountId }, entry, now) => {
    const { id, label, region, instance = null, tags, created = now } = entry
    if ((await findVolumeByLabel(connection, accountId, label)) !== null) return
    if (id !== undefined && !(await isNumberFree(connection, 'volumes', id)))
      throw new RangeError(`the volume ${label} of the seed cannot be number ${id}, which is another's`)
    const [instanceId = null] = instance === null ? [] : await findByLabel(connection, 'instance', accountId, instance)
    if (instance !== null && instanceId === null)
      throw new RangeError(`the volume ${label} of the seed is attached to ${instance}, which is no instance of the account`)
    const { size = SIZE, hardware_type = 'hdd', status = 'active', updated = created } = entry
    const row = { account_id: accountId, label, region, size, hardware_type, status, instance_id: instanceId, created, updated }
    const given = id === undefined ? {} : { id }
    await insertVolume(connection, { ...row, ...given }, tags ?? [])
    if (id !== undefined) await reserveNumber(connection, 'volumes', id)
  },
})
