/** Several plans of one run as one report: a document on standard output must be the only one. */
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { Plan, ZoneOutcome, ZonePlan } from '../../plan/plan.ts'
import { isTextReport } from '../run-context.ts'
import type { CutoverSetup } from './cutover-context.ts'

export interface OneReport {
  readonly output: CutoverSetup['output']
  /** Prints what the output was given. Text was printed at once. */
  print(): void
}

/** An output that keeps plans and outcomes until the end of the run. Of several plans for a zone at a target, the last is kept. */
export function oneReport(setup: CutoverSetup): OneReport {
  const { output, options, now, tool } = setup
  if (isTextReport(setup)) return { output, print: () => undefined }
  const zones = new Map<string, ZonePlan>()
  const outcomes = new Map<string, ZoneOutcome>()
  const errors: Diagnostic[] = []
  const created = now().toISOString()
  const keep = (plan: Plan, of: readonly ZoneOutcome[]): void => {
    for (const zone of plan.zones) {
      zones.set(keyOf(zone), zone)
      outcomes.delete(keyOf(zone))
    }
    for (const outcome of of) outcomes.set(keyOf(outcome.plan), outcome)
  }
  const diagnostics: typeof output.diagnostics = (some, more) => {
    errors.push(...some.filter(({ severity }) => severity === 'error'))
    output.diagnostics(some, more)
  }
  const print = (): void => {
    const plans = [...zones.values()]
    const known = new Set([...plans, ...outcomes.values()].flatMap((zone) => zone.diagnostics.map(({ message }) => message)))
    const others = errors.filter(({ message }) => !known.has(message))
    output.outcome({ created, tool, zones: plans, diagnostics: others }, [...outcomes.values()], options.format)
  }
  return {
    output: { ...output, diagnostics, plan: (plan) => keep(plan, []), outcome: keep },
    print,
  }
}

const keyOf = ({ zone, target }: Pick<ZonePlan, 'zone' | 'target'>): string => JSON.stringify([zone, target])
