import type { DomainName } from '../../dns/domain-name.ts'
import { isNewerSerial, type SerialNumber, serialNumber } from '../../dns/serial-number.ts'
import type { ClaimedRefresh } from '../store/secondary-store.ts'
import { type CurrentZone, transferNewer } from './incremental-zone.ts'
import { type Peer, type PeerRules, peerAt } from './peer.ts'
import { isTransferFailure } from './transfer-failure.ts'
import { querySerial, requireNameServer, type TransferLimits, type TransferredZone, transferZone } from './transfer-zone.ts'

export interface AskMastersOptions {
  readonly rules: PeerRules
  readonly limits: TransferLimits
  readonly signal: AbortSignal
  /** The zone as it is held, if it is still the version of this serial. */
  readonly readCurrent: (claim: ClaimedRefresh) => Promise<CurrentZone | null>
}

/** What the masters of a zone came to say. */
export interface MastersAnswer {
  /** A zone newer than the one held, and who gave it; null where there is none. */
  readonly newer: { readonly master: string; readonly zone: TransferredZone } | null
  /** Whether any of them answered for the zone. */
  readonly answered: boolean
  /** Whether one has told, by its SOA or by NOTIFY, of a zone newer than what is held now. */
  readonly behind: boolean
  /** What went wrong, in words. */
  readonly problems: readonly string[]
}

/**
 * Asks the masters in their order, one that has sent a NOTIFY first, until one has a newer zone or the same (RFC 1034 section 4.3.5).
 * One with an older zone is passed over: what is held never goes back, unless by the arithmetic of RFC 1982. So is one that sends an
 * older zone than it has told of, as a server does that is being reloaded or is several behind one address. All of them together get
 * the time of one transfer, so that a long list of silent ones does not keep other zones waiting. Rejects only when the service stops,
 * or with a bug.
 */
export async function askMasters(claim: ClaimedRefresh, { rules, limits, signal, readCurrent }: AskMastersOptions): Promise<MastersAnswer> {
  const { masters, notifiedBy } = claim
  const held = serialOrNull(claim.serial)
  let told = serialOrNull(claim.notifiedSerial)
  const isBehind = (serial: SerialNumber | null): boolean => told !== null && serial !== null && isNewerSerial(told, serial)
  const first = masters.filter((master) => master === notifiedBy)
  const problems: string[] = []
  let answered = false
  const deadline = performance.now() + limits.total
  for (const master of new Set([...first, ...masters])) {
    const left = Math.ceil(deadline - performance.now())
    if (left <= 0) {
      problems.push(`no time was left to ask ${master} and those after it`)
      break
    }
    const report = (problem: string | null): void => {
      if (problem !== null) problems.push(`transfer from ${master}: ${problem}`)
    }
    try {
      const options = { limits: { ...limits, total: left }, signal, readCurrent }
      const peer = peerAt(master, { name: zoneOf(claim), accountId: claim.accountId }, rules)
      const offered = await querySerial(peer, zoneOf(claim), options.limits, signal)
      if (told === null || isNewerSerial(offered, told)) told = offered
      if (held === null || isNewerSerial(offered, held)) {
        const zone = await askZone(peer, claim, options)
        answered = true
        report(transferProblem(zone, offered, held))
        if (held !== null && !isNewerSerial(zone.soa.serial, held)) continue
        if (zone.outOfZone > 0) report(`${zone.outOfZone} records outside the zone left out`)
        return { newer: { master, zone }, answered, behind: isBehind(zone.soa.serial), problems }
      }
      answered = true
      if (offered !== held) report(OLDER)
      else if (!isBehind(held)) break
      else if (master === notifiedBy) report(`it told of serial ${told} by NOTIFY, but still answers ${held}. ${AGAIN}`)
    } catch (error) {
      if (!isTransferFailure(error) || error.reason === 'stopped') throw error
      report(error.message)
    }
  }
  return { newer: null, answered, behind: isBehind(held), problems }
}

const OLDER = 'its zone is older than the one that was transferred last'
const AGAIN = 'It is asked again.'

const serialOrNull = (serial: number | null): SerialNumber | null => (serial === null ? null : serialNumber(serial))

const zoneOf = ({ domain }: ClaimedRefresh) => `${domain}.` as DomainName

async function askZone(
  peer: Peer,
  claim: ClaimedRefresh,
  { limits, signal, readCurrent }: Omit<AskMastersOptions, 'rules'>,
): Promise<TransferredZone> {
  const name = zoneOf(claim)
  const held = claim.serial === null ? null : await readCurrent(claim)
  const zone = await (held === null ? transferZone(peer, name, limits, signal) : transferNewer(peer, name, held, limits, signal))
  requireNameServer(name, zone.records)
  return zone
}

function transferProblem({ soa }: TransferredZone, offered: SerialNumber, held: SerialNumber | null): string | null {
  if (isNewerSerial(offered, soa.serial)) return `it offered serial ${offered}, but sent the older zone with ${soa.serial}. ${AGAIN}`
  return held === null || isNewerSerial(soa.serial, held) ? null : OLDER
}
