/** A provider as a value: it keeps the record sets of each zone in a map. Yours calls a server instead. */
import { type PackageRecord, ProviderError, type ProviderPackage } from 'zonewright/provider'

export type Store = Map<string, readonly PackageRecord[]>

/** Give it to `plan`, `apply` and `verify` as `providers: {NAME: mapProvider(store)}`; NAME is the provider's name in the config. */
export const mapProvider = (store: Store): ProviderPackage => ({
  apiVersion: 1,
  settings: { type: 'object' },
  capabilities: { createsZones: true, deletesZones: true },
  create: () => ({
    address: 'map:',
    listZones: async () => [...store.keys()].map((name) => ({ name })),
    readZone: async ({ name }) => store.get(name) ?? [],
    async apply(zone, { changes, rrsets }) {
      const [first] = changes
      if (first?.subject === 'domain') {
        if (first.action === 'delete') store.delete(first.name)
        else store.set(first.name, store.get(first.name) ?? [])
      }
      const name = zone?.name ?? first?.name ?? ''
      let records = store.get(name)
      if (records === undefined) {
        if (first?.action === 'delete') return undefined
        throw new ProviderError('provider-not-found', `there is no zone ${name}`)
      }
      for (const { name: owner, type, desired } of rrsets) {
        const others: PackageRecord[] = records.filter((one) => one.name !== owner || one.type !== type)
        const data = desired?.data ?? []
        records = [...others, ...data.map((one) => ({ name: owner, type, ttl: desired?.ttl ?? 3600, data: one }))]
      }
      store.set(name, records)
      return undefined
    },
  }),
})
