import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import { DEFAULT_ZONE_OPTIONS, type DesiredZone, type ZoneSettings } from '../../dns/zone.ts'
import { fitToTarget } from '../../plan/fit-to-target.ts'
import type { ZonePlan } from '../../plan/plan.ts'
import type { Provider } from '../../providers/provider.ts'
import { firstDifference } from './canonical-json.ts'
import type { SavedPlan } from './saved-plan.ts'

/**
 * Whether the targets of a saved plan are the providers of this config, and could hold what the plan would send. A program that plans sends only what
 * was fitted to its target; a file that was made otherwise is found here.
 */
export function checkTargets({ targets, plan }: SavedPlan, file: string, providers: ReadonlyMap<string, Provider>): Diagnostic[] {
  const refuse = (code: Diagnostic['code'], message: string, hint?: string): Diagnostic => ({ severity: 'error', code, message, hint })
  const bound = targets.flatMap(({ name, type, address }) => {
    const provider = providers.get(name)
    if (provider === undefined || (provider.type === type && provider.address === address)) return []
    const [made, is] = provider.type === type ? [address, provider.address] : [`type ${type}`, `type ${provider.type}`]
    return [
      refuse(
        'plan-file-target',
        `${file} was made for ${name} at ${made}; in this config ${name} is ${is}`,
        'apply it with the config it was made with, or plan again',
      ),
    ]
  })
  if (bound.length > 0) return bound
  return plan.zones.flatMap((zone) => {
    const provider = providers.get(zone.target)
    const problem = provider && unfit(zone, provider)
    return problem
      ? [refuse('plan-file-invalid', `${file}: ${zone.target} could not hold what is planned for ${zone.zone}: ${problem}`)]
      : []
  })
}

/** What of a plan's desired sides is not as the target would store it; null where all of it is. */
function unfit(plan: ZonePlan, { name: target, capabilities }: Provider): string | null {
  const at = { file: 'plan', line: 1, column: 1 }
  const records: DefinedRecord[] = []
  let settings: ZoneSettings = {}
  for (const change of plan.changes) {
    if (change.subject === 'domain') settings = change.desired ?? {}
    else if (change.desired !== null) records.push({ ...change.desired, at })
  }
  const desired: DesiredZone = {
    ...DEFAULT_ZONE_OPTIONS,
    name: plan.zone,
    at,
    settings,
    records,
    apexNs: 'manage',
  }
  const fitted = fitToTarget(desired, target, capabilities)
  const error = fitted.diagnostics.find(({ severity }) => severity === 'error')
  if (error) return error.message
  const stored = { ...fitted.settings, ...(capabilities.settings.has('type') ? {} : { type: settings.type }) }
  const difference =
    firstDifference(fitted.records, records, 'records') ?? firstDifference(definedOnly(stored), definedOnly(settings), 'settings')
  return difference === null ? null : `${difference} is not as it would be stored`
}

const definedOnly = (settings: ZoneSettings): Record<string, unknown> =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
