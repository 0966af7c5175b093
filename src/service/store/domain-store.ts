/**
 * Domains and their settings, and the claims of their names.
 *
 * Decides which names may become zones. A name server answers from the zone with the longest matching name, so a zone below another one takes over a
 * part of it. Therefore a name must be claimed before a zone can use it: there must be no zone above or below it that belongs to another account or
 * that the user may not change. The type `ClaimedName` ensures that no code names a zone without a claim.
 *
 * Two transactions must not both find their names free and commit overlapping zones. SQLite runs one write transaction at a time. On PostgreSQL, a
 * transaction takes advisory locks from the root down to its name: shared locks on the ancestors and an exclusive lock on the name. If X is above Y,
 * Y's shared lock on X conflicts with X's exclusive lock. So one of them waits until the other has committed, and then sees its zone. Locks of
 * unrelated names do not conflict. There is no deadlock, because a waiting transaction has no lock below the one it waits for.
 */
import { createHash } from 'node:crypto'
import { type Insertable, PostgresAdapter, type RawBuilder, type SqlBool, sql } from 'kysely'
import { parse } from 'tldts'
import type { FilterFields, ListQuery, ListSlice } from '../filter/filter.ts'
import { lockAccountRow } from './account-store.ts'
import type { Connection } from './database.ts'
import { deleteGrants, type Viewer, visibleTo } from './grant-store.ts'
import type { RecordFields } from './record-store.ts'
import { listRows } from './rows.ts'
import { requestTransfer } from './secondary-store.ts'
import type { DomainRow, DomainsTable } from './tables.ts'
import { labelsOf, setTags, tagsField } from './tag-store.ts'
import { unserveDomain } from './zone-file-store.ts'

/** Why a name cannot become a zone: it already is one; the user may not change a zone above or below it; it is a public suffix. */
export type NameConflict = 'taken' | 'overlap' | 'public-suffix'

declare const claimed: unique symbol

/** A name that the transaction may use for a zone. */
export type ClaimedName = string & { readonly [claimed]: true }

type NameClaim = { readonly ok: true; readonly name: ClaimedName } | { readonly ok: false; readonly conflict: NameConflict }

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
const reverseName = (name: string): string => `${name.split('.').reverse().join('.')}.`

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

/** The settings of a domain that its owner controls. */
export interface DomainSettings {
  readonly domain: string
  readonly type: 'master' | 'slave'
  readonly status: 'active' | 'disabled'
  readonly description: string
  readonly group: string
  readonly tags: readonly string[]
  readonly soa_email: string
  readonly master_ips: readonly string[]
  readonly axfr_ips: readonly string[]
  readonly expire_sec: number
  readonly refresh_sec: number
  readonly retry_sec: number
  readonly ttl_sec: number
}

export interface StoredDomain extends DomainSettings {
  readonly id: number
  readonly errors: string
  readonly created: string
  readonly updated: string
  readonly recordCount: number
}

export const DOMAIN_FILTER_FIELDS = {
  domain: { kind: 'name' },
  group: { kind: 'text' },
  tags: { kind: 'set' },
} as const satisfies FilterFields

export async function listDomains(connection: Connection, viewer: Viewer, list: ListQuery): Promise<ListSlice<StoredDomain>> {
  const selected = connection.selectFrom('domains').where(visibleTo(viewer, 'domain'))
  const sets = { tags: tagsField('domain', 'domains') }
  const { items, total } = await listRows<DomainRow>(selected, { fields: DOMAIN_FILTER_FIELDS, sets }, list)
  return { items: await withTags(connection, items), total }
}

/** The domains with these ids, all of which must exist. */
export async function findDomains(connection: Connection, ids: readonly number[]): Promise<readonly StoredDomain[]> {
  if (ids.length === 0) return []
  return withTags(connection, await connection.selectFrom('domains').selectAll().where('id', 'in', ids).execute())
}

export async function findDomain(connection: Connection, accountId: number, id: number): Promise<StoredDomain | null> {
  const rows = await connection.selectFrom('domains').selectAll().where('id', '=', id).where('account_id', '=', accountId).execute()
  return (await withTags(connection, rows))[0] ?? null
}

/** Creates a domain. */
export async function insertDomain(
  connection: Connection,
  accountId: number,
  name: ClaimedName,
  settings: DomainSettings,
  now: string,
): Promise<StoredDomain> {
  const { tags, ...columns } = columnsOf(settings)
  const row: Insertable<DomainsTable> = {
    ...columns,
    ...nameColumns(name),
    account_id: accountId,
    errors: '',
    record_count: 0,
    created: now,
    updated: now,
  }
  const inserted = await connection.insertInto('domains').values(row).returningAll().executeTakeFirstOrThrow()
  if (settings.type === 'slave') await requestTransfer(connection, inserted.id)
  return storedDomain(inserted, await setTags(connection, accountId, 'domain', inserted.id, tags))
}

/** Replaces a domain's settings; with a null name it keeps its name. Clears the import remarks of a master. */
export async function updateDomain(
  connection: Connection,
  accountId: number,
  id: number,
  name: ClaimedName | null,
  settings: DomainSettings,
  now: string,
): Promise<StoredDomain> {
  const { tags, ...columns } = columnsOf(settings)
  const row = await connection
    .updateTable('domains')
    .set({
      ...columns,
      ...(name === null ? {} : nameColumns(name)),
      updated: now,
      ...(settings.type === 'master' ? { transfer_errors: '' } : {}),
    })
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .returningAll()
    .executeTakeFirstOrThrow()
  return storedDomain(row, await setTags(connection, accountId, 'domain', id, tags))
}

/** Deletes a domain with its records. False if there is no such domain. */
export async function deleteDomain(connection: Connection, accountId: number, id: number): Promise<boolean> {
  await lockAccountRow(connection, accountId)
  const locked = await connection
    .updateTable('domains')
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  if (locked.numUpdatedRows === 0n) return false
  await setTags(connection, accountId, 'domain', id, [])
  await deleteGrants(connection, 'domain', id)
  await connection.deleteFrom('domains').where('id', '=', id).execute()
  await unserveDomain(connection, id)
  return true
}

/** The domain with this name, in any account; null if there is none. */
export async function findDomainByName(
  connection: Connection,
  domain: string,
): Promise<{ readonly id: number; readonly accountId: number } | null> {
  const row = await connection
    .selectFrom('domains')
    .select(['id', 'account_id as accountId'])
    .where('domain', '=', domain)
    .executeTakeFirst()
  return row ?? null
}

/** Adds `by` to a domain's record count and locks the domain until the transaction ends. Null if there is no such domain. */
export async function changeRecordCount(
  connection: Connection,
  accountId: number,
  id: number,
  by: number,
  now: string,
): Promise<Pick<DomainRow, 'id' | 'domain' | 'type' | 'record_count'> | null> {
  const row = await connection
    .updateTable('domains')
    .set((eb) => ({ record_count: eb('record_count', '+', by), revision: eb('revision', '+', 1), updated: now }))
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .returning(['id', 'domain', 'type', 'record_count'])
    .executeTakeFirst()
  return row ?? null
}

const nameColumns = (name: ClaimedName) => ({ domain: name, reversed_name: reverseName(name) })

/** The columns of all settings except the name. */
function columnsOf({ domain: _, master_ips, axfr_ips, ...settings }: DomainSettings) {
  return { ...settings, master_ips: JSON.stringify(master_ips), axfr_ips: JSON.stringify(axfr_ips) }
}

async function withTags(connection: Connection, rows: readonly DomainRow[]): Promise<StoredDomain[]> {
  const labels = await labelsOf(
    connection,
    'domain',
    rows.map(({ id }) => id),
  )
  return rows.map((row) => storedDomain(row, labels.get(row.id) ?? []))
}

function storedDomain(row: DomainRow, tags: readonly string[]): StoredDomain {
  const { account_id: _a, reversed_name: _n, revision: _r, settled: _s, transfer_errors, ...columns } = row
  const { record_count: recordCount, master_ips, axfr_ips, ...settings } = columns
  const errors = [row.errors, transfer_errors].filter((text) => text !== '').join('\n')
  return { ...settings, errors, tags, master_ips: JSON.parse(master_ips), axfr_ips: JSON.parse(axfr_ips), recordCount }
}

interface Import {
  readonly settings: DomainSettings
  /** In the order in which they get their ids. */
  readonly records: readonly RecordFields[]
  /** Messages about differences from the imported zone. */
  readonly remarks: string
}

/** Rows per insert statement, limited by the number of parameters that a statement may have. */
const CHUNK = 500

/** Creates an imported domain with all its records. */
export async function storeImport(
  connection: Connection,
  accountId: number,
  name: ClaimedName,
  { settings, records, remarks }: Import,
  now: string,
): Promise<StoredDomain> {
  const domain = await insertDomain(connection, accountId, name, settings, now)
  for (let from = 0; from < records.length; from += CHUNK) {
    const rows = records.slice(from, from + CHUNK).map((fields) => ({ ...fields, domain_id: domain.id, created: now, updated: now }))
    await connection.insertInto('records').values(rows).execute()
  }
  await connection
    .updateTable('domains')
    .set({ record_count: records.length, transfer_errors: remarks })
    .where('id', '=', domain.id)
    .execute()
  return { ...domain, errors: remarks, recordCount: records.length }
}
