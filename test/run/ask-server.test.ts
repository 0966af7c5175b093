import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import type { DomainName } from '../../src/dns/domain-name.ts'
import { type ExpectedRrset, queryServer } from '../../src/run/verify-zone.ts'

const SETS = Array.from({ length: 1000 }, (_, number): ExpectedRrset => {
  const lines = ['300 192.0.2.1']
  return { name: `host-${number}.example.com.` as DomainName, type: 'A', lines, ttls: new Set([300]), referral: false }
})

test('stops asking a server that fails', async () => {
  // Truncated answers send the questions to a TCP port that nobody listens on.
  const server = createSocket('udp4')
  onTestFinished(() => void server.close())
  let received = 0
  server.on('message', (octets, { address, port }) => {
    received += 1
    octets[2] = (octets[2] as number) | 0x82
    server.send(octets, port, address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  const { failure, agreed, differences } = await queryServer(
    { server: { host: '127.0.0.1', port: server.address().port }, role: 'authoritative' },
    SETS,
  )
  expect(failure).toMatch(/^127\.0\.0\.1 port \d+ cannot be reached/)
  expect({ agreed, differences: differences.length }).toEqual({ agreed: 0, differences: 2 })
  expect(received).toBeLessThan(SETS.length / 2)
})
