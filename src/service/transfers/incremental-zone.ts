/** Incremental zone transfer (IXFR, RFC 1995) over TCP: requests the changes of a zone and applies them to the stored version. */
import { randomInt } from 'node:crypto'
import type { DomainName } from '../../dns/domain-name.ts'
import type { DecodeOptions } from '../../dns/wire/decode-message.ts'
import { encodeMessage } from '../../dns/wire/encode-message.ts'
import { CLASS } from '../../dns/wire/message.ts'
import { applyDifferences, createIxfrQuery, createIxfrReader, type IxfrAnswer } from '../../dns/wire/transfer.ts'
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
  servedRecord,
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
  return transferZone(peer, zone, { ...limits, total: left }, signal, KEEPS_CASE)
}

/** A slave is transferred on with the letters of its master. */
export const KEEPS_CASE: DecodeOptions = { keepsCase: true }

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
    const message = readMessage(octets, zone, id, 'IXFR', KEEPS_CASE)
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
  const [soa, ...others] = current
  const changed = applyDifferences(zone, others, answer.differences, servedRecord)
  if (!changed.ok) throw malformed(changed.message)
  const { outOfZone } = changed.value
  const records: CurrentZone = [servedRecord({ ...answer.soa, name: soa.name }), ...changed.value.records]
  checkRecordCount(records.length, limits)
  requireApexNs(zone, records)
  return { soa: soaFields(records[0].data), records, outOfZone, differences: answer.differences.length }
}
