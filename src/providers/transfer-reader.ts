/**
 * Reads zones by transfer. The first read of a zone in a run is by AXFR; the next ones ask for the changes since (IXFR), so that a read back does not transfer a
 * large zone again.
 */
import pLimit from 'p-limit'
import { type DomainName, isAtOrBelow } from '../dns/domain-name.ts'
import { type ResourceRecord, recordKey } from '../dns/record.ts'
import { isSignerRecord, type RrsetName } from '../dns/signer-records.ts'
import { isDnsFailure } from '../transport/dns-exchange.ts'
import { type TransferOptions, type TransferredRecord, transferChanges, transferZone } from '../transport/dns-transfer.ts'
import { assertMaySend, failureOf, isServerOwned, type NameServer } from './name-server.ts'
import type { ProviderCallOptions } from './provider.ts'

/** Records of all zones together that are kept for the next read. */
const MAX_KEPT_RECORDS = 500_000

/** A zone as a transfer shows it. */
export interface TransferredZone {
  readonly soa: ResourceRecord
  /** The records that the server does not maintain itself. */
  readonly records: readonly ResourceRecord[]
  /** The records of the zone's signer. */
  readonly signerRecords: readonly RrsetName[]
}

export interface TransferReader {
  /** Reads a zone. Throws a `ProviderError`. */
  read(zone: DomainName, call?: ProviderCallOptions): Promise<TransferredZone>
  /** Says that a zone is about to be changed. Servers exist whose serial then stays, so the next read believes no answer that the zone is unchanged. */
  noteChange(zone: DomainName): void
}

export function createTransferReader(options: NameServer): TransferReader {
  const { server, key, timeout, provider } = options
  const transfer: TransferOptions = { timeout, key: key ?? undefined }
  const kept = new Map<DomainName, readonly TransferredRecord[]>()
  /** Zones that may have been changed since they were read. */
  const changed = new Set<DomainName>()

  const keep = (zone: DomainName, records: readonly TransferredRecord[]): void => {
    kept.delete(zone)
    // Differences name a record once, so they do not fit a zone that has one twice.
    if (new Set(records.map(recordKey)).size < records.length) return
    kept.set(zone, records)
    let total = [...kept.values()].reduce((sum, { length }) => sum + length, 0)
    for (const [oldest, dropped] of kept) {
      if (total <= MAX_KEPT_RECORDS) return
      kept.delete(oldest)
      total -= dropped.length
    }
  }

  /** The zone by IXFR; null if AXFR has to be used, whatever the reason: it then fails for the same one, or helps. */
  const readChanges = async (
    zone: DomainName,
    known: readonly TransferredRecord[],
    mustBeNewer: boolean,
  ): Promise<readonly TransferredRecord[] | null> => {
    try {
      options.onRequest?.(provider, false)
      const records = await transferChanges(server, zone, known, transfer)
      return records === known && mustBeNewer ? null : records
    } catch (error) {
      if (isDnsFailure(error)) return null
      throw error
    }
  }

  const read: TransferReader['read'] = async (zone, call) => {
    assertMaySend(provider, call)
    const known = kept.get(zone)
    const mustBeNewer = changed.delete(zone)
    const newer = known && (await readChanges(zone, known, mustBeNewer))
    if (known) assertMaySend(provider, call)
    try {
      if (!newer) options.onRequest?.(provider, false)
      const records = newer ?? (await transferZone(server, zone, transfer))
      keep(zone, records)
      return visibleZone(zone, records)
    } catch (error) {
      kept.delete(zone)
      if (!isDnsFailure(error)) throw error
      const hint =
        error.reason === 'rejected'
          ? 'allow the transfer to this host or key: "allow-transfer" in BIND, an "acl" with "transfer" in Knot, "provide-xfr" in NSD'
          : undefined
      throw failureOf(provider, `reading ${zone}`, error, { hint })
    }
  }

  // Servers have a quota of transfers: BIND refuses the eleventh at a time.
  const limit = pLimit(options.parallelism)
  return { read: (zone, call) => limit(() => read(zone, call)), noteChange: (zone) => void changed.add(zone) }
}

function visibleZone(zone: DomainName, [soa, ...others]: readonly TransferredRecord[]): TransferredZone {
  const inZone = others.filter(({ name }) => isAtOrBelow(name, zone))
  const records = inZone.filter((record) => !isServerOwned(record, zone)).map(({ name, type, ttl, data }) => ({ name, type, ttl, data }))
  const signerRecords = inZone.filter((record) => isSignerRecord(record, zone)).map(({ name, type }) => ({ name, type }))
  return { soa: soa as ResourceRecord, records, signerRecords }
}
