import { type AddressInfo, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createQuery, RCODE } from '../../src/dns/wire/message.ts'
import { requestTcp } from '../../src/transport/dns-exchange.ts'
import { startDnsFaultProxy } from './dns-fault-proxy.ts'
import type { Fault } from './fault-proxy.ts'
import { name } from './records.ts'

/** The result of one query through the proxy, and how many messages reached the server by the end. */
async function ask(fault: Fault): Promise<[result: string, reached: number]> {
  let reached = 0
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (message: Buffer) => {
      reached += 1
      const answer = Buffer.from(message)
      answer[4] = (answer[4] ?? 0) | 0x80
      socket.write(answer)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const proxy = await startDnsFaultProxy((server.address() as AddressInfo).port)
  onTestFinished(async () => {
    await proxy.close()
    server.close()
  })
  proxy.use(() => fault)
  const [host = '', port] = proxy.origin.split(':')
  const query = createQuery(0, { name: name('www.example.com.'), type: 'A' })
  const timeout = fault.kind === 'silence' || fault.kind === 'late' ? 400 : 20_000
  const result = await requestTcp({ host, port: Number(port) }, query, { timeout }).then(
    ({ rcode }) => (rcode === RCODE.NOERROR ? 'answer' : rcode === RCODE.SERVFAIL ? 'SERVFAIL' : 'other'),
    () => 'no answer',
  )
  if (fault.kind === 'late') await new Promise((resolve) => setTimeout(resolve, fault.by))
  await proxy.untilIdle()
  expect([proxy.count(), proxy.calls()]).toEqual([1, 0])
  return [result, reached]
}

test.each<[Fault, string, number]>([
  [{ kind: 'none' }, 'answer', 1],
  [{ kind: 'delay', before: 10, after: 10 }, 'answer', 1],
  [{ kind: 'duplicate-request' }, 'answer', 2],
  [{ kind: 'reset', when: 'before' }, 'no answer', 0],
  [{ kind: 'reset', when: 'during' }, 'no answer', 1],
  [{ kind: 'half-close', when: 'after' }, 'no answer', 1],
  [{ kind: 'silence', when: 'before' }, 'no answer', 0],
  [{ kind: 'silence', when: 'after' }, 'no answer', 1],
  [{ kind: 'truncate', hang: false }, 'no answer', 1],
  [{ kind: 'late', by: 500 }, 'no answer', 1],
  [{ kind: 'answer', when: 'before', status: 503, html: true }, 'SERVFAIL', 0],
  [{ kind: 'answer', when: 'after', status: 503, html: true }, 'SERVFAIL', 1],
])('%o', async (fault, result, reached) => expect(await ask(fault)).toEqual([result, reached]))
