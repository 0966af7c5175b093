/** The results of `doctor`. */
import type { DomainName } from './domain-name.ts'
import type { InventoryKind } from './zone-source.ts'

/** The result of one check of `doctor`. */
export interface DoctorFinding {
  readonly status: 'ok' | 'warning' | 'error'
  readonly check:
    | 'connection'
    | 'clock'
    | 'user'
    | 'token'
    | 'scopes'
    | 'grants'
    | 'zones'
    | 'inventory'
    | 'sources'
    | 'nameserver'
    | 'config'
  readonly message: string
  /** What to do about it. */
  readonly hint?: string | undefined
  /** The token scopes that a command needs and does not need, if the check is about them. */
  readonly scopes?: CommandScopes | undefined
}

/** The commands whose token scopes `doctor` lists. */
export type TokenCommand = 'plan' | 'verify' | 'apply'

/** The token scopes that a command needs, such as `domains:read_only`, and those that the token has in addition. */
export interface CommandScopes {
  readonly command: TokenCommand
  readonly needed: readonly string[]
  /** `*` stands for all scopes that are not needed. */
  readonly excess: readonly string[]
}

/** The zones and inventories of one provider that a config uses. */
export interface ProviderUsage {
  readonly zones: readonly DomainName[]
  /** Inventories that definitions take addresses from. */
  readonly inventory: ReadonlySet<InventoryKind>
}
