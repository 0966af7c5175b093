/** A scripted deSEC with the domain example.com. */
import type { DesecOptions } from '../../scripted/desec/service.ts'
import { type SceneOptions, startCloudScene } from '../scripted-scene.ts'

export async function startDesecScene({
  rrsets = [],
  ...options
}: SceneOptions &
  Partial<DesecOptions> & {
    /** RRsets at the start, as bulk requests have them. */
    readonly rrsets?: readonly object[]
  }) {
  const scene = await startCloudScene('desec', { domains: [{ name: 'example.com' }], ...options })
  /** Changes RRsets as another client does. */
  const patch = (changes: readonly object[]): void => scene.send('PATCH', '/domains/example.com/rrsets/', [...changes])
  for (let at = 0; at < rrsets.length; at += 2000) patch(rrsets.slice(at, at + 2000))
  return { ...scene, patch, rrsets: (domain = 'example.com') => scene.scripted.rrsets(domain) }
}
