/**
 * Applies 1,000 creations over networks with different latencies: `node bench/apply-latency.mjs`. The ideal is the waiting time alone,
 * calls × latency ÷ parallelism; without latency it is the time of a bare client that sends the same requests with the same parallelism.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, PROGRAM, runNode } from './measure.mjs'
import { startService, TOKEN } from './service-under-test.mjs'

const CREATIONS = 1000
const PARALLELISM = 8
const RUNS = process.argv.includes('--short') ? 1 : 5

/** Starts a proxy that delays each direction by half of the latency, and returns its origin. */
async function startDelay(target, latency) {
  const { hostname, port } = new URL(target)
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ host: hostname, port, noDelay: true })
    for (const [from, to] of [
      [near, far],
      [far, near],
    ]) {
      from.on('data', (chunk) => setTimeout(() => to.writable && to.write(chunk), latency / 2))
      from.on('end', () => setTimeout(() => to.end(), latency / 2))
      from.on('error', () => to.destroy())
    }
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { origin: `http://127.0.0.1:${server.address().port}`, stop: () => new Promise((resolve) => server.close(resolve)) }
}

const agent = new Agent({ keepAlive: true, maxSockets: PARALLELISM })

function call(base, method, path, body) {
  const url = new URL(base + path)
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
    const outgoing = request(url, { method, agent, headers }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk) => (text += chunk))
      answer.on('end', () => resolve(JSON.parse(text)))
    })
    outgoing.on('error', reject)
    outgoing.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

/** Seconds that a client takes that only sends the creations. */
async function bareSeconds(http) {
  const { id } = await call(http, 'POST', '/domains', { domain: 'bare.example', type: 'master', soa_email: 'a@example.com' })
  const begin = performance.now()
  let next = 0
  const worker = async () => {
    while (next < CREATIONS) {
      const name = `h${next++}`
      await call(http, 'POST', `/domains/${id}/records`, { type: 'A', name, target: '192.0.2.1', ttl_sec: 300 })
    }
  }
  await Promise.all(Array.from({ length: PARALLELISM }, worker))
  const seconds = (performance.now() - begin) / 1000
  await call(http, 'DELETE', `/domains/${id}`)
  return seconds
}

const cwd = mkdtempSync(join(tmpdir(), 'zonewright-bench-'))
mkdirSync(join(cwd, 'zones'))
const records = Array.from({ length: CREATIONS }, (_, index) => `  h${index}: {type: A, value: 192.0.2.1, ttl: 300}`).join('\n')
writeFileSync(join(cwd, 'zones/many.example.yaml'), `domain: many.example\nsoa_email: hostmaster@example.com\nrecords:\n${records}\n`)

const service = await startService()
try {
  const { pathname, origin } = new URL(service.http)
  const forget = async () => {
    const { data } = await call(service.http, 'GET', '/domains')
    for (const { id } of data) await call(service.http, 'DELETE', `/domains/${id}`)
  }
  const bare = median(await inTurn(RUNS, () => bareSeconds(service.http)))
  console.log(`${CREATIONS} creations, ${PARALLELISM} at once, medians of ${RUNS}; whole processes, reading and reading back included`)
  for (const latency of [0, 20, 100]) {
    const delay = await startDelay(origin, latency)
    writeFileSync(
      join(cwd, 'zonewright.yaml'),
      `providers:\n  cloud: {type: cloud, base_url: '${delay.origin}${pathname}', token: env:ZONEWRIGHT_TOKEN, parallelism: ${PARALLELISM}}\n`,
    )
    const seconds = median(
      await inTurn(RUNS, async () => {
        await forget()
        return (await runNode([PROGRAM, 'apply', '--yes', '--quiet'], { cwd, env: { ZONEWRIGHT_TOKEN: TOKEN } })).seconds
      }),
    )
    await delay.stop()
    const ideal = latency === 0 ? bare : (CREATIONS * latency) / PARALLELISM / 1000
    console.log(
      `${String(latency).padStart(4)} ms  ${seconds.toFixed(2).padStart(6)} s   ideal ${ideal.toFixed(2).padStart(6)} s   × ${(seconds / ideal).toFixed(2)}`,
    )
  }
} finally {
  agent.destroy()
  await service.stop()
  rmSync(cwd, { recursive: true, force: true })
}

async function inTurn(count, measure) {
  const results = []
  for (let i = 0; i < count; i += 1) results.push(await measure())
  return results
}
