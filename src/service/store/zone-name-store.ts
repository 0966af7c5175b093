/**
 * Which names may become zones. A name server answers from the zone with the longest matching name, so whoever has a zone below another
 * takes over a part of it. A name is therefore claimed before a zone is given it: no zone of another account may lie above or below it,
 * and none that its user may not change. `ClaimedName` keeps any code from naming a zone without a claim.
 *
 * Two transactions must not both find their names free and then commit an overlap. SQLite runs one write at a time. On PostgreSQL a
 * transaction takes advisory locks from the root down to its name: shared ones above, an exclusive one at the name. If X lies above Y,
 * Y's shared lock at X excludes X's exclusive one, so one of them waits until the other has committed, and sees its zone then. The locks of
 * unrelated names do not exclude each other. No two wait for one another, because whoever waits holds no lock below the one it waits for.
 */
import { createHash } from 'node:crypto'
import { PostgresAdapter, type RawBuilder, type SqlBool, sql } from 'kysely'
import { parse } from 'tldts'
import type { Connection } from './database.ts'
import type { Viewer } from './grant-store.ts'

/** Why a name cannot become a zone: it is one; a zone above or below it is closed to the user; it is a public suffix. */
export type NameConflict = 'taken' | 'overlap' | 'public-suffix'

declare const claimed: unique symbol

/** A name that the transaction may give to a zone. */
export type ClaimedName = string & { readonly [claimed]: true }

export type NameClaim = { readonly ok: true; readonly name: ClaimedName } | { readonly ok: false; readonly conflict: NameConflict }

/** The names that are locked until the transaction ends. */
export interface NameLock {
  readonly covers: (name: string) => boolean
}

/** Labels of the longest names with a lock of their own: names below one share its lock, which bounds the locks of a transaction. */
const LOCKED_LABELS = 16

/**
 * Keeps other transactions from claiming the name, or one above or below it, until this one ends. To be called before the transaction
 * locks anything else, so that no two wait for one another.
 */
export async function lockZoneName(connection: Connection, name: string): Promise<NameLock> {
  const path = ['', ...ancestorsOf(name).reverse(), name].slice(0, LOCKED_LABELS + 1)
  const last = path.pop() as string
  await lock(connection, [...path.map((each) => sql`pg_advisory_xact_lock_shared(${keyOf(each)})`), exclusiveLock(last)])
  return { covers: (other) => other === name }
}

/** Keeps other transactions from claiming any name until this one ends: for one that claims many. */
export async function lockZoneNames(connection: Connection): Promise<NameLock> {
  await lock(connection, [exclusiveLock('')])
  return { covers: () => true }
}

/** Claims a name for a zone of the user; `id` is the zone that is renamed, 0 for a new one. The name must be locked. */
export async function claimZoneName(connection: Connection, lock: NameLock, user: Viewer, name: string, id = 0): Promise<NameClaim> {
  if (!lock.covers(name)) throw new Error(`the name ${name} is claimed without a lock`)
  const conflict = await findNameConflict(connection, user, name, id)
  return conflict === null ? { ok: true, name: name as ClaimedName } : { ok: false, conflict }
}

/** What would keep the user from a name now; null if nothing would. */
export async function findNameConflict(connection: Connection, user: Viewer, name: string, id = 0): Promise<NameConflict | null> {
  const others = connection.selectFrom('domains').where('id', '!=', id)
  const above = others
    .where('domain', 'in', [name, ...ancestorsOf(name)])
    .where((eb) => eb.or([eb('domain', '=', name), closedTo(user)]))
    .select((eb) => eb.case().when('domain', '=', name).then(1).else(0).end().as('taken'))
  const reversed = reverseName(name)
  const below = others
    .where('reversed_name', '>=', reversed)
    .where('reversed_name', '<', `${reversed.slice(0, -1)}/`)
    .where('domain', '!=', name)
    .where(closedTo(user))
    .select(sql<number>`0`.as('taken'))
    .limit(1)
  const found = await above.unionAll(connection.selectFrom(below.as('below')).select('taken')).execute()
  if (found.some(({ taken }) => taken === 1)) return 'taken'
  if (isPublicSuffix(name)) return 'public-suffix'
  return found.length > 0 ? 'overlap' : null
}

/** True of zones that the user may not change. */
function closedTo({ accountId, userId, restricted }: Viewer): RawBuilder<SqlBool> {
  const foreign = sql<SqlBool>`domains.account_id <> ${accountId}`
  if (!restricted) return foreign
  return sql<SqlBool>`(${foreign} or not exists (
    select 1 from grants where grants.user_id = ${userId} and grants.kind = 'domain'
      and grants.entity_id = domains.id and grants.permissions = 'read_write'))`
}

/** The names above a name, the longest first, without the root. */
function ancestorsOf(name: string): string[] {
  const labels = name.split('.')
  return labels.slice(1).map((_, index) => labels.slice(index + 1).join('.'))
}

/**
 * A name with its labels from the root down, each with a dot after it: `www.example.com` is `com.example.www.`. The names at and below
 * one begin with its reversed name; in the order of octets they lie between that and the same with `/`, the octet after the dot, at the end.
 */
export const reverseName = (name: string): string => `${name.split('.').reverse().join('.')}.`

const exclusiveLock = (name: string): RawBuilder<unknown> => sql`pg_advisory_xact_lock(${keyOf(name)})`

async function lock(connection: Connection, locks: readonly RawBuilder<unknown>[]): Promise<void> {
  if (connection.getExecutor().adapter instanceof PostgresAdapter) await sql`select ${sql.join(locks)}`.execute(connection)
}

/** The number that PostgreSQL locks a name by. Names that have the same number wait for each other needlessly, and that is all. */
function keyOf(name: string): RawBuilder<unknown> {
  const hash = createHash('sha256').update(`zone ${name}`).digest()
  return sql`${hash.readBigInt64BE().toString()}::bigint`
}

export interface NamedZone {
  readonly id: number
  readonly accountId: number
  readonly domain: string
  readonly reversedName: string
}

export async function listZoneNames(connection: Connection): Promise<readonly NamedZone[]> {
  return connection.selectFrom('domains').select(['id', 'account_id as accountId', 'domain', 'reversed_name as reversedName']).execute()
}

/** Stores the reversed names of zones, unless they have been renamed since. Few enough for the parameters of one statement. */
export async function storeReversedNames(connection: Connection, zones: readonly Pick<NamedZone, 'id' | 'domain'>[]): Promise<void> {
  const rows = zones.map(({ id, domain }) => sql`(cast(${id} as bigint), ${domain}, ${reverseName(domain)})`)
  await sql`update domains set reversed_name = given.column3 from (values ${sql.join(rows)}) as given
    where domains.id = given.column1 and domains.domain = given.column2`.execute(connection)
}

/** Names are given in canonical form, so nothing is extracted from them or checked again; private suffixes are ordinary names. */
const OPTIONS = { allowPrivateDomains: false, extractHostname: false, validateHostname: false, detectIp: false, mixedInputs: false }

/** Suffixes of the list that are for private use (RFC 8375). */
const PRIVATE_USE: ReadonlySet<string> = new Set(['home.arpa'])

/**
 * Whether a name, in lower case without the final dot, is a public suffix in the ICANN part of the Public Suffix List. Suffixes of the
 * private part, private-use names and names that end in no suffix of the list are not. `za` is no entry of the list, only names below it
 * are (`co.za`): it is a public suffix too.
 */
export const isPublicSuffix = (name: string): boolean => !PRIVATE_USE.has(name) && (isListed(name) || isListed(`co.${name}`))

function isListed(name: string): boolean {
  const { publicSuffix, isIcann } = parse(name, OPTIONS)
  return isIcann === true && publicSuffix === name
}
