/** The limits of an upload: time, quota, and the reasons for which data is refused. */
import { type Quotas, quotaReason } from '../quotas.ts'
import { countImageOctets, lockQuota } from '../store/account-store.ts'
import type { Connection } from '../store/database.ts'
import { setReservation, type UploadClaim } from '../store/upload-store.ts'

/** Why image data is refused. */
export type UploadRefusal =
  /** There is no such upload, or it is complete or expired. */
  | 'unknown'
  | 'busy'
  | 'too-large'
  | 'inflates'
  | 'no-gzip'
  /** The sender has paused for too long. */
  | 'silent'
  | 'too-many'
  /** The account's image data would exceed its quota. */
  | 'over-quota'
  /** The file system has too little free space. */
  | 'no-room'
  | 'unavailable'

/** An upload is refused; `detail` explains it in words, or is the allowed number of octets. */
export class UploadProblem extends Error {
  override readonly name = 'UploadProblem'
  readonly refusal: UploadRefusal
  readonly detail: string | number | null

  constructor(refusal: UploadRefusal, detail: string | number | null = null) {
    super(detail === null ? refusal : `${refusal}: ${detail}`)
    this.refusal = refusal
    this.detail = detail
  }
}

interface Deadline {
  /** Ends the upload with its reason. */
  readonly signal: AbortSignal
  /** Milliseconds to wait for each chunk. */
  readonly silence: number
}

/** Passes on the arriving chunks. Throws the reason of the signal, or `silent` if no chunk arrives in time. */
export async function* withDeadline(data: AsyncIterable<Buffer>, deadline: Deadline): AsyncGenerator<Buffer> {
  const chunks = data[Symbol.asyncIterator]()
  while (true) {
    const { done, value } = await within(chunks.next(), deadline)
    if (done) return
    yield value
  }
}

/** Awaits a promise with a deadline. It does not use `Promise.race` with a long-lived promise, which would keep every chunk in memory. */
function within<T>(promise: Promise<T>, { signal, silence }: Deadline): Promise<T> {
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

/** Octets reserved ahead of the received ones if the length is unknown. */
export const RESERVED_AHEAD = 64 * 1024 ** 2

interface Reservation {
  readonly claim: UploadClaim
  /** Octets that must fit in the quota. */
  readonly required: number
  /** Octets to reserve if they fit. */
  readonly desired: number
  /** Milliseconds of the service's clock. */
  readonly now: number
}

/**
 * Reserves octets of an account's quota for an image, replacing the earlier reservation; returns how many. It locks the account's row, so that
 * concurrent uploads cannot exceed the quota together. Rejects with an `UploadProblem` if they do not fit or the claim has expired.
 */
export async function reserveOctets(
  connection: Connection,
  quotas: Quotas,
  { claim, required, desired, now }: Reservation,
): Promise<number> {
  const limit = await lockQuota(connection, claim.account, 'image_octets', quotas)
  const free = limit === null ? desired : limit - (await countImageOctets(connection, claim.account, now, claim.image))
  if (limit !== null && required > free) throw new UploadProblem('over-quota', quotaReason('image_octets', limit))
  const octets = Math.min(desired, free)
  if (!(await setReservation(connection, claim, octets))) throw new UploadProblem('unknown')
  return octets
}
