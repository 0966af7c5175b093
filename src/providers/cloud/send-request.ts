import { setMaxListeners } from 'node:events'
import type { AdaptiveLimit, Turn, TurnResult } from '../../transport/adaptive-limit.ts'
import { type HttpClient, type HttpRequest, type HttpResponse, TransportError } from '../../transport/http-client.ts'
import { DEFAULT_RETRY, parseRateLimit, parseRetryAfter, type RetryPolicy, retryDelay, sleep } from '../../transport/retry.ts'
import { ProviderError } from '../provider.ts'
import { errorOfResponse, errorOfTransport, isBusy } from './api-errors.ts'
import type { ApiRequest } from './api-request.ts'

export interface Sender {
  readonly provider: string
  readonly client: HttpClient
  readonly limit: AdaptiveLimit
  readonly retry?: RetryPolicy | undefined
}

const TRANSIENT: ReadonlySet<number> = new Set([408, 500, 502, 503, 504])
/** What tells that the server has too much to do. */
const CONGESTED: ReadonlySet<number> = new Set([429, 503, 504])

/** A request that failed, and how it is gone on with. */
interface Failure {
  readonly error: ProviderError
  /** `busy`: nothing was done, and waiting helps, so that even a creation may be sent again. `no`: never again. */
  readonly again: 'busy' | 'yes' | 'no'
  /** Milliseconds the server asks for. */
  readonly wait: number | null
}

/**
 * Sends a request, and again what may be sent again: what changes something only where that cannot be done twice by it. Each try waits for
 * its turn among all requests to the server. Gives answers below 400; throws `ProviderError` for all else.
 */
export async function sendRequest(sender: Sender, call: ApiRequest): Promise<HttpResponse> {
  const { retry = DEFAULT_RETRY } = sender
  const stop = stopOf(call)
  let mayHaveActed = false
  let mayStillAct = false
  let failures = 0
  let puttingsOff = 0
  for (;;) {
    const turn = await enter(sender, call, stop)
    const { response, failure } = await tryOnce(sender, call, turn)
    if (response) return response
    // The deletion was done by an earlier try whose answer was lost.
    if (failure.error.status === '404' && call.method === 'DELETE' && mayHaveActed) return DELETED
    mayHaveActed ||= failure.error.ambiguous
    mayStillAct ||= failure.error.mayStillAct
    if (failure.again === 'busy') puttingsOff += 1
    else failures += 1
    const repeatable = failure.again === 'busy' || (failure.again === 'yes' && (call.method !== 'POST' || !failure.error.ambiguous))
    const last = { error: failure.error, mayHaveActed, mayStillAct }
    if (!repeatable || failures >= retry.tries || puttingsOff >= retry.busyTries) throw lastFailure(last)
    if (failure.wait !== null && failure.wait > retry.maxRetryAfter) throw lastFailure({ ...last, asked: failure.wait })
    await sleep(retryDelay(retry, failure.again === 'busy' ? puttingsOff : failures, failure.wait, Math.random), stop).catch(
      () => undefined,
    )
    if (stop?.aborted) throw lastFailure(last)
  }
}

const DELETED: HttpResponse = { status: 200, headers: { 'content-type': 'application/json' }, text: '{}' }

function stopOf({ signal, stop }: ApiRequest): AbortSignal | undefined {
  // As many requests as there are listen to the signals of one run, which Node takes for a leak from the eleventh on.
  for (const one of [signal, stop]) if (one) setMaxListeners(0, one)
  if (signal && stop) return AbortSignal.any([signal, stop])
  return signal ?? stop
}

async function enter({ limit, provider }: Sender, call: ApiRequest, stop: AbortSignal | undefined): Promise<Turn> {
  try {
    return await limit.enter(stop)
  } catch (error) {
    throw new ProviderError('provider-stopped', `${provider}: ${call.what}: not begun, since the run was stopped`, {
      notBegun: true,
      cause: error,
    })
  }
}

type Tried = { readonly response: HttpResponse; readonly failure?: never } | { readonly response?: never; readonly failure: Failure }

async function tryOnce({ client, provider }: Sender, call: ApiRequest, turn: Turn): Promise<Tried> {
  const mutates = call.method !== 'GET'
  let result: TurnResult = { congested: false }
  try {
    const response = await client.request(httpRequest(call))
    const wait = waitOf(response)
    result = { congested: CONGESTED.has(response.status), pause: wait, budget: parseRateLimit(response.headers, clockOf(response)) }
    if (response.status < 400) return { response }
    const again = response.status === 429 || isBusy(response) ? 'busy' : isTransient(response) ? 'yes' : 'no'
    return { failure: { error: errorOfResponse(provider, call.what, response, mutates), again, wait } }
  } catch (error) {
    if (!(error instanceof TransportError)) throw error
    result = { congested: error.fault === 'timeout' && !call.signal?.aborted }
    const again = error.fault === 'garbled' || error.fault === 'too-large' || call.signal?.aborted ? 'no' : 'yes'
    return { failure: { error: errorOfTransport(provider, call.what, error, mutates), again, wait: null } }
  } finally {
    turn.end(result)
  }
}

/** A server in maintenance says so; that takes longer than any wait here. */
const isTransient = ({ status, headers }: HttpResponse): boolean => TRANSIENT.has(status) && headers['x-maintenance-mode'] === undefined

/** Only a refusal asks for a wait: the interface has been seen to send `Retry-After` with good answers too. */
const waitOf = (response: HttpResponse): number | null =>
  response.status === 429 || response.status === 503 ? parseRetryAfter(response.headers['retry-after'], clockOf(response)) : null

/** The server's own clock where it tells it, since its dates are by that. */
const clockOf = ({ headers }: HttpResponse): number => {
  const date = Date.parse(headers['date'] ?? '')
  return Number.isNaN(date) ? Date.now() : date
}

interface Last {
  readonly error: ProviderError
  /** An earlier try may have been carried out: what the last one was refused for says nothing of it. */
  readonly mayHaveActed: boolean
  readonly mayStillAct: boolean
  /** Milliseconds the server asks for that are too many. */
  readonly asked?: number
}

function lastFailure({ error, mayHaveActed, mayStillAct, asked }: Last): ProviderError {
  if (asked === undefined && error.ambiguous === mayHaveActed && error.mayStillAct === mayStillAct) return error
  const message = asked === undefined ? error.message : `${error.message}; it asks to wait for ${Math.ceil(asked / 1000)} seconds`
  const { code, status, hint, cause } = error
  return new ProviderError(code, message, { ambiguous: mayHaveActed, mayStillAct, status: status ?? undefined, hint, cause })
}

function httpRequest(call: ApiRequest): HttpRequest {
  const parameters = Object.entries(call.query ?? {}).map(([key, value]): [string, string] => [key, String(value)])
  const query = parameters.length === 0 ? '' : `?${new URLSearchParams(parameters).toString()}`
  return {
    method: call.method,
    path: call.path + query,
    ...(call.filter === undefined ? {} : { headers: { 'x-filter': JSON.stringify(call.filter) } }),
    ...(call.body === undefined ? {} : { body: call.body }),
    signal: call.signal,
  }
}
