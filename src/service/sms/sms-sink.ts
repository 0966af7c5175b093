/** Sends messages to phones: to the log, a file or a webhook, since the service has no connection to a telephone network. */
import { open } from 'node:fs/promises'
import type { Log } from '../observability/log.ts'

/** Delivers a message. Rejects with the reason, without secrets. */
export type SmsSink = (message: SmsMessage) => Promise<void>

/** The log, a file with lines of JSON, or a webhook that gets each message by HTTP POST. */
export type SmsDestination =
  | { readonly kind: 'log' }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'webhook'; readonly url: URL }

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** Parses `log`, `file:PATH` or a URL. Throws a `RangeError` if it is not valid. */
export function parseSmsDestination(text: string): SmsDestination {
  if (text === 'log') return { kind: 'log' }
  if (/^file:./.test(text)) return { kind: 'file', path: text.slice('file:'.length) }
  const url = /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : null
  if (url === null) throw new RangeError('the destination of messages must be "log", "file:PATH" or a URL that begins with https://')
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname)) throw new RangeError('a webhook without TLS must be on this machine')
  if (url.username !== '' || url.password !== '') throw new RangeError('the URL of the webhook must not contain a user name or password')
  return { kind: 'webhook', url }
}

/** The sink logs failures, without the message. */
export function createSmsSink(destination: SmsDestination, log: Log): SmsSink {
  const send = sinkOf(destination, log)
  return async (message) => {
    try {
      await send(message)
    } catch (error) {
      log.warn({ error, sink: destination.kind }, 'SMS not sent')
      throw error
    }
  }
}

function sinkOf(destination: SmsDestination, log: Log): SmsSink {
  switch (destination.kind) {
    case 'log':
      return async ({ to, text }) => log.info({ to, text }, 'SMS')
    case 'file':
      return (message) => appendMessage(destination.path, message, log)
    case 'webhook':
      return (message) => postMessage(destination.url, message)
  }
}

/** Appends to a file that only its owner can read; restricts the mode of an existing file. */
async function appendMessage(path: string, message: SmsMessage, log: Log): Promise<void> {
  const file = await open(path, 'a', 0o600)
  try {
    const facts = await file.stat()
    if (facts.isFile() && (facts.mode & 0o077) !== 0 && process.platform !== 'win32') {
      await file.chmod(0o600)
      log.warn(
        { path, mode: (facts.mode & 0o7777).toString(8).padStart(4, '0') },
        'file was accessible to other users; its mode is 0600 now',
      )
    }
    await file.appendFile(`${JSON.stringify(message)}\n`)
  } finally {
    await file.close()
  }
}

/** A message to a phone. */
export interface SmsMessage {
  /** The number in E.164. */
  readonly to: string
  readonly text: string
}

/** Milliseconds for the whole request. */
const TIMEOUT = 10_000

/** Octets of the response body to read and discard. */
const MAX_RESPONSE = 64 * 1024

/**
 * Sends a message by HTTP POST, as `{"to": "+12015550123", "text": "…"}`. A status from 200 to 299 is success; there are no redirects and no
 * retries. Rejects with the reason, which omits the path of the URL because it may contain a secret.
 */
async function postMessage(url: URL, message: SmsMessage): Promise<void> {
  // In the bundle, a CommonJS package has only its default export.
  const { default: undici } = await import('undici')
  let status: number
  try {
    const response = await undici.request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'zonewright' },
      body: JSON.stringify(message),
      signal: AbortSignal.timeout(TIMEOUT),
    })
    await response.body.dump({ limit: MAX_RESPONSE })
    status = response.statusCode
  } catch (error) {
    const { name, code } = error as NodeJS.ErrnoException
    throw new Error(`the webhook at ${url.origin} cannot be reached: ${name === 'TimeoutError' ? 'no response in time' : (code ?? name)}`)
  }
  if (status < 200 || status > 299) throw new Error(`the webhook at ${url.origin} responded with status ${status}`)
}
