/** Receives the notifications of other processes from PostgreSQL. */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { OtherProcesses } from '../database.ts'
import { clientSettings, disconnect } from './postgres-pool.ts'

/** The notification channel. */
export const CHANNEL = 'zonewright'

/** Milliseconds before a lost connection is retried; doubled up to the maximum. */
const FIRST_PAUSE = 100
const LONGEST_PAUSE = 5_000

/**
 * Listens for notifications on a dedicated connection and reconnects when it is lost. One call of `onChange` then makes up for missed
 * notifications. It does not work behind a connection pooler that shares connections between clients.
 */
export async function listenForChanges(
  url: string,
  onChange: () => void,
  onError: (error: unknown) => void,
): ReturnType<OtherProcesses['subscribe']> {
  let closed = false
  let client = await connect(url, onChange)
  const ended = new AbortController()

  const watch = async (): Promise<void> => {
    for (let pause = FIRST_PAUSE; !closed; ) {
      const lost = await client.lost
      if (closed) return
      onError(lost)
      for (let connected = false; !connected && !closed; pause = Math.min(LONGEST_PAUSE, pause * 2)) {
        await sleep(pause, undefined, { signal: ended.signal }).catch(() => undefined)
        if (closed) return
        try {
          client = await connect(url, onChange)
          connected = true
        } catch (error) {
          onError(error)
        }
      }
      pause = FIRST_PAUSE
      onChange()
    }
  }
  const watching = watch()
  return async () => {
    closed = true
    ended.abort()
    await client.end()
    await watching
  }
}

interface Listener {
  /** Resolves with the reason when the connection is lost. */
  readonly lost: Promise<Error>
  end(): Promise<void>
}

async function connect(url: string, onChange: () => void): Promise<Listener> {
  const client = new pg.Client(clientSettings(url))
  const lost = new Promise<Error>((resolve) => {
    client.on('error', resolve)
    client.on('end', () => resolve(new Error('the connection to the database was closed')))
  })
  client.on('notification', onChange)
  try {
    await client.connect()
    await client.query(`listen ${CHANNEL}`)
  } catch (error) {
    await client.end().catch(() => undefined)
    throw error
  }
  return { lost, end: () => endSoon(client) }
}

/** Milliseconds to wait for the server when a connection is closed. */
const CLOSE_TIMEOUT = 1_000

async function endSoon(client: pg.Client): Promise<void> {
  const late = setTimeout(() => disconnect(client), CLOSE_TIMEOUT)
  await client.end()
  clearTimeout(late)
}
