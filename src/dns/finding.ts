import type { DomainName } from './domain-name.ts'
import type { InventoryKind } from './inventory.ts'

/** The result of one check. */
export interface Finding {
  readonly status: 'ok' | 'warning' | 'error'
  readonly check: 'connection' | 'clock' | 'user' | 'token' | 'scopes' | 'grants' | 'zones' | 'inventory' | 'nameserver' | 'config'
  readonly message: string
  /** What to do about it. */
  readonly hint?: string | undefined
  /** The token scopes that a command needs and does not need, if the check is about them. */
  readonly scopes?: CommandScopes | undefined
}

/** The commands that use a token. */
export type TokenCommand = 'plan' | 'verify' | 'apply'

/** Scopes such as `domains:read_only`. `*` in `excess` means every scope that is not needed. */
export interface CommandScopes {
  readonly command: TokenCommand
  readonly needed: readonly string[]
  readonly excess: readonly string[]
}

/** What a config uses of one provider. */
export interface ProviderUsage {
  readonly zones: readonly DomainName[]
  /** Inventories that definitions take addresses from. */
  readonly inventory: ReadonlySet<InventoryKind>
}
