/**
 * Decides which names may become zones. A name server answers from the zone with the longest matching name, so a zone below another one takes
 * over a part of it. Therefore a name must be claimed before a zone can use it: there must be no zone above or below it that belongs to another
 * account or that the user may not change. The type `ClaimedName` ensures that no code names a zone without a claim.
 *
 * Two transactions must not both find their names free and commit overlapping zones. SQLite runs one write transaction at a time. On PostgreSQL,
 * a transaction takes advisory locks from the root down to its name: shared locks on the ancestors and an exclusive lock on the name. If X is
 * above Y, Y's shared lock on X conflicts with X's exclusive lock. So one of them waits until the other has committed, and then sees its zone.
 * Locks of unrelated names do not conflict. There is no deadlock, because a waiting transaction has no lock below the one it waits for.
 */
import { createHash } from 'node:crypto'
import { PostgresAdapter, type RawBuilder, type SqlBool, sql } from 'kysely'
import { parse } from 'tldts'
import type { Connection } from './database.ts'
import type { Viewer } from './grant-store.ts'

/** Why a name cannot become a zone: it already is one; the user may not change a zone above or below it; it is a public suffix. */
export type NameConflict = 'taken' | 'overlap' | 'public-suffix'

declare const claimed: unique symbol

/** A name that the transaction may use for a zone. */
export type ClaimedName = string & { readonly [claimed]: true }

export type NameClaim = { readonly ok: true; readonly name: ClaimedName } | { readonly ok: false; readonly conflict: NameConflict }

/** Names that are locked until the transaction ends. */
export interface NameLock {
  readonly covers: (name: string) => boolean
}

/** Names with more labels share the lock of their ancestor with this many, which limits the number of locks per transaction. */
const LOCKED_LABELS = 16

/**
 * Prevents other transactions from claiming the name, or a name above or below it, until this one ends. Call it before any other lock of the
 * transaction, so that there is no deadlock.
 */
export async function lockZoneName(connection: Connection, name: string): Promise<NameLock> {
  const path = ['', ...ancestorsOf(name).reverse(), name].slice(0, LOCKED_LABELS + 1)
  const last = path.pop() as string
  await lock(connection, [...path.map((each) => sql`pg_advisory_xact_lock_shared(${keyOf(each)})`), exclusiveLock(last)])
  return { covers: (other) => other === name }
}

/** Prevents other transactions from claiming any name until this one ends, for a transaction that claims many. */
export async function lockZoneNames(connection: Connection): Promise<NameLock> {
  await lock(connection, [exclusiveLock('')])
  return { covers: () => true }
}

/** Claims a locked name for a zone of the user. `id` is the zone that is renamed, or 0 for a new one. */
export async function claimZoneName(connection: Connection, lock: NameLock, user: Viewer, name: string, id = 0): Promise<NameClaim> {
  if (!lock.covers(name)) throw new Error(`the name ${name} is claimed without a lock`)
  const conflict = await findNameConflict(connection, user, name, id)
  return conflict === null ? { ok: true, name: name as ClaimedName } : { ok: false, conflict }
}

/** The current conflict of a name for this user; null if there is none. */
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

/** True for zones that the user may not change. */
function closedTo({ accountId, userId, restricted }: Viewer): RawBuilder<SqlBool> {
  const foreign = sql<SqlBool>`domains.account_id <> ${accountId}`
  if (!restricted) return foreign
  return sql<SqlBool>`(${foreign} or not exists (
    select 1 from grants where grants.user_id = ${userId} and grants.kind = 'domain'
      and grants.entity_id = domains.id and grants.permissions = 'read_write'))`
}

/** The ancestors of a name, longest first, without the root. */
function ancestorsOf(name: string): string[] {
  const labels = name.split('.')
  return labels.slice(1).map((_, index) => labels.slice(index + 1).join('.'))
}

/**
 * A name with its labels in reverse order, each followed by a dot: `www.example.com` becomes `com.example.www.`. The reversed names at and below
 * a name start with its reversed name. In octet order, they sort before the same text with `/`, the octet after the dot, as its last character.
 */
export const reverseName = (name: string): string => `${name.split('.').reverse().join('.')}.`

const exclusiveLock = (name: string): RawBuilder<unknown> => sql`pg_advisory_xact_lock(${keyOf(name)})`

async function lock(connection: Connection, locks: readonly RawBuilder<unknown>[]): Promise<void> {
  if (connection.getExecutor().adapter instanceof PostgresAdapter) await sql`select ${sql.join(locks)}`.execute(connection)
}

/** The advisory lock number of a name. A collision only causes a needless wait. */
function keyOf(name: string): RawBuilder<unknown> {
  const hash = createHash('sha256').update(`zone ${name}`).digest()
  return sql`${hash.readBigInt64BE().toString()}::bigint`
}

/** Names are already canonical, so the library must not extract or validate them. Private suffixes are ordinary names. */
const OPTIONS = { allowPrivateDomains: false, extractHostname: false, validateHostname: false, detectIp: false, mixedInputs: false }

/** Listed suffixes for private use (RFC 8375). */
const PRIVATE_USE: ReadonlySet<string> = new Set(['home.arpa'])

/**
 * Whether a name (lower case, no trailing dot) is a public suffix in the ICANN section of the Public Suffix List. Private suffixes, private-use
 * names and unlisted names are not. So is a name such as `za`, although the list has only names below it (`co.za`).
 */
export const isPublicSuffix = (name: string): boolean => !PRIVATE_USE.has(name) && (isListed(name) || isListed(`co.${name}`))

function isListed(name: string): boolean {
  const { publicSuffix, isIcann } = parse(name, OPTIONS)
  return isIcann === true && publicSuffix === name
}
