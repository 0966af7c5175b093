/** Listed zones of a service in the terms of plans. */
import { type DomainName, parseAbsoluteName } from '../dns/domain-name.ts'
import { ProviderError, type UnusableZone, type ZoneList, type ZoneReference } from './provider.ts'

/** A zone without settings of its own, and whose records come from nowhere else. */
export const masterZone = <Id extends number | string>(name: DomainName, id: Id): ZoneReference & { readonly id: Id } => ({
  name,
  id,
  settings: { type: 'master' },
  updated: null,
})

export interface ListOptions<Zone> {
  /** Why a zone cannot be managed, in words that follow its name; null if it can. */
  readonly problemOf?: (zone: Zone, name: DomainName) => string | null
  /** The same about a zone whose name an earlier one has. */
  readonly twice?: string
}

/** The zones of a list; those whose names are not domain names cannot be managed. `id`: the name if absent. */
export function zoneListOf<Zone extends { readonly name: string; readonly id?: number | string }>(
  listed: readonly Zone[],
  referenceTo: (zone: Zone, name: DomainName) => ZoneReference,
  { problemOf, twice = 'exists twice' }: ListOptions<Zone> = {},
): ZoneList {
  const zones = new Map<DomainName, ZoneReference>()
  const unusable: UnusableZone[] = []
  for (const zone of listed) {
    const name = parseAbsoluteName(zone.name)
    const reason = name.ok ? (problemOf?.(zone, name.value) ?? (zones.has(name.value) ? twice : null)) : name.message
    if (name.ok && reason === null) zones.set(name.value, referenceTo(zone, name.value))
    else unusable.push({ name: zone.name, id: zone.id ?? zone.name, reason: reason as string })
  }
  return { zones: [...zones.values()], unusable }
}

/** The zones with these names. */
export const zonesNamed = ({ zones }: Pick<ZoneList, 'zones'>, wanted: ReadonlySet<DomainName>): ReadonlyMap<DomainName, ZoneReference> =>
  new Map(zones.flatMap((zone) => (wanted.has(zone.name) ? [[zone.name, zone] as const] : [])))

/** Throws if a zone with one of these names cannot be managed. It must not seem to be missing: it would be created once more. */
export function refuseUnusable(provider: string, wanted: ReadonlySet<DomainName>, { unusable }: ZoneList): void {
  const found = unusable.find((zone) => {
    const name = parseAbsoluteName(zone.name)
    return name.ok && wanted.has(name.value)
  })
  if (found !== undefined) throw new ProviderError('provider-rejected', `${provider}: ${found.name} ${found.reason}`, { notSent: true })
}
