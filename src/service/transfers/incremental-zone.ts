/** Incremental zone transfer (IXFR, RFC 1995) over TCP: requests the changes of a zone and applies them to the stored version. */
import { randomInt } from 'node:crypto'
import { type DomainName, isAtOrBelow } from '../../dns/domain-name.ts'
import { failure, ok, type Result } from '../../dns/result.ts'
import type { Ttl } from '../../dns/ttl.ts'
import { encodeMessage } from '../../dns/wire/encode-message.ts'
import { CLASS, type WireRecord } from '../../dns/wire/message.ts'
import { createIxfrQuery, createIxfrReader, type Difference, type IxfrAnswer } from '../../dns/wire/transfer.ts'
import type { ServedRecord } from '../nameserver/zone-data.ts'
import { exchange } from './exchange.ts'
import type { Peer } from './peer.ts'
import { isTransferFailure, transferFailure } from './transfer-failure.ts'
import {
  checkRecordCount,
  createRecordCheck,
  malformed,
  readMessage,
  readZone,
  requireApexNs,
  soaFields,
  type TransferLimits,
  type TransferredZone,
  transferZone,
} from './transfer-zone.ts'

/** The records of a stored zone, SOA first. */
export type CurrentZone = readonly [ServedRecord, ...ServedRecord[]]

/** Transfers the newer version of a stored zone by IXFR, or by AXFR if IXFR is refused or its answer cannot be applied. Rejects with a `TransferFailure`. */
export async function transferNewer(
  peer: Peer,
  zone: DomainName,
  current: CurrentZone,
  limits: TransferLimits,
  signal: AbortSignal,
): Promise<TransferredZone> {
  const deadline = performance.now() + limits.total
  try {
    const newer = await transferChanges(peer, zone, current, limits, signal)
    if (newer !== null) return newer
  } catch (error) {
    if (!isTransferFailure(error) || AXFR_CANNOT_HELP.has(error.reason)) throw error
  }
  const left = Math.ceil(deadline - performance.now())
  if (left <= 0) throw transferFailure('timeout', `did not complete its response within ${limits.total / 1000} s`)
  return transferZone(peer, zone, { ...limits, total: left }, signal)
}

/** Failures that AXFR would run into as well. */
const AXFR_CANNOT_HELP: ReadonlySet<string> = new Set(['stopped', 'unverified', 'forbidden'])

/** The zone by IXFR; null if the master has no newer version. */
async function transferChanges(
  peer: Peer,
  zone: DomainName,
  current: CurrentZone,
  limits: TransferLimits,
  signal: AbortSignal,
): Promise<TransferredZone | null> {
  const id = randomInt(0x10000)
  const [soa] = current
  const transfer = createIxfrReader(zone, id, soaFields(soa.data).serial)
  const check = createRecordCheck(limits)
  const query = encodeMessage(createIxfrQuery(id, zone, { ...soa, class: CLASS.IN }))
  await exchange(peer, query, limits, signal, (octets) => {
    const message = readMessage(octets, zone, id, 'IXFR')
    check(message.answers)
    const progress = transfer.accept(message)
    if (!progress.ok) throw malformed(progress.message)
    return progress.value === 'more'
  })
  return zoneOf(zone, current, transfer.answer(), limits)
}

function zoneOf(zone: DomainName, current: CurrentZone, answer: IxfrAnswer, limits: TransferLimits): TransferredZone | null {
  if (answer.kind === 'current') return null
  if (answer.kind === 'whole') return readZone(zone, answer.records)
  const changed = applyDifferences(zone, current, answer.soa, answer.differences)
  if (!changed.ok) throw malformed(changed.message)
  const { records, outOfZone } = changed.value
  checkRecordCount(records.length, limits)
  requireApexNs(zone, records)
  return { soa: soaFields(records[0].data), records, outOfZone, differences: answer.differences.length }
}

/**
 * Applies the differences to a zone in order and sets the new SOA. Records outside the zone are skipped and counted, as in a full transfer.
 * Fails if a removed record is missing or an added one exists: then the master's version of the zone is a different one.
 */
export function applyDifferences(
  zone: DomainName,
  current: CurrentZone,
  soa: WireRecord,
  differences: readonly Difference[],
): Result<{ readonly records: CurrentZone; readonly outOfZone: number }> {
  const [currentSoa, ...others] = current
  const records = new Map(others.map((record) => [keyOf(record), record]))
  let outOfZone = 0
  for (const { removed, added } of differences) {
    for (const record of removed) {
      if (!isAtOrBelow(record.name, zone)) continue
      if (!records.delete(keyOf(record))) return failure(`it removes ${record.name} ${record.type}, which is not in the zone`)
    }
    for (const record of added) {
      if (!isAtOrBelow(record.name, zone)) {
        outOfZone += 1
        continue
      }
      const key = keyOf(record)
      if (records.has(key)) return failure(`it adds ${record.name} ${record.type}, which is already in the zone`)
      records.set(key, servedRecord(record))
    }
  }
  return ok({ records: [servedRecord({ ...soa, name: currentSoa.name }), ...records.values()], outOfZone })
}

const keyOf = ({ name, type, data }: Pick<WireRecord, 'name' | 'type' | 'data'>): string => `${name} ${type} ${data}`

const servedRecord = ({ name, type, ttl, data }: WireRecord): ServedRecord => ({ name, type, ttl: ttl as Ttl, data: data ?? '' })
