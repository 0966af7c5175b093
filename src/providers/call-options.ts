/** What the run says with each call of a provider. */
import type { SerialNumber } from '../dns/serial-number.ts'

export interface ProviderCallOptions {
  /** Aborts requests immediately. */
  readonly signal?: AbortSignal | undefined
  /** Lets sent requests finish and sends no other: no retry, no further page. */
  readonly stop?: AbortSignal | undefined
  /**
   * Asked before each request that changes something, repetitions included, with the milliseconds that the request may take. Returns why it must not be sent;
   * null if it may. It may wait.
   */
  readonly mayWrite?: ((timeLimit: number) => Promise<string | null>) | undefined
  /** The serial that a zone of this name had last: a new one gets a newer serial. Absent if it is unknown. */
  readonly lastSerial?: SerialNumber | undefined
}

/** `lowestTtl`: the lowest TTL in seconds that a record is to have, infinite if none has one; absent if it is unknown. Limits that permit it need no look-up. */
export type NamedReadOptions = ProviderCallOptions & { readonly lowestTtl?: number | undefined }
