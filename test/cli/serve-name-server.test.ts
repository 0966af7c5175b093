import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { encode } from 'dns-packet'
import { expect, onTestFinished, test } from 'vitest'
import { handledAll } from '../service/nameserver/udp-client.ts'
import { startProgram } from '../support/built-program.ts'
import { cli } from '../support/cli.ts'
import { freePort } from '../support/free-port.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const QUERIES = 300

/** As many as fit into the receive buffer of the server. */
const BATCH = 50

/** The number of full responses to equal queries, and the number of rate-limit seconds that they span. */
async function answeredOf(port: number): Promise<{ readonly whole: number; readonly seconds: number }> {
  const socket = createSocket('udp4')
  socket.connect(port, '127.0.0.1')
  await once(socket, 'connect')
  let whole = 0
  socket.on('message', (answer) => {
    if ((answer.readUInt16BE(2) & 0x0200) === 0) whole += 1
  })
  const begun = performance.now()
  for (let from = 0; from < QUERIES; from += BATCH) {
    for (let id = from; id < from + BATCH; id += 1)
      socket.send(encode({ type: 'query', id, questions: [{ type: 'A', name: 'example.org' }] }))
    await handledAll(port)
  }
  const seconds = Math.ceil((performance.now() - begun) / 1000) + 1
  socket.close()
  return { whole, seconds }
}

test.each([
  [['--dns-rate-limit', 'off', '--rate-limit', 'off'], QUERIES, QUERIES],
  [['--dns-rate-limit', '10'], 10, 10],
  [[], 200, 200],
])('serve %j limits equal responses over UDP', async (options, least, ofSecond) => {
  const args = ['serve', '--listen', '127.0.0.1:0', '--dns', '127.0.0.1:0', ...options]
  const run = await startProgram(args, { cwd: temporaryDirectory(), env: { ZONEWRIGHT_BOOTSTRAP_TOKEN: 'bootstrap' } })
  onTestFinished(() => run.kill('SIGKILL'))
  await run.until('listening')
  const { http, dns } = JSON.parse(run.stdout())
  const { whole, seconds } = await answeredOf(Number(dns.split(':')[1]))
  expect(whole).toBeGreaterThanOrEqual(least)
  expect(whole).toBeLessThanOrEqual(Math.min(QUERIES, ofSecond * seconds))
  const profile = await fetch(`${http}/profile`, { headers: { authorization: 'Bearer bootstrap' } })
  expect(profile.status).toBe(200)
})

test('serve --peer-port is the port for NOTIFY', async () => {
  const peerPort = await freePort()
  const socket = createSocket('udp4').bind(peerPort, '127.0.0.2')
  onTestFinished(() => void socket.close())
  const notified = once(socket, 'message', { signal: AbortSignal.timeout(30_000) })
  const args = ['serve', '--listen', '127.0.0.1:0', '--dns', '127.0.0.1:0', '--peer-port', String(peerPort)]
  const run = await startProgram(args, { cwd: temporaryDirectory(), env: { ZONEWRIGHT_BOOTSTRAP_TOKEN: 'bootstrap' } })
  onTestFinished(() => run.kill('SIGKILL'))
  await run.until('listening')
  const { http } = JSON.parse(run.stdout())
  const body = JSON.stringify({ domain: 'example.com', type: 'master', soa_email: 'a@example.com', axfr_ips: ['127.0.0.2'] })
  const headers = { authorization: 'Bearer bootstrap', 'content-type': 'application/json' }
  expect((await fetch(`${http}/domains`, { method: 'POST', headers, body })).status).toBe(200)
  const [octets] = (await notified) as [Buffer]
  // Opcode NOTIFY and AA.
  expect(octets.readUInt16BE(2)).toBe(0x2400)
})

test.each(['0', '65536', '-1', '5.3', 'dns', ''])('refuses --peer-port %j', async (value) => {
  const { status, stderr } = await cli(['serve', '--peer-port', value], { cwd: temporaryDirectory() })
  expect(status).toBe(1)
  expect(stderr).toMatch(/^error\[usage\] .*It must be a port from 1 to 65535\.\n$/)
})
