/** Incoming zone transfers: imports on request, and the zones of slaves. */
import type { Log } from '../observability/log.ts'
import type { Database } from '../store/database.ts'
import type { Timers } from '../timers.ts'
import type { PeerRules } from './peer.ts'
import { findPeers } from './peer.ts'
import type { RefreshResult } from './refresh-from-masters.ts'
import { createSecondaries, type Secondaries } from './secondaries.ts'
import { isTransferFailure, type TransferFailure, transferFailure } from './transfer-failure.ts'
import type { OwnedZone } from './transfer-keys.ts'
import { TRANSFER_LIMITS, type TransferLimits, type TransferredZone, transferZone } from './transfer-zone.ts'

export interface TransfersOptions {
  readonly database: Database
  readonly timers: Timers
  readonly rules: PeerRules
  readonly limits?: Partial<TransferLimits>
  readonly log: Log
  readonly zoneChanged: (domainId: number) => void
  readonly onError: (error: unknown) => void
}

/** Incoming transfers of the service: imports, and the zones of slaves. */
export interface Transfers extends Secondaries {
  readonly fetchZone: (nameserver: string, zone: OwnedZone) => Promise<TransferredZone>
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

interface FetchOptions {
  readonly rules: PeerRules
  readonly limits: TransferLimits
  readonly signal: AbortSignal
}

/**
 * Transfers a zone for an account from the name server with an address or host name. The addresses of a host name are tried in order and share
 * the time limit of one transfer. Rejects with the most informative `TransferFailure`: one from a server that responded, if there is one.
 */
async function fetchZone(nameserver: string, zone: OwnedZone, { rules, limits, signal }: FetchOptions): Promise<TransferredZone> {
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
