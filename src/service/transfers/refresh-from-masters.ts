/**
 * Refreshes the zone of a slave from its masters. "Master" is the word of the API for a primary server (RFC 9499).
 *
 * Incremental zone transfer (IXFR, RFC 1995) over TCP: requests the changes of a zone and applies them to the stored version.
 */
import { randomInt } from 'node:crypto'
import type { DomainName } from '../../dns/domain-name.ts'
import { isNewerSerial, type SerialNumber, serialNumber } from '../../dns/serial-number.ts'
import type { DecodeOptions } from '../../dns/wire/decode-message.ts'
import { CLASS } from '../../dns/wire/message.ts'
import { applyDifferences, createIxfrQuery, createIxfrReader, type IxfrAnswer } from '../../dns/wire/transfer.ts'
import type { ServedRecord } from '../nameserver/zone-data.ts'
import type { ClaimedRefresh } from '../store/secondary-store.ts'
import { isTransferFailure, type Peer, type PeerRules, peerAt, transferFailure } from './peer.ts'
import {
  checkRecordCount,
  malformed,
  querySerial,
  readZone,
  receive,
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
  await receive(peer, createIxfrQuery(id, zone, { ...soa, class: CLASS.IN }), transfer.accept, limits, signal, KEEPS_CASE)
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

export interface RefreshOptions {
  readonly rules: PeerRules
  readonly limits: TransferLimits
  readonly signal: AbortSignal
  /** Reads the stored zone; null if it no longer has the serial of the claim. */
  readonly readCurrent: (claim: ClaimedRefresh) => Promise<CurrentZone | null>
}

/** The result of a refresh. */
export interface RefreshResult {
  /** A newer zone and the master that sent it; null if there is none. */
  readonly newer: { readonly master: string; readonly zone: TransferredZone } | null
  /** Whether any master served the zone: its serial is not newer than ours, or it sent the zone. */
  readonly served: boolean
  /** Whether a master announced, in its SOA or a NOTIFY, a newer serial than the zone has after this refresh. */
  readonly behind: boolean
  /** Error messages. */
  readonly problems: readonly string[]
}

/**
 * Queries the masters in order until one has the same zone or a newer one, and transfers the newer one (RFC 1034 section 4.3.5). The master that
 * sent the last NOTIFY comes first. A master is skipped if its zone is older, because a serial never goes back except by the arithmetic of RFC 1982;
 * also if it sends an older zone than it announced, which happens while a server reloads or if several servers share an address. All masters share
 * the time limit of one transfer, so that a long list of unresponsive ones does not delay other zones. Rejects only when the service stops, or with a
 * bug.
 */
export async function refreshFromMasters(
  claim: ClaimedRefresh,
  { rules, limits, signal, readCurrent }: RefreshOptions,
): Promise<RefreshResult> {
  const { masters, notifiedBy, accountId } = claim
  const name = zoneNameOf(claim)
  const current = serialOrNull(claim.serial)
  const problems: string[] = []
  const deadline = performance.now() + limits.total
  /** The newest serial that a master announced. */
  let announced = serialOrNull(claim.notifiedSerial)
  let served = false

  const isBehind = (serial: SerialNumber | null): boolean => announced !== null && serial !== null && isNewerSerial(announced, serial)
  const isNewer = (serial: SerialNumber): boolean => current === null || isNewerSerial(serial, current)

  /** Returns the newer zone of a master; `up-to-date` if there is none; null if another master may have one. */
  const refreshFrom = async (master: string, remaining: number): Promise<TransferredZone | 'up-to-date' | null> => {
    const report = (problem: string): void => void problems.push(`transfer from ${master}: ${problem}`)
    const peer = peerAt(master, { name, accountId }, rules)
    const masterLimits = { ...limits, total: remaining }
    const offered = await querySerial(peer, name, masterLimits, signal)
    if (announced === null || isNewerSerial(offered, announced)) announced = offered
    if (!isNewer(offered)) {
      served = true
      if (offered !== current) report(olderThan(current, offered))
      else if (!isBehind(current)) return 'up-to-date'
      else if (master === notifiedBy) report(`it announced serial ${announced} by NOTIFY, but its SOA still has ${current}; ${RETRIED}`)
      return null
    }
    const zone = await fetchZone(peer, claim, { limits: masterLimits, signal, readCurrent })
    served = true
    const { serial } = zone.soa
    if (isNewerSerial(offered, serial)) report(`it announced serial ${offered}, but sent an older zone with ${serial}; ${RETRIED}`)
    else if (!isNewer(serial)) report(olderThan(current, serial))
    if (!isNewer(serial)) return null
    if (zone.outOfZone > 0) report(`skipped ${zone.outOfZone} records outside the zone`)
    return zone
  }

  for (const master of new Set([...masters.filter((address) => address === notifiedBy), ...masters])) {
    const remaining = Math.ceil(deadline - performance.now())
    if (remaining <= 0) {
      problems.push(`the time limit of ${limits.total / 1000} s ended before ${master} and the masters after it were queried`)
      break
    }
    try {
      const zone = await refreshFrom(master, remaining)
      if (zone === 'up-to-date') break
      if (zone !== null) return { newer: { master, zone }, served, behind: isBehind(zone.soa.serial), problems }
    } catch (error) {
      if (!isTransferFailure(error) || error.reason === 'stopped') throw error
      problems.push(`transfer from ${master}: ${error.message}`)
    }
  }
  return { newer: null, served, behind: isBehind(current), problems }
}

const RETRIED = 'the service will retry'

const olderThan = (current: SerialNumber | null, serial: SerialNumber): string =>
  `its serial ${serial} is older than ${current}, the last one transferred`

const serialOrNull = (serial: number | null): SerialNumber | null => (serial === null ? null : serialNumber(serial))

const zoneNameOf = ({ domain }: ClaimedRefresh) => `${domain}.` as DomainName

/** Transfers the zone: the changes of the stored version if there is one, otherwise the full zone. */
async function fetchZone(
  peer: Peer,
  claim: ClaimedRefresh,
  { limits, signal, readCurrent }: Omit<RefreshOptions, 'rules'>,
): Promise<TransferredZone> {
  const name = zoneNameOf(claim)
  const current = claim.serial === null ? null : await readCurrent(claim)
  const zone = await (current === null
    ? transferZone(peer, name, limits, signal, KEEPS_CASE)
    : transferNewer(peer, name, current, limits, signal))
  requireApexNs(name, zone.records)
  return zone
}
