/** A scripted Scaleway with the zone example.com. */
import type { ScalewayOptions } from '../../scripted/scaleway/service.ts'
import { type SceneOptions, startCloudScene } from '../scripted-scene.ts'

export async function startScalewayScene({
  added = [],
  ...options
}: SceneOptions &
  Partial<ScalewayOptions> & {
    /** Records to add at the start. */
    readonly added?: readonly object[]
  }) {
  const scene = await startCloudScene('scaleway', options)
  if (added.length > 0) scene.send('PATCH', '/dns-zones/example.com/records', { changes: [{ add: { records: added } }] })
  return { ...scene, records: (zone = 'example.com') => scene.scripted.records(zone) }
}
