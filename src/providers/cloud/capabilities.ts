/** The capabilities of the cloud API: types, TTLs, settings and limits. */
import { ZONE_SETTINGS, type ZoneSettings } from '../../dns/zone.ts'
import type { Capabilities, SettingProblem } from '../../plan/capabilities.ts'
import { CLOUD_RECORD_RULES } from './record-rules.ts'

/** Maximum lengths of a domain's settings, in characters. */
const MAX_DESCRIPTION = 253
const MAX_GROUP = 50
const TAG_LENGTHS = [3, 50] as const
/** Maximum characters of all addresses of a list together. */
const MAX_ADDRESSES = 1000

/** Reports settings that exceed the limits of the API. An empty description or group is the same as none. */
function cloudSettingProblems(settings: ZoneSettings): SettingProblem[] {
  const problems: SettingProblem[] = []
  const atMost = (field: 'description' | 'group', limit: number): void => {
    const length = settings[field]?.length ?? 0
    if (length > limit) problems.push({ field, message: `${field} has ${length} characters; the service accepts ${limit}` })
  }
  atMost('description', MAX_DESCRIPTION)
  atMost('group', MAX_GROUP)
  for (const tag of settings.tags ?? []) {
    if (tag.length < TAG_LENGTHS[0] || tag.length > TAG_LENGTHS[1])
      problems.push({
        field: 'tags',
        message: `the tag ${JSON.stringify(tag)} has ${tag.length} characters; the service accepts ${TAG_LENGTHS[0]} to ${TAG_LENGTHS[1]}`,
      })
  }
  for (const field of ['axfr_ips', 'master_ips'] as const) {
    const length = (settings[field] ?? []).reduce((sum, address) => sum + address.length, 0)
    if (length > MAX_ADDRESSES)
      problems.push({ field, message: `${field} has ${length} characters in all; the service accepts ${MAX_ADDRESSES}` })
  }
  return problems
}

/** The valid TTLs of a record, in seconds. */
export const RECORD_TTLS = [300, 3600, 7200, 14400, 28800, 57600, 86400, 172800, 345600, 604800, 1209600, 2419200] as const

/** Labels of RFC 1035 and underscores, the last one of letters or an A-label. */
const ZONE_NAME = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})\.$/

/** What a domain of the API can store. */
export const CLOUD_CAPABILITIES: Capabilities = {
  calls: { unit: 'record', maxUnits: 1, maxOctets: null, atomic: true, hasPrecondition: false, createsZoneWithRecords: false },
  types: new Set(['A', 'AAAA', 'NS', 'MX', 'CNAME', 'TXT', 'SRV', 'PTR', 'CAA']),
  ttlSteps: RECORD_TTLS,
  ttlDefault: true,
  fallbackTtl: 86_400,
  settingSteps: RECORD_TTLS,
  settings: new Set(ZONE_SETTINGS),
  storesSoaFields: false,
  fixedSettings: new Set(['type']),
  settingProblems: cloudSettingProblems,
  neededToCreate: { master: ['soa_email'], slave: ['master_ips'] },
  createsZones: true,
  canCreateZone: (name) => ZONE_NAME.test(name),
  maxRecords: 12_000,
  servesApexNs: true,
  cnameExclusive: true,
  rules: CLOUD_RECORD_RULES,
}
