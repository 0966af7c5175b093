/**
 * Why a zone could not be had from another name server. `forbidden`: its address is one the service does not connect to, or that no key of
 * the zone is for; `unverified`: its answer is not signed with the zone's key, or the server does not take the signature; `unresolved`:
 * its name has no address; `unreachable`: nobody is there, or the connection broke; `timeout`: too slow, at whatever stage;
 * `refused`: it does not let the service have the zone; `not-authoritative`: it does not answer for the zone, or knows that its copy is
 * no longer good; `malformed`: what it sent is no answer or no zone; `too-large`: the zone has more than the service takes; `stopped`:
 * the service ends; `busy`: it has enough to do.
 */
export type TransferFailureReason =
  | 'forbidden'
  | 'unverified'
  | 'unresolved'
  | 'unreachable'
  | 'timeout'
  | 'refused'
  | 'not-authoritative'
  | 'malformed'
  | 'too-large'
  | 'stopped'
  | 'busy'

export interface TransferFailure extends Error {
  readonly code: 'TRANSFER_FAILURE'
  readonly reason: TransferFailureReason
}

/** The message goes on after the name of the server: `does not answer`. */
export const transferFailure = (reason: TransferFailureReason, message: string, cause?: unknown): TransferFailure =>
  Object.assign(new Error(message, { cause }), { code: 'TRANSFER_FAILURE' as const, reason })

export const isTransferFailure = (error: unknown): error is TransferFailure =>
  (error as Partial<TransferFailure> | null)?.code === 'TRANSFER_FAILURE'
