import type { DomainName } from '../../dns/domain-name.ts'
import { isNewerSerial, type SerialNumber, serialNumber } from '../../dns/serial-number.ts'
import type { ClaimedRefresh } from '../store/secondary-store.ts'
import { type CurrentZone, transferNewer } from './incremental-zone.ts'
import { type Peer, type PeerRules, peerAt } from './peer.ts'
import { isTransferFailure } from './transfer-failure.ts'
import { querySerial, requireApexNs, type TransferLimits, type TransferredZone, transferZone } from './transfer-zone.ts'

export interface RefreshOptions {
  readonly rules: PeerRules
  readonly limits: TransferLimits
  readonly signal: AbortSignal
  /** Reads the stored zone; null if it no longer has the serial of the claim. */
  readonly readCurrent: (claim: ClaimedRefresh) => Promise<CurrentZone | null>
}

/** The result of asking all masters of a zone. */
export interface RefreshResult {
  /** A newer zone and the master that sent it; null if there is none. */
  readonly newer: { readonly master: string; readonly zone: TransferredZone } | null
  /** Whether any master answered for the zone. */
  readonly answered: boolean
  /** Whether a master announced a serial, by its SOA or by NOTIFY, that is newer than the zone we have now. */
  readonly behind: boolean
  /** Error messages. */
  readonly problems: readonly string[]
}

/**
 * Asks the masters in order, one that sent a NOTIFY first, until one has a newer zone or the same (RFC 1034 section 4.3.5). Skips a master
 * with an older zone: a serial never goes back, except by the arithmetic of RFC 1982. Also skips a master that sends an older zone than it
 * announced, which happens while a server reloads or if several servers share an address. All masters share the time limit of one transfer, so
 * that a long list of unresponsive ones does not delay other zones. Rejects only when the service stops, or with a bug.
 */
export async function refreshFromMasters(
  claim: ClaimedRefresh,
  { rules, limits, signal, readCurrent }: RefreshOptions,
): Promise<RefreshResult> {
  const { masters, notifiedBy } = claim
  const current = serialOrNull(claim.serial)
  let announced = serialOrNull(claim.notifiedSerial)
  const isBehind = (serial: SerialNumber | null): boolean => announced !== null && serial !== null && isNewerSerial(announced, serial)
  const first = masters.filter((master) => master === notifiedBy)
  const problems: string[] = []
  let answered = false
  const deadline = performance.now() + limits.total
  for (const master of new Set([...first, ...masters])) {
    const left = Math.ceil(deadline - performance.now())
    if (left <= 0) {
      problems.push(`no time was left to ask ${master} and the masters after it`)
      break
    }
    const report = (problem: string | null): void => {
      if (problem !== null) problems.push(`transfer from ${master}: ${problem}`)
    }
    try {
      const options = { limits: { ...limits, total: left }, signal, readCurrent }
      const peer = peerAt(master, { name: zoneOf(claim), accountId: claim.accountId }, rules)
      const offered = await querySerial(peer, zoneOf(claim), options.limits, signal)
      if (announced === null || isNewerSerial(offered, announced)) announced = offered
      if (current === null || isNewerSerial(offered, current)) {
        const zone = await askZone(peer, claim, options)
        answered = true
        report(transferProblem(zone, offered, current))
        if (current !== null && !isNewerSerial(zone.soa.serial, current)) continue
        if (zone.outOfZone > 0) report(`skipped ${zone.outOfZone} records outside the zone`)
        return { newer: { master, zone }, answered, behind: isBehind(zone.soa.serial), problems }
      }
      answered = true
      if (offered !== current) report(OLDER)
      else if (!isBehind(current)) break
      else if (master === notifiedBy) report(`it announced serial ${announced} by NOTIFY, but still answers ${current}. ${RETRIED}`)
    } catch (error) {
      if (!isTransferFailure(error) || error.reason === 'stopped') throw error
      report(error.message)
    }
  }
  return { newer: null, answered, behind: isBehind(current), problems }
}

const OLDER = 'its zone is older than the last one transferred'
const RETRIED = 'It will be asked again.'

const serialOrNull = (serial: number | null): SerialNumber | null => (serial === null ? null : serialNumber(serial))

const zoneOf = ({ domain }: ClaimedRefresh) => `${domain}.` as DomainName

async function askZone(
  peer: Peer,
  claim: ClaimedRefresh,
  { limits, signal, readCurrent }: Omit<RefreshOptions, 'rules'>,
): Promise<TransferredZone> {
  const name = zoneOf(claim)
  const current = claim.serial === null ? null : await readCurrent(claim)
  const zone = await (current === null ? transferZone(peer, name, limits, signal) : transferNewer(peer, name, current, limits, signal))
  requireApexNs(name, zone.records)
  return zone
}

function transferProblem({ soa }: TransferredZone, offered: SerialNumber, current: SerialNumber | null): string | null {
  if (isNewerSerial(offered, soa.serial)) return `it announced serial ${offered}, but sent an older zone with ${soa.serial}. ${RETRIED}`
  return current === null || isNewerSerial(soa.serial, current) ? null : OLDER
}
