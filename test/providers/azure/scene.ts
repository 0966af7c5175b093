/** A scripted Azure DNS with the zone example.com, and record sets for it. */
import { propertyOf, type RecordSet, sentSet } from '../../scripted/azure/record-sets.ts'
import { type AzureOptions, newSets } from '../../scripted/azure/service.ts'
import { zoneFileLines } from '../../scripted/azure/zone-file-lines.ts'
import type { Fields } from '../../scripted/base.ts'
import { SUBSCRIPTION } from '../../scripted/services.ts'
import { type SceneOptions, startCloudScene } from '../scripted-scene.ts'

let etags = 0

/** A record set from the records of a request. */
export function recordSet(name: string, type: string, records: readonly Fields[], more: Fields = {}, ttl = 3600): RecordSet {
  const [property, isSingle] = propertyOf(type, false)
  const sent = sentSet(type, name, { properties: { TTL: ttl, [property]: isSingle ? records[0] : records, ...more } }, false)
  etags += 1
  return { name, type, etag: `99999999-0000-4000-8000-${String(etags).padStart(12, '0')}`, ...sent }
}

export const hostSet = (name: string, ...addresses: readonly string[]): RecordSet =>
  recordSet(
    name,
    'A',
    addresses.map((ipv4Address) => ({ ipv4Address })),
  )

export async function startAzureScene({
  sets = [],
  isPrivate = false,
  settings,
  ...options
}: SceneOptions &
  Partial<AzureOptions> & {
    /** Record sets at the start beside those of a new zone. */
    readonly sets?: readonly RecordSet[]
    readonly isPrivate?: boolean
    /** The settings beside type, subscription, resource_group and base_url; a token if absent. */
    readonly settings?: string
  }) {
  const zones = [{ name: 'example.com', isPrivate, sets: [...newSets(isPrivate), ...sets] }]
  const signIn = settings === undefined ? {} : { signIn: `subscription: ${SUBSCRIPTION}, resource_group: dns, ${settings}` }
  const scene = await startCloudScene('azure', { provider: 'az', zones, ...signIn, ...options })
  return {
    ...scene,
    /** The records beside SOA and NS of the apex, as lines of a zone file. */
    lines: (): string[] =>
      scene.scripted
        .sets('example.com')
        .flatMap((set) => (set.name === '@' && set.type === 'NS' ? [] : zoneFileLines(set, 'example.com')))
        .map((line) => line.replace('.example.com. ', ' ')),
    sets: () => scene.scripted.sets('example.com'),
    zones: () => scene.scripted.zones(),
  }
}
