/** Deadlines of reads at a server that accepts connections and does not respond, over a real socket. */
import { expect, test } from 'vitest'
import type { ProviderError } from '../../../src/providers/provider.ts'
import { errors, type Handler, json, openCloud, page, CLOUD_ZONE as ZONE } from './scripted-server.ts'

const DEADLINE = 2000

const serve = (handler: Handler) =>
  openCloud(handler, { parallelism: 2, timeout: 60_000, readTimeout: DEADLINE / 2, readDeadline: DEADLINE })

async function fail(reading: Promise<unknown>): Promise<{ code: string; message: string; took: number }> {
  const begun = performance.now()
  const error = await reading.then(
    () => expect.unreachable('it was read'),
    (failure: ProviderError) => failure,
  )
  return { code: error.code, message: error.message, took: performance.now() - begun }
}

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
  expect(failure.took).toBeLessThan(20_000)
  expect(server.seen).toHaveLength(tries)
})

test('many concurrent reads time out as fast as one', async () => {
  const { provider, server } = await serve(silent)
  const all = await Promise.all(Array.from({ length: 40 }, () => fail(provider.readZone(ZONE))))
  // In sequence they would take forty seconds.
  expect(Math.max(...all.map(({ took }) => took))).toBeLessThan(20_000)
  expect(all.at(-1)).toMatchObject({ code: 'provider-timeout', message: expect.stringMatching(/not sent: the server .* for 2 s/) })
  expect(server.seen.length).toBeLessThan(12)
})

test('queued reads do not time out while others get responses', async () => {
  const { provider } = await serve((_, response) => void setTimeout(() => json(response, 200, page([])), 200))
  const all = await Promise.all(Array.from({ length: 16 }, () => provider.readZone(ZONE)))
  expect(all).toHaveLength(16)
})

test('a pause that the server requests does not reduce the deadline', async () => {
  const { provider, server } = await serve((_, response, count) =>
    count === 1 ? json(response, 429, errors('Too many requests'), { 'retry-after': '1' }) : json(response, 200, page([])),
  )
  await provider.readZone(ZONE)
  expect(server.seen).toHaveLength(2)
})
