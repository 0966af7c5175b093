/**
 * The HTTP API of the service: requests per second for lists of 100 records, creates and updates, each compared with a bare fastify handler
 * that answers with an object of the same size from memory; and the memory of a service with 1,000 domains of 100 records.
 * `node bench/service.mjs`, with `--short` one second per figure. Client and service share the machine.
 */
import { readFileSync } from 'node:fs'
import { Pool } from 'undici'
import { startProcess, startService, TOKEN } from './service-under-test.mjs'

const SECONDS = process.argv.includes('--short') ? 1 : 5
const CONNECTIONS = 32
const DOMAINS = 1000
const RECORDS = 100

const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }

const connect = (http) => {
  const { origin, pathname } = new URL(http)
  const pool = new Pool(origin, { connections: CONNECTIONS })
  const send = async (method, path, body) => {
    const answer = await pool.request({ method, path: pathname + path, headers, body: body === undefined ? null : JSON.stringify(body) })
    const text = await answer.body.text()
    if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.statusCode} ${text.slice(0, 200)}`)
    return text
  }
  return { send, ask: async (...request) => JSON.parse(await send(...request)), close: () => pool.close() }
}

/** Requests per second, with one request under way per connection. */
async function throughput(request, seconds = SECONDS) {
  const end = performance.now() + seconds * 1000
  let count = 0
  const started = performance.now()
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (performance.now() < end) {
        count += 1
        await request(count)
      }
    }),
  )
  return count / ((performance.now() - started) / 1000)
}

const service = await startService()
const bare = await startProcess('bare-fastify.mjs')
const [ours, theirs] = [connect(service.http), connect(bare.http)]
try {
  const settings = { type: 'master', soa_email: 'hostmaster@example.com' }
  const { id } = await ours.ask('POST', '/domains', { domain: 'records.example', ...settings })
  for (let n = 0; n < RECORDS; n += 1)
    await ours.ask('POST', `/domains/${id}/records`, { type: 'A', name: `host-${n}`, target: '192.0.2.1' })
  const { data } = await ours.ask('GET', `/domains/${id}/records`)
  const filled = await ours.ask('POST', '/domains', { domain: 'creates.example', ...settings })
  let created = 0

  const cases = {
    'list of 100 records': (client) => () => client.send('GET', `/domains/${id}/records`),
    'create a record': (client) => () => {
      created += 1
      return client.send('POST', `/domains/${filled.id}/records`, { type: 'A', name: `host-${created}`, target: '192.0.2.1' })
    },
    'update a record': (client) => (n) =>
      client.send('PUT', `/domains/${id}/records/${data[n % RECORDS].id}`, { target: `192.0.2.${n % 250}` }),
  }
  for (const [name, request] of Object.entries(cases)) {
    await throughput(request(theirs), 0.5)
    const [baseline, measured] = [await throughput(request(theirs)), await throughput(request(ours), Math.min(SECONDS, 3))]
    console.log(
      `${name.padEnd(24)} ${String(Math.round(measured)).padStart(7)} a second   bare fastify ${String(Math.round(baseline)).padStart(7)}   × ${(baseline / measured).toFixed(1)}`,
    )
  }

  await ours.ask('DELETE', `/domains/${filled.id}`)
  for (let n = 1; n < DOMAINS; n += 1) await ours.ask('POST', `/domains/${id}/clone`, { domain: `zone-${n}.example` })
  await new Promise((resolve) => setTimeout(resolve, 3000))
  const resident = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))?.[1]
  console.log(`memory with ${DOMAINS} domains of ${RECORDS} records: ${Math.round(Number(resident) / 1024)} MiB`)
} finally {
  await Promise.all([ours.close(), theirs.close()])
  await Promise.all([service.stop(), bare.stop()])
}
