/** What a zone file can hold. */
import type { DomainName } from '../../dns/domain-name.ts'
import { typeCode } from '../../dns/record-type.ts'
import { SIGNING_TYPES } from '../../dns/signer-records.ts'
import type { ZoneSettings } from '../../dns/zone.ts'
import { type Capabilities, RRSET_STORE, type SettingProblem } from '../../plan/capabilities.ts'
import { refuseIf } from '../record-rules.ts'

/** Maximum number of records of a file that is read. */
export const MAX_RECORDS = 500_000

const refuseUnservedTypes = refuseIf(({ type }) => {
  if (type === 'SOA') return ['type-unsupported', 'the SOA record follows from the settings of the zone']
  if (SIGNING_TYPES.has(type)) return ['type-unsupported', 'the server that signs the zone generates these records']
  return typeCode(type) === null ? ['type-unsupported', 'no name server supports this type'] : null
})

const SOA_TIMES = ['refresh_sec', 'retry_sec', 'expire_sec'] as const

function settingProblems(settings: ZoneSettings): SettingProblem[] {
  const problems: SettingProblem[] = SOA_TIMES.filter((field) => settings[field] === 0).map((field) => ({
    field,
    message: `${field} is 0, but secondary servers need a time above 0; write it in seconds`,
  }))
  if (settings.type === 'slave') problems.push({ field: 'type', message: 'a slave zone has no zone file to write' })
  return problems
}

/**
 * Whether a zone may have a file here. Commands would take a name that begins with a hyphen as an option, and configurations of servers do not agree on
 * escaped characters.
 */
export const canBeServed = (name: string): boolean => !/^-|[\\"]/.test(name)

export const ZONEFILE_CAPABILITIES: Capabilities = {
  ...RRSET_STORE,
  calls: { ...RRSET_STORE.calls, hasPrecondition: true, createsZoneWithRecords: true },
  settings: new Set(['type', 'soa_email', 'ttl_sec', ...SOA_TIMES]),
  fixedSettings: new Set(['type']),
  settingProblems,
  createsZones: true,
  setsSerials: true,
  canCreateZone: canBeServed,
  maxRecords: MAX_RECORDS,
  needsApexNs: true,
  rules: [refuseUnservedTypes],
}

/** `catalog`: the name of the catalog zone, whose file is not one of the definitions. */
export const zonefileCapabilities = (catalog: DomainName | null): Capabilities => ({
  ...ZONEFILE_CAPABILITIES,
  canCreateZone: (name) => canBeServed(name) && name !== catalog,
})
