/**
 * Checks every state of a zone during a change, directly by the definitions and without regard to speed. It
 * shares nothing with the planner, so that it can prove the planner wrong.
 *
 * A state is accepted if each CNAME is alone at its name, each null MX is the only MX of its name, and the zone has no more
 * records than the limit. Identical records are accepted.
 *
 * A state is continuous if
 * - every RRset that exists before and after the change has a record;
 * - every guarded pointer that exists has what it needs at its target: CNAME and DNAME any record; ALIAS, NS, MX and SRV an A,
 *   AAAA, CNAME or ALIAS. Names outside the zone and the root need nothing. A pointer is guarded if its need is met before and after, or
 *   if its RRset exists before and after and its need is met in the zones that have the pointer: before for an existing record,
 *   after for a desired one.
 */
import type { ResourceRecord } from '../../src/dns/record.ts'

/** A record and when it exists: before the change, after it, or both if it is kept. */
export type Stage = { readonly record: ResourceRecord; readonly before: boolean; readonly after: boolean }

/** One call: the removed and the added record, both for an update. */
export type SimulatedCall = { readonly removed: Stage | null; readonly added: Stage | null }

/** The stages of all records of two zones. Records with equal owner, type, TTL and data are kept, as often as both zones have them. */
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

/** Why a service would refuse these records together; null if it would not. */
export function refusalOf(present: readonly ResourceRecord[], limit: number | null): string | null {
  if (limit !== null && present.length > limit) return `${present.length} records where ${limit} are allowed`
  const byName = new Map<string, ResourceRecord[]>()
  for (const record of present) byName.set(record.name, [...(byName.get(record.name) ?? []), record])
  for (const [name, records] of byName) {
    if (records.length > 1 && records.some(({ type }) => type === 'CNAME')) return `a CNAME is not alone at ${name}`
    const exchanges = records.filter(({ type }) => type === 'MX')
    if (exchanges.length > 1 && exchanges.some(isNullMx)) return `a null MX is not alone at ${name}`
  }
  return null
}

export type Need = 'any record' | 'an address'

const NEEDS: Readonly<Record<string, Need>> = {
  ...{ CNAME: 'any record', DNAME: 'any record' },
  ...{ ALIAS: 'an address', NS: 'an address', MX: 'an address', SRV: 'an address' },
}

/** The need of a record at a name inside the zone; null if it needs nothing there. */
export function needOf(record: ResourceRecord, origin: string): { readonly target: string; readonly need: Need } | null {
  const need = NEEDS[record.type]
  // In presentation form, the target of these types is the last field.
  const target = record.data.slice(record.data.lastIndexOf(' ') + 1)
  if (need === undefined || !(target === origin || target.endsWith(`.${origin}`))) return null
  return { target, need }
}

export const meets = (record: ResourceRecord, { target, need }: { target: string; need: Need }): boolean =>
  record.name === target && (need === 'any record' || ['A', 'AAAA', 'CNAME', 'ALIAS'].includes(record.type))

const setOf = (record: ResourceRecord): string => `${record.name} ${record.type}`

export interface ContinuityRules {
  /** RRsets that exist before and after, as `owner type`. */
  readonly continuing: ReadonlySet<string>
  /** Guarded pointers with their needs. */
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

/** Describes what is interrupted in this state; null if nothing is. */
export function interruptionOf(present: readonly Stage[], rules: ContinuityRules): string | null {
  const sets = new Set(present.map(({ record }) => setOf(record)))
  for (const set of rules.continuing) if (!sets.has(set)) return `${set} is empty`
  for (const stage of present) {
    const need = rules.guarded.get(stage)
    if (need && !present.some(({ record }) => meets(record, need)))
      return `${setOf(stage.record)} points at ${need.target}, which lacks ${need.need}`
  }
  return null
}

export interface SimulatedRun {
  /** The problems of the states after each call, in order: the first of each kind. */
  readonly accepted: string | null
  readonly continuous: string | null
  /** The zone at the end. */
  readonly present: readonly ResourceRecord[]
}

/** Makes the calls one by one and checks every state. */
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
    if (call.removed && !present.delete(call.removed)) throw new Error(`call ${index} removes a missing record`)
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
