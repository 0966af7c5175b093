/** Where messages to phones go. The service has no line to a telephone network of its own. */
import { open } from 'node:fs/promises'
import type { Log } from '../observability/log.ts'

/** Takes a message over; rejects where it could not be, with what is wrong and without what is secret. */
export type SmsSink = (message: SmsMessage) => Promise<void>

/** `log`; `file` with lines of JSON; or `webhook`, which gets each message by HTTP POST. */
export type SmsDestination =
  | { readonly kind: 'log' }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'webhook'; readonly url: URL }

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** Reads `log`, `file:PATH` or a URL. Throws a `RangeError` that says what is wrong with it. */
export function parseSmsDestination(text: string): SmsDestination {
  if (text === 'log') return { kind: 'log' }
  if (/^file:./.test(text)) return { kind: 'file', path: text.slice('file:'.length) }
  const url = /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : null
  if (url === null) throw new RangeError('messages go to "log", "file:PATH" or a URL that begins with https://')
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname)) throw new RangeError('codes go over HTTP without TLS to this machine only')
  if (url.username !== '' || url.password !== '') throw new RangeError('the URL that messages go to must not hold a user name or password')
  return { kind: 'webhook', url }
}

/** What cannot be handed over is told in the log, without the message. */
export function createSmsSink(place: SmsDestination, log: Log): SmsSink {
  const send = sinkOf(place, log)
  return async (message) => {
    try {
      await send(message)
    } catch (error) {
      log.warn({ error, sink: place.kind }, 'SMS not sent')
      throw error
    }
  }
}

function sinkOf(place: SmsDestination, log: Log): SmsSink {
  switch (place.kind) {
    case 'log':
      return async ({ to, text }) => log.info({ to, text }, 'SMS')
    case 'file':
      return (message) => appendMessage(place.path, message, log)
    case 'webhook':
      return (message) => postMessage(place.url, message)
  }
}

/** Codes are for nobody else to read, also in a file that was there before. */
async function appendMessage(path: string, message: SmsMessage, log: Log): Promise<void> {
  const file = await open(path, 'a', 0o600)
  try {
    const facts = await file.stat()
    if (facts.isFile() && (facts.mode & 0o077) !== 0 && process.platform !== 'win32') {
      await file.chmod(0o600)
      log.warn({ path, mode: (facts.mode & 0o7777).toString(8).padStart(4, '0') }, 'file was open to other users; its mode is 0600 now')
    }
    await file.appendFile(`${JSON.stringify(message)}\n`)
  } finally {
    await file.close()
  }
}

/** A message to a telephone. */
export interface SmsMessage {
  /** The number in E.164. */
  readonly to: string
  readonly text: string
}

/** Milliseconds from the connection to the end of the answer. */
const TIMEOUT = 10_000

/** Octets of an answer that are read; nothing in it is of use. */
const MAX_ANSWER = 64 * 1024

/**
 * Hands a message over by HTTP POST, as `{"to": "+12015550123", "text": "…"}`. Any status of 200 to 299 is taken for done; nothing is
 * followed and nothing sent twice. Rejects with the reason; the path of the URL may hold a secret and is not told.
 */
async function postMessage(url: URL, message: SmsMessage): Promise<void> {
  // In the bundle, a CommonJS package has only its default export.
  const { default: undici } = await import('undici')
  let status: number
  try {
    const answer = await undici.request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'zonewright' },
      body: JSON.stringify(message),
      signal: AbortSignal.timeout(TIMEOUT),
    })
    await answer.body.dump({ limit: MAX_ANSWER })
    status = answer.statusCode
  } catch (error) {
    const { name, code } = error as NodeJS.ErrnoException
    throw new Error(`the webhook at ${url.origin} cannot be reached: ${name === 'TimeoutError' ? 'no answer in time' : (code ?? name)}`)
  }
  if (status < 200 || status > 299) throw new Error(`the webhook at ${url.origin} answers ${status}`)
}
