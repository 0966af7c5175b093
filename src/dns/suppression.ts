/** Findings about a zone that its definition or the config accepts, each with a reason. */
import type { SourcePosition } from '../base/diagnostic.ts'
import type { DiagnosticCode } from '../base/diagnostic-codes.ts'

/** An entry of `ignore`. */
export interface Suppression {
  readonly code: DiagnosticCode
  readonly reason: string
  /** A glob for the name relative to the zone; absent for all names. */
  readonly name?: string | undefined
  readonly type?: string | undefined
  readonly at: SourcePosition
}

/** Lints: findings about data that is valid DNS. Each has a page `docs/lints/CODE.md`. */
export const LINT_CODES = [
  'address-private',
  'dkim-invalid',
  'dmarc-invalid',
  'dmarc-report-refused',
  'glue-missing',
  'name-similar',
  'spf-invalid',
  'spf-lookups',
  'spf-target-missing',
  'target-dangling',
  'target-takeover',
] as const satisfies readonly DiagnosticCode[]

/** Other diagnostics about valid DNS data, which have an entry in `docs/diagnostics.md`. */
const OTHER_CODES = [
  'below-delegation',
  'below-dname',
  'caa-flags-reserved',
  'caa-tag-unknown',
  'caa-value-invalid',
  'character-lookalike',
  'cname-loop',
  'digest-length',
  'ds-without-ns',
  'host-name-invalid',
  'name-repeats-zone',
  'null-srv-not-alone',
  'policy-multiple',
  'signature-times',
  'srv-name-invalid',
  'target-is-address',
  'target-is-cname',
  'target-is-url',
  'target-nonexistent',
  'ttl-mixed',
  'ttl-rounded',
  'txt-long',
  'txt-quoted',
  'wildcard-misplaced',
  'wildcard-ns',
] as const satisfies readonly DiagnosticCode[]

/** The suppressions of a record as a definition has them. */
export const suppressionsData = ({
  ignore,
}: {
  readonly ignore?: readonly Suppression[] | undefined
}): (Readonly<Record<string, string>> & { readonly code: string })[] =>
  (ignore ?? []).map(({ code, reason, name, type }) => ({
    code,
    reason,
    ...(name !== undefined && { name }),
    ...(type !== undefined && { type }),
  }))

/** All codes that `ignore` can name, sorted. */
export const SUPPRESSIBLE_CODES: readonly DiagnosticCode[] = [...LINT_CODES, ...OTHER_CODES].sort()

const LINTS: ReadonlySet<string> = new Set(LINT_CODES)

export const isLint = (code: string): boolean => LINTS.has(code)

const SUPPRESSIBLE: ReadonlySet<string> = new Set(SUPPRESSIBLE_CODES)

export const isSuppressible = (code: string): code is DiagnosticCode => SUPPRESSIBLE.has(code)
