import type { Log } from '../observability/log.ts'
import type { Database } from '../store/database.ts'
import type { Timers } from '../timers.ts'
import type { MastersAnswer } from './ask-masters.ts'
import { fetchZone } from './fetch-zone.ts'
import type { PeerRules } from './peer.ts'
import { createSecondaries, type Secondaries } from './secondaries.ts'
import { transferFailure } from './transfer-failure.ts'
import type { OwnedZone } from './transfer-keys.ts'
import { TRANSFER_LIMITS, type TransferLimits, type TransferredZone } from './transfer-zone.ts'

export interface TransfersOptions {
  readonly database: Database
  readonly timers: Timers
  readonly rules: PeerRules
  readonly limits?: Partial<TransferLimits>
  readonly log: Log
  readonly zoneChanged: (domainId: number) => void
  readonly onError: (error: unknown) => void
}

/** All of the service that transfers zones in: imports, and the zones of slaves. */
export interface Transfers extends Secondaries {
  readonly fetchZone: (nameserver: string, zone: OwnedZone) => Promise<TransferredZone>
  readonly addresses: readonly string[]
}

/** Imports at one time: each holds a whole zone in memory. */
const IMPORTS = 8

/** What an import may take, whose request waits for it. */
const IMPORT_LIMITS: Partial<TransferLimits> = { total: 30_000, octets: 16 * 1024 * 1024 }

export function createTransfers(options: TransfersOptions): Transfers {
  const { rules, log } = options
  const limits = { ...TRANSFER_LIMITS, ...options.limits }
  const importLimits = { ...TRANSFER_LIMITS, ...IMPORT_LIMITS, ...options.limits }
  const stopping = new AbortController()
  let imports = 0
  const onRefresh = (zone: string, answer: MastersAnswer): void => logRefresh(log, zone, answer)
  const secondaries = createSecondaries({ ...options, limits, random: Math.random, onRefresh })
  return {
    ...secondaries,
    addresses: rules.localAddresses,
    fetchZone: async (nameserver, zone) => {
      if (imports >= IMPORTS) throw transferFailure('busy', 'Too many imports are under way. Try again later.')
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

function logRefresh(log: Log, zone: string, { newer, answered, behind, problems }: MastersAnswer): void {
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
  } else if (!answered) log.warn({ zone, problems }, 'zone not refreshed')
  else if (!behind) log.debug({ zone, problems }, 'zone is up to date')
  if (answered && behind) log.warn({ zone, problems }, 'zone is older than its masters have told')
}
