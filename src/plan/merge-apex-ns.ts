/**
 * `apex_ns: all-targets`: a zone that several providers serve names the servers of all of them at its apex, so that resolvers use them all (RFC 8901 section 2).
 * The union only grows: every target holds it after the first run, so no target shows which names another one has given up.
 */
import type { Diagnostic } from '../base/diagnostic.ts'
import { listed } from '../base/english.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { type DefinedRecord, isApexNs } from '../dns/record.ts'
import type { Ttl } from '../dns/ttl.ts'
import type { DesiredZone, ExistingZone } from '../dns/zone.ts'
import type { Capabilities } from './capabilities.ts'
import { fitToTarget } from './fit-to-target.ts'

/** A target of a zone, as it was read. */
export interface ApexNsTarget {
  readonly target: string
  readonly capabilities: Capabilities
  /** Null for a new zone. */
  readonly existing: ExistingZone | null
  /** The apex NS data that the target sets itself; null if they are unknown. */
  readonly servedApexNs: readonly string[] | null
}

/** Names in one message. */
const MOST_NAMED = 5

/** The name servers of all targets and those of the definition, sorted. */
export function apexNsOfTargets(desired: DesiredZone, targets: readonly ApexNsTarget[]): readonly string[] {
  const defined = desired.records.filter((record) => isApexNs(record, desired.name)).map(({ data }) => data)
  return [...new Set([...defined, ...targets.flatMap((target) => namesOf(desired.name, target))])].sort()
}

/** The names that a target serves now, or will give a new zone. */
function namesOf(zone: DomainName, { capabilities, existing, servedApexNs }: ApexNsTarget): readonly string[] {
  if (existing === null) return capabilities.newZoneNameservers ?? []
  return [...existing.records.filter((record) => isApexNs(record, zone)).map(({ data }) => data), ...(servedApexNs ?? [])]
}

/** The zone as it is desired at one target: with the apex NS records of all targets, as far as it can hold them. What it cannot is reported. */
export function withApexNs(
  desired: DesiredZone,
  own: ApexNsTarget,
  names: readonly string[],
): { readonly desired: DesiredZone; readonly diagnostics: readonly Diagnostic[] } {
  const { target, capabilities, existing, servedApexNs } = own
  const { name, at } = desired
  const others = desired.records.filter((record) => !isApexNs(record, name))
  const held = (existing?.records ?? []).filter((record) => isApexNs(record, name))
  const unchanged = (message: string, hint: string): ReturnType<typeof withApexNs> => ({
    desired: { ...desired, apexNs: 'keep', records: others },
    diagnostics: [{ severity: 'warning', code: 'apex-ns-kept', message: `${name} at ${target}: ${message}`, at, hint }],
  })
  if (capabilities.servesApexNs && servedApexNs === null)
    return unchanged(
      `its own apex NS records are not known, so those of the other targets are not added`,
      'plan again when the target serves the zone, or define the name servers of all targets with "apex_ns: manage"',
    )
  if (existing === null && capabilities.assignsNameservers)
    return unchanged('its own apex NS records are known only when the zone exists', 'plan again after the zone is created')
  // A target adds its own names to the records.
  const set = new Set(servedApexNs?.filter((data) => capabilities.servesApexNs && !held.some((record) => record.data === data)))
  const [defined] = desired.records.filter((record) => isApexNs(record, name))
  const ttl: Ttl | null = held[0]?.ttl ?? defined?.ttl ?? null
  const records = names.flatMap((data): DefinedRecord[] => (set.has(data) ? [] : [{ name, type: 'NS', ttl, data, at }]))
  const merged: DesiredZone = { ...desired, apexNs: 'manage', records: [...others, ...records] }
  const fitted = fitToTarget({ ...merged, records, providerSpecific: [], unsupported: 'skip' }, target, capabilities)
  const stored = new Set(fitted.records.map(({ data }) => data))
  const lacking = records.map(({ data }) => data).filter((data) => !stored.has(data))
  if (lacking.length === 0) return { desired: merged, diagnostics: [] }
  return unchanged(
    `it does not support NS records at the apex: ${listed(lacking, MOST_NAMED)}`,
    'resolvers find the servers of the other targets only by the delegation of the parent zone and the answers of the other targets',
  )
}
