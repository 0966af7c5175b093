/** Sends one request to an HTTP API with retries, pauses and deadlines. */
import { setMaxListeners } from 'node:events'
import type { DiagnosticCode } from '../base/diagnostic-codes.ts'
import { counted } from '../base/english.ts'
import { type AdaptiveLimit, LimitClosed, type Turn, type TurnResult } from '../transport/adaptive-limit.ts'
import { formatSeconds, type HttpClient, type HttpRequest, type HttpResponse, TransportError } from '../transport/http-client.ts'
import { createReadDeadline, type ReadDeadline, type SilenceClock } from '../transport/read-deadline.ts'
import { DEFAULT_RETRY, parseRateLimit, parseRetryAfter, type RetryPolicy, retryDelay, sleep } from '../transport/retry.ts'
import { type ApiDialect, errorOfTransport } from './api-errors.ts'
import { type ProviderCallOptions, ProviderError } from './provider.ts'

export interface Sender {
  readonly provider: string
  readonly dialect: ApiDialect
  readonly client: HttpClient
  readonly limit: AdaptiveLimit
  readonly silence: SilenceClock
  /** Milliseconds of silence after which one attempt of a read fails. */
  readonly readTimeout: number
  /** Milliseconds after which a read fails, retries included. */
  readonly readDeadline: number
  /** Milliseconds that one attempt of a change may take until its response begins; `readDeadline` if absent. */
  readonly writeTimeout?: number | undefined
  readonly retry?: RetryPolicy | undefined
  /** Called before each attempt. */
  readonly onRequest?: ((isRetry: boolean) => void) | undefined
}

const TRANSIENT: ReadonlySet<number> = new Set([408, 500, 502, 503, 504])
/** Statuses of an overloaded server. */
const CONGESTED: ReadonlySet<number> = new Set([429, 503, 504])

/** A failed request, and whether to send it again. */
interface Failure {
  readonly error: ProviderError
  /** `busy`: the server did not act and asks to wait, so even a creation may be sent again. */
  readonly retry: 'busy' | 'yes' | 'no'
  /** Milliseconds to wait, as the server asks; null if it does not. */
  readonly wait: number | null
}

/**
 * Sends a request, and retries it if that is safe: a change is not sent again if the server could make it twice. Each attempt waits for its turn among all requests
 * to the server. A read fails at its deadline even if attempts are left. Returns a response with a status below 400, and throws a `ProviderError` otherwise.
 */
export async function sendRequest(sender: Sender, call: ApiRequest): Promise<HttpResponse> {
  const { retry = DEFAULT_RETRY, silence } = sender
  const stop = stopOf(call)
  const startedAt = silence.now()
  const deadline = changes(call) ? null : createReadDeadline(sender.readDeadline, silence)
  let mayHaveActed = false
  let mayCompleteLater = false
  let last: LastAttempt | null = null
  let failures = 0
  let postponed = 0
  for (;;) {
    const { turn, error: obstacle, asked } = await enter(sender, call, stop, deadline)
    // An earlier attempt may have succeeded even if there is no further one.
    if (!turn) throw last === null ? obstacle : lastFailure({ ...last, asked })
    const forbidden = changes(call) ? await whyForbidden(sender, call, stop) : null
    if (forbidden !== null) {
      turn.end({ congested: false })
      throw last === null ? notSent(sender, call, forbidden) : lastFailure(last)
    }
    const entered = silence.now()
    sender.onRequest?.(last !== null)
    const { response, failure } = await attemptOnce(sender, call, turn, deadline)
    if (response) return response
    // An earlier attempt deleted the object, and its response did not arrive.
    if (failure.error.code === 'provider-not-found' && call.method === 'DELETE' && mayHaveActed) return DELETED
    const isBusy = failure.retry === 'busy'
    if (isBusy) postponed += 1
    else failures += 1
    const { error } = failure
    mayHaveActed ||= error.ambiguous
    mayCompleteLater ||= error.mayCompleteLater
    last = { error, mayHaveActed, mayCompleteLater, tries: failures + postponed, took: silence.now() - startedAt }
    const repeatable = isBusy || (failure.retry === 'yes' && (!MAKES_TWICE.has(call.method) || !error.ambiguous))
    if (!repeatable || failures >= retry.tries || postponed >= retry.busyTries) throw lastFailure(last)
    if (failure.wait !== null && failure.wait > retry.maxRetryAfter) throw lastFailure({ ...last, asked: failure.wait })
    const pause = retryDelay(retry, isBusy ? postponed : failures, failure.wait, Math.random)
    if (!isBusy) deadline?.spend(silence.now() - entered + pause)
    // The remaining time is too short for another attempt.
    if (!isBusy && deadline && deadline.remaining() < sender.readDeadline / 10) throw lastFailure(last)
    await sleep(pause, stop).catch(() => undefined)
    if (stop?.aborted) throw lastFailure(last)
  }
}

/** Why a change must not be sent; null if it may. Waits as long as the run wants to. */
async function whyForbidden({ writeTimeout, readDeadline }: Sender, { mayWrite }: ApiRequest, stop: AbortSignal | undefined) {
  if (mayWrite === undefined) return null
  return (await mayWrite(writeTimeout ?? readDeadline)) ?? (stop?.aborted ? 'the run was stopped' : null)
}

const notSent = ({ provider }: Sender, { what }: ApiRequest, why: string): ProviderError =>
  new ProviderError('provider-stopped', `${provider}: ${what}: not sent: ${why}`, { notSent: true })

/** A second POST may create a second object, and a second PATCH may undo another client's change since the first. */
const MAKES_TWICE: ReadonlySet<string> = new Set(['POST', 'PATCH'])

/** Instead of the response that did not arrive. */
export const DELETED: HttpResponse = { status: 204, headers: {}, text: '' }

/** Both signals are those of a run, so its requests share one that joins them. */
const joined = new WeakMap<AbortSignal, WeakMap<AbortSignal, AbortSignal>>()

function stopOf({ signal, stop }: ApiRequest): AbortSignal | undefined {
  if (!signal || !stop) return withoutWarning(signal ?? stop)
  const known = joined.get(signal) ?? new WeakMap<AbortSignal, AbortSignal>()
  joined.set(signal, known)
  const both = known.get(stop) ?? withoutWarning(AbortSignal.any([signal, stop]))
  known.set(stop, both)
  return both
}

/** Many requests listen to the signals of one run; Node warns of a leak from the eleventh on. */
function withoutWarning<T extends AbortSignal | undefined>(signal: T): T {
  if (signal) setMaxListeners(0, signal)
  return signal
}

type Admission =
  | { readonly turn: Turn; readonly error?: never; readonly asked?: never }
  /** `asked`: milliseconds for which the server wants no requests. */
  | { readonly turn?: never; readonly error: ProviderError; readonly asked?: number }

/** Waits for the turn of an attempt. Returns the reason if there is none. */
async function enter(
  sender: Sender,
  { what }: ApiRequest,
  stop: AbortSignal | undefined,
  deadline: ReadDeadline | null,
): Promise<Admission> {
  const watch = deadline?.watch()
  const signals = [stop, watch?.signal].filter((signal) => signal !== undefined)
  const failure = (code: DiagnosticCode, why: string, cause: unknown): ProviderError =>
    new ProviderError(code, `${sender.provider}: ${what}: ${why}`, { notSent: code !== 'provider-timeout', cause })
  try {
    return { turn: await sender.limit.enter(signals.length === 2 ? AbortSignal.any(signals) : signals[0]) }
  } catch (error) {
    if (error instanceof LimitClosed) {
      const why = `not sent: the server asks to wait for ${counted(Math.ceil(error.wait / 1000), 'second')}`
      return { error: failure('provider-rate-limited', why, error), asked: error.wait }
    }
    if (stop?.aborted) return { error: failure('provider-stopped', 'not sent: the run was stopped', error) }
    const limit = formatSeconds(sender.readDeadline)
    return { error: failure('provider-timeout', `not sent: the server has not responded for ${limit}`, error) }
  } finally {
    watch?.end()
  }
}

type AttemptResult =
  | { readonly response: HttpResponse; readonly failure?: never }
  | { readonly response?: never; readonly failure: Failure }

async function attemptOnce(sender: Sender, call: ApiRequest, turn: Turn, deadline: ReadDeadline | null): Promise<AttemptResult> {
  const { client, dialect, provider, silence } = sender
  const mutates = changes(call)
  let result: TurnResult = { congested: false }
  try {
    const response = await client.request({
      ...httpRequest(call),
      ...(deadline && { silenceTimeout: sender.readTimeout, totalTimeout: deadline.remaining() }),
    })
    const wait = waitOf(response)
    const budget = parseRateLimit(response.headers, clockOf(response))
    silence.recordResponse(Math.max(wait ?? 0, budget?.remaining === 0 ? budget.resetIn : 0))
    result = { congested: CONGESTED.has(response.status), pause: wait, budget }
    if (response.status < 400) return { response }
    const retry = response.status === 429 || dialect.isBusy?.(response) ? 'busy' : isTransient(response) ? 'yes' : 'no'
    return { failure: { error: dialect.errorOfResponse(provider, call.what, response, mutates), retry, wait } }
  } catch (error) {
    if (!(error instanceof TransportError)) throw error
    result = { congested: error.problem === 'timeout' && !call.signal?.aborted }
    const retry = error.problem === 'garbled' || error.problem === 'too-large' || call.signal?.aborted ? 'no' : 'yes'
    return { failure: { error: errorOfTransport(dialect, provider, call.what, error, mutates), retry, wait: null } }
  } finally {
    turn.end(result)
  }
}

/** A maintenance, which the server announces, takes longer than any wait here. */
const isTransient = ({ status, headers }: HttpResponse): boolean => TRANSIENT.has(status) && headers['x-maintenance-mode'] === undefined

/** The wait that a refusal asks for. Some servers also send `Retry-After` with successful responses, where it has no meaning. */
const waitOf = (response: HttpResponse): number | null =>
  response.status === 429 || response.status === 503 ? parseRetryAfter(response.headers['retry-after'], clockOf(response)) : null

/** The time by the server's clock if it sends a date, because its other dates use that clock. */
const clockOf = ({ headers }: HttpResponse): number => {
  const date = Date.parse(headers['date'] ?? '')
  return Number.isNaN(date) ? Date.now() : date
}

interface LastAttempt {
  readonly error: ProviderError
  /** Whether the server may have carried out the request. */
  readonly mayHaveActed: boolean
  readonly mayCompleteLater: boolean
  readonly tries: number
  /** Milliseconds since the first attempt was due. */
  readonly took: number
  /** Milliseconds that the server asks to wait, if that is too long. */
  readonly asked?: number | undefined
}

/** The final failure, with the number of attempts. */
function lastFailure({ error, mayHaveActed, mayCompleteLater, tries, took, asked }: LastAttempt): ProviderError {
  if (asked === undefined && tries === 1) return error
  // The number of attempts is added to failures without a response; a response explains itself.
  const tried = tries === 1 || error.status !== null ? '' : `; tried ${tries} times in ${formatSeconds(took)}`
  const wanted = asked === undefined ? '' : `; it asks to wait for ${counted(Math.ceil(asked / 1000), 'second')}`
  return error.with({ message: error.message + tried + wanted, ambiguous: mayHaveActed, mayCompleteLater, cause: error.cause })
}

function httpRequest(call: ApiRequest): HttpRequest {
  const parameters = Object.entries(call.query ?? {}).flatMap(([key, value]) =>
    [value].flat().map((one): [string, string] => [key, String(one)]),
  )
  const query = parameters.length === 0 ? '' : `?${new URLSearchParams(parameters).toString()}`
  return {
    method: call.method,
    path: call.path + query,
    ...(call.headers && { headers: call.headers }),
    ...(call.body === undefined ? {} : { body: call.body }),
    ...(call.form && { text: new URLSearchParams(call.form).toString(), headers: { ...call.headers, ...FORM } }),
    signal: call.signal,
  }
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** Whether a request changes something at the server. */
export const changes = ({ method, changesNothing }: ApiRequest): boolean => method !== 'GET' && changesNothing !== true

export interface ApiRequest extends ProviderCallOptions {
  readonly method: HttpRequest['method']
  readonly path: string
  /** A key with a list is repeated. */
  readonly query?: Readonly<Record<string, string | number | readonly string[]>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Sent as a form instead of `body`. */
  readonly form?: Readonly<Record<string, string>>
  /** Whether a request that is no GET changes nothing, such as one for a token. */
  readonly changesNothing?: boolean
  /** Whether the response body is any text, which is not parsed. */
  readonly plain?: boolean
  /** The purpose of the request, for messages. */
  readonly what: string
}

/** A request that reads. */
export const reading = (path: string, what: string, options?: ProviderCallOptions, query?: ApiRequest['query']): ApiRequest => ({
  method: 'GET',
  path,
  what,
  ...(query && { query }),
  ...options,
})
