/** Listed zones of a service in the terms of plans. */
import { append } from '../base/group-by.ts'
import type { Result } from '../base/result.ts'
import { type DomainName, parseAbsoluteName } from '../dns/domain-name.ts'
import { ProviderError, type UnusableZone, type ZoneList, type ZoneReference } from './provider.ts'

/** A zone without settings of its own, and whose records come from nowhere else. `id`: the name without the final dot if absent. */
export const masterZone = <Id extends number | string = string>(
  name: DomainName,
  id: Id = name.slice(0, -1) as Id,
): ZoneReference & { readonly id: Id } => ({ name, id, settings: { type: 'master' } })

/** A zone as a service lists it. `id`: the name if absent. */
export interface ListedZone {
  readonly name: string
  readonly id?: number | string
}

export interface ListOptions<Zone> {
  /** How the service writes names; as absolute ones, with or without the final dot, if absent. */
  readonly parse?: (text: string) => Result<DomainName>
  /** Whether the provider manages the zone, or does not show it; all are shown if absent. */
  readonly isShown?: (zone: Zone, name: DomainName | null) => boolean
  /** Why a zone cannot be managed, in words that follow its name; null if it can. */
  readonly problemOf?: (zone: Zone, name: DomainName) => string | null
  /** Which of several zones with one name is managed; the first if absent. */
  readonly isPreferred?: (zone: Zone, name: DomainName) => boolean
  /** The same about the others, from the managed one. */
  readonly twice?: (managed: Zone, name: DomainName) => string
  /** The same about each of several zones with one name, instead of `twice`. */
  readonly ambiguous?: (zone: Zone) => string
}

/** The zones of a list; those whose names are not domain names cannot be managed. */
export function zoneListOf<Zone extends ListedZone>(
  listed: readonly Zone[],
  referenceTo: (zone: Zone, name: DomainName) => ZoneReference,
  {
    parse = parseAbsoluteName,
    isShown,
    problemOf,
    isPreferred = () => true,
    twice = () => 'exists twice',
    ambiguous,
  }: ListOptions<Zone> = {},
): ZoneList {
  const usable = new Map<DomainName, Zone[]>()
  const unusable: UnusableZone[] = []
  const refuse = (zone: Zone, reason: string): void => void unusable.push({ name: zone.name, id: zone.id ?? zone.name, reason })
  for (const zone of listed) {
    const name = parse(zone.name)
    if (isShown?.(zone, name.ok ? name.value : null) === false) continue
    const problem = name.ok ? (problemOf?.(zone, name.value) ?? null) : name.message
    if (name.ok && problem === null) append(usable, name.value, zone)
    else refuse(zone, problem as string)
  }
  const zones: ZoneReference[] = []
  for (const [name, found] of usable) {
    const managed = found.find((zone) => isPreferred(zone, name)) ?? (found[0] as Zone)
    if (found.length === 1 || ambiguous === undefined) zones.push(referenceTo(managed, name))
    if (found.length > 1)
      for (const zone of found)
        if (ambiguous !== undefined) refuse(zone, ambiguous(zone))
        else if (zone !== managed) refuse(zone, twice(managed, name))
  }
  return { zones, unusable }
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
