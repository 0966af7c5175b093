import type { ImportedZone } from '../definition/imported-zone.ts'
import { isMailAddress } from '../definition/parse/read-settings.ts'
import { parseIpv4, parseIpv6 } from '../dns/ip-address.ts'
import { MAX_TTL } from '../dns/ttl.ts'
import { type ExistingZone, ZONE_SETTINGS, type ZoneSettings } from '../dns/zone.ts'
import type { Holder } from './definable-records.ts'
import { excerpt, type UnsupportedFeature } from './unsupported-features.ts'

export interface DefinableSettings {
  readonly settings: ZoneSettings
  readonly dropped: UnsupportedFeature[]
}

/**
 * The settings that a definition says so that a plan leaves them as they are: none where nothing and the config's defaults say the same. A setting with
 * something that no definition can have is left out as a whole, and so it is not managed.
 */
export function definableSettings(
  { name, settings, unknownSettings = [] }: ExistingZone,
  defaults: ZoneSettings,
  { target, capabilities }: Holder,
): DefinableSettings {
  const dropped: UnsupportedFeature[] = []
  const outcome = `it is left out, and stays as it is at ${target}`
  const lose = (key: string, what: string): void => {
    dropped.push({ zone: name, name: null, type: null, what: `the setting ${key}: ${what}`, outcome })
  }
  const said: Record<string, unknown> = Object.fromEntries(
    ZONE_SETTINGS.flatMap((key) => {
      const value = settings[key]
      return value === undefined || (isUnsaid(key, value) && defaults[key] === undefined) ? [] : [[key, value]]
    }),
  )
  for (const words of unknownSettings) dropped.push({ zone: name, name: null, type: null, what: `the setting ${words}`, outcome })
  const { soa_email: email } = settings
  // An empty address cannot be said.
  if (email === '') delete said['soa_email']
  else if (email !== undefined && !isMailAddress(email)) {
    delete said['soa_email']
    lose('soa_email', `${excerpt(email)} is no mail address`)
  }
  for (const key of ['master_ips', 'axfr_ips'] as const) {
    const strange = settings[key]?.filter((text) => !parseIpv4(text).ok && !parseIpv6(text).ok) ?? []
    if (strange.length === 0) continue
    delete said[key]
    lose(key, `${excerpt(strange.join(', '))} among its addresses`)
  }
  for (const { field, message } of capabilities.settingProblems(settings)) {
    if (!(field in said)) continue
    delete said[field]
    lose(field, message)
  }
  // Who does not say that it is a slave need not say of whom.
  if (settings.type === 'slave' && (said['master_ips'] === undefined || settings.master_ips?.length === 0)) {
    delete said['type']
    if (settings.master_ips?.length === 0) lose('type', 'slave, without any masters')
  }
  return { settings: said as ZoneSettings, dropped }
}

function isUnsaid(key: keyof ZoneSettings, value: unknown): boolean {
  if (key === 'type') return value === 'master'
  if (key === 'status') return value === 'active'
  return value === '' || value === 0 || (Array.isArray(value) && value.length === 0)
}

const TIMES = { refresh_sec: 'REFRESH', retry_sec: 'RETRY', expire_sec: 'EXPIRE', ttl_sec: 'MINIMUM' } as const

/**
 * Takes out what no definition can hold of the fields of an SOA: a mailbox that is no address, and times that are more than any TTL. Those have 32 bits
 * (RFC 1035 section 3.3.13), a TTL has 31 (RFC 2181 section 8).
 */
export function checkSoaSettings(imported: ImportedZone): { readonly zone: ImportedZone; readonly dropped: readonly UnsupportedFeature[] } {
  const { zone, dropped } = checkMailbox(imported)
  const settings = { ...zone.settings }
  const times: UnsupportedFeature[] = []
  for (const [key, field] of Object.entries(TIMES) as [keyof typeof TIMES, string][]) {
    const seconds = settings[key]
    if (seconds === undefined || seconds <= MAX_TTL) continue
    delete settings[key]
    const what = `${seconds}, the ${field} of its SOA record: it is more than ${MAX_TTL} s`
    times.push({ zone: zone.name, name: null, type: 'SOA', what })
  }
  return times.length === 0 ? { zone, dropped } : { zone: { ...zone, settings }, dropped: [...dropped, ...times] }
}

/** Takes out the mailbox of an SOA that a definition cannot hold: one that is no address, such as `root.localhost.`, or none at all. */
export function checkMailbox(zone: ImportedZone): { readonly zone: ImportedZone; readonly dropped: readonly UnsupportedFeature[] } {
  const { soa_email: email, ...others } = zone.settings
  // Without an SOA there are no times either.
  if (zone.settings.refresh_sec === undefined || (email !== undefined && isMailAddress(email))) return { zone, dropped: [] }
  const what = email === undefined ? 'the mailbox of its SOA record' : `${email}, the mailbox of its SOA record`
  return { zone: { ...zone, settings: others }, dropped: [{ zone: zone.name, name: null, type: 'SOA', what }] }
}
