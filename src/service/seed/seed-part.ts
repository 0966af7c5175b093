import type { Secrets } from '../secrets.ts'
import type { Connection } from '../store/database.ts'
import type { Tell } from './places.ts'

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
  readonly read: (entry: Entry, tell: Tell) => Settings | null
  /**
   * Makes it, unless the owner has it. Throws a `RangeError` where that contradicts what there is. Users' entries are made only with the
   * user.
   */
  readonly make: (connection: Connection, owner: SeedOwner, settings: Settings, now: string, secrets: Secrets) => Promise<void>
}

/** Declares a part; `Entry` is what its schema lets through. */
export const defineSeedPart = <Entry, Settings>(part: SeedPart<Entry, Settings>): SeedPart => part as unknown as SeedPart

/** The entries of a part, read. */
export interface SeedEntries {
  readonly part: SeedPart
  readonly entries: readonly unknown[]
}
