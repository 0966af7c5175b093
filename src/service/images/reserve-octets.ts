import { type Quotas, quotaReason } from '../quotas.ts'
import { countImageOctets, lockQuota } from '../store/account-store.ts'
import type { Connection } from '../store/database.ts'
import { setReservation, type UploadClaim } from '../store/upload-store.ts'
import { UploadProblem } from './upload-problem.ts'

/** Octets that data of unknown length reserves ahead of what has arrived. */
export const RESERVED_AHEAD = 64 * 1024 ** 2

interface Reservation {
  readonly claim: UploadClaim
  /** Octets that there must be room for. */
  readonly least: number
  /** Octets to reserve if there is room for them. */
  readonly most: number
  /** Milliseconds of the service's clock. */
  readonly now: number
}

/**
 * Reserves octets of an account's quota for the data of an image, in place of those reserved before; returns how many. The account's row
 * is locked, so that uploads at a time cannot pass the quota together. Rejects with an `UploadProblem` if there is no room, or the claim is
 * lost.
 */
export async function reserveOctets(connection: Connection, quotas: Quotas, { claim, least, most, now }: Reservation): Promise<number> {
  const limit = await lockQuota(connection, claim.account, 'image_octets', quotas)
  const room = limit === null ? most : limit - (await countImageOctets(connection, claim.account, now, claim.image))
  if (limit !== null && least > room) throw new UploadProblem('over-quota', quotaReason('image_octets', limit))
  const octets = Math.min(most, room)
  if (!(await setReservation(connection, claim, octets))) throw new UploadProblem('unknown')
  return octets
}
