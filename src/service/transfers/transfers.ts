/**
 * Incoming zone transfers: imports on request, and the zones of slaves, which are kept up to date with their masters.
 *
 * The refresh schedule is in the database, which all processes share. Each process finds due refreshes, claims as many as it can handle, and stores
 * their outcomes. A NOTIFY only makes a refresh due. No state is kept only in memory, so a process may end at any moment.
 */
import { randomUUID } from 'node:crypto'
import type { DomainName } from '../../dns/domain-name.ts'
import { canonicalAddress } from '../../dns/ip-address.ts'
import type { TsigKey } from '../../dns/wire/tsig.ts'
import type { NotifyVerdict } from '../nameserver/respond.ts'
import { parseZoneText } from '../nameserver/zone-data.ts'
import type { Log } from '../observability/log.ts'
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
import type { ScheduledWork, Timers } from '../time.ts'
import { formatTransferredZone } from '../zone/render-zone.ts'
import { findPeers, isAllowedPeer, isTransferFailure, type TransferFailure, transferFailure } from './peer.ts'
import { type CurrentZone, type RefreshOptions, type RefreshResult, refreshFromMasters } from './refresh-from-masters.ts'
import type { OwnedZone } from './transfer-keys.ts'
import { type SoaFields, TRANSFER_LIMITS, type TransferLimits, type TransferredZone, transferZone } from './transfer-zone.ts'

interface SecondariesOptions extends Omit<RefreshOptions, 'signal' | 'readCurrent'> {
  readonly database: Database
  readonly timers: Timers
  /** Returns numbers from 0 to 1. */
  readonly random: () => number
  /** Called when the zone of a domain has changed. */
  readonly zoneChanged: (domainId: number) => void
  /** Called with the result of each refresh. */
  readonly onRefresh: (zone: string, result: RefreshResult) => void
  readonly onError: (error: unknown) => void
}

interface Secondaries {
  /** Refreshes all zones, then keeps them up to date. */
  start(): Promise<void>
  /** Looks for due refreshes immediately. Call it when a domain has changed. */
  wake(): void
  /** Handles a NOTIFY (RFC 1996) with the serial of its SOA, if there is one, and the key that signed it. */
  notify(zone: DomainName, address: string, serial: number | null, signedBy: TsigKey | null): Promise<NotifyVerdict>
  /** Aborts running refreshes, so that other processes can take them over. */
  close(): Promise<void>
}

/** Concurrent refreshes in this process. */
const MAX_CONCURRENT = 8

/** Milliseconds of real time between checks for work that other processes left. */
const POLL_INTERVAL = 5_000

/** Milliseconds of real time until a claim expires unless it is renewed. Then another process takes over the work of one that was killed. */
const LEASE_DURATION = 15_000
const LEASE_RENEWAL = 5_000

/** If the clock goes back by more than this (milliseconds), all refreshes become due: otherwise they would be late by that much. */
const CLOCK_STEP = 60_000

/** Milliseconds of real time during which further NOTIFY messages for a zone are combined into one. */
const NOTIFY_GAP = 400

const EXPIRED =
  'The zone has expired: no master has confirmed it within the expire time of its SOA. It is not served until it is transferred again.'

function createSecondaries(options: SecondariesOptions): Secondaries {
  const { database, timers, rules, zoneChanged, onError } = options
  const stopping = new AbortController()
  const active = new Map<number, Promise<void>>()
  /** Zones whose NOTIFY was stored a moment ago, with a later NOTIFY that is not stored yet. */
  const notified = new Map<number, ReceivedNotify | null>()
  const gapTimers = new Set<NodeJS.Timeout>()
  let running: Promise<void> | null = null
  let runAgain = false
  let next: ScheduledWork | null = null
  let lastNow = timers.now()

  const claimPeriod = () => ({ now: timers.now(), until: timers.now() + LEASE_DURATION * timers.speed })

  const work = async (): Promise<void> => {
    const now = timers.now()
    if (now < lastNow - CLOCK_STEP) await database.write((connection) => scheduleAllRefreshes(connection, now))
    lastNow = now
    for (const id of await database.read((connection) => findExpired(connection, now))) {
      if (await database.write((connection) => expireZone(connection, id, now, EXPIRED))) zoneChanged(id)
    }
    const due = await database.read((connection) => findDueRefreshes(connection, claimPeriod(), MAX_CONCURRENT))
    for (const id of due) if (!active.has(id) && active.size < MAX_CONCURRENT) startRefresh(id)
  }

  const startRefresh = (id: number): void => {
    // After an error, the next poll is soon enough.
    const refresh = refreshZone(id).then(
      () => true,
      (error) => {
        onError(error)
        return false
      },
    )
    const ended = refresh.then((succeeded) => {
      active.delete(id)
      if (succeeded) wake()
    })
    active.set(id, ended)
  }

  const refreshZone = async (id: number): Promise<void> => {
    const claim = await database.write((connection) => claimRefresh(connection, id, randomUUID(), claimPeriod()))
    if (claim === null) return
    const renewal = keepClaim(claim)
    try {
      const result = await refreshFromMasters(claim, { ...options, signal: renewal.signal, readCurrent })
      const outcome = refreshOutcome(claim, result, timers.now(), options.random)
      const stored = await database.write((connection) => finishRefresh(connection, claim, outcome, timers.now()))
      if (!stored) return
      options.onRefresh(claim.domain, result)
      if (outcome.file) zoneChanged(id)
    } catch (error) {
      // Release the claim. It may already belong to another process.
      await database.write((connection) => renewRefreshClaim(connection, claim, 0))
      if (!isTransferFailure(error)) throw error
    } finally {
      renewal.release()
    }
  }

  const readCurrent = async ({ domainId, domain, serial }: ClaimedRefresh): Promise<CurrentZone | null> => {
    const file = await database.read((connection) => findZoneFile(connection, domainId))
    if (file === null || file.serial !== serial) return null
    const [soa, ...others] = parseZoneText(`${domain}.` as DomainName, file.text)
    return soa === undefined ? null : [soa, ...others]
  }

  /** Renews a claim during its refresh. The signal aborts when the claim is lost or the service stops. */
  const keepClaim = (claim: ClaimedRefresh) => {
    const lost = new AbortController()
    const timer = setInterval(async () => {
      try {
        if (!(await database.write((connection) => renewRefreshClaim(connection, claim, claimPeriod().until)))) lost.abort()
      } catch (error) {
        onError(error)
      }
    }, LEASE_RENEWAL)
    return { signal: AbortSignal.any([lost.signal, stopping.signal]), release: () => clearInterval(timer) }
  }

  const run = async (): Promise<void> => {
    do {
      runAgain = false
      try {
        await work()
        await scheduleNext()
      } catch (error) {
        onError(error)
        next = timers.schedule(POLL_INTERVAL * timers.speed, wake)
      }
    } while (runAgain && !stopping.signal.aborted)
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
    runAgain = true
    running ??= run().finally(() => {
      running = null
      if (runAgain) wake()
    })
  }

  const storeNotify = async (id: number, notify: ReceivedNotify): Promise<void> => {
    notified.set(id, null)
    const gapTimer = setTimeout(() => {
      gapTimers.delete(gapTimer)
      const later = notified.get(id)
      notified.delete(id)
      if (later) void storeNotify(id, later).catch(onError)
    }, NOTIFY_GAP)
    gapTimers.add(gapTimer)
    await database.write((connection) => recordNotify(connection, id, notify, timers.now()))
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
      else await storeNotify(slave.id, { master, serial })
      return 'accepted'
    },
    close: async () => {
      stopping.abort()
      next?.cancel()
      for (const gapTimer of gapTimers) clearTimeout(gapTimer)
      while (running !== null || active.size > 0) await Promise.all([running, ...active.values()])
    },
  }
}

/** Bounds in seconds for the times of an SOA. */
const REFRESH = { min: 60, max: 2_419_200 }
const RETRY = { min: 60, max: 1_209_600 }
const MAX_EXPIRE = 14_515_200

/** Seconds until the first retry of a zone that was never transferred; doubled with each retry up to the maximum. */
const FIRST_RETRY = 15
const MAX_FIRST_RETRY = 3600

/** Seconds until the next try of a zone that is older than its masters announced; doubled with each try. */
const FIRST_BEHIND = 1

/** The maximum fraction by which a wait is shortened, so that zones added together are not always refreshed together. */
const JITTER = 0.1

/** Computes what to store after a refresh. `now` is in milliseconds; `random` returns numbers from 0 to 1. */
export function refreshOutcome(claim: ClaimedRefresh, result: RefreshResult, now: number, random: () => number): RefreshOutcome {
  const { newer, served, behind, problems } = result
  const errors = problems.join('\n')
  const after = (seconds: number): number => now + Math.round(seconds * (1 - JITTER * random()) * 1000)
  if (!served) {
    const failures = claim.failures + 1
    const wait = claim.times.retry || Math.min(FIRST_RETRY * 2 ** (failures - 1), MAX_FIRST_RETRY)
    return { file: null, times: claim.times, refreshAt: after(wait), failures, behind: claim.behind, notifyPending: false, errors }
  }
  const times = newer ? clampSoaTimes(newer.zone.soa) : claim.times
  const name = `${claim.domain}.` as DomainName
  const file = newer && { serial: newer.zone.soa.serial, text: formatTransferredZone(name, claim.domainId, newer.zone.records) }
  const outcome = { file, times, expireAt: now + times.expire * 1000, failures: 0, errors }
  if (!behind) return { ...outcome, refreshAt: after(times.refresh), behind: 0, notifyPending: false }
  const wait = FIRST_BEHIND * 2 ** claim.behind
  const maxWait = Math.min(times.retry, times.refresh)
  // The announced serial may be wrong, or another master's. It is ignored once the waits have grown.
  return { ...outcome, refreshAt: after(Math.min(wait, maxWait)), behind: claim.behind + 1, notifyPending: wait < maxWait }
}

/** The times of an SOA within bounds. A zone must survive one failed refresh and its retry (RFC 1912 section 2.2). */
function clampSoaTimes(soa: Pick<SoaFields, 'refresh' | 'retry' | 'expire'>): SoaTimes {
  const refresh = clamp(soa.refresh, REFRESH.min, REFRESH.max)
  const retry = clamp(soa.retry, RETRY.min, RETRY.max)
  return { refresh, retry, expire: clamp(soa.expire, refresh + retry, MAX_EXPIRE) }
}

const clamp = (value: number, min: number, max: number): number => Math.min(Math.max(value, min), max)

interface TransfersOptions extends Omit<SecondariesOptions, 'limits' | 'random' | 'onRefresh'> {
  readonly limits?: Partial<TransferLimits>
  readonly log: Log
}

/** Incoming transfers of the service: imports, and the zones of slaves. */
export interface Transfers extends Secondaries {
  /** Transfers a zone from a name server, given by address or name, with the keys of the account. Rejects with a `TransferFailure`. */
  readonly fetchZone: (nameserver: string, zone: OwnedZone) => Promise<TransferredZone>
  /** The service's own addresses for transfers, if known: name servers must allow them. */
  readonly addresses: readonly string[]
}

/** Concurrent imports. Each keeps a full zone in memory. */
const MAX_IMPORTS = 8

/** Limits for an import, because its HTTP request waits for it. */
const IMPORT_LIMITS: Partial<TransferLimits> = { total: 30_000, octets: 16 * 1024 * 1024 }

export function createTransfers(options: TransfersOptions): Transfers {
  const { rules, log } = options
  const limits = { ...TRANSFER_LIMITS, ...options.limits }
  const importLimits = { ...TRANSFER_LIMITS, ...IMPORT_LIMITS, ...options.limits }
  const stopping = new AbortController()
  let imports = 0
  const onRefresh = (zone: string, result: RefreshResult): void => logRefresh(log, zone, result)
  const secondaries = createSecondaries({ ...options, limits, random: Math.random, onRefresh })
  return {
    ...secondaries,
    addresses: rules.localAddresses,
    fetchZone: async (nameserver, zone) => {
      if (imports >= MAX_IMPORTS) throw transferFailure('busy', 'Too many imports are running. Try again later.')
      imports += 1
      try {
        return await fetchZone(nameserver, zone, { rules, limits: importLimits, signal: stopping.signal })
      } finally {
        imports -= 1
      }
    },
    close: async () => {
      stopping.abort()
      await secondaries.close()
    },
  }
}

function logRefresh(log: Log, zone: string, { newer, served, behind, problems }: RefreshResult): void {
  if (newer) {
    const { soa, records, differences } = newer.zone
    const transferred = {
      zone,
      master: newer.master,
      serial: soa.serial,
      records: records.length,
      method: differences === null ? 'AXFR' : 'IXFR',
    }
    log.info({ ...transferred, problems }, 'zone transferred')
  } else if (!served) log.warn({ zone, problems }, 'zone not refreshed')
  else if (!behind) log.debug({ zone, problems }, 'zone is up to date')
  if (served && behind) log.warn({ zone, problems }, 'zone is older than its masters announced')
}

/**
 * Transfers a zone for an account from the name server with an address or host name. The addresses of a host name are tried in order and share
 * the time limit of one transfer. Rejects with the most informative `TransferFailure`: one from a server that responded, if there is one.
 */
async function fetchZone(
  nameserver: string,
  zone: OwnedZone,
  { rules, limits, signal }: Pick<RefreshOptions, 'rules' | 'limits' | 'signal'>,
): Promise<TransferredZone> {
  const started = performance.now()
  const failures: TransferFailure[] = []
  for (const peer of await findPeers(nameserver, zone, rules)) {
    const left = limits.total - (performance.now() - started)
    if (failures.length > 0 && left <= 0) break
    try {
      return await transferZone(peer, zone.name, { ...limits, total: Math.ceil(left) }, signal)
    } catch (error) {
      if (!isTransferFailure(error) || error.reason === 'stopped') throw error
      failures.push(error)
    }
  }
  throw failures.find(({ reason }) => reason !== 'unreachable' && reason !== 'timeout') ?? failures[0]
}
