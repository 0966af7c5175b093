import { type Quotas, quotaReason } from '../quotas.ts'
import { countImageOctets, lockQuota } from '../store/account-store.ts'
import type { Connection } from '../store/database.ts'
import { setReservation, type UploadClaim } from '../store/upload-store.ts'

/** Why the data of an image is not taken. */
export type UploadRefusal =
  /** No data is awaited with the key: there is no such upload, it is done, or its time is over. */
  | 'unknown'
  | 'busy'
  | 'too-large'
  | 'inflates'
  | 'no-gzip'
  /** The sender has sent nothing for too long. */
  | 'silent'
  | 'too-many'
  /** The account's images would have more data than they may. */
  | 'over-quota'
  /** There is not enough space where the data is kept. */
  | 'no-room'
  | 'unavailable'

/** An upload that is refused; `detail` says more in words, or how many octets there may be. */
export class UploadProblem extends Error {
  override readonly name = 'UploadFault'
  readonly refusal: UploadRefusal
  readonly detail: string | number | null

  constructor(refusal: UploadRefusal, detail: string | number | null = null) {
    super(detail === null ? refusal : `${refusal}: ${detail}`)
    this.refusal = refusal
    this.detail = detail
  }
}

interface Patience {
  /** Ends the wait for the next piece, with its reason. */
  readonly signal: AbortSignal
  /** Milliseconds to wait for each piece. */
  readonly silence: number
}

/** What arrives, piece by piece. Throws what the signal is aborted with, and `silent` where nothing comes for too long. */
export async function* withDeadline(data: AsyncIterable<Buffer>, patience: Patience): AsyncGenerator<Buffer> {
  const pieces = data[Symbol.asyncIterator]()
  while (true) {
    const { done, value } = await within(pieces.next(), patience)
    if (done) return
    yield value
  }
}

/** What a promise comes to. No promise that outlives it is waited for, which would keep every piece that has been read. */
function within<T>(promise: Promise<T>, { signal, silence }: Patience): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    const timer = setTimeout(() => reject(new UploadProblem('silent')), silence)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort)
    void promise.then(resolve, reject).finally(() => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    })
  })
}

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
