/** Each request that changes something is queried first, repetitions included, with the time that it may take. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { ProviderError } from '../../src/providers/provider.ts'
import { type ApiRequest, sendRequest } from '../../src/providers/send-request.ts'
import { createAdaptiveLimit } from '../../src/transport/adaptive-limit.ts'
import { createHttpClient } from '../../src/transport/http-client.ts'
import { createSilenceClock } from '../../src/transport/read-deadline.ts'

/** A server that answers every request with 429, and the requests that it received. */
async function busyServer() {
  const received: string[] = []
  const server = createServer(({ method }, response) => {
    received.push(method ?? '')
    response.writeHead(429, { 'retry-after': '0' }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const baseUrl = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const client = createHttpClient({ baseUrl, headers: {}, connections: 1, timeout: 5000, maxResponse: 1000 })
  onTestFinished(() => client.close())
  const send = (call: Pick<ApiRequest, 'method' | 'mayWrite'>) =>
    sendRequest(
      {
        provider: 'cloud',
        client,
        dialect: {
          errorOfResponse: (provider, what) => new ProviderError('provider-rate-limited', `${provider}: ${what}`),
          addressHint: () => '',
          startHint: '',
        },
        limit: createAdaptiveLimit(1),
        silence: createSilenceClock(),
        readTimeout: 5000,
        readDeadline: 7000,
        writeTimeout: 5000,
        retry: { tries: 2, busyTries: 5, firstDelay: 1, maxDelay: 1, maxRetryAfter: 1000 },
      },
      { path: '/', what: 'creating a record', ...call },
    ).catch((error: unknown) => error as ProviderError)
  return { received, send }
}

test('a change whose lease does not last is not sent, and not sent again', async () => {
  const { received, send } = await busyServer()
  const never = await send({ method: 'POST', mayWrite: async () => 'lease lost' })
  expect(never).toMatchObject({ code: 'provider-stopped', notSent: true, message: 'cloud: creating a record: not sent: lease lost' })
  expect(received).toEqual([])
  const asked: number[] = []
  const once = await send({
    method: 'POST',
    mayWrite: async (timeLimit) => {
      asked.push(timeLimit)
      return asked.length === 3 ? 'lease lost' : null
    },
  })
  expect(once).toMatchObject({ code: 'provider-rate-limited', notSent: false })
  expect([received, asked]).toEqual([
    ['POST', 'POST'],
    [5000, 5000, 5000],
  ])
})

test('a read is not asked for', async () => {
  const { received, send } = await busyServer()
  await send({ method: 'GET', mayWrite: async () => 'never' })
  expect(received.length).toBeGreaterThan(0)
})

test('a failure that is found to leave the change uncertain is no longer one of a request that was not sent', () => {
  const stopped = new ProviderError('provider-stopped', 'looking: not sent', { notSent: true, hint: 'again' })
  expect(stopped.with({ ambiguous: true })).toMatchObject({ code: 'provider-stopped', ambiguous: true, notSent: false, hint: 'again' })
  expect(stopped.with({ message: 'other' })).toMatchObject({ message: 'other', notSent: true })
})
