/**
 * Why a DNS server gave no usable answer. `timeout`: nothing came in time; `unreachable`: the system says that nobody is there, or
 * the connection broke; `garbled`: what came breaks the message format or the protocol; `rejected`: a zone transfer was answered with
 * an error; `closed`: the client was closed meanwhile.
 */
export type DnsFailureReason = 'timeout' | 'unreachable' | 'garbled' | 'rejected' | 'closed'

export interface DnsFailure extends Error {
  readonly code: 'DNS_FAILURE'
  readonly reason: DnsFailureReason
  /** The same question may get an answer later. */
  readonly retryable: boolean
}

export function dnsFailure(reason: DnsFailureReason, message: string, cause?: unknown): DnsFailure {
  const retryable = reason === 'timeout' || reason === 'unreachable'
  return Object.assign(new Error(message, { cause }), { code: 'DNS_FAILURE' as const, reason, retryable })
}

export const isDnsFailure = (error: unknown): error is DnsFailure => (error as Partial<DnsFailure> | null)?.code === 'DNS_FAILURE'
