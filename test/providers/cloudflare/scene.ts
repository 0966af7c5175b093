/** A scripted Cloudflare with the zone example.com. */
import type { CloudflareRecord } from '../../scripted/cloudflare/records.ts'
import type { CloudflareOptions } from '../../scripted/cloudflare/service.ts'
import { type SceneOptions, startCloudScene } from '../scripted-scene.ts'

const BATCH = 200

export async function startCloudflareScene({
  posts = [],
  ...options
}: SceneOptions &
  Partial<CloudflareOptions> & {
    /** The records that exist at the start, as requests to create them. */
    readonly posts?: readonly object[]
  }) {
  const scene = await startCloudScene('cloudflare', {
    provider: 'cf',
    zones: [{ id: '1'.repeat(32), name: 'example.com', type: 'full' }],
    ...options,
  })
  const { scripted } = scene
  const zone = (): string => scripted.zones()[0]?.id ?? ''
  for (let at = 0; at < posts.length; at += BATCH)
    scene.send('POST', `/zones/${zone()}/dns_records/batch`, { posts: posts.slice(at, at + BATCH) })
  return {
    ...scene,
    /** Those of the zone that exists at the start, or of the one that was created. */
    records: () => scripted.records(zone()),
    /** What a function says about each of them, sorted. */
    view: <T>(of: (record: CloudflareRecord) => T): T[] => scripted.records(zone()).map(of).sort(),
    /** The names of the zones. */
    zones: () => scripted.zones().map(({ name }) => name),
  }
}
