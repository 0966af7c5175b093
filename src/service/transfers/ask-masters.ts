import type { DomainName } from '../../model/domain-name.ts'
import { isNewerSerial, serialNumber } from '../../model/serial-number.ts'
import type { ClaimedRefresh } from '../store/secondary-store.ts'
import { type PeerRules, peerAt } from './peer.ts'
import { isTransferFailure, transferFailure } from './transfer-failure.ts'
import { querySerial, type TransferLimits, type TransferredZone, transferZone } from './transfer-zone.ts'

export interface AskOptions {
  readonly rules: PeerRules
  readonly limits: TransferLimits
  readonly signal: AbortSignal
}

/** What the masters of a zone came to say. */
export interface MastersAnswer {
  /** A zone newer than the one held, and who gave it; null where there is none. */
  readonly newer: { readonly master: string; readonly zone: TransferredZone } | null
  /** Whether any of them answered for the zone. */
  readonly answered: boolean
  /** What went wrong, in words. */
  readonly problems: readonly string[]
}

/**
 * Asks the masters in their order, one that has sent a NOTIFY first, until one has a newer zone or the same (RFC 1034 section 4.3.5).
 * One with an older zone is passed over: what is held never goes back, unless by the arithmetic of RFC 1982. All of them together get
 * the time of one transfer, so that a long list of silent ones does not keep other zones waiting. Rejects only when the service stops, or
 * with a bug.
 */
export async function askMasters(claim: ClaimedRefresh, { rules, limits, signal }: AskOptions): Promise<MastersAnswer> {
  const { masters, notifiedBy } = claim
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
    try {
      const answer = await askMaster(master, claim, { rules, limits: { ...limits, total: left }, signal })
      answered = true
      if (answer === 'same') break
      if (answer !== 'older') return { newer: { master, zone: answer }, answered, problems: [...problems, ...foreignNote(master, answer)] }
      problems.push(`transfer from ${master}: its zone is older than the one that was transferred last`)
    } catch (error) {
      if (!isTransferFailure(error) || error.reason === 'stopped') throw error
      problems.push(`transfer from ${master}: ${error.message}`)
    }
  }
  return { newer: null, answered, problems }
}

async function askMaster(
  master: string,
  { domain, serial }: ClaimedRefresh,
  { rules, limits, signal }: AskOptions,
): Promise<TransferredZone | 'same' | 'older'> {
  const peer = peerAt(master, rules)
  const zone = `${domain}.` as DomainName
  const held = serial === null ? null : serialNumber(serial)
  if (held !== null) {
    const offered = await querySerial(peer, zone, limits, signal)
    if (offered === held) return 'same'
    if (!isNewerSerial(offered, held)) return 'older'
  }
  const transferred = await transferZone(peer, zone, limits, signal)
  // RFC 1034 section 4.2.1: a zone that nobody can be referred to is more likely half a zone.
  if (!transferred.records.some(({ name, type }) => type === 'NS' && name === zone)) {
    throw transferFailure('malformed', 'sent a zone with no NS record at its apex')
  }
  return held === null || isNewerSerial(transferred.soa.serial, held) ? transferred : 'older'
}

const foreignNote = (master: string, { foreign }: TransferredZone): string[] =>
  foreign === 0 ? [] : [`transfer from ${master}: ${foreign} records outside the zone left out`]
