/**
 * The fence of a zone is a number, which a run that changes the zone increases right before its first call, by a conditional write. A plan knows the number from
 * before it read the zone. If the number is another one now, another run has changed the zone since, and the plan is not applied, even if the zone looks the same.
 *
 * One object has the fences of all zones: a plan costs one request, and a run takes the fences of all its zones at once or none.
 */
import { randomBytes } from 'node:crypto'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { isSerial, type SerialNumber } from '../../dns/serial-number.ts'
import { MAX_TTL } from '../../dns/ttl.ts'
import type { PlanFence, ZoneOutcome } from '../../plan/plan.ts'
import type { StoredTtls } from '../../plan/stored-ttls.ts'
import { shortTime } from '../../report/history.ts'
import { isRunId } from '../journal/journal-format.ts'
import { type JournalStore, StoreError } from './journal-store.ts'
import type { LeasedZone } from './leases.ts'

/** Who increased the number of a zone last. */
export interface Fence {
  readonly number: number
  readonly run: string
  /** ISO 8601, by the clock of that run's machine. */
  readonly time: string
  /** The lowest number since which nothing has changed, if later runs changed nothing; that of `number` if absent. Numbers never return. */
  readonly from?: number
  /** The last known serial of the zone, also of a deleted one; absent if its target does not show it. */
  readonly serial?: SerialNumber | undefined
  /** TTLs that the target replaces by others when it stores records; absent if there are none. */
  readonly ttls?: readonly (readonly [sent: number, stored: number])[]
}

export interface Fences {
  /** The identity of the store; null before its first fence. */
  readonly store: string | null
  /** The version of the object; null if there is none. */
  readonly version: string | null
  /** By zone and target. */
  readonly zones: ReadonlyMap<string, Fence>
}

const NAME = 'fences'
const FORMAT = 'zonewright-fences'
const VERSION = 1

/** Whether a plan that saw this number is the latest: no run has changed the zone since. */
const isCurrent = (now: Fence | null, seen: number): boolean =>
  now === null ? seen === 0 : seen >= (now.from ?? now.number) && seen <= now.number

const keyOf = ({ zone, target }: LeasedZone): string => `${zone} ${target}`

/** Throws `StoreError`. */
export async function readFences(store: JournalStore): Promise<Fences> {
  const read = await store.read(NAME)
  if (read === null) return { store: null, version: null, zones: new Map() }
  const broken = (why: string): StoreError =>
    new StoreError(`${NAME} in ${store.address} ${why}`, { hint: 'restore the object from its previous version' })
  let document: { readonly format?: unknown; readonly version?: unknown; readonly store?: unknown; readonly zones?: unknown }
  try {
    document = JSON.parse(read.text)
  } catch {
    throw broken('is not valid JSON')
  }
  if (document?.format !== FORMAT || document.version !== VERSION) throw broken('does not have the form of this version')
  const { store: id, zones } = document
  if (typeof id !== 'string' || id.length > 100 || typeof zones !== 'object' || zones === null) throw broken('is incomplete')
  const entries = Object.entries(zones as Readonly<Record<string, Fence>>)
  const isFence = ({ number, run, time, from, serial, ttls = [] }: Fence): boolean =>
    Number.isSafeInteger(number) &&
    number >= 0 &&
    (from === undefined || Number.isSafeInteger(from)) &&
    (serial === undefined || isSerial(serial)) &&
    (run === '' || isRunId(run)) &&
    !Number.isNaN(Date.parse(time)) &&
    Array.isArray(ttls) &&
    ttls.every(
      (pair) => Array.isArray(pair) && pair.length === 2 && pair.every((ttl) => Number.isInteger(ttl) && ttl >= 0 && ttl <= MAX_TTL),
    )
  if (!entries.every(([, fence]) => fence !== null && typeof fence === 'object' && isFence(fence)))
    throw broken('has a fence without a number, a run and a time')
  return { store: id, version: read.version, zones: new Map(entries) }
}

export const fenceOf = ({ zones }: Fences, zone: LeasedZone): Fence | null => zones.get(keyOf(zone)) ?? null

/** The TTLs that the target has replaced by others in earlier runs. */
export const storedTtlsOf = (fences: Fences | null | undefined, zone: LeasedZone): StoredTtls =>
  new Map((fences && fenceOf(fences, zone)?.ttls) ?? [])

/** The fence that a plan of the zone carries. */
export const planFence = (fences: Fences, zone: LeasedZone): PlanFence => ({
  store: fences.store,
  number: fenceOf(fences, zone)?.number ?? 0,
})

export interface MadePlan extends LeasedZone {
  readonly fence?: PlanFence | null | undefined
}

/**
 * An error if another run has changed a zone since its plan was made. A plan that knows the number of another store, or none, is judged by the time at which
 * it was `made` (ISO 8601); one of another store that machines share is refused.
 */
export function outdatedPlan(
  fences: Fences,
  { isShared }: Pick<JournalStore, 'isShared'>,
  plan: MadePlan,
  made: string,
): Diagnostic | null {
  const now = fenceOf(fences, plan)
  const { fence } = plan
  if (fence && fence.store !== null && fence.store !== fences.store && isShared) return otherStore(plan)
  const isKnown = fence && (fence.store === fences.store || (isShared && fence.store === null))
  const isOutdated = isKnown ? !isCurrent(now, fence.number) : now !== null && now.run !== '' && Date.parse(now.time) > Date.parse(made)
  if (!isOutdated) return null
  return outdated(plan, now)
}

const HINT = 'plan again and review the changes'

const outdated = ({ zone, target }: LeasedZone, now: Fence | null): Diagnostic => ({
  severity: 'error',
  code: 'plan-outdated',
  message:
    now === null || now.run === ''
      ? `${zone} at ${target}: the journal knows less than when this plan was made`
      : `${zone} at ${target}: run ${now.run} has changed the zone since this plan was made (${shortTime(now.time)})`,
  hint: HINT,
})

const otherStore = ({ zone, target }: LeasedZone): Diagnostic => ({
  severity: 'error',
  code: 'plan-outdated',
  message: `${zone} at ${target}: this plan was made with another journal, so another run may have changed the zone since`,
  hint: HINT,
})

/** Attempts if others take fences of other zones. */
const ATTEMPTS = 50

/** `before`: the fences before they were taken. */
export type TakenFences =
  | { readonly taken: true; readonly before: Fences }
  | { readonly taken: false; readonly diagnostics: readonly Diagnostic[] }

/** Takes the next number of every zone, if they are still those that `seen` has, and remembers the serials. Throws `StoreError`. */
export async function takeFences(
  store: JournalStore,
  seen: Fences,
  zones: readonly (LeasedZone & { readonly serial?: SerialNumber | undefined })[],
  run: string,
  time: Date,
): Promise<TakenFences> {
  let before = seen
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const current = attempt === 0 ? seen : await readFences(store)
    // The attempt before was carried out, and its response was lost.
    if (attempt > 0 && zones.every((zone) => fenceOf(current, zone)?.run === run)) return { taken: true, before }
    const problems = zones.flatMap((zone) => {
      const now = fenceOf(current, zone)
      return isCurrent(now, fenceOf(seen, zone)?.number ?? 0) ? [] : [outdated(zone, now)]
    })
    if (problems.length > 0) return { taken: false, diagnostics: problems }
    const next = new Map(current.zones)
    for (const zone of zones) {
      const { number = 0, serial, ttls } = fenceOf(current, zone) ?? {}
      next.set(keyOf(zone), { number: number + 1, run, time: time.toISOString(), serial: zone.serial ?? serial, ...(ttls && { ttls }) })
    }
    if ((await writeFences(store, current, next)) === 'written') return { taken: true, before: current }
    before = current
    await pause(attempt)
  }
  throw new StoreError(`${NAME} in ${store.address} is written by others all the time`, { hint: 'try again' })
}

/** Says of zones that a run changed nothing in them, so that its plan can be applied again. Throws `StoreError`. */
export const markUnchanged = (store: JournalStore, before: Fences, zones: readonly LeasedZone[], run: string): Promise<void> =>
  updateFences(store, zones, (now, zone) => {
    if (now.run !== run) return null
    const former = fenceOf(before, zone) ?? { number: 0, run: '', time: new Date(0).toISOString() }
    return { ...former, number: now.number, from: former.from ?? former.number }
  })

/** Remembers what a run has found about the TTLs that the targets of zones store, and forgets what is no longer true. Throws `StoreError`. */
export async function rememberTtls(store: JournalStore, seen: Fences, outcomes: readonly ZoneOutcome[]): Promise<void> {
  const found = new Map(outcomes.map(({ plan, storedTtls = [] }) => [keyOf(plan), [...storedTtls]]))
  const foundIn = (zone: LeasedZone): readonly [number, number][] => found.get(keyOf(zone)) ?? []
  const zones = outcomes.flatMap(({ plan }) =>
    foundIn(plan).some(([sent, stored]) => (storedTtlsOf(seen, plan).get(sent) ?? sent) !== stored) ? [plan] : [],
  )
  const replaced = (ttls: readonly (readonly [number, number])[]) => [...new Map(ttls)].filter(([sent, stored]) => sent !== stored)
  if (zones.length > 0)
    await updateFences(store, zones, (now, zone) => ({ ...now, ttls: replaced([...(now.ttls ?? []), ...foundIn(zone)]) }))
}

/** Replaces the fences of zones for which `next` returns another one. */
async function updateFences(
  store: JournalStore,
  zones: readonly LeasedZone[],
  next: (now: Fence, zone: LeasedZone) => Fence | null,
): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const current = await readFences(store)
    const changed = zones.flatMap((zone) => {
      const now = fenceOf(current, zone)
      const fence = now && next(now, zone)
      return fence === null ? [] : [[keyOf(zone), fence] as const]
    })
    if (changed.length === 0 || (await writeFences(store, current, new Map([...current.zones, ...changed]))) === 'written') return
    await pause(attempt)
  }
}

const pause = (attempt: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.min(1000, 20 * 2 ** Math.min(attempt, 6)) * (0.5 + Math.random())))

async function writeFences(store: JournalStore, current: Fences, zones: ReadonlyMap<string, Fence>): Promise<'written' | 'conflict'> {
  const document = {
    format: FORMAT,
    version: VERSION,
    store: current.store ?? randomBytes(8).toString('hex'),
    zones: Object.fromEntries([...zones].sort(([a], [b]) => (a < b ? -1 : 1))),
  }
  return (await store.write(NAME, JSON.stringify(document), current.version)).state
}
