import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createHttpClient } from '../../src/transport/http-client.ts'
import { type Fault, type FaultProxy, startFaultProxy } from './fault-proxy.ts'

/** Milliseconds to wait for a response: if one is expected, and if none is. */
const PATIENT = 30_000
const SHORT = 1_000

async function setUp(fault: Fault, timeout = PATIENT): Promise<{ proxy: FaultProxy; seen: () => number; ask: () => Promise<string> }> {
  let count = 0
  const server = createServer((_, response) => {
    count += 1
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ number: count, filler: 'x'.repeat(500) }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const proxy = await startFaultProxy(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, ({ number }) =>
    number === 1 ? fault : { kind: 'none' },
  )
  const client = createHttpClient({ baseUrl: new URL(proxy.origin), headers: {}, connections: 1, timeout, maxResponse: 1e6 })
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await proxy.close()
  })
  const ask = async (): Promise<string> => {
    try {
      const { status, text } = await client.request({ method: 'GET', path: '/' })
      return status === 200 && text.startsWith('{') ? `${status} ${(JSON.parse(text) as { number: number }).number}` : String(status)
    } catch (error) {
      return (error as { problem: string }).problem
    }
  }
  return { proxy, seen: () => count, ask }
}

/** The client's results of two requests, and the number of requests at the server. */
test.each<[Fault, string, string, number]>([
  [{ kind: 'none' }, '200 1', '200 2', 2],
  [{ kind: 'delay', before: 5, after: 5 }, '200 1', '200 2', 2],
  [{ kind: 'reorder' }, '200 1', '200 2', 2],
  [{ kind: 'drip' }, '200 1', '200 2', 2],
  [{ kind: 'duplicate-request' }, '200 1', '200 3', 3],
  [{ kind: 'duplicate-reply' }, '200 1', '200 2', 2],
  [{ kind: 'reset', when: 'before' }, 'reset', '200 1', 1],
  [{ kind: 'reset', when: 'during' }, 'reset', '200 2', 2],
  [{ kind: 'reset', when: 'after' }, 'reset', '200 2', 2],
  [{ kind: 'half-close', when: 'after' }, 'reset', '200 2', 2],
  [{ kind: 'silence', when: 'before' }, 'timeout', '200 1', 1],
  [{ kind: 'silence', when: 'after' }, 'timeout', '200 2', 2],
  [{ kind: 'truncate', hang: false }, 'reset', '200 2', 2],
  [{ kind: 'truncate', hang: true }, 'timeout', '200 2', 2],
  [{ kind: 'answer', when: 'before', status: 429, retryAfter: 'date', html: true }, '429', '200 1', 1],
  [{ kind: 'answer', when: 'after', status: 502, html: true }, '502', '200 2', 2],
])('%j', async (problem, first, second, seen) => {
  const { ask, seen: count } = await setUp(problem, first === 'timeout' ? SHORT : PATIENT)
  expect([await ask(), await ask()]).toEqual([first, second])
  expect(count()).toBe(seen)
})

test('a delayed request is in progress until the server has received it', { tags: ['long'] }, async () => {
  const { proxy, ask, seen } = await setUp({ kind: 'late', by: 4000 }, SHORT)
  expect(await ask()).toBe('timeout')
  expect([proxy.underWay(), seen()]).toEqual([1, 0])
  await proxy.untilIdle()
  expect([proxy.underWay(), seen()]).toEqual([0, 1])
})
