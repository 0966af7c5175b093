/** Reads zones as they exist at a target: by their names if the provider can, otherwise after one look-up of all of them. */
import type { DomainName } from '../../dns/domain-name.ts'
import type { NamedReadOptions, Provider, ProviderCallOptions, ZoneReference, ZoneSnapshot } from '../../providers/provider.ts'

/** A zone as it was read. */
export interface ZoneReading {
  /** Null if the zone does not exist. */
  readonly reference: ZoneReference | null
  readonly existing: ZoneSnapshot | null
  /** When the read began, by `performance.now()`. */
  readonly readAt: number
}

export interface OpenedZones {
  /** Reads one of the zones. Throws `ProviderError`. */
  read(name: DomainName, options?: NamedReadOptions): Promise<ZoneReading>
  /** The zones that exist, by name; null if they were not looked up. */
  readonly references: ReadonlyMap<DomainName, ZoneReference> | null
}

/** Prepares the read of zones with these names. Throws `ProviderError` if they cannot be looked up. */
export async function openZones(provider: Provider, names: readonly DomainName[], call: ProviderCallOptions): Promise<OpenedZones> {
  const readNamed = provider.readNamedZone
  if (readNamed !== undefined)
    return {
      references: null,
      async read(name, options) {
        const readAt = performance.now()
        const existing = await readNamed(name, options)
        return { reference: existing === null ? null : referenceTo(existing), existing, readAt }
      },
    }
  const references = await provider.findZones(names, call)
  return {
    references,
    async read(name, options) {
      const readAt = performance.now()
      const reference = references.get(name) ?? null
      return { reference, existing: reference && (await provider.readZone(reference, options)), readAt }
    },
  }
}

const referenceTo = ({ name, id, settings, unknownSettings, ownApexNs }: ZoneSnapshot): ZoneReference => ({
  name,
  id,
  settings,
  ...(unknownSettings !== undefined && { unknownSettings }),
  ...(ownApexNs !== undefined && { ownApexNs }),
})
