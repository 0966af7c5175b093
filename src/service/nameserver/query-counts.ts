/**
 * How often each RRset of the served zones was queried, by hour, for a day. An RRset is counted if it gives an answer: for an alias the CNAME, for
 * a name below a delegation its NS, for a name that a wildcard covers the wildcard. Names that do not exist are not counted, so queries for them
 * cannot push out others.
 *
 * While the service is stopped, the counts are in the data folder. They are written when it stops on request, and removed when it starts: a
 * process that was killed leaves none, because its last counts are lost.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compareText } from '../../base/text.ts'
import { type DomainName, sortKey } from '../../dns/domain-name.ts'
import type { Answer } from './answer.ts'

/** The counter of one RRset. It is kept with cached responses, so that counting needs neither a look-up nor the time. */
export interface QueryCounter {
  readonly zone: DomainName
  readonly name: DomainName
  readonly type: string
  /** Queries that are not in `hours` yet. */
  pending: number
  /** The hours of several counters, and where those of this one begin; -1 if it was dropped or had no room. */
  hours: Uint32Array
  at: number
  /** The hour that was counted last, since 1970. */
  hour: number
  /** The time of the last query, in seconds since 1970. */
  lastAsked: number
}

/** The counts of one RRset. */
interface QueryCount {
  readonly name: DomainName
  readonly type: string
  readonly count: number
  /** In seconds since 1970. */
  readonly lastAsked: number
}

/** What was queried between two times, in seconds since 1970. */
export interface CountedQueries {
  readonly from: number
  readonly to: number
  /** Zones of which there was no room to count some RRset. */
  readonly incomplete: readonly DomainName[]
  /** In canonical order. */
  readonly counts: readonly QueryCount[]
}

export interface QueryCounts {
  /** Counts a query with its answer. Returns the counter for further queries with the same answer; null if no RRset gives it. */
  add(answer: Answer, code: number): QueryCounter | null
  /** Counts one more query. */
  again(counter: QueryCounter): void
  /** Counts a zone from here on. Counts of another account's zone of the same name are dropped. */
  addZone(zone: DomainName, accountId: number): void
  /** Keeps the counts of a zone that is no longer served until they are a day old. */
  removeZone(zone: DomainName): void
  /** The RRsets of these zones that were queried. */
  read(zones: Iterable<DomainName>): CountedQueries
  /** All counts, for `createQueryCounts` of a later process. */
  save(): SavedCounts
  close(): void
}

/** The current hour and the 24 before it. */
const HOURS = 25

const HOUR_SECONDS = 3600

/** Counters that share an array. */
const CHUNK = 1024

/** Seconds between two searches for counters that can be dropped. */
const SWEEP_INTERVAL = 60

/** Milliseconds after which pending queries get a time. */
const SETTLE_INTERVAL = 1000

/** Counters with pending queries, after which these get a time at once. */
const MAX_TOUCHED = 10_000

const TYPE_ANY = 255

/** Seconds without a server after which the counts begin again: clients may have asked elsewhere. */
const MAX_PAUSE = 600

/**
 * Creates the counts, from those of an earlier process if there are any. At most `maxCounters` RRsets are counted, each in about 400 octets. `clock`
 * returns milliseconds since 1970.
 */
export function createQueryCounts(maxCounters: number, clock: () => number, saved: SavedCounts | null = null): QueryCounts {
  const seconds = (): number => Math.floor(clock() / 1000)
  const pause = saved === null ? null : seconds() - saved.to
  const started = saved !== null && pause !== null && pause >= 0 && pause <= MAX_PAUSE ? saved.from : seconds()
  const zones = new Map<DomainName, ZoneCounters>()
  const free: Pick<QueryCounter, 'hours' | 'at'>[] = []
  let size = 0
  let nextSweep = 0
  /** The zone with the most counters, searched at most once a second. */
  let largest: ZoneCounters | null = null
  let largestAt = 0

  const drop = (counters: ZoneCounters, key: string, counter: QueryCounter): void => {
    counters.byKey.delete(key)
    counter.hours.fill(0, counter.at, counter.at + HOURS)
    free.push({ hours: counter.hours, at: counter.at })
    counter.at = -1
    counter.pending = 0
    size -= 1
  }
  const sweep = (now: number): void => {
    nextSweep = now + SWEEP_INTERVAL
    const oldest = windowBegin(now)
    for (const [zone, counters] of zones) {
      for (const [key, counter] of counters.byKey) if (counter.lastAsked < oldest && counter.pending === 0) drop(counters, key, counter)
      if (counters.byKey.size === 0 && !counters.isServed) zones.delete(zone)
    }
  }
  const slot = (): Pick<QueryCounter, 'hours' | 'at'> => {
    if (free.length === 0) {
      const hours = new Uint32Array(CHUNK * HOURS)
      for (let i = CHUNK - 1; i >= 0; i -= 1) free.push({ hours, at: i * HOURS })
    }
    return free.pop() as Pick<QueryCounter, 'hours' | 'at'>
  }
  /** Makes room for a zone. A zone with very many names gives way, so that it does not keep others from being counted. */
  const makeRoom = (wanting: ZoneCounters, now: number): boolean => {
    if (largestAt !== now) {
      largestAt = now
      largest = null
      for (const one of zones.values()) if (one.byKey.size > (largest?.byKey.size ?? 0)) largest = one
    }
    const isLarger = largest !== null && largest.byKey.size > wanting.byKey.size + 1
    const giving = largest !== null && isLarger ? largest : wanting
    giving.refusedAt = now
    const [first] = isLarger ? giving.byKey : []
    if (first !== undefined) drop(giving, ...first)
    return first !== undefined
  }
  const counterOf = (zone: DomainName, name: DomainName, type: string, now: number): QueryCounter | null => {
    const key = `${name} ${type}`
    const counters = zones.get(zone)
    if (!counters) return null
    const known = counters.byKey.get(key)
    if (known) return known
    if (size >= maxCounters && now >= nextSweep) sweep(now)
    if (size >= maxCounters && !makeRoom(counters, now)) return null
    const counter = { zone, name, type, pending: 0, ...slot(), hour: Math.floor(now / HOUR_SECONDS), lastAsked: now }
    counters.byKey.set(key, counter)
    size += 1
    return counter
  }
  const settleOne = (counter: QueryCounter, now: number): void => {
    const { pending } = counter
    if (pending === 0) return
    counter.pending = 0
    const current = counter.at >= 0 ? counter : counterOf(counter.zone, counter.name, counter.type, now)
    if (current === null) return
    const hour = Math.floor(now / HOUR_SECONDS)
    if (hour !== current.hour) advance(current, hour)
    const at = current.at + (hour % HOURS)
    current.hours[at] = (current.hours[at] as number) + pending
    current.lastAsked = now
  }
  const restore = ({ zones: former }: SavedCounts, now: number): void => {
    for (const { zone, accountId, refusedAt, rrsets } of former) {
      zones.set(zone, { accountId, isServed: false, refusedAt, byKey: new Map() })
      for (const [name, type, lastAsked, hour, hours] of rrsets) {
        const isOfDay = lastAsked >= windowBegin(now) && hour <= now / HOUR_SECONDS && hours.length === HOURS
        const counter = isOfDay ? counterOf(zone, name, type, now) : null
        if (counter === null) continue
        counter.hours.set(hours, counter.at)
        counter.hour = hour
        counter.lastAsked = Math.min(lastAsked, now)
      }
    }
  }
  if (saved !== null) restore(saved, seconds())
  let touched: QueryCounter[] = []
  let timer: NodeJS.Timeout | undefined
  const settle = (): void => {
    clearTimeout(timer)
    timer = undefined
    const now = seconds()
    const some = touched
    touched = []
    for (const counter of some) settleOne(counter, now)
  }
  const again = (counter: QueryCounter): void => {
    if (counter.pending === 0) {
      if (touched.length >= MAX_TOUCHED) settle()
      touched.push(counter)
      timer ??= setTimeout(settle, SETTLE_INTERVAL).unref()
    }
    counter.pending += 1
  }
  return {
    add: (answer, code) => {
      const type = usedType(answer, code)
      const zone = answer.zones[0]
      if (type === null || answer.source === null || !zone) return null
      const known = zones.get(zone.name)?.byKey.get(`${answer.source} ${type}`)
      const counter = known ?? { zone: zone.name, name: answer.source, type, pending: 0, hours: NO_HOURS, at: -1, hour: 0, lastAsked: 0 }
      again(counter)
      return counter
    },
    again,
    addZone: (zone, accountId) => {
      settle()
      const counters = zones.get(zone)
      if (counters?.accountId === accountId) counters.isServed = true
      else {
        for (const [key, counter] of counters?.byKey ?? []) drop(counters as ZoneCounters, key, counter)
        zones.set(zone, { accountId, isServed: true, refusedAt: null, byKey: new Map() })
      }
    },
    removeZone: (zone) => {
      settle()
      const counters = zones.get(zone)
      if (counters?.byKey.size === 0) zones.delete(zone)
      else if (counters) counters.isServed = false
    },
    read: (names) => {
      settle()
      const now = seconds()
      const oldest = windowBegin(now)
      const wanted = [...names]
      const counters = wanted.flatMap((name) => [...(zones.get(name)?.byKey.values() ?? [])])
      const incomplete = wanted.filter((name) => (zones.get(name)?.refusedAt ?? 0) >= oldest)
      const counts = counters
        .filter(({ lastAsked }) => lastAsked >= oldest)
        .map((counter) => ({ counter, key: sortKey(counter.name) }))
        .sort((a, b) => compareText(a.key, b.key) || compareText(a.counter.type, b.counter.type))
        .map(({ counter }) => countOf(counter, now))
      return { from: Math.max(started, oldest), to: now, incomplete, counts }
    },
    save: () => {
      settle()
      const former = [...zones].map(([zone, { accountId, refusedAt, byKey }]) => ({
        zone,
        accountId,
        refusedAt,
        rrsets: [...byKey.values()].map(
          ({ name, type, lastAsked, hour, hours, at }) => [name, type, lastAsked, hour, [...hours.subarray(at, at + HOURS)]] as const,
        ),
      }))
      return { from: started, to: seconds(), zones: former }
    },
    close: () => clearTimeout(timer),
  }
}

const NO_HOURS = new Uint32Array()

interface ZoneCounters {
  readonly accountId: number
  isServed: boolean
  /** When there was no room to count one of its RRsets, in seconds since 1970; null if there was. */
  refusedAt: number | null
  /** By name and type. */
  readonly byKey: Map<string, QueryCounter>
}

/** The begin of the oldest hour that is still counted: 24 to 25 hours ago. */
const windowBegin = (now: number): number => (Math.floor(now / HOUR_SECONDS) - HOURS + 1) * HOUR_SECONDS

/** Sets the hours after the last counted one to zero. */
function advance(counter: QueryCounter, hour: number): void {
  const first = Math.max(counter.hour + 1, hour - HOURS + 1)
  for (let at = first; at <= hour; at += 1) counter.hours[counter.at + (at % HOURS)] = 0
  // A clock that was set back counts in an hour that it has counted already.
  counter.hour = hour
}

function countOf(counter: QueryCounter, now: number): QueryCount {
  const { name, type, lastAsked } = counter
  advance(counter, Math.floor(now / HOUR_SECONDS))
  let count = 0
  for (let i = 0; i < HOURS; i += 1) count += counter.hours[counter.at + i] as number
  return { name, type, count, lastAsked }
}

/** The type of the RRset that gives the answer; ANY for a query for all types; null without one. */
function usedType({ answers, authorities, authoritative }: Answer, code: number): string | null {
  const first = answers[0]
  if (first) return code === TYPE_ANY ? 'ANY' : first.rrset.type
  const referral = authorities[0]?.rrset.type
  return !authoritative && referral === 'NS' ? referral : null
}

/** The counters of a name server. Times in seconds since 1970. */
export interface SavedCounts {
  /** When the counting began. */
  readonly from: number
  /** When it ended. */
  readonly to: number
  readonly zones: readonly SavedZone[]
}

interface SavedZone {
  readonly zone: DomainName
  readonly accountId: number
  /** When there was no room to count an RRset; null if there was. */
  readonly refusedAt: number | null
  /** Name, type, time of the last query, hour that was counted last, and the counts of the hours of a day. */
  readonly rrsets: readonly (readonly [name: DomainName, type: string, lastAsked: number, hour: number, hours: readonly number[]])[]
}

const FILE = 'query-counts.json'

/** Reads the counts. Null if there are none or the file is damaged; that is reported. */
export function readSavedCounts(folder: string, onError: (error: unknown) => void): SavedCounts | null {
  try {
    const saved: unknown = JSON.parse(readFileSync(join(folder, FILE), 'utf8'))
    if (isSaved(saved)) return saved
    throw new Error(`${FILE} does not have counts of queries`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') onError(error)
    return null
  }
}

/** Removes the counts once a name server continues them: if its process is killed, they are too old. */
export const removeSavedCounts = (folder: string): void => rmSync(join(folder, FILE), { force: true })

/** Writes the counts. An error is reported: the next start counts from its own begin. */
export function saveCounts(folder: string, counts: SavedCounts, onError: (error: unknown) => void): void {
  const temporary = join(folder, `${FILE}.new`)
  try {
    writeFileSync(temporary, JSON.stringify(counts), { mode: 0o600 })
    renameSync(temporary, join(folder, FILE))
  } catch (error) {
    onError(error)
    rmSync(temporary, { force: true })
  }
}

const isSaved = (value: unknown): value is SavedCounts => {
  const { from, to, zones } = (value ?? {}) as Partial<Record<keyof SavedCounts, unknown>>
  return isWhole(from) && isWhole(to) && Array.isArray(zones) && zones.every(isZone)
}

const isZone = (value: unknown): value is SavedZone => {
  const { zone, accountId, refusedAt, rrsets } = (value ?? {}) as Partial<Record<keyof SavedZone, unknown>>
  return (
    typeof zone === 'string' &&
    isWhole(accountId) &&
    (refusedAt === null || isWhole(refusedAt)) &&
    Array.isArray(rrsets) &&
    rrsets.every(isRrset)
  )
}

const isRrset = (value: unknown): boolean => {
  const [name, type, lastAsked, hour, hours] = Array.isArray(value) ? value : []
  const areTexts = typeof name === 'string' && typeof type === 'string'
  return areTexts && isWhole(lastAsked) && isWhole(hour) && Array.isArray(hours) && hours.every(isWhole)
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
