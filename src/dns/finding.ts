import type { DomainName } from './domain-name.ts'
import type { InventoryKind } from './inventory.ts'

/** One thing that was looked at, and how it stands. */
export interface Finding {
  readonly status: 'ok' | 'warning' | 'error'
  readonly check: 'connection' | 'clock' | 'user' | 'token' | 'scopes' | 'grants' | 'zones' | 'inventory' | 'nameserver' | 'config'
  readonly message: string
  /** What to do about it. */
  readonly hint?: string | undefined
  /** The scopes of a token that a command needs and does not need, if the finding is about them. */
  readonly scopes?: CommandScopes | undefined
}

/** Commands that use a token. */
export type TokenCommand = 'plan' | 'verify' | 'apply'

/** Scopes such as `domains:read_only`; `*` in `excess` stands for all that are not needed. */
export interface CommandScopes {
  readonly command: TokenCommand
  readonly needed: readonly string[]
  readonly excess: readonly string[]
}

/** What runs with a config need of one provider. */
export interface ProviderUsage {
  readonly zones: readonly DomainName[]
  /** The inventories that definitions take addresses from. */
  readonly inventory: ReadonlySet<InventoryKind>
}
