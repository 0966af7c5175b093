/**
 * The state of zones transferred from masters. A process claims a refresh with a lease, so that only one process does it; its outcome is stored
 * only while the lease is valid. Times are milliseconds of the service's clock; the intervals of an SOA are seconds.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Connection } from './database.ts'
import { saveTransferredZone, type ZoneFile } from './zone-file-store.ts'

/** Requests a transfer as soon as possible. Invalidates a running refresh and received NOTIFY messages. */
export async function requestTransfer(connection: Connection, domainId: number): Promise<void> {
  const asked = { refresh_at: 0, lease: '', lease_until: 0, failures: 0, behind: 0, notified_by: null, notified_serial: null }
  await connection
    .insertInto('secondaries')
    .values({ domain_id: domainId, ...asked })
    .onConflict((conflict) => conflict.column('domain_id').doUpdateSet(asked))
    .execute()
}

/** Deletes the transferred zone of a domain that was renamed or changed its masters. Call `requestTransfer` afterwards. */
export async function deleteTransferredZone(connection: Connection, domainId: number): Promise<void> {
  await saveTransferredZone(connection, domainId, null)
  await connection
    .updateTable('secondaries')
    .set({ expire_at: null, refresh: 0, retry: 0, expire: 0 })
    .where('domain_id', '=', domainId)
    .execute()
}

/** An active slave, for handling NOTIFY. */
export interface ActiveSlave {
  readonly id: number
  readonly accountId: number
  readonly masters: readonly string[]
}

export async function findActiveSlave(connection: Connection, domain: string): Promise<ActiveSlave | null> {
  const row = await connection
    .selectFrom('domains')
    .select(['id', 'account_id', 'master_ips'])
    .where('domain', '=', domain)
    .where('type', '=', 'slave')
    .where('status', '=', 'active')
    .executeTakeFirst()
  return row === undefined ? null : { id: row.id, accountId: row.account_id, masters: JSON.parse(row.master_ips) }
}

/** The content of a NOTIFY: the master, and the serial if the message has one. */
export interface ReceivedNotify {
  readonly master: string
  readonly serial: number | null
}

/** Makes a refresh due after a NOTIFY. A running refresh will be followed by another. */
export async function recordNotify(
  connection: Connection,
  domainId: number,
  { master, serial }: ReceivedNotify,
  now: number,
): Promise<void> {
  await connection
    .updateTable('secondaries')
    .set((eb) => ({ requests: eb('requests', '+', 1), notified_by: master, notified_serial: serial, behind: 0, refresh_at: now }))
    .where('domain_id', '=', domainId)
    .execute()
}

/** Makes the refresh of every zone due at `moment`, unless it is due earlier. */
export async function scheduleAllRefreshes(connection: Connection, moment: number): Promise<void> {
  await connection.updateTable('secondaries').set({ refresh_at: moment }).where('refresh_at', '>', moment).execute()
}

const dueRows = (connection: Connection) =>
  connection
    .selectFrom('secondaries')
    .innerJoin('domains', 'domains.id', 'secondaries.domain_id')
    .where('domains.status', '=', 'active')
    .where('domains.type', '=', 'slave')

/** The period of a claim. */
export interface ClaimPeriod {
  readonly now: number
  readonly until: number
}

/** Active slaves with a due and unclaimed refresh, longest waiting first. */
export async function findDueRefreshes(connection: Connection, span: ClaimPeriod, limit: number): Promise<number[]> {
  const rows = await dueRows(connection)
    .select('secondaries.domain_id')
    .where('secondaries.refresh_at', '<=', span.now)
    .where(isUnclaimed(span))
    .orderBy('secondaries.refresh_at')
    .limit(limit)
    .execute()
  return rows.map(({ domain_id }) => domain_id)
}

/** How far the clocks of processes may differ, as a multiple of the claim period. */
const SKEW = 4

const isUnclaimed = ({ now, until }: ClaimPeriod) => sql<SqlBool>`(lease_until <= ${now} or lease_until > ${until + SKEW * (until - now)})`

/** When the next zone is due for refresh or expires; null if there is none. */
export async function findNextDeadline(connection: Connection, now: number): Promise<number | null> {
  const refresh = await dueRows(connection)
    .select((eb) => eb.fn.min('secondaries.refresh_at').as('moment'))
    .where('secondaries.refresh_at', '>', now)
    .executeTakeFirst()
  const expiry = await connection
    .selectFrom('secondaries')
    .select((eb) => eb.fn.min('expire_at').as('moment'))
    .where('expire_at', '>', now)
    .executeTakeFirst()
  const moments = [refresh?.moment, expiry?.moment].filter((moment) => moment !== null && moment !== undefined).map(Number)
  return moments.length === 0 ? null : Math.min(...moments)
}

export interface ClaimedRefresh {
  readonly domainId: number
  readonly accountId: number
  readonly lease: string
  /** Without the final dot. */
  readonly domain: string
  readonly masters: readonly string[]
  /** The master that sent the last NOTIFY since the last refresh; null if there was none. */
  readonly notifiedBy: string | null
  /** The serial in that NOTIFY; null if it had none. */
  readonly notifiedSerial: number | null
  /** The number of NOTIFY messages received before the claim. */
  readonly requests: number
  /** The serial of the stored zone; null without a zone. */
  readonly serial: number | null
  /** The times of the stored SOA; 0 without a zone. */
  readonly times: SoaTimes
  /** Consecutive failed refreshes. */
  readonly failures: number
  /** Consecutive refreshes after which the zone was still older than its masters announced. */
  readonly behind: number
}

export interface SoaTimes {
  readonly refresh: number
  readonly retry: number
  readonly expire: number
}

/**
 * Claims a due and unclaimed refresh; null if it is neither any more. An existing claim that ends implausibly late is ignored: its process had a
 * clock that was set back since.
 */
export async function claimRefresh(
  connection: Connection,
  domainId: number,
  lease: string,
  span: ClaimPeriod,
): Promise<ClaimedRefresh | null> {
  const row = await connection
    .updateTable('secondaries')
    .set({ lease, lease_until: span.until })
    .where('domain_id', '=', domainId)
    .where('refresh_at', '<=', span.now)
    .where(isUnclaimed(span))
    .returningAll()
    .executeTakeFirst()
  if (row === undefined) return null
  const domain = await connection
    .selectFrom('domains')
    .leftJoin('zone_files', 'zone_files.domain_id', 'domains.id')
    .select(['domains.domain', 'domains.account_id', 'domains.master_ips', 'zone_files.serial'])
    .where('domains.id', '=', domainId)
    .executeTakeFirstOrThrow()
  const { notified_by: notifiedBy, notified_serial: notifiedSerial, requests, failures, behind, refresh, retry, expire } = row
  const masters: string[] = JSON.parse(domain.master_ips)
  const state = { notifiedBy, notifiedSerial, requests, failures, behind, serial: domain.serial, times: { refresh, retry, expire } }
  return { domainId, accountId: domain.account_id, lease, domain: domain.domain, masters, ...state }
}

/** Extends a claim. False if it is lost. */
export async function renewRefreshClaim(connection: Connection, { domainId, lease }: ClaimedRefresh, until: number): Promise<boolean> {
  const { numUpdatedRows } = await connection
    .updateTable('secondaries')
    .set({ lease_until: until })
    .where('domain_id', '=', domainId)
    .where('lease', '=', lease)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** The outcome of a refresh. */
export interface RefreshOutcome {
  /** The transferred zone; null if the stored one is up to date or no transfer succeeded. */
  readonly file: ZoneFile | null
  readonly times: SoaTimes
  /** When the next refresh is due. */
  readonly refreshAt: number
  /** When the zone expires; undefined for no change. */
  readonly expireAt?: number
  readonly failures: number
  readonly behind: number
  /** Whether the serial announced by the last NOTIFY is still missing. */
  readonly notifyPending: boolean
  /** Error messages; empty if there was no error. */
  readonly errors: string
}

/** Ends a claim and stores its outcome. False, and nothing is stored, if the claim is lost. */
export async function finishRefresh(
  connection: Connection,
  { domainId, lease, requests }: ClaimedRefresh,
  { file, times, refreshAt, expireAt, failures, behind, notifyPending, errors }: RefreshOutcome,
  now: number,
): Promise<boolean> {
  if (!(await setTransferErrors(connection, domainId, errors, sql<SqlBool>`lease = ${lease}`))) return false
  // A NOTIFY received during the refresh may announce a later change, so another refresh stays due.
  const expiry = expireAt === undefined ? {} : { expire_at: expireAt }
  const ended = { lease: '', lease_until: 0, failures, ...times, ...expiry, refresh_at: now }
  await connection.updateTable('secondaries').set(ended).where('domain_id', '=', domainId).execute()
  const followed = { refresh_at: refreshAt, behind, ...(notifyPending ? {} : { notified_by: null, notified_serial: null }) }
  await connection.updateTable('secondaries').set(followed).where('domain_id', '=', domainId).where('requests', '=', requests).execute()
  if (file !== null) await saveTransferredZone(connection, domainId, file)
  return true
}

/** Locks the domain, like all transactions that change it, and stores the errors. False, and nothing is stored, unless its row of a slave meets the condition. */
async function setTransferErrors(
  connection: Connection,
  domainId: number,
  errors: string,
  condition: RawBuilder<SqlBool>,
): Promise<boolean> {
  const { numUpdatedRows } = await connection
    .updateTable('domains')
    .set({ transfer_errors: errors })
    .where('id', '=', domainId)
    .where(({ exists, selectFrom }) => exists(selectFrom('secondaries').select('lease').where('domain_id', '=', domainId).where(condition)))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Slaves whose zone has expired. */
export async function findExpired(connection: Connection, now: number): Promise<number[]> {
  const rows = await connection.selectFrom('secondaries').select('domain_id').where('expire_at', '<=', now).orderBy('domain_id').execute()
  return rows.map(({ domain_id }) => domain_id)
}

/** Deletes an expired zone (RFC 1035 section 3.3.13, EXPIRE). False if it is no longer expired. */
export async function expireZone(connection: Connection, domainId: number, now: number, errors: string): Promise<boolean> {
  if (!(await setTransferErrors(connection, domainId, errors, sql<SqlBool>`expire_at <= ${now}`))) return false
  await connection.updateTable('secondaries').set({ expire_at: null }).where('domain_id', '=', domainId).execute()
  return saveTransferredZone(connection, domainId, null)
}
