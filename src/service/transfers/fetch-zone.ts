import { findPeers, type PeerRules } from './peer.ts'
import { isTransferFailure, type TransferFailure } from './transfer-failure.ts'
import type { OwnedZone } from './transfer-keys.ts'
import { type TransferLimits, type TransferredZone, transferZone } from './transfer-zone.ts'

export interface FetchOptions {
  readonly rules: PeerRules
  readonly limits: TransferLimits
  readonly signal: AbortSignal
}

/**
 * A zone from the name server that an address or a host name stands for, as the account asks for it: its addresses are tried in turn, all
 * within the limit of time for one transfer. Rejects with the `TransferFailure` that says most: that of a server which was there.
 */
export async function fetchZone(nameserver: string, zone: OwnedZone, { rules, limits, signal }: FetchOptions): Promise<TransferredZone> {
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
