import type { GlobalGrant } from '../api/grants.ts'
import type { DomainSettings } from '../store/domain-store.ts'
import type { Permissions } from '../store/tables.ts'

/** Accounts with their users, that the service makes when it starts, unless it has them. */
export interface Seed {
  readonly accounts: readonly SeedAccount[]
}

export interface SeedAccount {
  readonly users: readonly SeedUser[]
  readonly domains: readonly DomainSettings[]
}

export interface SeedUser {
  readonly username: string
  readonly email: string
  readonly restricted: boolean
  readonly tokens: readonly SeedToken[]
  readonly accountAccess: '' | Permissions
  readonly globalGrants: readonly GlobalGrant[]
  readonly domainGrants: readonly { readonly domain: string; readonly permissions: Permissions }[]
}

export interface SeedToken {
  /** In clear. */
  readonly token: string
  readonly label: string
  readonly scopes: string
  readonly expiry: string | null
}
