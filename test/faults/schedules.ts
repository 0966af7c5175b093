import { type Fault, NONE, type ProxiedRequest } from '../support/fault-proxy.ts'
import type { Random } from '../support/random.ts'

export type Schedule = (request: ProxiedRequest) => Fault
const whens = ['before', 'during', 'after'] as const
const ENDS = ['before', 'after'] as const
const STATUSES = [408, 500, 502, 503, 504, 200]

/** Every kind of fault with its relative weight. `late` is longer than the client's timeout. */
const FAULTS: readonly (readonly [weight: number, (random: Random) => Fault])[] = [
  [6, (random) => ({ kind: 'delay', before: random.below(20), after: random.below(20) })],
  [6, () => ({ kind: 'reorder' })],
  [3, () => ({ kind: 'drip' })],
  [6, (random) => ({ kind: 'reset', when: random.pick(whens) })],
  [4, (random) => ({ kind: 'half-close', when: random.pick(whens) })],
  [1, (random) => ({ kind: 'silence', when: random.pick(whens) })],
  [4, (random) => ({ kind: 'truncate', hang: random.chance(0.1) })],
  [1, (random) => ({ kind: 'late', by: 1600 + random.below(400) })],
  [3, () => ({ kind: 'duplicate-reply' })],
  [8, (random) => ({ kind: 'answer', when: random.pick(ENDS), status: random.pick(STATUSES), html: random.chance(0.7) })],
  [4, (random) => ({ kind: 'answer', when: 'before', status: 429, html: random.chance(0.5), ...retryAfter(random) })],
]

/** Rarely a date: it is up to a second ahead, which is long here. */
const retryAfter = (random: Random): { retryAfter?: 'seconds' | 'date' } =>
  random.chance(0.05) ? { retryAfter: 'date' } : random.chance(0.5) ? { retryAfter: 'seconds' } : {}

const TOTAL = FAULTS.reduce((sum, [weight]) => sum + weight, 0)

/** Random faults in a share of the requests. */
export const randomFaults =
  (random: Random, share: number): Schedule =>
  () => {
    if (!random.chance(share)) return NONE
    let at = random.below(TOTAL)
    for (const [weight, make] of FAULTS) {
      at -= weight
      if (at < 0) return make(random)
    }
    return NONE
  }

/** A gateway that wrongly repeats a share of the mutating calls. */
export const repeatingGateway =
  (random: Random, share: number): Schedule =>
  ({ method }) =>
    method !== 'GET' && random.chance(share) ? { kind: 'duplicate-request' } : NONE

/** A server that refuses in bursts: `passing` requests pass, then `refused` requests are refused. */
export function storm(random: Random, passing: number, refused: number): Schedule {
  let at = 0
  return () => {
    at = (at + 1) % (passing + refused)
    return at < passing ? NONE : { kind: 'answer', when: 'before', status: 429, html: true, ...retryAfter(random) }
  }
}
