/** A zone of one provider as it is desired at another. */
import type { Diagnostic, SourcePosition } from '../../base/diagnostic.ts'
import { type AcceptedLosses, acceptsLoss, isRestriction } from '../../checks/accepted-losses.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { type DefinedRecord, isApexNs, type ResourceRecord, recordKey, rrsetKey, statedSettings } from '../../dns/record.ts'
import { isSignerRecord, type RrsetName, SIGNER_KEYS, signerRrsets } from '../../dns/signer-records.ts'
import type { Ttl } from '../../dns/ttl.ts'
import { DEFAULT_ZONE_OPTIONS, type DesiredZone, type ExistingZone, type ZoneSettings } from '../../dns/zone.ts'
import type { Capabilities } from '../../plan/capabilities.ts'
import { hasDefinableData, MALFORMED, type Misfit } from '../../plan/misfits.ts'
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
  /** Whether what the target does not support is left out. */
  readonly lossy: boolean
}

/** A provider's end of a copy. */
export interface CopyEnd {
  readonly name: string
  readonly capabilities: Capabilities
}

/**
 * The zone of `source` as it is desired at `target`, where the keys of a signer are left alone. Apex NS records name the servers of a provider, so they are
 * copied only into a new zone at a target that does not set its own.
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
    if (isApexNs(record, name) || isSignerRecord(record, name) || seen.has(recordKey(record)) || !hasDefinableData(record)) continue
    seen.add(recordKey(record))
    const { type, data, settings } = record
    const kind = source.capabilities.recordSettings
    const isCopied = kind !== undefined && kind === target.capabilities.recordSettings && settings !== undefined
    records.push({ name: record.name, type, ttl: ttlOf(record), data, at, ...(isCopied && { providerSettings: { [kind]: settings } }) })
  }
  for (const record of apexNsRecords(existing, target, options, at)) records.push({ ...record, ttl: ttlOf(record), at })
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

/** A part of the source that a copy does not have, whatever the target. */
export interface LeftBehind extends Misfit {
  readonly rrset: RrsetName
  /** Whether answers of the target would lack it. */
  readonly isLoss: boolean
  /** Whether others may do more without it. */
  readonly restricts?: boolean
}

/**
 * What a copy lacks: the records of the source's signer, the records that no plan contains, and settings of records that only the source's type of provider has.
 * The records of the signer are no loss: the signer of the target makes its own.
 */
export function leftBehind(
  { name, records, unplanned = [], signerRecords = [] }: ZoneSnapshot,
  source: CopyEnd,
  target: CopyEnd,
): LeftBehind[] {
  const signer = signerRrsets([...records, ...unplanned, ...signerRecords], name).map(({ count, ...rrset }): LeftBehind => {
    const reason = `they belong to the signer (DNSSEC): sign the zone at ${target.name}`
    return { rrset, records: count, state: 'left-out', reason, isLoss: false }
  })
  const isOrdinary = (record: ResourceRecord): boolean => !isApexNs(record, name) && !isSignerRecord(record, name)
  const one = (
    record: Pick<ResourceRecord, 'name' | 'type' | 'data'>,
    state: Misfit['state'],
    reason: string,
    isLoss: boolean,
  ): LeftBehind => ({
    rrset: { name: record.name, type: record.type },
    records: 1,
    state,
    reason: `at ${source.name} it ${reason}`,
    isLoss,
    restricts: state === 'left-out' && isRestriction(record),
  })
  const others = records.filter(isOrdinary).flatMap((record): LeftBehind[] => {
    if (!hasDefinableData(record)) return [one(record, 'left-out', MALFORMED, true)]
    const settings = statedSettings(record).map(([key]) => key)
    const isCopied = source.capabilities.recordSettings === target.capabilities.recordSettings
    return settings.length === 0 || isCopied ? [] : [one(record, 'changed', `has the settings ${settings.join(', ')}`, true)]
  })
  const kept = unplanned.filter((record) => isOrdinary({ ...record, ttl: null }))
  return [...signer, ...others, ...kept.map((record) => one(record, 'left-out', record.reason, record.isServed !== false))]
}

/** Losses that `--lossy` does not accept as errors that stop the copy, or as warnings; the others as notices. Those of a signer are no finding. */
export const leftBehindDiagnostics = (left: readonly LeftBehind[], zone: DomainName, accepted: AcceptedLosses): Diagnostic[] =>
  left.flatMap(({ rrset, state, reason, isLoss, restricts = false }): Diagnostic[] => {
    if (isSignerRecord(rrset, zone)) return []
    const lossy = acceptsLoss(accepted, rrset.type, restricts)
    const message = `${reason}; ${state === 'left-out' ? 'it is' : 'they are'} not copied`
    return [
      {
        severity: isLoss ? (lossy ? 'warning' : 'error') : 'notice',
        code: 'record-unplanned',
        message: `${rrset.name} ${rrset.type}: ${message}`,
        cause: { subject: state === 'left-out' ? 'record' : 'record with settings', message },
        ...(isLoss && !lossy && { hint: copyHint(accepted, rrset.type, restricts) }),
      },
    ]
  })

/** The hint for a record that the copy would lose or change. */
export const copyHint = (accepted: AcceptedLosses, type: string, restricts: boolean): string =>
  `${restricts ? 'others may do more without it, so --lossy must name it: ' : ''}change it at the provider to copy from, or copy the rest with --lossy${restricts || accepted !== false ? `=${type}` : ''}`

/** Errors for what the target does not support and `--lossy`, which is given, does not accept. */
export function refusedLosses({ name: zone, records }: DesiredZone, misfits: readonly Misfit[], accepted: AcceptedLosses): Diagnostic[] {
  const restrictions = new Set(records.filter(isRestriction).map(rrsetKey))
  return misfits.flatMap(({ rrset, state, reason }): Diagnostic[] => {
    if (rrset === null || state !== 'left-out' || (rrset.type === 'NS' && rrset.name === zone)) return []
    const restricts = restrictions.has(rrsetKey(rrset))
    if (acceptsLoss(accepted, rrset.type, restricts)) return []
    const message = `${rrset.name} ${rrset.type}: ${reason}`
    return [{ severity: 'error', code: 'record-unsupported', message, hint: copyHint(accepted, rrset.type, restricts) }]
  })
}

/** The settings without those that say nothing, if the target does not have them. */
function settingsFor(settings: ZoneSettings, { capabilities }: CopyEnd): ZoneSettings {
  const saysNothing = (value: unknown): boolean =>
    value === '' || value === 0 || value === 'active' || (Array.isArray(value) && value.length === 0)
  return Object.fromEntries(
    Object.entries(settings).filter(([key, value]) => capabilities.settings.has(key as keyof ZoneSettings) || !saysNothing(value)),
  )
}

function apexNsRecords(
  { name, records }: ExistingZone,
  { capabilities }: CopyEnd,
  { apexNs, isNew }: CopyOptions,
  at: SourcePosition,
): ResourceRecord[] {
  const { servesApexNs, assignsNameservers = false, newZoneNameservers = [] } = capabilities
  const own = records.filter((record) => isApexNs(record, name))
  const addsNone = !servesApexNs && !assignsNameservers && newZoneNameservers.length === 0
  if (apexNs === null) return isNew && addsNone ? own.map(({ type, ttl, data }) => ({ name, type, ttl, data })) : []
  const given = apexNs.names.map((data): ResourceRecord => ({ name, type: 'NS', ttl: apexNs.ttl ?? own[0]?.ttl ?? null, data }))
  // A target whose own records are the only ones has them already.
  const isStored = (record: ResourceRecord): boolean => capabilities.rules.every((rule) => rule({ ...record, at }, name).record !== null)
  return servesApexNs ? given.filter(isStored) : given
}
