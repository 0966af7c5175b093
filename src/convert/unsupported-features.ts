import { type DesiredZone, ZONE_SETTINGS, type ZoneSettings } from '../dns/zone.ts'
import type { UnsupportedFeature } from './conversion.ts'

/** What a format holds of a zone beside its records. */
export interface HeldByFormat {
  /** Settings it holds, whatever their value. */
  readonly settings: ReadonlySet<keyof ZoneSettings>
  /** What else it holds of what a definition can say. */
  readonly others?: ReadonlySet<OtherSaying> | undefined
}

export type OtherSaying = 'absent' | 'unmanaged' | 'targets' | 'policy' | 'allow' | 'apexNs' | 'unsupported' | 'scopes'

/** What `type` and `status` are where nothing is said, so that nothing is lost by not saying it. */
const UNSAID_SETTINGS: Readonly<Record<string, string>> = { type: 'master', status: 'active' }

/** Everything a definition says of the zone that the format does not hold. */
export function unsupportedFeaturesOf(zone: DesiredZone, held: HeldByFormat): UnsupportedFeature[] {
  const dropped: UnsupportedFeature[] = []
  const lose = (what: string, at = zone.at): void => void dropped.push({ zone: zone.name, name: null, type: null, what, at })
  const holds = (saying: OtherSaying): boolean => held.others?.has(saying) === true
  if (zone.absent && !holds('absent')) lose('that the zone is to be deleted')
  for (const key of ZONE_SETTINGS) {
    const value = zone.settings[key]
    if (value === undefined || held.settings.has(key) || UNSAID_SETTINGS[key] === value) continue
    if (value === '' || (Array.isArray(value) && value.length === 0)) continue
    lose(`the setting ${key}`, zone.settingsAt?.[key])
  }
  if (zone.unmanaged.length > 0 && !holds('unmanaged')) lose('the selectors of unmanaged records', zone.unmanaged[0]?.at)
  if (zone.targets !== null && !holds('targets')) lose('its targets')
  // To be equal to what is defined is the policy of every other tool.
  if (zone.policy !== null && zone.policy !== 'sync' && !holds('policy')) lose(`the policy ${zone.policy}`)
  if (zone.allow.length > 0 && !holds('allow')) lose(`the lifted safety limits (${zone.allow.join(', ')})`)
  if (zone.apexNs === 'manage' && !holds('apexNs')) lose('apex_ns: manage')
  if (zone.unsupported === 'skip' && !holds('unsupported')) lose('unsupported: skip')
  for (const { name, type, at } of zone.foreign) dropped.push({ zone: zone.name, name, type, what: 'a type of another provider', at })
  for (const { name, type } of holds('scopes') ? [] : zone.scopes)
    dropped.push({ zone: zone.name, name, type, what: 'for which targets it is', at: zone.at })
  for (const { name, type, at } of zone.inventory ?? [])
    dropped.push({ zone: zone.name, name, type, what: 'addresses that are looked up when the zone is planned', at })
  return dropped
}
