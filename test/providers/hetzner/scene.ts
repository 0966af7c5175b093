/** A scripted Hetzner with the zone example.com, and RRsets for it. */
import type { HetznerRrset } from '../../scripted/hetzner/rrsets.ts'
import type { HetznerOptions } from '../../scripted/hetzner/service.ts'
import { defaultRrsets } from '../../scripted/hetzner/zones.ts'
import { HETZNER_ZONE } from '../../scripted/services.ts'
import { type SceneOptions, startCloudScene } from '../scripted-scene.ts'

export const ZONE = HETZNER_ZONE.id

/** A record set that exists at the start. */
export const rrset = (name: string, type: string, values: readonly string[], more: Partial<HetznerRrset> = {}): HetznerRrset => ({
  id: `${name}/${type}`,
  name,
  type,
  ttl: 3600,
  labels: {},
  protection: { change: false },
  records: values.map((value) => ({ value, comment: '' })),
  zone: ZONE,
  ...more,
})

export async function startHetznerScene({ rrsets = [], ...options }: SceneOptions & Partial<HetznerOptions>) {
  const scene = await startCloudScene('hetzner', { rrsets: [...defaultRrsets(ZONE), ...rrsets], stepsOf: () => null, ...options })
  return {
    ...scene,
    rrsets: (zone = ZONE) => scene.scripted.rrsets(zone).filter(({ type, name }) => type !== 'SOA' && !(type === 'NS' && name === '@')),
    zones: scene.scripted.zones,
  }
}
