/** A provider that answers from a snapshot: it contacts no host and needs no secret. */
import type { ProviderConfig } from '../../definition/config/config.ts'
import { describeInventoryQuery, type InventoryQuery } from '../../dns/inventory.ts'
import type { Capabilities } from '../../plan/capabilities.ts'
import { type Provider, ProviderError, type ZoneReference, type ZoneSnapshot } from '../../providers/provider.ts'
import type { Snapshot } from './snapshot.ts'

/** The provider of a config entry as the snapshot has it. A target that the snapshot lacks has no zone. */
export function snapshotProvider({ name, type }: ProviderConfig, capabilities: Capabilities, snapshot: Snapshot): Provider {
  const own = snapshot.zones.filter(({ target }) => target === name)
  const live = new Map(own.flatMap(({ zone, live: found }) => (found === null ? [] : [[zone, found] as const])))
  const answers = new Map(
    snapshot.inventory.flatMap(({ target, query, objects }) => (target === name ? [[queryKey(query), objects] as const] : [])),
  )
  const unchangeable = (): never => {
    throw new Error('the zones of a snapshot cannot be changed')
  }
  return {
    name,
    type,
    address: snapshot.targets.find((target) => target.name === name)?.address ?? '',
    capabilities,
    capabilityFacts: () => snapshot.targets.find((target) => target.name === name)?.facts ?? {},
    parallelism: 1,
    findZones: async (names) => new Map(names.flatMap((zone) => [live.get(zone) ?? []].flat().map((found) => [zone, referenceTo(found)]))),
    listZones: async () => ({ zones: [...live.values()].map(referenceTo), unusable: [] }),
    async readZone({ name: zone }) {
      const found = live.get(zone)
      if (found === undefined) throw new ProviderError('provider-not-found', `${name}: the snapshot has no zone ${zone}`)
      return found
    },
    async readInventory(query) {
      const objects = answers.get(queryKey(query))
      if (objects !== undefined) return objects
      const message = `the snapshot does not have the ${describeInventoryQuery(query)} of ${name}`
      throw new ProviderError('inventory-unreadable', message, { hint: 'a snapshot has what the definitions asked for when it was made' })
    },
    apply: unchangeable,
    close: async () => undefined,
  }
}

const referenceTo = ({ name, id, settings, unknownSettings, ownApexNs }: ZoneSnapshot): ZoneReference => ({
  name,
  id,
  settings,
  unknownSettings,
  ownApexNs,
})

const queryKey = ({ kind, label, tag, region, group }: Omit<InventoryQuery, 'provider'>): string =>
  JSON.stringify([kind, label, tag, region, group])
