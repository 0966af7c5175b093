import type { Diagnostic } from '../dns/diagnostic.ts'
import type { DomainName } from '../dns/domain-name.ts'
import type { RenderedState } from './plan.ts'

/** One record set of which a name server says something else than the definition. Data are in presentation form, sorted. */
export interface AnswerDifference {
  readonly name: DomainName
  readonly type: string
  readonly expected: readonly string[]
  readonly answered: readonly string[]
  /** What is wrong besides the data, in words: an error code, an answer without authority; absent where the data tell it. */
  readonly note?: string | undefined
}

/** What one name server answered for one zone. */
export interface NameServerVerification {
  /** `address:port`. */
  readonly server: string
  /** Record sets asked for, and how many answers were as expected. */
  readonly asked: number
  readonly agreed: number
  readonly differences: readonly AnswerDifference[]
  /** Delegations that the server does not show since it holds the zone below them too, and answers from that. */
  readonly covered: readonly DomainName[]
  /** Why the server could not be asked; null where it could. */
  readonly failure: string | null
}

/** A zone's definition held against what is live. */
export interface ZoneVerification {
  readonly zone: DomainName
  readonly target: string
  /** Changes a plan would make. */
  readonly pending: number
  readonly rendered: RenderedState
  /** Records that only one of listing and rendered file has, in words; at most ten. */
  readonly renderedDifferences: readonly string[]
  readonly nameServers: readonly NameServerVerification[]
  /** Record sets that are not asked for since no server answers with them: at or below a delegation. */
  readonly hidden: readonly { readonly name: DomainName; readonly type: string }[]
  readonly diagnostics: readonly Diagnostic[]
}

export const isVerified = (zone: ZoneVerification): boolean =>
  zone.pending === 0 &&
  zone.rendered !== 'differs' &&
  zone.rendered !== 'stale' &&
  zone.nameServers.every((server) => server.failure === null && server.agreed === server.asked) &&
  zone.diagnostics.every((diagnostic) => diagnostic.severity !== 'error')
