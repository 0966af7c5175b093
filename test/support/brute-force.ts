/**
 * Finds the fewest calls from one zone to another by brute force. A state is the set of removed records that still exist and added records
 * that already exist, one bit each; a call deletes a removed record, creates an added one, or updates a removed record to an added one of its
 * type. A zone with up to about twelve such records takes about a millisecond.
 *
 * No sequence has fewer calls than Σ max(D, C) over the types, with D records of a type to remove and C to add. A call either
 * lowers that bound by one or does not change it, so a 0-1 breadth-first search finds the fewest calls that do not change it.
 */
import { isNullMx, meets, needOf, type Stage } from './zone-simulator.ts'

export interface FewestCalls {
  /** The fewest calls of a sequence whose every state is accepted. */
  readonly accepted: number
  /** The fewest calls of one that is also continuous; null if there is none. */
  readonly continuous: number | null
}

export interface StateSpace {
  /** The records of the bits: first the removed, then the added ones. */
  readonly changing: readonly Stage[]
  readonly start: number
  readonly goal: number
  readonly isAccepted: (state: number) => boolean
  readonly isContinuous: (state: number) => boolean
  /** The continuity needs: while any bit of `during` is set (always, if null), a bit of `one` must be set. */
  readonly needs: readonly SpaceNeed[]
}

export interface SpaceNeed {
  readonly during: number | null
  readonly one: number
  /** The RRset, as `owner type`, or the pointer. */
  readonly whose: string | Stage
  /** Whether this is an RRset that exists before and after, or a pointer in one. Such needs are sorted before those of other pointers. */
  readonly inUse: boolean
}

const MAX_BITS = 20

/** The states between two zones, with the rules of `zone-simulator.ts` as bit masks, so that checking one takes a few operations. */
function stateSpace(stages: readonly Stage[], origin: string, limit: number | null): StateSpace {
  const removed = stages.filter((stage) => stage.before && !stage.after)
  const changing = [...removed, ...stages.filter((stage) => !stage.before)]
  if (changing.length > MAX_BITS) throw new Error(`${changing.length} records differ, too many to try`)
  const kept = stages.filter((stage) => stage.before && stage.after)
  const maskOf = (test: (stage: Stage) => boolean): number => changing.reduce((mask, stage, bit) => mask | (test(stage) ? 1 << bit : 0), 0)
  const start = maskOf((stage) => stage.before)
  const goal = maskOf((stage) => stage.after)

  const clashes = changing.map(({ record }, bit) =>
    maskOf(
      (other) =>
        other !== changing[bit] &&
        other.record.name === record.name &&
        (record.type === 'CNAME' ||
          other.record.type === 'CNAME' ||
          (record.type === 'MX' && other.record.type === 'MX' && (isNullMx(record) || isNullMx(other.record)))),
    ),
  )
  const room = limit === null ? Number.POSITIVE_INFINITY : limit - kept.length
  const needs: SpaceNeed[] = []
  const sameSet = (a: Stage, b: Stage): boolean => a.record.name === b.record.name && a.record.type === b.record.type
  const sets = new Set<string>()
  const staying = (stage: Stage): boolean =>
    stages.some((other) => other.before && sameSet(stage, other)) && stages.some((other) => other.after && sameSet(stage, other))
  for (const stage of stages) {
    const stays = staying(stage)
    const set = `${stage.record.name} ${stage.record.type}`
    if (stays && !sets.has(set) && !kept.some((other) => sameSet(stage, other)))
      needs.push({ during: null, one: maskOf((other) => sameSet(stage, other)), whose: set, inUse: true })
    sets.add(set)
    const need = needOf(stage.record, origin)
    if (need === null || kept.some(({ record }) => meets(record, need))) continue
    const meeting = maskOf(({ record }) => meets(record, need))
    const [before, after] = [(meeting & start) !== 0, (meeting & goal) !== 0]
    const works = (!stage.before || before) && (!stage.after || after)
    if (!(before && after) && !(stays && works)) continue
    needs.push({ during: stage.before && stage.after ? null : maskOf((one) => one === stage), one: meeting, whose: stage, inUse: stays })
  }

  return {
    changing,
    start,
    goal,
    isAccepted(state) {
      let count = 0
      for (let rest = state; rest !== 0; rest &= rest - 1) {
        const bit = 31 - Math.clz32(rest & -rest)
        if ((state & (clashes[bit] as number)) !== 0) return false
        count += 1
      }
      return count <= room
    },
    isContinuous: (state) => needs.every((need) => isMet(need, state)),
    needs,
  }
}

const isMet = ({ during, one }: SpaceNeed, state: number): boolean => (during !== null && (state & during) === 0) || (state & one) !== 0

export interface FewestInterruptions {
  /** The interruptions of the accepted sequence with the fewest in use and, among these, the fewest others. */
  readonly inUse: number
  readonly others: number
  /** The fewest calls of any such sequence. */
  readonly calls: number
}

/** Tries to omit every set of needs, smaller sets first. Each set includes the needs that no sequence meets even alone. */
export function fewestInterruptionsByBruteForce(stages: readonly Stage[], origin: string, limit: number | null): FewestInterruptions {
  const space = stateSpace(stages, origin, limit)
  const callsWith = (kept: readonly SpaceNeed[]): number | null =>
    fewest(space, (state) => space.isAccepted(state) && kept.every((need) => isMet(need, state)))
  const possible = space.needs.filter((need) => callsWith([need]) !== null)
  const missed = (inUse: boolean): number => space.needs.filter((need) => need.inUse === inUse && !possible.includes(need)).length
  const vital = possible.filter(({ inUse }) => inUse)
  const others = possible.filter(({ inUse }) => !inUse)
  for (let inUse = 0; inUse <= vital.length; inUse += 1) {
    const leftOf = [...subsets(vital, inUse)].filter((left) => callsWith(vital.filter((need) => !left.includes(need))) !== null)
    for (let count = 0; leftOf.length > 0 && count <= others.length; count += 1) {
      const calls = leftOf.flatMap((left) =>
        [...subsets(others, count)].flatMap(
          (more) => callsWith(possible.filter((need) => !left.includes(need) && !more.includes(need))) ?? [],
        ),
      )
      if (calls.length > 0) return { inUse: missed(true) + inUse, others: missed(false) + count, calls: Math.min(...calls) }
    }
  }
  throw new Error('no sequence is accepted: one of the zones is not')
}

function* subsets<T>(items: readonly T[], count: number, from = 0): Generator<T[]> {
  if (count === 0) yield []
  else for (let at = from; at < items.length; at += 1) for (const rest of subsets(items, count - 1, at + 1)) yield [items[at] as T, ...rest]
}

export function fewestCallsByBruteForce(stages: readonly Stage[], origin: string, limit: number | null): FewestCalls {
  const space = stateSpace(stages, origin, limit)
  const accepted = fewest(space, space.isAccepted)
  if (accepted === null) throw new Error('no sequence is accepted: one of the zones is not')
  return { accepted, continuous: fewest(space, (state) => space.isAccepted(state) && space.isContinuous(state)) }
}

/** Σ max(D, C) over the types: no sequence has fewer calls. */
export function lowerBound(stages: readonly Stage[]): number {
  const count = (type: string, side: 'before' | 'after'): number =>
    stages.filter((stage) => stage.record.type === type && stage.before !== stage.after && stage[side]).length
  const types = new Set(stages.map(({ record }) => record.type))
  return [...types].reduce((sum, type) => sum + Math.max(count(type, 'before'), count(type, 'after')), 0)
}

/** The fewest calls through allowed states; null if the goal cannot be reached. */
function fewest({ changing, start, goal }: StateSpace, passes: (state: number) => boolean): number | null {
  if (!passes(start) || !passes(goal)) return null
  const types = [...new Set(changing.map(({ record }) => record.type))]
  const typeMasks = types.map((type) => changing.reduce((mask, stage, bit) => mask | (stage.record.type === type ? 1 << bit : 0), 0))
  const bound = (state: number): number =>
    typeMasks.reduce((sum, mask) => sum + Math.max(bitCount(state & start & mask), bitCount(goal & ~state & mask)), 0)

  const extra = new Map<number, number>([[start, 0]])
  const visited = new Set<number>()
  let current = [start]
  for (let cost = 0; current.length > 0; cost += 1) {
    const next: number[] = []
    for (let state = current.pop(); state !== undefined; state = current.pop()) {
      if (visited.has(state)) continue
      visited.add(state)
      if (state === goal) return bound(start) + cost
      const here = bound(state)
      for (const reached of neighbours(changing, start, goal, state)) {
        if (visited.has(reached)) continue
        const known = extra.get(reached)
        if (known === -1) continue
        if (known === undefined && !passes(reached)) {
          extra.set(reached, -1)
          continue
        }
        const price = cost + 1 + bound(reached) - here
        if (known !== undefined && known <= price) continue
        extra.set(reached, price)
        ;(price === cost ? current : next).push(reached)
      }
    }
    current = next
  }
  return null
}

function* neighbours(changing: readonly Stage[], start: number, goal: number, state: number): Generator<number> {
  for (let going = state & start; going !== 0; going &= going - 1) {
    const out = going & -going
    yield state & ~out
    const { type } = (changing[bitIndex(out)] as Stage).record
    for (let coming = goal & ~state; coming !== 0; coming &= coming - 1) {
      const into = coming & -coming
      if ((changing[bitIndex(into)] as Stage).record.type === type) yield (state & ~out) | into
    }
  }
  for (let coming = goal & ~state; coming !== 0; coming &= coming - 1) yield state | (coming & -coming)
}

const bitIndex = (bit: number): number => 31 - Math.clz32(bit)

function bitCount(mask: number): number {
  let count = 0
  for (let rest = mask; rest !== 0; rest &= rest - 1) count += 1
  return count
}
