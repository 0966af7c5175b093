import type { Diagnostic, SourcePosition } from '../../dns/diagnostic.ts'

/** Finds the secrets that a run has loaded in texts. */
export interface SecretGuard {
  /** Takes a secret; `setting` names it in messages (`providers.cloud.token`). One of fewer than 8 characters is not looked for. */
  add(setting: string, value: string): void
  /** The setting whose secret a text holds; null if it holds none. Linear in the length of the text. */
  find(text: string): string | null
  /** The same for a secret that is in one piece, which takes a third of the time. */
  findWhole(text: string): string | null
  /** Whether a text of so many characters is long enough to hold a secret in any form. */
  mayHold(length: number): boolean
  /** The text without secrets. */
  redact(text: string): string
}

/**
 * The secrets that a run has loaded: one value per run, filled where secrets are resolved and asked wherever something is read or written. Without
 * secrets `guard` is null, and nothing is compared.
 */
export interface LoadedSecrets {
  guard: SecretGuard | null
  /** A message held a secret and was redacted: the run may change nothing any more, and it fails. */
  hasLeaked: boolean
}

export const noSecrets = (): LoadedSecrets => ({ guard: null, hasLeaked: false })

export const redacted = ({ guard }: LoadedSecrets, text: string): string => (guard === null ? text : guard.redact(text))

const HINT = 'remove it there, and replace the secret: whoever can read that place knows it'

/** The error for a place that holds a secret. `what` names the place for a reader. */
export const exposedDiagnostic = (what: string, setting: string, at?: SourcePosition): Diagnostic => ({
  severity: 'error',
  code: 'secret-exposed',
  message: `${what} holds the secret of ${setting}`,
  at,
  hint: HINT,
})

/** Thrown in place of writing a secret. The program ends with its diagnostic. */
export class SecretExposed extends Error {
  readonly diagnostic: Diagnostic
  constructor(what: string, setting: string) {
    super(`${what} would hold the secret of ${setting}`)
    this.name = 'SecretExposed'
    this.diagnostic = { severity: 'error', code: 'secret-exposed', message: this.message, hint: 'it was not written; replace the secret' }
  }
}

/** Recognises `SecretExposed` by its name: the bundle has the class twice. */
export const isSecretExposed = (error: unknown): error is SecretExposed => error instanceof Error && error.name === 'SecretExposed'

/** Throws `SecretExposed` if a text that is about to be written holds a secret. */
export function assertNoSecret({ guard }: LoadedSecrets, text: string, what: string): void {
  const setting = guard?.find(text) ?? null
  if (setting !== null) throw new SecretExposed(what, setting)
}
