/** The types of a parsed seed, and of the collections of objects in it. */
import type { ErrorObject } from 'ajv'
import type { Updateable } from 'kysely'
import { entryOf, type YamlNode } from '../../definition/yaml/yaml-node.ts'
import { schemaProblems } from '../api/schema-validation.ts'
import type { Quotas } from '../quotas.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { Connection } from '../store/database.ts'
import type { DomainSettings } from '../store/domain-store.ts'
import type { GlobalGrant } from '../store/grant-store.ts'
import type { GrantKind, Permissions, UsersTable } from '../store/tables.ts'
import { parseTimestamp } from '../time.ts'

/** Accounts, users and objects that the service creates at a start unless they exist. */
export interface Seed {
  readonly accounts: readonly SeedAccount[]
}

export interface SeedAccount {
  /** Quotas that replace the service's; null to keep those of the account. */
  readonly quotas: Partial<Quotas> | null
  readonly users: readonly SeedUser[]
  readonly domains: readonly DomainSettings[]
  /** In the order of their creation. */
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
  /** Columns that differ from the defaults of a new user. */
  readonly profile: Updateable<UsersTable>
  /** In the order of their creation. */
  readonly objects: readonly SeedEntries[]
}

/** Permissions on the account's objects with a label; for a domain, its name. */
export interface SeedGrant {
  readonly kind: GrantKind
  readonly label: string
  readonly permissions: Permissions
}

export interface SeedToken {
  /** In plain text. */
  readonly token: string
  readonly label: string
  readonly scopes: string
  readonly expiry: string | null
}

/** The owner of entries: an account, or one of its users. */
export interface SeedOwner {
  readonly accountId: number
  /** The user; for objects of the account, its first user in the seed. */
  readonly userId: number
  readonly username: string
}

/** A list of objects of one kind under a key of an account or user in a seed. The schema of an entry is `seed-KEY.json`, with underscores as hyphens. */
export interface SeedCollection<Entry = unknown, Settings = unknown> {
  readonly key: string
  /** The schema of one entry. */
  readonly schema: object
  /** The fields that must be unique per owner, and those that must be unique in the file. */
  readonly unique?: { readonly owner?: readonly (keyof Entry & string)[]; readonly file?: readonly (keyof Entry & string)[] }
  /** Parses an entry that its schema has accepted. Returns null, or reports problems, if it is not valid. */
  readonly read: (entry: Entry, report: ReportProblem) => Settings | null
  /** Creates the object unless it exists. Throws a `RangeError` if it conflicts with the database. Objects of users are created only for new users. */
  readonly create: (connection: Connection, owner: SeedOwner, settings: Settings, now: string, secrets: Secrets) => Promise<void>
}

/** Declares a collection; `Entry` is the type of a valid entry. */
export const defineSeedCollection = <Entry, Settings>(collection: SeedCollection<Entry, Settings>): SeedCollection =>
  collection as unknown as SeedCollection

/** The parsed entries of a collection. */
export interface SeedEntries {
  readonly collection: SeedCollection
  readonly entries: readonly unknown[]
}

/** The keys and indices that lead to a value of a document. */
export type Path = readonly (string | number)[]

/** Reports a problem at a path of a document. */
export type ReportProblem = (path: Path, message: string) => void

/** Returns a reporter for paths below a path. */
export const below =
  (path: Path, report: ReportProblem): ReportProblem =>
  (steps, message) =>
    report([...path, ...steps], message)

/** The text of a schema error, as in responses to requests; `ofRoot` if the document is no mapping. */
export const reasonOf = (error: ErrorObject, ofRoot: string): string =>
  error.instancePath === '' && error.keyword === 'type' ? ofRoot : (schemaProblems([error])[0]?.reason ?? 'is not valid')

/** The path of a schema error: its JSON pointer (RFC 6901), and the key of an unknown property. */
export function stepsOf({ instancePath, keyword, params }: ErrorObject): Path {
  const steps = instancePath
    .split('/')
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step.replaceAll('~1', '/').replaceAll('~0', '~')))
  return keyword === 'additionalProperties' ? [...steps, String(params['additionalProperty'])] : steps
}

/** The node at a path, or its nearest existing ancestor. */
export function nodeAt(root: YamlNode, path: Path): YamlNode {
  let node = root
  for (const step of path) {
    const next: YamlNode | undefined =
      node.kind === 'sequence' ? node.items[Number(step)] : node.kind === 'mapping' ? entryOf(node, String(step))?.value : undefined
    if (next === undefined) return node
    node = next
  }
  return node
}

/** Parses the time fields of an entry; missing fields stay missing. */
export function parseTimestamps<Field extends string>(
  entry: Readonly<Partial<Record<Field, string | null>>>,
  fields: readonly Field[],
  report: ReportProblem,
): Partial<Record<Field, string>> {
  const timestamps: Partial<Record<Field, string>> = {}
  for (const field of fields) {
    const text = entry[field]
    if (text === undefined || text === null) continue
    const timestamp = parseTimestamp(text)
    if (timestamp === null) report([field], 'not a time such as 2030-01-31T09:00:00')
    else timestamps[field] = timestamp
  }
  return timestamps
}
