import { ZONE_SETTINGS } from '../../dns/zone.ts'
import type { Capabilities } from '../../plan/capabilities.ts'
import { CLOUD_RECORD_RULES } from './record-rules.ts'
import { cloudSettingProblems } from './setting-limits.ts'

/** The TTLs a record can have (interface, Domain record). */
export const RECORD_TTLS = [300, 3600, 7200, 14400, 28800, 57600, 86400, 172800, 345600, 604800, 1209600, 2419200] as const

/** Labels of RFC 1035 and underscores, the last one of letters or an A-label (interface, Domain). */
const ZONE_NAME = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})\.$/

/** What the interface's Domains part can hold. */
export const CLOUD_CAPABILITIES: Capabilities = {
  granularity: 'record',
  types: new Set(['A', 'AAAA', 'NS', 'MX', 'CNAME', 'TXT', 'SRV', 'PTR', 'CAA']),
  ttlSteps: RECORD_TTLS,
  ttlDefault: true,
  settingSteps: RECORD_TTLS,
  settings: new Set(ZONE_SETTINGS),
  fixedSettings: new Set(['type']),
  settingProblems: cloudSettingProblems,
  neededToCreate: { master: ['soa_email'], slave: ['master_ips'] },
  canCreateZone: (name) => ZONE_NAME.test(name),
  maxRecords: 12_000,
  servesApexNs: true,
  cnameExclusive: true,
  rules: CLOUD_RECORD_RULES,
}
