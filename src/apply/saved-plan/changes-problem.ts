import type { Change } from '../../plan/plan.ts'

/** Why changes cannot be run one after another, as a path and words; null where they can. */
export function changesProblem(changes: readonly Change[], exists: boolean): string | null {
  return domainProblem(changes, exists) ?? orderProblem(changes)
}

/** A zone has one change of its own at most, the first; without the zone nothing can be in it. */
function domainProblem(changes: readonly Change[], exists: boolean): string | null {
  const second = changes.findIndex(({ subject }, index) => subject === 'domain' && index > 0)
  if (second !== -1) return `[${second}] is of the zone itself and not the first`
  const first = changes[0]
  if (first === undefined) return null
  if (!exists) {
    if (first.subject !== 'domain' || first.action !== 'create') return '[0] does not create the zone, which is not there'
    const early = changes.findIndex(({ after }, index) => index > 0 && !after.includes(0))
    return early === -1 ? null : `[${early}].after does not wait for the zone`
  }
  return first.action === 'delete' && first.subject === 'domain' && changes.length > 1 ? '[1] comes after the end of the zone' : null
}

/** Every index in `after` is that of another change, and none waits for itself, however long the way (Kahn). */
function orderProblem(changes: readonly Change[]): string | null {
  const followers: number[][] = changes.map(() => [])
  const waiting = new Uint32Array(changes.length)
  for (const [index, { after }] of changes.entries()) {
    for (const before of after) {
      const list = followers[before]
      if (list === undefined) return `[${index}].after names change ${before}, and there are ${changes.length}`
      list.push(index)
    }
    waiting[index] = after.length
  }
  const free: number[] = []
  for (let index = 0; index < waiting.length; index += 1) if (waiting[index] === 0) free.push(index)
  for (let at = 0; at < free.length; at += 1) {
    for (const follower of followers[free[at] as number] as number[]) {
      waiting[follower] = (waiting[follower] as number) - 1
      if (waiting[follower] === 0) free.push(follower)
    }
  }
  const stuck = free.length === changes.length ? -1 : waiting.findIndex((count) => count > 0)
  return stuck === -1 ? null : `[${stuck}].after closes a circle`
}
