/** A provider for a service that hosts the zones of an account, from what only that service has: how its zones are listed, read and changed. */
import type { DomainName } from '../dns/domain-name.ts'
import type { Capabilities } from '../plan/capabilities.ts'
import type { RrsetChange } from '../plan/changesets.ts'
import type { DomainChange } from '../plan/plan.ts'
import { refuseChangedZone } from './changed-rrsets.ts'
import { type ExaminedService, examineZones } from './examine-zones.ts'
import type { ApiConnection } from './json-api.ts'
import type { AppliedCall, Provider, ProviderCall, ProviderCallOptions, ZoneReference, ZoneSnapshot } from './provider.ts'
import { type ListedZone, type ListOptions, refuseUnusable, zoneListOf, zonesNamed } from './zone-lists.ts'

/** Zones that are looked up one by one. For more names, the whole list is read. */
const MAX_SINGLE = 3

/** What a service says of a zone when it is read. */
export type LiveZone = Pick<ZoneSnapshot, 'records' | 'unplanned' | 'ownApexNs' | 'warnings'>

export interface HostedService<Zone extends ListedZone, Live extends LiveZone> extends ExaminedService {
  readonly type: string
  readonly capabilities: Capabilities
  /** The path of the zones, for saved plans; the base URL is enough if absent. */
  readonly path?: string
  /** Lists all zones. */
  list(options?: ProviderCallOptions): Promise<readonly Zone[]>
  /** Finds the zones with a name. */
  find(name: DomainName, options?: ProviderCallOptions): Promise<readonly Zone[] | Zone | null>
  referenceTo(zone: Zone, name: DomainName): ZoneReference
  readonly listing?: ListOptions<Zone>
  /** Reads a zone, and remembers what changes need. */
  read(zone: ZoneReference, options?: ProviderCallOptions): Promise<Live>
  /** Creates the zone of the first change of the call; absent, like `remove`, if the service creates and deletes zones elsewhere. */
  create?(change: DomainChange, call: ProviderCall, options?: ProviderCallOptions): Promise<AppliedCall>
  /** Changes the settings of a zone; absent if zones have none. */
  update?(zone: ZoneReference, change: DomainChange, options?: ProviderCallOptions): Promise<AppliedCall>
  /** Deletes a zone that was read immediately before, and whose records are those of the plan. */
  remove?(zone: ZoneReference, live: Live, rrsets: readonly RrsetChange[], options?: ProviderCallOptions): Promise<AppliedCall>
  /** Changes records. */
  change(zone: ZoneReference, call: ProviderCall, options?: ProviderCallOptions): Promise<AppliedCall>
  close(): Promise<void>
  /** The features that not every service has, and other ways to do the same. */
  readonly features?: Partial<Provider>
}

export function hostedProvider<Zone extends ListedZone, Live extends LiveZone>(
  connection: Pick<ApiConnection, 'provider' | 'baseUrl' | 'parallelism'>,
  service: HostedService<Zone, Live>,
): Provider {
  const { provider: name, baseUrl, parallelism } = connection
  const { type, capabilities, path = '', referenceTo, listing } = service
  let reading: Promise<readonly Zone[]> | null = null
  /** All zones. A plan of all zones asks for them twice at once, and reads them once. */
  const list = (options?: ProviderCallOptions): Promise<readonly Zone[]> => {
    reading ??= service.list(options).finally(() => {
      reading = null
    })
    return reading
  }
  const provider: Provider = {
    name,
    type,
    address: `${baseUrl.href.replace(/(?<!\/)\/+$/, '')}${path}`,
    capabilities,
    parallelism,
    async findZones(names, options) {
      const wanted = new Set(names)
      const listed =
        wanted.size > MAX_SINGLE
          ? await list(options)
          : (await Promise.all([...wanted].map((zone) => service.find(zone, options)))).flatMap((found) => found ?? [])
      const found = zoneListOf(listed as readonly Zone[], referenceTo, listing)
      refuseUnusable(name, wanted, found)
      return zonesNamed(found, wanted)
    },
    listZones: async (options) => zoneListOf(await list(options), referenceTo, listing),
    readZone: async (zone, options) => snapshotOf(zone, await service.read(zone, options)),
    examine: (usage, _, options) => examineZones(provider, usage, service, options),
    async apply(zone, call, options) {
      const [first] = call.changes
      const change = first?.subject === 'domain' ? first : null
      if (change?.action === 'create' && service.create) return service.create(change, call, options)
      if (zone === null) throw new Error('no zone to change')
      if (change === null) return service.change(zone, call, options)
      if (change.action === 'update' && service.update) return service.update(zone, change, options)
      if (change.action !== 'delete' || !service.remove) throw new Error(`zones at ${service.service} have no ${change.action}`)
      const live = await service.read(zone, options)
      refuseChangedZone(name, call.rrsets, live)
      return service.remove(zone, live, call.rrsets, options)
    },
    close: () => service.close(),
    ...service.features,
  }
  return provider
}

/** A zone as it was read. */
export const snapshotOf = ({ name, id, settings }: ZoneReference, { records, unplanned, ownApexNs, warnings }: LiveZone): ZoneSnapshot => ({
  name,
  id,
  settings,
  records,
  unplanned,
  ownApexNs,
  warnings,
})
