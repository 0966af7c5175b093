import { ZONE_SETTINGS } from '../../model/zone.ts'
import type { Capabilities } from '../../plan/capabilities.ts'
import { CLOUD_RECORD_RULES } from './record-rules.ts'
import { cloudSettingFaults } from './setting-limits.ts'

/** The TTLs a record can have (interface, Domain record). */
export const RECORD_TTLS = [300, 3600, 7200, 14400, 28800, 57600, 86400, 172800, 345600, 604800, 1209600, 2419200] as const

/** What the interface's Domains part can hold. */
export const CLOUD_CAPABILITIES: Capabilities = {
  granularity: 'record',
  types: new Set(['A', 'AAAA', 'NS', 'MX', 'CNAME', 'TXT', 'SRV', 'PTR', 'CAA']),
  ttlSteps: RECORD_TTLS,
  ttlDefault: true,
  settingSteps: RECORD_TTLS,
  settings: new Set(ZONE_SETTINGS),
  fixedSettings: new Set(['type']),
  settingFaults: cloudSettingFaults,
  neededToCreate: { master: ['soa_email'], slave: ['master_ips'] },
  maxRecords: 12_000,
  servesApexNs: true,
  cnameExclusive: true,
  rules: CLOUD_RECORD_RULES,
}
