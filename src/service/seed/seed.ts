import type { Updateable } from 'kysely'
import type { GlobalGrant } from '../api/grants.ts'
import type { Quotas } from '../quotas.ts'
import type { DomainSettings } from '../store/domain-store.ts'
import type { GrantKind, Permissions, UsersTable } from '../store/tables.ts'
import type { SeedEntries } from './seed-part.ts'

/** Accounts with their users, that the service makes when it starts, unless it has them. */
export interface Seed {
  readonly accounts: readonly SeedAccount[]
}

export interface SeedAccount {
  /** In place of the service's, as far as they are named; null to leave those the account has. */
  readonly quotas: Partial<Quotas> | null
  readonly users: readonly SeedUser[]
  readonly domains: readonly DomainSettings[]
  /** In the order they are made. */
  readonly objects: readonly SeedEntries[]
}

export interface SeedUser {
  readonly username: string
  readonly email: string
  readonly restricted: boolean
  readonly tokens: readonly SeedToken[]
  readonly accountAccess: '' | Permissions
  readonly globalGrants: readonly GlobalGrant[]
  readonly grants: readonly SeedGrant[]
  /** Columns that are to have other values than those of a new user. */
  readonly profile: Updateable<UsersTable>
  /** In the order they are made. */
  readonly belongings: readonly SeedEntries[]
}

/** Permissions on the account's objects of a label; a domain's is its name. */
export interface SeedGrant {
  readonly kind: GrantKind
  readonly label: string
  readonly permissions: Permissions
}

export interface SeedToken {
  /** In clear. */
  readonly token: string
  readonly label: string
  readonly scopes: string
  readonly expiry: string | null
}
