import type { SmsMessage } from './sms-message.ts'

/** Milliseconds from the connection to the end of the answer. */
const TIMEOUT = 10_000

/** Octets of an answer that are read; nothing in it is of use. */
const MAX_ANSWER = 64 * 1024

/**
 * Hands a message over by HTTP POST, as `{"to": "+12015550123", "text": "…"}`. Any status of 200 to 299 is taken for done; nothing is
 * followed and nothing sent twice. Rejects with the reason; the path of the URL may hold a secret and is not told.
 */
export async function postMessage(url: URL, message: SmsMessage): Promise<void> {
  const { request } = await import('undici')
  let status: number
  try {
    const answer = await request(url, {
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
