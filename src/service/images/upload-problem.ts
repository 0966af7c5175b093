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
