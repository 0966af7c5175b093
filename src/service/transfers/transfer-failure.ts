/**
 * Why a zone transfer from another name server failed:
 *
 * - `forbidden`: the service does not connect to its address, or no key of the zone is for it
 * - `unverified`: the response is not signed with the zone's key, or the server rejected our signature
 * - `unresolved`: the host name has no address
 * - `unreachable`: no connection, or the connection broke
 * - `timeout`: too slow at any stage
 * - `refused`: the server does not allow the transfer
 * - `not-authoritative`: the server does not answer for the zone, or its copy has expired
 * - `malformed`: the response is not a valid answer or zone
 * - `too-large`: the zone exceeds the service's limits
 * - `stopped`: the service is stopping
 * - `busy`: too many transfers are running
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

/** The message is a predicate for the server's name, such as `does not answer`. */
export const transferFailure = (reason: TransferFailureReason, message: string, cause?: unknown): TransferFailure =>
  Object.assign(new Error(message, { cause }), { code: 'TRANSFER_FAILURE' as const, reason })

export const isTransferFailure = (error: unknown): error is TransferFailure =>
  (error as Partial<TransferFailure> | null)?.code === 'TRANSFER_FAILURE'
