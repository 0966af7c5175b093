/**
 * Keeps the zones of slave domains up to date with their masters. What is due, and when, is in the database, which all processes
 * share: each looks for due refreshes, claims as many as it can work on, and stores what comes of them. NOTIFY only makes a refresh
 * due. Nothing of the state is in memory, so a process may end at any moment.
 */
import { randomUUID } from 'node:crypto'
import type { DomainName } from '../../dns/domain-name.ts'
import type { TsigKey } from '../../dns/wire/tsig.ts'
import { canonicalAddress } from '../nameserver/canonical-address.ts'
import type { NotifyVerdict } from '../nameserver/respond.ts'
import type { Database } from '../store/database.ts'
import {
  type ClaimedRefresh,
  claimRefresh,
  expireZone,
  findActiveSlave,
  findDueRefreshes,
  findExpired,
  findNextDeadline,
  finishRefresh,
  type ReceivedNotify,
  type RefreshOutcome,
  recordNotify,
  renewRefreshClaim,
  type SoaTimes,
  scheduleAllRefreshes,
} from '../store/secondary-store.ts'
import { findZoneFile } from '../store/zone-file-store.ts'
import type { ScheduledWork, Timers } from '../timers.ts'
import { formatTransferredZone, parseZoneText } from '../zone/zone-text.ts'
import { type AskMastersOptions, askMasters, type MastersAnswer } from './ask-masters.ts'
import type { CurrentZone } from './incremental-zone.ts'
import { isAllowedPeer } from './peer.ts'
import { isTransferFailure } from './transfer-failure.ts'
import type { SoaFields } from './transfer-zone.ts'

export interface SecondariesOptions extends Omit<AskMastersOptions, 'signal' | 'readCurrent'> {
  readonly database: Database
  readonly timers: Timers
  /** Numbers from 0 to 1. */
  readonly random: () => number
  /** To be told when what is served changes. */
  readonly zoneChanged: (domainId: number) => void
  /** Told of what a refresh came to. */
  readonly onRefresh: (zone: string, answer: MastersAnswer) => void
  readonly onError: (error: unknown) => void
}

export interface Secondaries {
  /** Has every zone checked, then keeps them up to date. */
  start(): Promise<void>
  /** To be called when a domain has changed: what is due is looked for at once. */
  wake(): void
  /** Takes a NOTIFY for a zone (RFC 1996), with the serial of the SOA in it if there is one, and the key that signed it. */
  notify(zone: DomainName, address: string, serial: number | null, signedBy: TsigKey | null): Promise<NotifyVerdict>
  /** Leaves what is under way to others. */
  close(): Promise<void>
}

/** Refreshes at one time in this process. */
const MAX_CONCURRENT = 8

/** Milliseconds of real time between looks at what other processes have left. */
const POLL_INTERVAL = 5_000

/** Milliseconds of real time for which a claim holds unless it is renewed: what a process that was killed has claimed is taken over then. */
const LEASE_DURATION = 15_000
const LEASE_RENEWAL = 5_000

/** Milliseconds by which the clock must go back for what is due by it to be due at once: it would wait that much longer. */
const CLOCK_STEP = 60_000

/** Milliseconds of real time in which NOTIFY for one zone counts once, beside the first of them. */
const NOTIFY_GAP = 400

const EXPIRED =
  'The zone has expired: no master has confirmed it for as long as its SOA says. It is not answered until it is transferred again.'

export function createSecondaries(options: SecondariesOptions): Secondaries {
  const { database, timers, rules, zoneChanged, onError } = options
  const stopping = new AbortController()
  const active = new Map<number, Promise<void>>()
  /** Zones of which a NOTIFY has been stored a moment ago, and a later one that has not. */
  const notified = new Map<number, ReceivedNotify | null>()
  const gaps = new Set<NodeJS.Timeout>()
  let running: Promise<void> | null = null
  let again = false
  let next: ScheduledWork | null = null
  let latest = timers.now()

  const claimSpan = () => ({ now: timers.now(), until: timers.now() + LEASE_DURATION * timers.speed })

  const work = async (): Promise<void> => {
    const now = timers.now()
    if (now < latest - CLOCK_STEP) await database.write((connection) => scheduleAllRefreshes(connection, now))
    latest = now
    for (const id of await database.read((connection) => findExpired(connection, now))) {
      if (await database.write((connection) => expireZone(connection, id, now, EXPIRED))) zoneChanged(id)
    }
    const due = await database.read((connection) => findDueRefreshes(connection, claimSpan(), MAX_CONCURRENT))
    for (const id of due) if (!active.has(id) && active.size < MAX_CONCURRENT) begin(id)
  }

  const begin = (id: number): void => {
    // After an error the next look is soon enough.
    const refresh = refreshZone(id).then(
      () => true,
      (error) => {
        onError(error)
        return false
      },
    )
    const ended = refresh.then((well) => {
      active.delete(id)
      if (well) wake()
    })
    active.set(id, ended)
  }

  const refreshZone = async (id: number): Promise<void> => {
    const claim = await database.write((connection) => claimRefresh(connection, id, randomUUID(), claimSpan()))
    if (claim === null) return
    const held = holdClaim(claim)
    try {
      const answer = await askMasters(claim, { ...options, signal: held.signal, readCurrent })
      const outcome = refreshOutcome(claim, answer, timers.now(), options.random)
      const stored = await database.write((connection) => finishRefresh(connection, claim, outcome, timers.now()))
      if (!stored) return
      options.onRefresh(claim.domain, answer)
      if (outcome.file) zoneChanged(id)
    } catch (error) {
      // The claim is given back, or was another's already.
      await database.write((connection) => renewRefreshClaim(connection, claim, 0))
      if (!isTransferFailure(error)) throw error
    } finally {
      held.release()
    }
  }

  const readCurrent = async ({ domainId, domain, serial }: ClaimedRefresh): Promise<CurrentZone | null> => {
    const file = await database.read((connection) => findZoneFile(connection, domainId))
    if (file === null || file.serial !== serial) return null
    const [soa, ...others] = parseZoneText(`${domain}.` as DomainName, file.text)
    return soa === undefined ? null : [soa, ...others]
  }

  /** Renews a claim while it is worked on; the signal tells when it is lost, or the service stops. */
  const holdClaim = (claim: ClaimedRefresh) => {
    const lost = new AbortController()
    const timer = setInterval(async () => {
      try {
        if (!(await database.write((connection) => renewRefreshClaim(connection, claim, claimSpan().until)))) lost.abort()
      } catch (error) {
        onError(error)
      }
    }, LEASE_RENEWAL)
    return { signal: AbortSignal.any([lost.signal, stopping.signal]), release: () => clearInterval(timer) }
  }

  const run = async (): Promise<void> => {
    do {
      again = false
      try {
        await work()
        await scheduleNext()
      } catch (error) {
        onError(error)
        next = timers.schedule(POLL_INTERVAL * timers.speed, wake)
      }
    } while (again && !stopping.signal.aborted)
  }

  const scheduleNext = async (): Promise<void> => {
    const now = timers.now()
    const moment = await database.read((connection) => findNextDeadline(connection, now))
    const wait = Math.min(moment === null ? Number.POSITIVE_INFINITY : moment - now, POLL_INTERVAL * timers.speed)
    next?.cancel()
    next = timers.schedule(wait, wake)
  }

  const wake = (): void => {
    if (stopping.signal.aborted) return
    again = true
    running ??= run().finally(() => {
      running = null
      if (again) wake()
    })
  }

  const noteNews = async (id: number, news: ReceivedNotify): Promise<void> => {
    notified.set(id, null)
    const gap = setTimeout(() => {
      gaps.delete(gap)
      const later = notified.get(id)
      notified.delete(id)
      if (later) void noteNews(id, later).catch(onError)
    }, NOTIFY_GAP)
    gaps.add(gap)
    await database.write((connection) => recordNotify(connection, id, news, timers.now()))
    wake()
  }

  return {
    start: async () => {
      await database.write((connection) => scheduleAllRefreshes(connection, timers.now()))
      wake()
    },
    wake,
    notify: async (zone, address, serial, signedBy) => {
      const slave = await database.read((connection) => findActiveSlave(connection, zone.slice(0, -1)))
      if (slave === null) return 'unknown'
      const from = canonicalAddress(address)
      const master = slave.masters.find((candidate) => canonicalAddress(candidate) === from)
      if (master === undefined || !isAllowedPeer(address, rules.publicOnly)) return 'refused'
      if (!rules.keys.allows({ name: zone, accountId: slave.accountId }, 'incoming', address, signedBy)) return 'refused'
      if (notified.has(slave.id)) notified.set(slave.id, { master, serial })
      else await noteNews(slave.id, { master, serial })
      return 'accepted'
    },
    close: async () => {
      stopping.abort()
      next?.cancel()
      for (const gap of gaps) clearTimeout(gap)
      while (running !== null || active.size > 0) await Promise.all([running, ...active.values()])
    },
  }
}

/** Seconds within which the times of a SOA are taken as they are. */
const REFRESH = { least: 60, most: 2_419_200 }
const RETRY = { least: 60, most: 1_209_600 }
const MOST_EXPIRE = 14_515_200

/** Seconds to the second try of a zone that has never been transferred, doubled with each, and the most of them. */
const FIRST_RETRY = 15
const LONGEST_RETRY = 3600

/** Seconds to the next try of a zone that is older than its masters have told, doubled with each. */
const FIRST_BEHIND = 1

/** The part of a wait by which it may be shorter, so that zones that came together are not refreshed together for ever. */
const JITTER = 0.1

/** What is to be stored of a refresh. `now` is in milliseconds, `random` gives numbers from 0 to 1. */
export function refreshOutcome(claim: ClaimedRefresh, answer: MastersAnswer, now: number, random: () => number): RefreshOutcome {
  const { newer, answered, behind, problems } = answer
  const errors = problems.join('\n')
  const after = (seconds: number): number => now + Math.round(seconds * (1 - JITTER * random()) * 1000)
  if (!answered) {
    const failures = claim.failures + 1
    const wait = claim.times.retry || Math.min(FIRST_RETRY * 2 ** (failures - 1), LONGEST_RETRY)
    return { file: null, times: claim.times, refreshAt: after(wait), failures, behind: claim.behind, notifyPending: false, errors }
  }
  const times = newer ? clampSoaTimes(newer.zone.soa) : claim.times
  const name = `${claim.domain}.` as DomainName
  const file = newer && { serial: newer.zone.soa.serial, text: formatTransferredZone(name, claim.domainId, newer.zone.records) }
  const had = { file, times, expireAt: now + times.expire * 1000, failures: 0, errors }
  if (!behind) return { ...had, refreshAt: after(times.refresh), behind: 0, notifyPending: false }
  const wait = FIRST_BEHIND * 2 ** claim.behind
  const most = Math.min(times.retry, times.refresh)
  // Who told of it by NOTIFY may have been another, or mistaken: that is believed no longer once the waits have grown.
  return { ...had, refreshAt: after(Math.min(wait, most)), behind: claim.behind + 1, notifyPending: wait < most }
}

/** A zone must outlive one refresh that fails and its retry, whatever its SOA says (RFC 1912 section 2.2). */
function clampSoaTimes(soa: Pick<SoaFields, 'refresh' | 'retry' | 'expire'>): SoaTimes {
  const refresh = clamp(soa.refresh, REFRESH.least, REFRESH.most)
  const retry = clamp(soa.retry, RETRY.least, RETRY.most)
  return { refresh, retry, expire: clamp(soa.expire, refresh + retry, MOST_EXPIRE) }
}

const clamp = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most)
