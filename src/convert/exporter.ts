/** The interface of exporters, and the parts of a definition that a format cannot express. */
import type { Diagnostic } from '../base/diagnostic.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { type DesiredZone, ZONE_SETTINGS, type ZoneSettings } from '../dns/zone.ts'
import type { SerialRule } from '../dns/zone-file/choose-serial.ts'
import type { OutputFile } from '../files/write-files.ts'
import type { UnsupportedFeature } from './unsupported-features.ts'

/** Converts zones to another format. Pure. */
export type Exporter = (zones: readonly DesiredZone[], options: ExportOptions) => ExportedFiles

export interface ExportOptions {
  /** Name servers for zones without NS records at the apex. */
  readonly nameservers: readonly DomainName[]
  /** The serial of SOA records in zone files. */
  readonly serial: SerialRule
  /** The text of a file that the export would replace, by path; null if there is none. */
  readonly existing?: ((path: string) => string | null) | undefined
  /** Whether a serial that is named may be older than that of an existing file. */
  readonly force?: boolean | undefined
  /** The layout of zone files. */
  readonly style: 'canonical' | 'pretty'
}

export interface ExportedFiles {
  /** Paths are relative to the folder that `-o` names. */
  readonly files: readonly OutputFile[]
  /** Whether the format is one file, which `-o` then names itself. */
  readonly isSingleFile: boolean
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
}

/** What a format can express besides records. */
export interface FormatSupport {
  /** Zone settings, with any value. */
  readonly settings: ReadonlySet<keyof ZoneSettings>
  /** Other parts of a definition. */
  readonly others?: ReadonlySet<DefinitionPart> | undefined
}

export type DefinitionPart =
  | 'absent'
  | 'unmanaged'
  | 'targets'
  | 'policy'
  | 'allow'
  | 'apexNs'
  | 'unsupported'
  | 'rrsetTargets'
  | 'soa'
  | 'recordSettings'
  | 'recordIgnore'
  | 'ignore'

/** Values that a zone has without saying so: leaving them out loses nothing. */
const DEFAULT_SETTINGS: Readonly<Record<string, string>> = { type: 'master', status: 'active' }

/** Everything in a zone's definition that the format cannot express. */
export function unsupportedFeaturesOf(zone: DesiredZone, { settings, others }: FormatSupport): UnsupportedFeature[] {
  const dropped: UnsupportedFeature[] = []
  const drop = (what: string, at = zone.at, keepsRecords = false): void =>
    void dropped.push({ zone: zone.name, name: null, type: null, what, at, keepsRecords })
  const supports = (part: DefinitionPart): boolean => others?.has(part) === true
  if (zone.absent && !supports('absent')) drop('the deletion of the zone')
  for (const key of ZONE_SETTINGS) {
    const value = zone.settings[key]
    // Every target has a mailbox for its SOA records, so leaving it out loses nothing.
    if (value === undefined || settings.has(key) || DEFAULT_SETTINGS[key] === value || key === 'soa_email') continue
    if (value === '' || (Array.isArray(value) && value.length === 0)) continue
    drop(`the setting ${key}`, zone.settingPositions?.[key])
  }
  // Providers set the primary, the serial and the TTL themselves.
  const { primary: _, serial: __, ttl: ___, ...soa } = zone.soa ?? {}
  if (!supports('soa')) for (const field of Object.keys(soa)) drop(`the setting soa.${field}`)
  if (zone.unmanaged.length > 0 && !supports('unmanaged')) drop('the selectors of unmanaged records', zone.unmanaged[0]?.at)
  if (zone.targets !== null && !supports('targets')) drop('its targets', zone.at, true)
  // Every other tool makes the zone equal to its definition, which is the policy sync.
  if (zone.policy !== null && zone.policy !== 'sync' && !supports('policy')) drop(`the policy ${zone.policy}`)
  if (zone.allow.length > 0 && !supports('allow')) drop(`the lifted safety limits (${zone.allow.join(', ')})`)
  if (zone.apexNs !== 'keep' && !supports('apexNs')) {
    // With `manage`, the NS records of the apex are those of the definition.
    const keepsRecords = zone.apexNs === 'manage' && zone.records.some(({ name, type }) => name === zone.name && type === 'NS')
    drop(`apex_ns: ${zone.apexNs}`, zone.at, keepsRecords)
  }
  if (zone.unsupported === 'skip' && !supports('unsupported')) drop('unsupported: skip')
  for (const { name, type, at } of zone.providerSpecific)
    dropped.push({ zone: zone.name, name, type, what: "another provider's record type", at })
  for (const { name, type } of supports('rrsetTargets') ? [] : zone.rrsetTargets)
    dropped.push({ zone: zone.name, name, type, what: 'the targets of this record set', at: zone.at })
  const beside = new Set(zone.records.flatMap(({ name, type }) => (type === 'CNAME' ? [] : [name])))
  for (const { name, type, at, providerSettings = {} } of supports('recordSettings') ? [] : zone.records)
    for (const provider of Object.keys(providerSettings)) {
      const need = type === 'CNAME' && beside.has(name) ? ', without which it excludes the other records of its name' : ''
      dropped.push({ zone: zone.name, name, type, what: `the settings of this record at ${provider}${need}`, at })
    }
  dropped.push(...suppressionsOf(zone, supports))
  for (const { name, type, at } of zone.sourced ?? [])
    dropped.push({ zone: zone.name, name, type, what: 'values that are read when the zone is planned', at, restricts: mayRestrict(type) })
  for (const { provider, type, at } of zone.sources ?? []) {
    const what = `records that are read from ${provider} when the zone is planned`
    dropped.push({ zone: zone.name, name: null, type: type ?? null, what, at, restricts: mayRestrict(type) })
  }
  return dropped
}

/** Whether records of a type, or of any, may restrict others; what they say is not known here. */
const mayRestrict = (type?: string): boolean => type === undefined || type === 'CAA' || type === 'TXT'

/** The suppressed findings of a definition, on which no record depends. Those of the config stay there. */
function suppressionsOf(zone: DesiredZone, supports: (part: DefinitionPart) => boolean): UnsupportedFeature[] {
  const own = supports('ignore') ? [] : (zone.ignore ?? []).filter(({ at }) => at.file === zone.at.file)
  const ofRecords = supports('recordIgnore') ? [] : zone.records.filter(({ ignore }) => ignore !== undefined)
  return [
    ...own.map(({ code, at }) => ({
      zone: zone.name,
      name: null,
      type: null,
      what: `the suppressed finding ${code}`,
      at,
      keepsRecords: true,
    })),
    ...ofRecords.map(({ name, type, at }) => ({
      zone: zone.name,
      name,
      type,
      what: 'the suppressed findings of the record',
      at,
      keepsRecords: true,
    })),
  ]
}
