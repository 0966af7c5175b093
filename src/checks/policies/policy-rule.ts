/** Rules of the organisation, as values. */
import type { Diagnostic, Severity, SourcePosition } from '../../base/diagnostic.ts'
import type { DiagnosticCode } from '../../base/diagnostic-codes.ts'

/** The documents that the schema of a rule is applied to. */
const POLICY_SUBJECTS = ['zone', 'record_set', 'change', 'plan'] as const
export type PolicySubject = (typeof POLICY_SUBJECTS)[number]

/** A rule of the organisation. */
export interface PolicyRule {
  readonly name: string
  /** `policy-NAME`. */
  readonly code: DiagnosticCode
  readonly each: PolicySubject
  readonly severity: Severity
  /** May have the placeholders `{zone}`, `{name}` and `{type}`. */
  readonly message: string
  readonly exceptions: readonly PolicyException[]
  readonly tests: readonly PolicyTest[]
  readonly at: SourcePosition
  /** Whether the rule is about a document. */
  readonly selects: (document: object) => boolean
  /** Why a document breaks the rule; null if it does not, or if the rule does not select it. */
  readonly problemOf: (document: object) => SchemaProblem | null
}

/** The first value that a schema refuses. */
export interface SchemaProblem {
  /** The steps to the value; empty for the document itself. */
  readonly path: readonly string[]
  /** In words: `ttl must be >= 300`. */
  readonly text: string
}

/** What a rule is not applied to, until the end of a day. */
export interface PolicyException {
  /** A glob for the zone, canonical and without the final dot; absent for all zones. */
  readonly zone?: string | undefined
  /** A glob for the name relative to the zone, `''` for the apex; absent for all names. */
  readonly name?: string | undefined
  readonly type?: string | undefined
  /** The last day, `2027-03-31`, in UTC. */
  readonly until: string
  readonly reason: string
  readonly at: SourcePosition
}

/** A document with what a rule says about it. */
export interface PolicyTest {
  readonly given: unknown
  readonly expect: 'pass' | 'fail'
  readonly at: SourcePosition
}

/** The rules of a run, and the diagnostics of their files. */
export interface Policies {
  /** Only those without errors. */
  readonly rules: readonly PolicyRule[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Days before its end at which an exception is reported. */
export const DAYS_OF_NOTICE = 14

const DAY = 86_400_000

/** Whole days until an exception ends: 0 on its last day, negative after it. */
export const daysLeft = ({ until }: Pick<PolicyException, 'until'>, now: Date): number =>
  Math.floor((Date.parse(`${until}T00:00:00Z`) - Math.floor(now.getTime() / DAY) * DAY) / DAY)
