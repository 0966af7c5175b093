/**
 * What is known of the zones that are transferred in. A refresh is claimed by a lease, so that of several processes one does it; what
 * it comes to counts only while the lease holds. Moments are milliseconds of the service's clock, spans of a SOA seconds.
 */
import { type SqlBool, sql } from 'kysely'
import type { Connection } from './database.ts'
import { saveTransferredZone, type ZoneFile } from './zone-file-store.ts'

/** Has a slave's zone transferred as soon as may be; what is under way for it, or was told of it, counts no longer. */
export async function requestTransfer(connection: Connection, domainId: number): Promise<void> {
  const asked = { refresh_at: 0, lease: '', lease_until: 0, failures: 0, behind: 0, notified_by: null, notified_serial: null }
  await connection
    .insertInto('secondaries')
    .values({ domain_id: domainId, ...asked })
    .onConflict((conflict) => conflict.column('domain_id').doUpdateSet(asked))
    .execute()
}

/** Forgets the zone that was transferred, for the domain has become another. To be followed by a request. */
export async function deleteTransferredZone(connection: Connection, domainId: number): Promise<void> {
  await saveTransferredZone(connection, domainId, null)
  await connection
    .updateTable('secondaries')
    .set({ expire_at: null, refresh: 0, retry: 0, expire: 0 })
    .where('domain_id', '=', domainId)
    .execute()
}

/** An active slave that NOTIFY may be about. */
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

/** What a NOTIFY says: which master has a changed zone, and of which serial if it tells. */
export interface ReceivedNotify {
  readonly master: string
  readonly serial: number | null
}

/** Makes a refresh due, for a master says that the zone has changed; one that is under way is followed by another. */
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

/** Makes a refresh of every zone due at a moment, unless it is due before. */
export async function scheduleAllRefreshes(connection: Connection, moment: number): Promise<void> {
  await connection.updateTable('secondaries').set({ refresh_at: moment }).where('refresh_at', '>', moment).execute()
}

const dueRows = (connection: Connection) =>
  connection
    .selectFrom('secondaries')
    .innerJoin('domains', 'domains.id', 'secondaries.domain_id')
    .where('domains.status', '=', 'active')
    .where('domains.type', '=', 'slave')

/** From now to a moment. */
export interface ClaimPeriod {
  readonly now: number
  readonly until: number
}

/** Active slaves whose refresh is due and nobody's, by the terms of a claim; those that have waited longest first. */
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

/** Times the span of a claim by which the clocks of processes may differ. */
const SKEW = 4

const isUnclaimed = ({ now, until }: ClaimPeriod) => sql<SqlBool>`(lease_until <= ${now} or lease_until > ${until + SKEW * (until - now)})`

/** The moment after now at which the next zone is to be refreshed or expires; null where none is. */
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
  /** The master that last said that the zone has changed; null where none has since the last refresh. */
  readonly notifiedBy: string | null
  /** The serial it told of; null where it told none. */
  readonly notifiedSerial: number | null
  /** What of NOTIFY had come when the refresh was claimed. */
  readonly requests: number
  /** The serial of the zone as it is stored; null without a zone. */
  readonly serial: number | null
  /** Of the stored zone's SOA, in seconds; 0 without a zone. */
  readonly times: SoaTimes
  /** Refreshes that failed, one after the other. */
  readonly failures: number
  /** Refreshes, one after the other, that left the zone older than its masters had told. */
  readonly behind: number
}

export interface SoaTimes {
  readonly refresh: number
  readonly retry: number
  readonly expire: number
}

/**
 * Claims the refresh of a slave for a span of time, if it is still due and nobody's; null where it is not. A claim for much longer
 * than is ever asked for was made by a clock that has been set back since, and is nobody's.
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

/** Whether the claim still holds; if so, it does until the given moment. */
export async function renewRefreshClaim(connection: Connection, { domainId, lease }: ClaimedRefresh, until: number): Promise<boolean> {
  const { numUpdatedRows } = await connection
    .updateTable('secondaries')
    .set({ lease_until: until })
    .where('domain_id', '=', domainId)
    .where('lease', '=', lease)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** What a refresh came to. */
export interface RefreshOutcome {
  /** The zone as it was transferred; null where the stored one is up to date, or nothing could be had. */
  readonly file: ZoneFile | null
  readonly times: SoaTimes
  /** When the next refresh is due. */
  readonly refreshAt: number
  /** When the zone expires; undefined leaves that as it was. */
  readonly expireAt?: number
  readonly failures: number
  readonly behind: number
  /** Whether what the last NOTIFY told of is still to be had. */
  readonly notifyPending: boolean
  /** What went wrong, in words; empty where nothing did. */
  readonly errors: string
}

/** Ends a claim with what came of it. False, and nothing stored, where the claim no longer holds. */
export async function finishRefresh(
  connection: Connection,
  { domainId, lease, requests }: ClaimedRefresh,
  { file, times, refreshAt, expireAt, failures, behind, notifyPending, errors }: RefreshOutcome,
  now: number,
): Promise<boolean> {
  // The domain is held first, as by all who change it.
  const held = await connection
    .updateTable('domains')
    .set({ transfer_errors: errors })
    .where('id', '=', domainId)
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('secondaries').select('lease').where('domain_id', '=', domainId).where('lease', '=', lease)),
    )
    .executeTakeFirstOrThrow()
  if (held.numUpdatedRows === 0n) return false
  // NOTIFY that came meanwhile may be about a change that this refresh has not seen.
  const expiry = expireAt === undefined ? {} : { expire_at: expireAt }
  const ended = { lease: '', lease_until: 0, failures, ...times, ...expiry, refresh_at: now }
  await connection.updateTable('secondaries').set(ended).where('domain_id', '=', domainId).execute()
  const followed = { refresh_at: refreshAt, behind, ...(notifyPending ? {} : { notified_by: null, notified_serial: null }) }
  await connection.updateTable('secondaries').set(followed).where('domain_id', '=', domainId).where('requests', '=', requests).execute()
  if (file !== null) await saveTransferredZone(connection, domainId, file)
  return true
}

/** Slaves whose zone no master has confirmed for too long. */
export async function findExpired(connection: Connection, now: number): Promise<number[]> {
  const rows = await connection.selectFrom('secondaries').select('domain_id').where('expire_at', '<=', now).orderBy('domain_id').execute()
  return rows.map(({ domain_id }) => domain_id)
}

/** Takes the zone of such a slave away (RFC 1035 section 3.3.13, EXPIRE); whether it was still one. */
export async function expireZone(connection: Connection, domainId: number, now: number, errors: string): Promise<boolean> {
  const held = await connection
    .updateTable('domains')
    .set({ transfer_errors: errors })
    .where('id', '=', domainId)
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('secondaries').select('lease').where('domain_id', '=', domainId).where('expire_at', '<=', now)),
    )
    .executeTakeFirstOrThrow()
  if (held.numUpdatedRows === 0n) return false
  await connection.updateTable('secondaries').set({ expire_at: null }).where('domain_id', '=', domainId).execute()
  return saveTransferredZone(connection, domainId, null)
}
