/** Deadlines of reads at a server that accepts connections and does not respond, over a real socket. */
import { expect, test } from 'vitest'
import type { ProviderError } from '../../../src/providers/provider.ts'
import { type Handler, openCloud, CLOUD_ZONE as ZONE } from './scripted-server.ts'

const DEADLINE = 2000

const serve = (handler: Handler) =>
  openCloud(handler, { parallelism: 2, timeout: 60_000, readTimeout: DEADLINE / 2, readDeadline: DEADLINE })

const fail = (reading: Promise<unknown>): Promise<Pick<ProviderError, 'code' | 'message'>> =>
  reading.then(
    () => expect.unreachable('it was read'),
    ({ code, message }: ProviderError) => ({ code, message }),
  )

const silent: Handler = () => undefined
const drip: Handler = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).write(' ')
  const timer = setInterval(() => response.write(' '), 20)
  response.on('close', () => clearInterval(timer))
}

test.each([
  ['silence', silent, 2, /did not respond in time: .*; tried 2 times in \d+(?:\.\d)? s$/],
  ['a slow response', drip, 1, /did not respond in time: its response was not complete within 2 s$/],
] as const)('%s', async (_, handler, tries, message) => {
  const { provider, server } = await serve(handler)
  const failure = await fail(provider.readZone(ZONE))
  expect(failure).toMatchObject({ code: 'provider-timeout', message: expect.stringMatching(message) })
  expect(server.seen).toHaveLength(tries)
})

test('many concurrent reads time out as fast as one', async () => {
  const { provider, server } = await serve(silent)
  const all = await Promise.all(Array.from({ length: 40 }, () => fail(provider.readZone(ZONE))))
  expect(all.at(-1)).toMatchObject({ code: 'provider-timeout', message: expect.stringMatching(/not sent: the server .* for 2 s/) })
  // In sequence each would be sent.
  expect(server.seen.length).toBeLessThan(12)
})
