/**
 * What a zone goes through while it changes, judged state by state, straight from the definitions and without a thought for speed. It
 * shares nothing with the planner, so that it can prove the planner wrong.
 *
 * Accepted is a state in which a CNAME is alone at its name, a null MX is alone among the MX of its name, and the zone holds no more
 * records than the limit. Identical records are accepted.
 *
 * Continuous is a state in which
 * - every RRset that is there before and after the change has a record;
 * - every guarded pointer that is present finds at its target what it needs: CNAME and DNAME any record; ALIAS, NS, MX and SRV an A,
 *   AAAA, CNAME or ALIAS. Names outside the zone and the root need nothing. A pointer is guarded if its need is met before and after; or
 *   if its RRset is there before and after and its need is met in the zones it belongs to: before for a record that is there before,
 *   after for one that is there after.
 */
import type { ResourceRecord } from '../../src/dns/record.ts'

/** A record with the sides of the change it belongs to: before, after, or both where it stays. */
export interface Stage {
  readonly record: ResourceRecord
  readonly before: boolean
  readonly after: boolean
}

/** One call: what goes and what comes, both for a record changed in place. */
export interface SimulatedCall {
  readonly removed: Stage | null
  readonly added: Stage | null
}

/** Sides of all records of two zones; records equal in owner, type, TTL and data are kept, each as often as both zones have it. */
export function stagesOf(before: readonly ResourceRecord[], after: readonly ResourceRecord[]): Stage[] {
  const awaited = new Map<string, number>()
  for (const record of after) awaited.set(identity(record), (awaited.get(identity(record)) ?? 0) + 1)
  const stages: Stage[] = before.map((record) => {
    const count = awaited.get(identity(record)) ?? 0
    if (count > 0) awaited.set(identity(record), count - 1)
    return { record, before: true, after: count > 0 }
  })
  for (const record of after) {
    const count = awaited.get(identity(record)) ?? 0
    if (count === 0) continue
    awaited.set(identity(record), count - 1)
    stages.push({ record, before: false, after: true })
  }
  return stages
}

export const identity = (record: ResourceRecord): string => `${record.name} ${record.ttl ?? '-'} ${record.type} ${record.data}`

export const isNullMx = (record: ResourceRecord): boolean => record.type === 'MX' && record.data === '0 .'

/** Why a service would not hold these records together, in words; null if it would. */
export function refusalOf(present: readonly ResourceRecord[], limit: number | null): string | null {
  if (limit !== null && present.length > limit) return `${present.length} records where ${limit} are allowed`
  const byName = new Map<string, ResourceRecord[]>()
  for (const record of present) byName.set(record.name, [...(byName.get(record.name) ?? []), record])
  for (const [name, records] of byName) {
    if (records.length > 1 && records.some(({ type }) => type === 'CNAME')) return `a CNAME is not alone at ${name}`
    const exchanges = records.filter(({ type }) => type === 'MX')
    if (exchanges.length > 1 && exchanges.some(isNullMx) && !exchanges.every(isNullMx)) return `a null MX is not alone at ${name}`
  }
  return null
}

export type Need = 'any record' | 'an address'

const NEEDS: Readonly<Record<string, Need>> = {
  CNAME: 'any record',
  DNAME: 'any record',
  ALIAS: 'an address',
  NS: 'an address',
  MX: 'an address',
  SRV: 'an address',
}

/** What a record needs of a name inside the zone; null for one that needs nothing there. */
export function needOf(record: ResourceRecord, origin: string): { readonly target: string; readonly need: Need } | null {
  const need = NEEDS[record.type]
  // In presentation form the name that a record of these types leads to is the last field.
  const target = record.data.slice(record.data.lastIndexOf(' ') + 1)
  if (need === undefined || !(target === origin || target.endsWith(`.${origin}`))) return null
  return { target, need }
}

export const meets = (record: ResourceRecord, { target, need }: { target: string; need: Need }): boolean =>
  record.name === target && (need === 'any record' || ['A', 'AAAA', 'CNAME', 'ALIAS'].includes(record.type))

const setOf = (record: ResourceRecord): string => `${record.name} ${record.type}`

export interface ContinuityRules {
  /** RRsets that are there before and after, as `owner type`. */
  readonly continuing: ReadonlySet<string>
  /** Guarded pointers with what they need. */
  readonly guarded: ReadonlyMap<Stage, { readonly target: string; readonly need: Need }>
}

export function continuityRules(stages: readonly Stage[], origin: string): ContinuityRules {
  const before = stages.filter((stage) => stage.before).map(({ record }) => record)
  const after = stages.filter((stage) => stage.after).map(({ record }) => record)
  const setsAfter = new Set(after.map(setOf))
  const continuing = new Set(before.map(setOf).filter((set) => setsAfter.has(set)))
  const guarded = new Map<Stage, { target: string; need: Need }>()
  for (const stage of stages) {
    const need = needOf(stage.record, origin)
    if (need === null) continue
    const metBefore = before.some((record) => meets(record, need))
    const metAfter = after.some((record) => meets(record, need))
    const works = (!stage.before || metBefore) && (!stage.after || metAfter)
    if ((metBefore && metAfter) || (continuing.has(setOf(stage.record)) && works)) guarded.set(stage, need)
  }
  return { continuing, guarded }
}

/** What is interrupted while just these records are there, in words; null if nothing is. */
export function interruptionOf(present: readonly Stage[], rules: ContinuityRules): string | null {
  const sets = new Set(present.map(({ record }) => setOf(record)))
  for (const set of rules.continuing) if (!sets.has(set)) return `${set} is empty`
  for (const stage of present) {
    const need = rules.guarded.get(stage)
    if (need && !present.some(({ record }) => meets(record, need))) {
      return `${setOf(stage.record)} points at ${need.target}, which lacks ${need.need}`
    }
  }
  return null
}

export interface SimulatedRun {
  /** Faults of the states after each call, in order: the first of each kind. */
  readonly accepted: string | null
  readonly continuous: string | null
  /** The zone at the end. */
  readonly present: readonly ResourceRecord[]
}

/** Makes the calls one after another and judges every state. */
export function simulate(
  stages: readonly Stage[],
  calls: readonly SimulatedCall[],
  order: readonly number[],
  limit: number | null,
  rules: ContinuityRules,
): SimulatedRun {
  const present = new Set(stages.filter((stage) => stage.before))
  let accepted: string | null = null
  let continuous: string | null = null
  order.forEach((index, position) => {
    const call = calls[index]
    if (!call) throw new Error(`there is no call ${index}`)
    if (call.removed && !present.delete(call.removed)) throw new Error(`call ${index} takes away what is not there`)
    if (call.added) present.add(call.added)
    const now = [...present]
    const when = `after calls ${order.slice(0, position + 1).join(', ')}: `
    const refused = refusalOf(
      now.map(({ record }) => record),
      limit,
    )
    if (refused !== null) accepted ??= when + refused
    const interrupted = interruptionOf(now, rules)
    if (interrupted !== null) continuous ??= when + interrupted
  })
  return { accepted, continuous, present: [...present].map(({ record }) => record) }
}
