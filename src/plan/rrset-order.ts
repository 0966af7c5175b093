/**
 * An order for replacements of RRsets that are sent one by one. A CNAME and other types at one name come after what they take the place of has gone; that
 * always holds. Beyond it, additions come before removals: a target is there before what comes to point at it, and goes after what pointed at it; at one
 * name what comes does so before other sets go. Where these form a circle, as when two names trade places and what points at them stays, one yields.
 */
import { compareNames, type DomainName } from '../dns/domain-name.ts'
import type { Ttl } from '../dns/ttl.ts'
import { pointerOf, satisfies } from './continuity.ts'
import { alongEdges, withoutCycles } from './topological-order.ts'

/** An RRset and what becomes of it, its data sorted and without duplicates; no data where it does not exist. */
export interface ChangedSet {
  readonly name: DomainName
  readonly type: string
  /** The TTL it is to have. */
  readonly ttl: Ttl | null
  readonly before: readonly string[]
  readonly after: readonly string[]
  /** Whether any of its records has another TTL than it is to have. */
  readonly ttlDiffers: boolean
}

/** By name, those of one name by type. */
export const compareSets = (a: ChangedSet, b: ChangedSet): number =>
  compareNames(a.name, b.name) || (a.type < b.type ? -1 : a.type > b.type ? 1 : 0)

const comes = ({ before }: ChangedSet): boolean => before.length === 0
const goes = ({ after }: ChangedSet): boolean => after.length === 0

/** 0 for what comes, 1 for what changes, 2 for what goes. */
const phaseOf = (set: ChangedSet): number => (comes(set) ? 0 : goes(set) ? 2 : 1)

/** The sets in the order of their replacement. Near linear in the number of their records. */
export function inSafeOrder(changed: readonly ChangedSet[]): ChangedSet[] {
  const sets = changed.toSorted((a, b) => phaseOf(a) - phaseOf(b) || compareSets(a, b))
  const byName = new Map<string, number[]>()
  sets.forEach(({ name }, at) => {
    const there = byName.get(name)
    if (there) there.push(at)
    else byName.set(name, [at])
  })
  const hard: Set<number>[] = sets.map(() => new Set())
  const soft: Set<number>[] = sets.map(() => new Set())
  for (const there of byName.values()) {
    for (const come of there.filter((at) => comes(sets[at] as ChangedSet))) {
      for (const go of there.filter((at) => goes(sets[at] as ChangedSet))) {
        const inTheWay = (sets[come]?.type === 'CNAME') !== (sets[go]?.type === 'CNAME')
        if (inTheWay) hard[come]?.add(go)
        else soft[go]?.add(come)
      }
    }
  }
  sets.forEach((set, at) => {
    const [was, becomes] = [targetsOf(set, set.before), targetsOf(set, set.after)]
    const atTarget = (target: string, need: 'any' | 'address'): number[] =>
      (byName.get(target) ?? []).filter((other) => other !== at && satisfies(sets[other]?.type ?? '', need))
    for (const [target, need] of becomes) {
      if (was.has(target)) continue
      for (const other of atTarget(target, need)) if (comes(sets[other] as ChangedSet)) soft[at]?.add(other)
    }
    for (const [target, need] of was) {
      if (becomes.has(target)) continue
      for (const other of atTarget(target, need)) if (goes(sets[other] as ChangedSet)) soft[other]?.add(at)
    }
  })
  return alongEdges(withoutCycles(hard, [soft])).map((at) => sets[at] as ChangedSet)
}

function targetsOf({ name, type }: ChangedSet, data: readonly string[]): Map<string, 'any' | 'address'> {
  const pointers = data.map((one) => pointerOf({ name, type, ttl: null, data: one })).filter((pointer) => pointer !== null)
  return new Map(pointers.map(({ target, need }) => [target, need]))
}
