import pLimit from 'p-limit'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { unmanagedTest } from '../../dns/unmanaged.ts'
import type { ExistingZone } from '../../dns/zone.ts'
import type { ZonePlan } from '../../plan/plan.ts'
import type { Provider, ZoneReference, ZoneSnapshot } from '../../providers/provider.ts'
import { diagnosticOf } from '../../providers/provider.ts'
import type { ApplicableZone } from '../apply-plan.ts'
import type { OnProgress } from '../zone-job.ts'
import { isAsPlanned, type MovedState, movedState } from './moved-state.ts'
import { othersInTheWay } from './others-in-the-way.ts'

/** Zones read at once; requests are bounded by each provider itself. */
const ZONES_AT_ONCE = 16

/** Differences of a zone that are told one by one. */
const SHOWN = 20

/** A plan and the state it was made from. */
export interface ZoneToReread {
  readonly plan: ZonePlan
  readonly existing: ExistingZone | null
}

export interface Reread {
  readonly providers: ReadonlyMap<string, Provider>
  /** When the plans were made, in words that follow "has moved since": `it was saved`. */
  readonly since: string
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: OnProgress | undefined
}

export interface RereadZones {
  /** In the order of the plans, as they can be applied; a plan whose zone has moved or could not be read has an error among its diagnostics. */
  readonly zones: readonly ApplicableZone[]
  /** What was found, of all zones. */
  readonly diagnostics: readonly Diagnostic[]
}

/** Reads the zones of plans again and compares them with the state the plans were made from. A zone without changes is left alone. */
export async function rereadZones(zones: readonly ZoneToReread[], run: Reread): Promise<RereadZones> {
  const pending = zones.filter(({ plan }) => plan.changes.length > 0)
  const references = await findReferences(pending, run)
  const limit = pLimit(ZONES_AT_ONCE)
  let done = 0
  const found = new Set<Diagnostic>()
  const read = await Promise.all(
    zones.map((zone) =>
      zone.plan.changes.length === 0
        ? { plan: zone.plan, reference: null, existing: null }
        : limit(async () => {
            const { diagnostics, ...applicable } = await rereadZone(zone, references.get(zone.plan.target), run)
            done += 1
            run.onProgress?.({ phase: 'reading', done, total: pending.length })
            for (const diagnostic of diagnostics) found.add(diagnostic)
            return diagnostics.length === 0
              ? applicable
              : { ...applicable, plan: { ...zone.plan, diagnostics: [...zone.plan.diagnostics, ...diagnostics] } }
          }),
    ),
  )
  return { zones: read, diagnostics: [...found] }
}

type References = ReadonlyMap<DomainName, ZoneReference> | Diagnostic

/** Per target its zones, or why it could not be asked. */
async function findReferences(zones: readonly ZoneToReread[], { providers, signal }: Reread): Promise<ReadonlyMap<string, References>> {
  const targets = [...new Set(zones.map(({ plan }) => plan.target))]
  const entries = targets.map(async (target): Promise<readonly [string, References]> => {
    const names = zones.filter(({ plan }) => plan.target === target).map(({ plan }) => plan.zone)
    try {
      return [target, await providerOf(providers, target).findZones(names, { signal })]
    } catch (error) {
      return [target, diagnosticOf(error)]
    }
  })
  return new Map(await Promise.all(entries))
}

function providerOf(providers: Reread['providers'], target: string): Provider {
  const provider = providers.get(target)
  if (!provider) throw new Error(`no provider ${target}`)
  return provider
}

async function rereadZone(
  { plan, existing }: ZoneToReread,
  references: References | undefined,
  run: Reread,
): Promise<ApplicableZone & { readonly diagnostics: readonly Diagnostic[] }> {
  const unknownSettings = (problem: Diagnostic) => ({ plan, reference: null, existing: null, diagnostics: [problem] })
  if (references === undefined) throw new Error(`no zones of ${plan.target}`)
  if (!(references instanceof Map)) return unknownSettings(references as Diagnostic)
  const reference = references.get(plan.zone) ?? null
  try {
    const provider = providerOf(run.providers, plan.target)
    const live = reference && (await provider.readZone(reference, { signal: run.signal }))
    const moved =
      movedState(existing, live, unmanagedTest(plan.unmanaged ?? [], plan.zone)) ??
      othersInTheWay(plan, existing, live, provider.capabilities)
    if (moved === null) return { plan: recounted(plan, live), reference, existing: live, diagnostics: [] }
    return { plan, reference, existing: live, diagnostics: staleDiagnostics(plan, existing, live, moved, run.since) }
  } catch (error) {
    return unknownSettings(diagnosticOf(error))
  }
}

/** A plan whose zone has not moved, by the number of records there are now: those left to others may have come and gone. */
function recounted(plan: ZonePlan, live: ExistingZone | null): ZonePlan {
  const { records } = plan
  const more = live === null ? 0 : live.records.length - records.existing
  return more === 0 ? plan : { ...plan, records: { ...records, existing: records.existing + more, unmanaged: records.unmanaged + more } }
}

/** One error, and a notice for each of the first differences. */
function staleDiagnostics(
  plan: ZonePlan,
  before: ExistingZone | null,
  live: ZoneSnapshot | null,
  { summary, details }: MovedState,
  since: string,
): Diagnostic[] {
  const about = `${plan.zone} at ${plan.target}`
  const done = isAsPlanned(plan, before, live)
  return [
    {
      severity: 'error',
      code: 'plan-stale',
      message: `${about} has moved since ${since}: ${summary}${details.length > SHOWN ? `; the first ${SHOWN} differences are shown` : ''}`,
      hint: done ? 'it is as this plan would make it: the plan was applied already' : 'plan again, and look at what moved',
    },
    ...details.slice(0, SHOWN).map((detail): Diagnostic => ({ severity: 'notice', code: 'plan-stale', message: `${about}: ${detail}` })),
  ]
}
