/**
 * The audit log: one entry per changed row, with the row before and after. Triggers of the database append the entries, so each is in the transaction of its
 * change, and no code can forget one. A transaction that acts for somebody says so first (`setOrigin`).
 *
 * Entries have neither secrets nor columns for bookkeeping. A change of a secret is an entry without the secret; a change of bookkeeping is none.
 */
import { type Kysely, PostgresAdapter, type QueryExecutorProvider, sql } from 'kysely'
import type { AuditRow, Tables } from './tables.ts'

type Connection = Kysely<Tables>

/** Who makes the changes of a transaction. */
export interface Origin {
  readonly actor: AuditRow['actor'] | 'restore' | 'retention'
  readonly account?: number | undefined
  readonly user?: string | undefined
  readonly token?: number | undefined
  readonly address?: string | undefined
  readonly request?: string | undefined
  readonly run?: string | undefined
}

/** Jobs and other work of the service itself. */
export const SERVICE: Origin = { actor: 'service' }

/** The administrator of the service. */
export const OPERATOR: Origin = { actor: 'operator' }

/** Adds no entries: the rows of a backup come with their own. */
export const RESTORE: Origin = { actor: 'restore' }

/** May delete entries. */
const RETENTION: Origin = { actor: 'retention' }

interface Audited {
  /** The name of an object; by default the table's without its last letter. */
  readonly object?: string
  /** Columns whose values are left out. */
  readonly secret?: readonly string[]
  /** Columns of bookkeeping. */
  readonly internal?: readonly string[]
}

/** The tables with a log. The others hold state of the service: zones as they are served, jobs, leases, logins. */
const AUDITED: Readonly<Partial<Record<keyof Tables, Audited>>> = {
  accounts: {},
  users: {},
  apps: {},
  tokens: { secret: ['hash', 'prefix'] },
  grants: {},
  domains: { internal: ['reversed_name', 'revision', 'settled', 'errors', 'transfer_errors', 'record_count'] },
  records: {},
  tags: { internal: ['folded'] },
  tagged_objects: {},
  volumes: {},
  load_balancers: {},
  instances: {},
  addresses: { object: 'address', internal: ['slot'] },
  disks: {},
  configs: {},
  backups: { internal: ['content'] },
  images: { secret: ['upload_hash'], internal: ['receiver', 'receiver_until', 'upload_until', 'octets'] },
  scripts: { secret: ['script'], internal: ['deployments_total'] },
  trusted_devices: { internal: ['last_authenticated', 'last_remote_addr'] },
  ssh_keys: {},
  security_answers: { secret: ['response'] },
  second_factors: {
    secret: ['secret', 'pending', 'scratch_hash'],
    internal: ['pending_expiry', 'last_step', 'failures', 'failures_since'],
  },
  phone_codes: { secret: ['code'], internal: ['expiry', 'failures', 'sent', 'sent_since'] },
  preferences: { secret: ['body'] },
}

export const AUDITED_TABLES = Object.keys(AUDITED) as readonly (keyof typeof AUDITED)[]

const objectOf = (table: string): string => AUDITED[table as keyof Tables]?.object ?? table.slice(0, -1)

/** The kinds of objects in entries. */
export const AUDITED_OBJECTS: readonly string[] = AUDITED_TABLES.map(objectOf)

const isPostgres = (db: QueryExecutorProvider): boolean => db.getExecutor().adapter instanceof PostgresAdapter

/** The expression with which a transaction of PostgreSQL says who makes its changes. */
export const originSql = (json: string): string => `set_config('zonewright.origin', ${json}, true)`

/** Says who makes the following changes of the transaction. On SQLite, it applies until the next call: the last one of a transaction must be for `SERVICE`. */
export async function setOrigin(connection: QueryExecutorProvider, origin: Origin): Promise<void> {
  const text = JSON.stringify(origin)
  if (isPostgres(connection)) await sql`select ${sql.raw(originSql(`'${text}'`))}`.execute(connection)
  else await sql`update audit_origin set origin = ${text}`.execute(connection)
}

/** Prepares a database for `auditTable`, and makes the audit log append-only. Only retention deletes entries. */
export async function prepareAudit(db: QueryExecutorProvider): Promise<void> {
  const run = (text: string): Promise<unknown> => sql.raw(text).execute(db)
  if (isPostgres(db)) {
    await run(`create function zonewright_origin() returns jsonb language sql stable as
      $$ select coalesce(nullif(current_setting('zonewright.origin', true), ''), '{"actor":"service"}')::jsonb $$`)
    await run(`create function zonewright_audit() returns trigger language plpgsql as $$
      declare
        o jsonb := zonewright_origin();
        b jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) end;
        a jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) end;
        r jsonb := coalesce(a, b);
      begin
        if o ->> 'actor' = 'restore' then return null; end if;
        insert into audit (${ENTRY}) values (
          to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), o ->> 'actor',
          coalesce((o ->> 'account')::bigint, (r ->> 'account_id')::bigint, case tg_argv[0] when 'account' then (r ->> 'id')::bigint end,
            (select account_id from users where id = (r ->> 'user_id')::bigint)),
          o ->> 'user', (o ->> 'token')::bigint, o ->> 'address', o ->> 'request', o ->> 'run',
          case tg_op when 'INSERT' then 'create' else lower(tg_op) end, tg_argv[0], (r ->> tg_argv[1])::bigint,
          b - tg_argv[2]::text[], a - tg_argv[2]::text[]);
        return null;
      end $$`)
    await run(`create function zonewright_append_only() returns trigger language plpgsql as $$ begin
      if tg_op = 'DELETE' and zonewright_origin() ->> 'actor' = 'retention' then return old; end if;
      raise exception '${APPEND_ONLY}'; end $$`)
    await run('create trigger audit_kept before update or delete on audit for each row execute function zonewright_append_only()')
    await run('create trigger audit_whole before truncate on audit for each statement execute function zonewright_append_only()')
    return
  }
  await run('create table audit_origin (origin text not null)')
  await run(`insert into audit_origin values ('${JSON.stringify(SERVICE)}')`)
  await run(`create trigger audit_unchanged before update on audit begin select raise(abort, '${APPEND_ONLY}'); end`)
  await run(`create trigger audit_unreplaced before insert on audit when exists (select 1 from audit where id = new.id)
    begin select raise(abort, '${APPEND_ONLY}'); end`)
  await run(`create trigger audit_kept before delete on audit when (select origin ->> 'actor' from audit_origin) <> 'retention'
    begin select raise(abort, '${APPEND_ONLY}'); end`)
}

const APPEND_ONLY = 'the audit log is append-only'

const ENTRY =
  'time, actor, account_id, username, token_id, address, request_id, run_id, action, object, object_id, before, after' satisfies string

const ACTIONS = { insert: 'create', update: 'update', delete: 'delete' } as const

/** Creates the triggers of a table with these columns, or replaces them. */
export async function auditTable(db: QueryExecutorProvider, table: keyof Tables, columns: readonly string[]): Promise<void> {
  const { secret = [], internal = [] } = AUDITED[table] as Audited
  const object = objectOf(table)
  const leftOut = ['created', 'updated', ...internal]
  const compared = columns.filter((column) => !leftOut.includes(column))
  const shown = compared.filter((column) => !secret.includes(column))
  const id = ['id', 'user_id', 'entity_id', 'instance_id'].find((column) => columns.includes(column)) as string
  const fieldsOf = (row: string, names: readonly string[]): string => names.map((name) => `${row}."${name}"`).join(', ')
  const condition = (operator: string): string => `when ((${fieldsOf('old', compared)}) ${operator} (${fieldsOf('new', compared)}))`
  const jsonOf = (row: string): string => `json_object(${shown.map((name) => `'${name}', ${row}."${name}"`).join(', ')})`
  const values = ['account', 'user', 'token', 'address', 'request', 'run'].map((key) => `origin ->> '${key}'`)
  for (const [event, action] of Object.entries(ACTIONS)) {
    const name = `${table}_audit_${action}`
    const row = event === 'delete' ? 'old' : 'new'
    const owner = columns.includes('account_id')
      ? `${row}.account_id`
      : table === 'accounts'
        ? `${row}.id`
        : columns.includes('user_id')
          ? `(select account_id from users where id = ${row}.user_id)`
          : 'null'
    const [account, ...rest] = values
    const statement = isPostgres(db)
      ? `create trigger ${name} after ${event} on "${table}" for each row ${event === 'update' ? condition('is distinct from') : ''}
          execute function zonewright_audit('${object}', '${id}', '{${[...leftOut, ...secret].join()}}')`
      : `create trigger ${name} after ${event} on "${table}" ${event === 'update' ? condition('is not') : ''} begin
          insert into audit (${ENTRY}) select strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), origin ->> 'actor', coalesce(${account}, ${owner}), ${rest.join(', ')},
            '${action}', '${object}', ${row}."${id}", ${event === 'insert' ? 'null' : jsonOf('old')}, ${event === 'delete' ? 'null' : jsonOf('new')}
          from audit_origin where origin ->> 'actor' <> 'restore'; end`
    await sql.raw(`drop trigger if exists ${name}${isPostgres(db) ? ` on "${table}"` : ''}`).execute(db)
    await sql.raw(statement).execute(db)
  }
}

/** The entries that a list selects. Times are like those of entries, or a beginning of them. */
export interface AuditQuery {
  /** Entries after this id. */
  readonly after: number
  readonly limit: number
  readonly account?: number | undefined
  readonly object?: string | undefined
  readonly since?: string | undefined
  readonly until?: string | undefined
}

/** Entries as operators see them, oldest first. */
export async function listAudit(connection: Connection, { after, limit, account, object, since, until }: AuditQuery) {
  let query = connection.selectFrom('audit').where('id', '>', after).orderBy('id').limit(limit)
  if (account !== undefined) query = query.where('account_id', '=', account)
  if (object !== undefined) query = query.where('object', '=', object)
  if (since !== undefined) query = query.where('time', '>=', since)
  if (until !== undefined) query = query.where('time', '<', until)
  const rows = await query.select([...SHOWN, 'before', 'after']).execute()
  return rows.map(({ before, after, ...entry }) => ({ ...entry, before: before && JSON.parse(before), after: after && JSON.parse(after) }))
}

const SHOWN = [
  ...(['id', 'time', 'actor', 'account_id as account', 'username as user', 'token_id as token', 'address'] as const),
  ...(['request_id as request', 'run_id as run', 'action', 'object', 'object_id'] as const),
] as const

/** Deletes entries before a time, at most `limit` of them. Returns the number. */
export async function deleteAuditBefore(connection: Connection, time: string, limit: number): Promise<number> {
  await setOrigin(connection, RETENTION)
  const expired = connection.selectFrom('audit').select('id').where('time', '<', time).orderBy('time').limit(limit)
  const { numDeletedRows } = await connection
    .deleteFrom('audit')
    .where('id', 'in', (eb) => eb.selectFrom(expired.as('expired')).select('id'))
    .executeTakeFirstOrThrow()
  await setOrigin(connection, SERVICE)
  return Number(numDeletedRows)
}
