/** Finds the settings that a definition cannot contain. */
import { parseIpv4, parseIpv6 } from '../dns/ip-address.ts'
import { isMailAddress } from '../dns/mailbox.ts'
import { type ExistingZone, ZONE_SETTINGS, type ZoneSettings } from '../dns/zone.ts'
import type { ZoneTarget } from './definable-records.ts'
import { shownData, type UnsupportedFeature } from './unsupported-features.ts'

export interface DefinableSettings {
  readonly settings: ZoneSettings
  readonly dropped: UnsupportedFeature[]
}

/**
 * The settings that a definition must contain so that a plan changes none. A setting whose absence means the same, given the config's
 * defaults, is left out. A setting with a value that no definition can have is left out and so not managed.
 */
export function definableSettings(
  { name, settings, unknownSettings = [] }: ExistingZone,
  defaults: ZoneSettings,
  { target, capabilities }: ZoneTarget,
): DefinableSettings {
  const dropped: UnsupportedFeature[] = []
  const outcome = `it is left out of the definition and stays unchanged at ${target}`
  const drop = (key: string, what: string): void => {
    dropped.push({ zone: name, name: null, type: null, what: `the setting ${key}: ${what}`, outcome })
  }
  const defined: Record<string, unknown> = Object.fromEntries(
    ZONE_SETTINGS.flatMap((key) => {
      const value = settings[key]
      return value === undefined || (isDefault(key, value) && defaults[key] === undefined) ? [] : [[key, value]]
    }),
  )
  for (const setting of unknownSettings) dropped.push({ zone: name, name: null, type: null, what: `the setting ${setting}`, outcome })
  const { soa_email: email } = settings
  // A definition cannot contain an empty address.
  if (email === '') delete defined['soa_email']
  else if (email !== undefined && !isMailAddress(email)) {
    delete defined['soa_email']
    drop('soa_email', `${shownData(email)} is not an e-mail address`)
  }
  for (const key of ['master_ips', 'axfr_ips'] as const) {
    const invalid = settings[key]?.filter((text) => !parseIpv4(text).ok && !parseIpv6(text).ok) ?? []
    if (invalid.length === 0) continue
    delete defined[key]
    drop(key, `${shownData(invalid.join(', '))} among its addresses`)
  }
  for (const { field, message } of capabilities.settingProblems(settings)) {
    if (!(field in defined)) continue
    delete defined[field]
    drop(field, message)
  }
  // A definition without type: slave needs no masters.
  if (settings.type === 'slave' && (defined['master_ips'] === undefined || settings.master_ips?.length === 0)) {
    delete defined['type']
    if (settings.master_ips?.length === 0) drop('type', 'slave, without masters')
  }
  return { settings: defined as ZoneSettings, dropped }
}

function isDefault(key: keyof ZoneSettings, value: unknown): boolean {
  if (key === 'type') return value === 'master'
  if (key === 'status') return value === 'active'
  return value === '' || value === 0 || (Array.isArray(value) && value.length === 0)
}
