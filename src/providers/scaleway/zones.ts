/** The zones of an account. A zone is a domain, or a subdomain of one. */
import type { DomainName } from '../../dns/domain-name.ts'
import type { ProviderCallOptions, ZoneReference } from '../provider.ts'
import { reading } from '../send-request.ts'
import { masterZone, zoneListOf, zonesNamed } from '../zone-lists.ts'
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

/** Reads the zones with these names; all zones if there are none. */
export function readZones(
  { api, project }: Pick<Scaleway, 'api' | 'project'>,
  names: readonly DomainName[],
  options?: ProviderCallOptions,
): Promise<ApiZone[]> {
  const query = { dns_zones: names.map((name) => name.slice(0, -1)), ...(project !== null && { project_id: project }) }
  return api.list(reading('/dns-zones', names.length === 0 ? 'listing zones' : 'looking up zones', options, query), {
    key: 'dns_zones',
    perPage: PAGE_SIZE,
    shape: zoneShape,
    idOf: ({ name, project: own }) => `${name} ${own}`,
  })
}

export async function findZones(
  scaleway: Scaleway,
  names: readonly DomainName[],
  options?: ProviderCallOptions,
): Promise<ReadonlyMap<DomainName, ZoneReference>> {
  const wanted = new Set(names)
  if (wanted.size === 0) return new Map()
  const zones = await readZones(scaleway, wanted.size <= MAX_NAMES ? [...wanted] : [], options)
  return zonesNamed(zoneListOf(zones, referenceTo, LISTING), wanted)
}

export const referenceTo = (_: ApiZone, name: DomainName): ZoneReference => masterZone(name)

export const LISTING = { twice: () => 'exists in two projects: set project_id' }
