import type { Updateable } from 'kysely'
import type { GlobalGrant } from '../api/grants.ts'
import type { Quotas } from '../quotas.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { Connection } from '../store/database.ts'
import type { DomainSettings } from '../store/domain-store.ts'
import type { GrantKind, Permissions, UsersTable } from '../store/tables.ts'
import type { ReportProblem } from './seed-problems.ts'

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
  readonly objects: readonly SeedEntries[]
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

/** Whose the entries of a part are: an account's, or one of its users'. */
export interface SeedOwner {
  readonly accountId: number
  /** The user; of what is the account's, the first user the seed names for it. */
  readonly userId: number
  readonly username: string
}

/**
 * One key of an account or of a user in a seed: a list of entries that are read and made in one way. The schema of an entry is
 * `seed-KEY.json`, with underscores as hyphens.
 */
export interface SeedPart<Entry = unknown, Settings = unknown> {
  readonly key: string
  /** Of one entry. */
  readonly schema: object
  /** The fields that no two entries of one owner have in common, and those that no two of the file have. */
  readonly unique?: { readonly owner?: readonly (keyof Entry & string)[]; readonly file?: readonly (keyof Entry & string)[] }
  /** What an entry that its schema lets through stands for; null where it has faults, which have been told. */
  readonly read: (entry: Entry, tell: ReportProblem) => Settings | null
  /**
   * Makes it, unless the owner has it. Throws a `RangeError` where that contradicts what there is. Users' entries are made only with the
   * user.
   */
  readonly create: (connection: Connection, owner: SeedOwner, settings: Settings, now: string, secrets: Secrets) => Promise<void>
}

/** Declares a part; `Entry` is what its schema lets through. */
export const defineSeedPart = <Entry, Settings>(part: SeedPart<Entry, Settings>): SeedPart => part as unknown as SeedPart

/** The entries of a part, read. */
export interface SeedEntries {
  readonly part: SeedPart
  readonly entries: readonly unknown[]
}
