/**
 * PostgreSQL servers for tests: each is a cluster in a temporary directory, reachable only by a socket there, and
 * with a linguistic collation, so that no code can depend on byte order.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

/** Where Debian keeps the programs of each major version. */
const VERSIONS = '/usr/lib/postgresql'

/** The directory with `initdb` and `postgres` of the latest installed version; null if none is installed. */
export function findPostgres(): string | null {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS).sort((a, b) => Number(b) - Number(a)) : []
  const directories = [...versions.map((version) => join(VERSIONS, version, 'bin')), ...(process.env['PATH'] ?? '').split(':')]
  return directories.find((directory) => ['initdb', 'postgres'].every((name) => existsSync(join(directory, name)))) ?? null
}

export interface PostgresServer {
  /** The URL of a database, for the superuser unless another user is given. */
  url(database: string, user?: string): string
  query(database: string, text: string): Promise<readonly Record<string, unknown>[]>
  /** Kills it and all its children, as in a crash. */
  kill(): Promise<void>
  /** Starts it again if it has ended; resolves when it accepts connections. */
  start(): Promise<void>
  /** Suspends it and all its children: connections stay open without any response. `thaw` resumes them. */
  freeze(): void
  thaw(): void
  /** Stops it and removes its directory. */
  remove(): Promise<void>
}

/** Starts a new server with the roles `postgres`, the superuser without a password, and `guarded`, whose password is `right`. */
export async function startPostgres(): Promise<PostgresServer> {
  const programs = findPostgres()
  if (programs === null) throw new Error('PostgreSQL is not installed')
  const directory = mkdtempSync(join(realpathSync(tmpdir()), 'zw-pg-'))
  const owner = serverOwner()
  if (owner !== null) chownSync(directory, owner.uid, owner.gid)
  const data = join(directory, 'data')
  const locale = ['--encoding=UTF8', '--locale=C.UTF-8', '--locale-provider=icu', '--icu-locale=en-US']
  execFileSync(join(programs, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync', ...locale], {
    ...owner,
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  writeFileSync(join(data, 'pg_hba.conf'), 'local all guarded scram-sha-256\nlocal all all trust\n')
  // Without fsync, data survives a crash of the server but not of the machine: fast, and enough for tests.
  const settings = { fsync: 'off', listen_addresses: '', unix_socket_directories: directory, max_connections: '200' }
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  let child: ChildProcess | null = null
  const url = (database: string, user = 'postgres') => `postgres://${user}@/${database}?host=${directory}`
  const query: PostgresServer['query'] = async (database, text) => {
    const client = new pg.Client({ connectionString: url(database) })
    await client.connect()
    try {
      return (await client.query(text)).rows
    } finally {
      await client.end()
    }
  }
  const start = async (): Promise<void> => {
    for (const started = performance.now(); ; await sleep(100)) {
      child = spawn(join(programs, 'postgres'), ['-D', data, ...args], { ...owner, cwd: directory, stdio: 'ignore', detached: true })
      process.on('exit', killGroup)
      try {
        return await ready(() => query('postgres', 'select 1'), child)
      } catch (error) {
        // Processes of a killed server may still use its shared memory; a new server then exits immediately.
        if (child.exitCode === null || performance.now() - started > READY_WITHIN) throw error
        process.off('exit', killGroup)
      }
    }
  }
  const killGroup = (): void => {
    try {
      if (child?.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // It has already ended.
    }
  }
  const signal = (name: 'SIGSTOP' | 'SIGCONT'): void => {
    // Its children have their own sessions.
    const found = execFileSync('ps', ['-o', 'pid=', '--ppid', String(child?.pid)], { encoding: 'utf8' })
    for (const pid of [child?.pid ?? 0, ...found.split('\n').map(Number)]) if (pid > 0) process.kill(pid, name)
  }
  const kill = async (): Promise<void> => {
    if (child === null) return
    const exited = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : null
    killGroup()
    await exited
    process.off('exit', killGroup)
    child = null
  }
  const remove = async (): Promise<void> => {
    await kill()
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    await start()
    await query('postgres', "create role guarded login password 'right'")
  } catch (error) {
    await remove()
    throw error
  }
  return { url, query, kill, start, freeze: () => signal('SIGSTOP'), thaw: () => signal('SIGCONT'), remove }
}

/** The user that the server runs as, because it refuses root. Null for the user of the tests. */
function serverOwner(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null
  const name = ['postgres', 'nobody'].find((user) => {
    try {
      execFileSync('id', ['-u', user], { stdio: 'ignore' })
      return true
    } catch {
      return false
    }
  })
  if (name === undefined) throw new Error('there is no user that PostgreSQL could run as')
  const id = (option: string) => Number(execFileSync('id', [option, name], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

/** Milliseconds within which a server must accept connections. */
const READY_WITHIN = 20_000

async function ready(connect: () => Promise<unknown>, child: ChildProcess): Promise<void> {
  for (const started = performance.now(); ; await sleep(20)) {
    try {
      await connect()
      return
    } catch (error) {
      if (child.exitCode !== null || performance.now() - started > READY_WITHIN) throw error
    }
  }
}
