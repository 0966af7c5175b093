/** A zone of one provider as it is desired at another. */
import type { SourcePosition } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { type DefinedRecord, isApexNs, type ResourceRecord, recordKey } from '../../dns/record.ts'
import { isSignerRecord, SIGNER_KEYS, signerRrsets } from '../../dns/signer-records.ts'
import type { Ttl } from '../../dns/ttl.ts'
import { DEFAULT_ZONE_OPTIONS, type DesiredZone, type ExistingZone, type ZoneSettings } from '../../dns/zone.ts'
import type { Capabilities } from '../../plan/capabilities.ts'
import type { Misfit } from '../../plan/misfits.ts'
import type { ZoneSnapshot } from '../../providers/provider.ts'

export interface CopyOptions {
  /**
   * The names of the target's name servers, for the apex NS records, and the TTL of those in seconds (null for that of the source); null to keep the records
   * of the target.
   */
  readonly apexNs: { readonly names: readonly DomainName[]; readonly ttl: Ttl | null } | null
  /** Whether the target does not have the zone yet. */
  readonly isNew: boolean
  /** Settings for those that the source does not have. */
  readonly defaults: ZoneSettings
  /** Whether what the target cannot hold is left out. */
  readonly lossy: boolean
}

/** A provider's end of a copy. */
export interface CopyEnd {
  readonly name: string
  readonly capabilities: Capabilities
}

/**
 * The zone of `source` as it is desired at `target`, where the keys of a signer are left alone. Apex NS records name the servers of a provider, so they are copied only into a new zone at a target that
 * does not set its own.
 */
export function copiedZone(existing: ExistingZone, source: CopyEnd, target: CopyEnd, options: CopyOptions): DesiredZone {
  const { name } = existing
  // Records of a provider have no position in a file. Plans of copies are shown without positions.
  const at: SourcePosition = { file: source.name, line: 1, column: 1 }
  const settings = settingsFor({ ...options.defaults, ...existing.settings }, target)
  const defaultTtl = (existing.settings.ttl_sec || source.capabilities.fallbackTtl || null) as Ttl | null
  const keepsDefault = target.capabilities.ttlDefault && (settings.ttl_sec || target.capabilities.fallbackTtl || null) === defaultTtl
  const ttlOf = ({ ttl }: ResourceRecord): Ttl | null => ttl ?? (keepsDefault ? null : defaultTtl)
  const seen = new Set<string>()
  const records: DefinedRecord[] = []
  for (const record of existing.records) {
    if (isApexNs(record, name) || isSignerRecord(record, name) || seen.has(recordKey(record))) continue
    seen.add(recordKey(record))
    records.push({ name: record.name, type: record.type, ttl: ttlOf(record), data: record.data, at })
  }
  for (const record of apexNsRecords(existing, target, options)) records.push({ ...record, ttl: ttlOf(record), at })
  return {
    ...DEFAULT_ZONE_OPTIONS,
    name,
    at,
    settings,
    records,
    unsupported: options.lossy ? 'skip' : 'error',
    unmanaged: SIGNER_KEYS,
    apexNs: options.apexNs === null ? 'keep' : 'manage',
  }
}

/** The records of the source's signer, which are never copied. They are no loss: the signer of the target makes its own. */
export function signerMisfits({ name, records, signerRecords = [] }: ZoneSnapshot, target: string): Misfit[] {
  const reason = `they belong to the signer (DNSSEC): sign the zone at ${target}`
  return signerRrsets([...records, ...signerRecords], name).map(
    ({ count, ...rrset }): Misfit => ({ rrset, records: count, state: 'left-out', reason }),
  )
}

/** The settings without those that say nothing, if the target does not have them. */
function settingsFor(settings: ZoneSettings, { capabilities }: CopyEnd): ZoneSettings {
  const saysNothing = (value: unknown): boolean =>
    value === '' || value === 0 || value === 'active' || (Array.isArray(value) && value.length === 0)
  return Object.fromEntries(
    Object.entries(settings).filter(([key, value]) => capabilities.settings.has(key as keyof ZoneSettings) || !saysNothing(value)),
  )
}

function apexNsRecords({ name, records }: ExistingZone, { capabilities }: CopyEnd, { apexNs, isNew }: CopyOptions): ResourceRecord[] {
  const { servesApexNs, assignsNameservers = false, newZoneNameservers = [] } = capabilities
  const own = records.filter((record) => isApexNs(record, name))
  const addsNone = !servesApexNs && !assignsNameservers && newZoneNameservers.length === 0
  if (apexNs === null) return isNew && addsNone ? own.map(({ type, ttl, data }) => ({ name, type, ttl, data })) : []
  return apexNs.names.map((data) => ({ name, type: 'NS', ttl: apexNs.ttl ?? own[0]?.ttl ?? null, data }))
}
