/** A zone with its plan, which each step of a run takes and returns. The plan of all zones is derived from them for views and files. */
import { type Diagnostic, hasErrors } from '../base/diagnostic.ts'
import { type LoadedSecrets, type SecretGuard, secretExposedDiagnostic } from '../base/secret-guard.ts'
import type { Allowance, DesiredZone, ExistingZone, Policy } from '../dns/zone.ts'
import type { Preference } from './continuity.ts'
import type { Change, Plan, ZonePlan } from './plan.ts'
import type { SafetyThresholds } from './safety-limits.ts'
import type { StoredTtls } from './stored-ttls.ts'

/** One zone at one target: the unit that a run plans, applies or verifies. */
export interface ZoneJob {
  readonly desired: DesiredZone
  /** The provider's name in the config. */
  readonly target: string
  /** The names of all targets of the zone; only that one if absent. */
  readonly targets?: readonly string[] | undefined
  readonly policy: Policy
  /** Who is responsible for the zone; null if its rule names nobody, absent if it has no definition. */
  readonly owner?: string | null | undefined
  readonly thresholds: SafetyThresholds
  /** Whether continuity or fewest calls matters more if they exclude each other; continuity if absent. */
  readonly prefer?: Preference | undefined
  readonly allow: ReadonlySet<Allowance>
  /** The name servers that `verify` queries; those of the NS records if null or absent. */
  readonly nameservers?: readonly string[] | null | undefined
  /** Whether the zone is deleted because its definition was removed; false if absent. It is no part of the plan if it does not exist. */
  readonly isRemoved?: boolean | undefined
  /** Whether the desired zone has only what changes, so that its plan does not name the records that it leaves; false if absent. */
  readonly isPartial?: boolean | undefined
  /** TTLs that the target has replaced by others in earlier runs; absent if there are none. */
  readonly storedTtls?: StoredTtls | undefined
}

export interface PlannedZone {
  /** Absent for a zone without a definition, such as one of a saved plan. */
  readonly job?: ZoneJob | undefined
  /** The zone before the changes; null if it does not exist. In a saved plan also null if nothing changes. */
  readonly existing: ExistingZone | null
  readonly plan: ZonePlan
}

/** The zones of a run, and what belongs to none of them. */
export interface PlannedZones<Zone extends PlannedZone = PlannedZone> extends Omit<Plan, 'zones'> {
  readonly zones: readonly Zone[]
}

/** The plan of all zones, for views and files. */
export const planOf = ({ created, tool, zones, diagnostics, snapshot, base, keepsGoing }: PlannedZones): Plan => ({
  created,
  tool,
  zones: zones.map(({ plan }) => plan),
  diagnostics,
  snapshot,
  base,
  keepsGoing,
})

/** The zone, or what belongs to no zone, with more diagnostics. */
export const withDiagnostics = <Planned extends { readonly diagnostics: readonly Diagnostic[] }>(
  planned: Planned,
  found: readonly Diagnostic[],
): Planned => (found.length === 0 ? planned : { ...planned, diagnostics: [...planned.diagnostics, ...found] })

/** The zone with more diagnostics in its plan. */
export const withZoneDiagnostics = <Zone extends PlannedZone>(zone: Zone, found: readonly Diagnostic[]): Zone =>
  found.length === 0 ? zone : { ...zone, plan: withDiagnostics(zone.plan, found) }

export const hasChanges = ({ plan }: PlannedZone): boolean => plan.changes.length > 0

/** Whether a plan may be applied: it has no error, and every refusal was lifted. */
export const mayApply = (plan: ZonePlan): boolean => !hasErrors(plan.diagnostics) && plan.refusals.every((refusal) => refusal.allowed)

/**
 * Makes zones safe to show, save, journal and apply. If a change of a zone contains a secret of the run, in its existing or desired side, the zone loses all
 * changes and gets an error, so nothing is applied. Definitions were checked before, but a secret may also come from a server, a saved plan or a journal.
 */
export function withoutSecrets<Planned extends PlannedZones>(planned: Planned, { guard }: LoadedSecrets): Planned {
  if (guard === null) return planned
  return {
    ...planned,
    zones: planned.zones.map((zone) => ({ ...zone, plan: cleanZone(zone.plan, guard) })),
    diagnostics: planned.diagnostics.map((one) => cleanDiagnostic(one, guard)),
  }
}

const cleanDiagnostic = ({ message, hint, ...rest }: Diagnostic, guard: SecretGuard): Diagnostic => ({
  ...rest,
  message: guard.redact(message),
  ...(hint !== undefined && { hint: guard.redact(hint) }),
})

function cleanZone(plan: ZonePlan, guard: SecretGuard): ZonePlan {
  const diagnostics = plan.diagnostics.map((one) => cleanDiagnostic(one, guard))
  const { deletions = [], source = '', problem = '' } = plan.usage ?? {}
  const messages = [...plan.refusals.map(({ message }) => message), ...deletions.map(({ name }) => name), source, problem]
  // One search of the joined text takes a tenth of the time of a search per change.
  const all = guard.find([...plan.changes.map(textOf), ...messages].join('\n'))
  if (all === null) return { ...plan, diagnostics }
  const errors = plan.changes.flatMap((change) => {
    const setting = guard.find(textOf(change))
    const what = `${guard.redact(change.name)} ${change.type ?? 'zone'} at ${plan.target}`
    return setting === null ? [] : [secretExposedDiagnostic(what, setting)]
  })
  const [first = secretExposedDiagnostic(`the plan of ${plan.zone} at ${plan.target}`, all), ...more] = errors
  const none = { create: 0, update: 0, delete: 0, total: 0 }
  return {
    ...plan,
    changes: [],
    calls: none,
    refusals: [],
    usage: undefined,
    diagnostics: [...diagnostics, first, ...more.slice(0, REPORTED - 1)],
  }
}

/** Maximum errors reported per zone. */
const REPORTED = 20

const textOf = (change: Change): string =>
  change.subject === 'domain'
    ? JSON.stringify([change.name, change.existing, change.desired])
    : `${change.name}\n${change.existing?.name ?? ''}\n${change.existing?.data ?? ''}\n${change.desired?.data ?? ''}`
