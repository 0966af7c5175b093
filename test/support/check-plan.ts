/** Compares the plan of a small zone with brute force: its calls, its interruptions and its report of both. */
import type { ZonePlan } from '../../src/plan/plan.ts'
import { fewestCallsByBruteForce, fewestInterruptionsByBruteForce, lowerBound } from './brute-force.ts'
import { findInterruptions } from './interleavings.ts'
import { ORIGIN } from './plan.ts'
import { callsOf, planCase, stagesOfCase, waitsOf, type ZoneCase } from './zone-cases.ts'
import { continuityRules } from './zone-simulator.ts'

/** Describes how another plan would be better; null if none would. */
export function problemOfPlan(zone: ZoneCase): string | null {
  const least = fewestCallsByBruteForce(stagesOfCase(zone), ORIGIN, zone.limit)
  const plan = planCase(zone)
  const continuous = plan.calls.total
  if (least.continuous !== null && continuous !== least.continuous)
    return `${least.continuous} calls are enough, the plan has ${continuous}`
  if (least.continuous === null) {
    const { inUse, others, calls } = fewestInterruptionsByBruteForce(stagesOfCase(zone), ORIGIN, zone.limit)
    const missed = interruptionsOfPlan(zone, plan)
    if (missed.inUse !== inUse || missed.others !== others)
      return `${inUse} and ${others} interruptions are enough, the plan has ${missed.inUse} and ${missed.others}: ${missed.problems.join('; ')}`
    if (continuous !== calls) return `${calls} calls with no more interruptions are enough, the plan has ${continuous}`
  }
  const splitChanges = plan.changes.filter((change) => change.subject === 'record' && change.split !== undefined).length
  const splits = continuous - lowerBound(stagesOfCase(zone))
  if (splitChanges !== 2 * splits)
    return `${splits} updates are split, and ${splitChanges} changes say that they are parts of a split update`
  const few = planCase(zone, { prefer: 'calls' })
  if (few.calls.total !== least.accepted)
    return `${least.accepted} accepted calls are enough, the plan that prefers calls has ${few.calls.total}`
  const interrupts = few.diagnostics.some(({ code }) => code === 'interruption')
  if (interrupts && least.continuous === least.accepted) return 'the plan that prefers calls has avoidable interruptions'
  return null
}

/** The interruptions by all orders of a plan's calls: RRsets that exist before and after, with their pointers (`inUse`), and other pointers. */
export function interruptionsOfPlan(zone: ZoneCase, plan: ZonePlan): { inUse: number; others: number; problems: string[] } {
  const stages = stagesOfCase(zone)
  const rules = continuityRules(stages, ORIGIN)
  const problems = findInterruptions(stages, callsOf(plan, stages), waitsOf(plan), rules)
  const inUse = problems.filter((problem) => rules.continuing.has(/: (\S+ \S+) (is empty|points at)/.exec(problem)?.[1] ?? '')).length
  return { inUse, others: problems.length - inUse, problems }
}
