/**
 * Waits for actions. Hetzner accepts a change at once and publishes it later; the action says when, and whether that failed. Concurrent waits share their reads:
 * one request asks for all actions that are running.
 */
import { formatSeconds } from '../../transport/http-client.ts'
import { sleep } from '../../transport/retry.ts'
import { fieldsOf, listOf } from '../json-shape.ts'
import { type ProviderCallOptions, ProviderError } from '../provider.ts'
import { type ApiAction, actionShape, type HetznerApi } from './hetzner-api.ts'

/** Milliseconds between two reads. They double while no action ends; a read per second stays within the rate limit. */
const FIRST_PAUSE = 200
const MAX_PAUSE = 1000
/** Actions in one request: the maximum of a page. */
const MAX_ACTIONS = 50

export interface ZoneActions {
  /**
   * Waits for the end of a new action, and returns why it failed; null if it succeeded. Throws an ambiguous `ProviderError` if its end is not known in time, or if
   * the action is that of another change: then it came with the response to another request.
   */
  wait(action: ApiAction, what: string, options?: ProviderCallOptions): Promise<string | null>
}

interface Waiting {
  readonly what: string
  readonly until: number
  readonly end: (failure: string | null) => void
  readonly fail: (error: ProviderError) => void
}

/** `longest`: milliseconds after which a wait fails. */
export function createZoneActions(api: HetznerApi, provider: string, longest: number): ZoneActions {
  const waiting = new Map<number, Waiting>()
  /** The identifiers of all actions so far. */
  const known = new Set<number>()
  let isReading = false

  const fail = (id: number, why: string, cause?: unknown, mayCompleteLater = true): void => {
    const one = waiting.get(id)
    const code = cause instanceof ProviderError ? cause.code : 'provider-timeout'
    const message = `${provider}: ${one?.what}: Hetzner accepted it as action ${id}, but ${why}`
    waiting.delete(id)
    one?.fail(new ProviderError(code, message, { ambiguous: true, mayCompleteLater, cause }))
  }

  /** Reads the actions once. Returns whether one ended. */
  async function readOnce(ids: readonly number[]): Promise<boolean> {
    const path = `/zones/actions?${ids.map((id) => `id=${id}&`).join('')}per_page=${MAX_ACTIONS}`
    try {
      const actions = await api.request({ method: 'GET', path, what: 'waiting for actions' }, (body) =>
        listOf(fieldsOf(body, 'the response')['actions'], 'actions').map(actionShape),
      )
      const found = new Map(actions.map((action) => [action.id, action]))
      for (const id of ids) {
        const action = found.get(id)
        if (action === undefined) fail(id, 'does not list it any more')
        else if (action.status !== 'running') {
          const one = waiting.get(id)
          waiting.delete(id)
          one?.end(action.failure)
        }
      }
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      for (const id of ids) fail(id, `its end could not be read: ${error.message}`, error)
    }
    return ids.some((id) => !waiting.has(id))
  }

  async function readAll(): Promise<void> {
    let pause = FIRST_PAUSE
    while (waiting.size > 0) {
      await sleep(pause)
      const ids = [...waiting.keys()].slice(0, MAX_ACTIONS)
      if (ids.length > 0 && !(await readOnce(ids))) pause = Math.min(pause * 2, MAX_PAUSE)
      for (const [id, { until }] of [...waiting])
        if (performance.now() > until) fail(id, `has not completed it after ${formatSeconds(longest)}`)
    }
    isReading = false
  }

  return {
    async wait({ id, status, failure }, what, { signal } = {}) {
      if (known.has(id))
        throw new ProviderError('provider-garbled', `${provider}: ${what}: the response is that of another change (action ${id})`, {
          ambiguous: true,
        })
      known.add(id)
      if (status !== 'running') return failure
      return new Promise((end, reject) => {
        const stop = (): void => fail(id, 'the run was stopped before its end')
        const settled = (): void => signal?.removeEventListener('abort', stop)
        waiting.set(id, {
          what,
          until: performance.now() + longest,
          end: (result) => {
            settled()
            end(result)
          },
          fail: (error) => {
            settled()
            reject(error)
          },
        })
        signal?.addEventListener('abort', stop)
        if (signal?.aborted) stop()
        if (isReading || waiting.size === 0) return
        isReading = true
        readAll().catch(reject)
      })
    },
  }
}
