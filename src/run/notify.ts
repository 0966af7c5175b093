/** Sends the document of a run to web addresses. A notification that fails is a warning: the run has done its work. */
import { createHmac } from 'node:crypto'
import type { Diagnostic, SourcePosition } from '../base/diagnostic.ts'
import { isSecretReference, resolveSecret } from '../config/resolve-secret.ts'
import type { RunDocument } from '../report/run-document.ts'
import { chatMessage } from '../report/run-message.ts'
import { endpointOfUrl, isLoopback, readHostPolicy } from '../transport/allowed-hosts.ts'
import { createHttpClient, type HttpClient, TransportError } from '../transport/http-client.ts'
import { proxyFor } from '../transport/proxy.ts'
import { parseRetryAfter, type RetryPolicy, retryDelay, sleep } from '../transport/retry.ts'
import type { ProcessEnvironment } from './context/run-context.ts'

export type NotificationFormat = 'json' | 'slack'

export interface NotifyOptions {
  /** Addresses, or references to them (`env:NAME`, `file:PATH`). */
  readonly notify?: readonly string[] | undefined
  /** `json` if absent. */
  readonly notifyFormat?: NotificationFormat | undefined
  /** A reference to the key that signs notifications. */
  readonly notifyKey?: string | undefined
}

/** An address that may be contacted. */
interface Receiver {
  readonly url: URL
  readonly proxy: URL | null
}

export interface Notifier {
  /** Sends the document to every receiver. Returns a warning for each that did not take it. */
  send(run: RunDocument): Promise<readonly Diagnostic[]>
}

/** The header with the time and the signature, in the form that Stripe's webhooks have: `t=SECONDS,v1=HEX`. */
export const SIGNATURE_HEADER = 'zonewright-signature'

/** Milliseconds: of one attempt, and of all attempts together. */
const TIMEOUT = 5000
const DEADLINE = 20_000
const RETRY: RetryPolicy = { tries: 4, busyTries: 4, firstDelay: 500, maxDelay: 5000, maxRetryAfter: 10_000 }
const MAX_RESPONSE = 1_000_000
const MAX_RECEIVERS = 10
/** Octets of a key. RFC 2104 section 3 advises against keys shorter than the hash. */
const MIN_KEY = 16

const AT: SourcePosition = { file: '', line: 1, column: 1 }

/** Reads the options. The notifier is null after an error, which the run reports before it begins. */
export async function openNotifier(
  { env, cwd, secrets }: Pick<ProcessEnvironment, 'env' | 'cwd' | 'secrets'>,
  { notify = [], notifyFormat = 'json', notifyKey }: NotifyOptions,
): Promise<{ readonly notifier: Notifier | null; readonly diagnostics: readonly Diagnostic[] }> {
  const diagnostics: Diagnostic[] = []
  const source = { folder: cwd, env, loaded: secrets }
  const fail = (message: string, hint: string): void => void diagnostics.push({ severity: 'error', code: 'usage', message, hint })
  const resolve = async (text: string, what: string): Promise<string | null> => {
    const { value, diagnostic } = await resolveSecret(text, what, AT, source)
    if (diagnostic) diagnostics.push({ ...diagnostic, at: undefined })
    return value
  }
  if (notify.length > MAX_RECEIVERS) fail(`there are ${notify.length} addresses under --notify`, `give ${MAX_RECEIVERS} at most`)
  const receivers: Receiver[] = []
  const policy = readHostPolicy(env)
  for (const text of notify.slice(0, MAX_RECEIVERS)) {
    const address = isSecretReference(text) ? await resolve(text, '--notify') : text
    const url = address !== null && URL.canParse(address) ? new URL(address) : null
    if (address === null) continue
    if (url === null || !isSafe(url)) {
      fail(
        '--notify is no https: address without user name',
        'such as https://hooks.example.net/services/…, or env:NAME for a variable with it',
      )
      continue
    }
    const refused = policy.check('--notify', endpointOfUrl(url))
    if (refused === null) receivers.push({ url, proxy: proxyFor(url, env, diagnostics) })
    else diagnostics.push(refused)
  }
  if (notifyKey !== undefined && !isSecretReference(notifyKey)) fail('--notify-key is no reference', 'write env:NAME or file:PATH')
  const key = notifyKey === undefined || !isSecretReference(notifyKey) ? null : await resolve(notifyKey, '--notify-key')
  if (key !== null && Buffer.byteLength(key) < MIN_KEY)
    fail(`the key of --notify-key is shorter than ${MIN_KEY} octets`, 'make one: openssl rand -hex 32')
  if (diagnostics.length > 0) return { notifier: null, diagnostics }
  const send = async (run: RunDocument): Promise<readonly Diagnostic[]> => {
    const body = JSON.stringify(notifyFormat === 'slack' ? chatMessage(run) : run)
    const found = await Promise.all(receivers.map((receiver) => deliver(receiver, body, key, run.id)))
    return found.flatMap((problem) => problem ?? [])
  }
  return { notifier: { send }, diagnostics }
}

/** Plain HTTP is for this machine only. */
const isSafe = ({ protocol, hostname, username, password }: URL): boolean =>
  username === '' && password === '' && (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname)))

/** The signature of a body: HMAC-SHA-256 over `SECONDS.BODY`, so that a receiver can refuse an old one. */
export const signatureOf = (key: string, seconds: number, body: string): string =>
  `t=${seconds},v1=${createHmac('sha256', key).update(`${seconds}.${body}`).digest('hex')}`

/** Null if the receiver took the body. */
async function deliver({ url, proxy }: Receiver, body: string, key: string | null, id: string): Promise<Diagnostic | null> {
  const client = createHttpClient({
    baseUrl: new URL(url.origin),
    headers: { 'user-agent': 'zonewright' },
    connections: 1,
    timeout: TIMEOUT,
    maxResponse: MAX_RESPONSE,
    proxy,
  })
  const end = AbortSignal.timeout(DEADLINE)
  try {
    for (let attempt = 1; ; attempt += 1) {
      const { problem, mayRepeat, wait } = await attemptOnce(client, url, body, key, id, end)
      if (problem === null) return null
      const pause = retryDelay(RETRY, attempt, wait, Math.random)
      if (!mayRepeat || attempt >= RETRY.tries || pause > RETRY.maxRetryAfter || end.aborted) return failed(url, problem, attempt)
      await sleep(pause, end).catch(() => undefined)
      if (end.aborted) return failed(url, problem, attempt)
    }
  } finally {
    await client.close()
  }
}

interface Attempt {
  /** Null if the receiver took the body. */
  readonly problem: string | null
  readonly mayRepeat: boolean
  /** Milliseconds that the receiver asks to wait; null if it does not. */
  readonly wait: number | null
}

/** The same body may arrive twice, with the same id. */
async function attemptOnce(
  client: HttpClient,
  url: URL,
  body: string,
  key: string | null,
  id: string,
  signal: AbortSignal,
): Promise<Attempt> {
  const seconds = Math.floor(Date.now() / 1000)
  const signature = key === null ? {} : { [SIGNATURE_HEADER]: signatureOf(key, seconds, body) }
  const headers = { 'content-type': 'application/json', 'zonewright-delivery': id, ...signature }
  try {
    const response = await client.request({ method: 'POST', path: url.pathname + url.search, headers, text: body, signal })
    const { status } = response
    if (status >= 200 && status < 300) return { problem: null, mayRepeat: false, wait: null }
    const wait = status === 429 || status === 503 ? parseRetryAfter(response.headers['retry-after'], Date.now()) : null
    return { problem: `it answers ${status}`, mayRepeat: status === 408 || status === 429 || status >= 500, wait }
  } catch (error) {
    if (error instanceof TransportError) return { problem: error.message, mayRepeat: error.problem !== 'too-large', wait: null }
    // Whatever it is, the run has done its work.
    return { problem: signal.aborted ? 'no answer in time' : 'it could not be sent', mayRepeat: false, wait: null }
  }
}

const failed = ({ host }: URL, problem: string, attempts: number): Diagnostic => ({
  severity: 'warning',
  code: 'notification-failed',
  message: `the notification to ${host} failed${attempts > 1 ? ` ${attempts} times` : ''}: ${problem}`,
  hint: 'the run and its exit status are not affected',
})
