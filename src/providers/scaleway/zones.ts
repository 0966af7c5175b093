/** The zones of an account. A zone is a domain, or a subdomain of one. */
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import type { ProviderCallOptions, UnusableZone, ZoneList, ZoneReference } from '../provider.ts'
import type { LiveZone } from './live-zone.ts'
import { type ApiZone, type ScalewayApi, zoneShape } from './scaleway-api.ts'

export interface Scaleway {
  readonly api: ScalewayApi
  /** The provider's name in the config. */
  readonly name: string
  /** The project whose zones are managed; null for all. */
  readonly project: string | null
  /** What was read last of each zone, with the changes since. */
  readonly live: Map<DomainName, LiveZone>
}

/** Zones per page. */
const PAGE_SIZE = 100
/** Zones that are looked up by name in one request. For more names, the whole list is read. */
const MAX_NAMES = 20

export const referenceTo = ({ name: id }: Pick<ApiZone, 'name'>, name: DomainName): ZoneReference => ({
  name,
  id,
  settings: { type: 'master' },
  updated: null,
})

/** Reads the zones with these names; all zones if there are none. */
export function readZones(
  { api, project }: Pick<Scaleway, 'api' | 'project'>,
  names: readonly DomainName[],
  options?: ProviderCallOptions,
): Promise<ApiZone[]> {
  return api.list(
    { method: 'GET', path: '/dns-zones', what: names.length === 0 ? 'listing zones' : 'looking up zones', ...options },
    {
      key: 'dns_zones',
      pageSize: PAGE_SIZE,
      parameters: [
        ...names.map((name): [string, string] => ['dns_zones', name.slice(0, -1)]),
        ...(project === null ? [] : [['project_id', project] as [string, string]]),
      ],
      shape: zoneShape,
      identity: ({ name, project: own }) => `${name} ${own}`,
    },
  )
}

export async function findZones(
  scaleway: Scaleway,
  names: readonly DomainName[],
  options?: ProviderCallOptions,
): Promise<ReadonlyMap<DomainName, ZoneReference>> {
  const wanted = new Set(names)
  if (wanted.size === 0) return new Map()
  const { zones } = zoneList(await readZones(scaleway, wanted.size <= MAX_NAMES ? [...wanted] : [], options))
  return new Map(zones.flatMap((zone) => (wanted.has(zone.name) ? [[zone.name, zone] as const] : [])))
}

export function zoneList(zones: readonly ApiZone[]): ZoneList {
  const usable = new Map<DomainName, ZoneReference>()
  const unusable: UnusableZone[] = []
  for (const zone of zones) {
    const name = parseAbsoluteName(zone.name)
    if (!name.ok) unusable.push({ name: zone.name, id: zone.name, reason: name.message })
    else if (usable.has(name.value)) unusable.push({ name: zone.name, id: zone.name, reason: 'exists in two projects: set project_id' })
    else usable.set(name.value, referenceTo(zone, name.value))
  }
  return { zones: [...usable.values()], unusable }
}
