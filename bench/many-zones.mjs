/**
 * Plans 400 zones of 60 records that are unchanged at the service, as whole processes: `node bench/many-zones.mjs [--short]`. Processor time without latency; and wall time with
 * 50 ms for each request, compared with the waiting time alone: requests × 50 ms ÷ parallelism.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request as send } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, PROGRAM, runNode } from './measure.mjs'
import { startService, TOKEN } from './service-under-test.mjs'

const ZONES = 400
const RECORDS = 60
const LATENCY = 50
const RUNS = process.argv.includes('--short') ? 1 : 5

/** The limits of the issue: seconds of processor time, and wall time by the waiting time. */
const MAX_CPU_SECONDS = 3
const MAX_RATIO = 1.3

/**
 * Starts a proxy that answers each request after `latency` milliseconds, and counts them. It asks the service only for what it does not know yet, so that the time
 * of the service does not matter after the first run.
 */
async function startLateProxy(target, latency) {
  let requests = 0
  const origin = new URL(target)
  const known = new Map()
  const answerOf = ({ url, method, headers }) =>
    new Promise((resolve, reject) => {
      const far = send({ hostname: origin.hostname, port: origin.port, path: url, method, headers }, (answer) => {
        const chunks = []
        answer.on('data', (chunk) => chunks.push(chunk))
        answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(chunks) }))
      })
      far.on('error', reject).end()
    })
  const server = createServer((near, reply) => {
    requests += 1
    const begin = performance.now()
    const key = `${near.method} ${near.url} ${near.headers['x-filter'] ?? ''}`
    const answer = known.get(key) ?? answerOf(near)
    known.set(key, answer)
    answer.then(({ status, headers, body }) =>
      setTimeout(() => reply.writeHead(status, headers).end(body), Math.max(0, latency - (performance.now() - begin))),
    )
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  return {
    origin: `http://127.0.0.1:${port}`,
    taken: () => {
      const taken = requests
      requests = 0
      return taken
    },
    stop: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  }
}

const cwd = mkdtempSync(join(tmpdir(), 'zonewright-bench-'))
mkdirSync(join(cwd, 'zones'))
for (let zone = 0; zone < ZONES; zone += 1) {
  const records = Array.from({ length: RECORDS }, (_, index) => `  h${index}: {type: A, ttl: 300, value: 192.0.2.${1 + (index % 250)}}`)
  writeFileSync(
    join(cwd, `zones/zone-${zone}.example.yaml`),
    `domain: zone-${zone}.example\nsoa_email: a@example.com\nrecords:\n${records.join('\n')}\n`,
  )
}
const configFor = (origin, parallelism) =>
  `providers:\n  cloud: {type: cloud, base_url: '${origin}/v4', token: 'env:TOKEN', parallelism: ${parallelism}}\n`

const service = await startService()
const env = { TOKEN }
const plan = [PROGRAM, 'plan', '--detailed-exitcode', '--quiet']
try {
  const { origin } = new URL(service.http)
  writeFileSync(join(cwd, 'zonewright.yaml'), configFor(origin, 8))
  await runNode([PROGRAM, 'apply', '--yes', '--quiet'], { cwd, env })
  const direct = []
  for (let run = 0; run < RUNS; run += 1) direct.push(await runNode(plan, { cwd, env }))
  const cpu = median(direct.map(({ cpuSeconds }) => cpuSeconds))
  console.log(
    `plan of ${ZONES} zones × ${RECORDS} records, unchanged: ${cpu.toFixed(2)} s of processor time (limit ${MAX_CPU_SECONDS} s), ${median(direct.map(({ seconds }) => seconds)).toFixed(2)} s, ${median(direct.map(({ mebibytes }) => mebibytes)).toFixed(0)} MiB`,
  )
  let isMet = cpu < MAX_CPU_SECONDS
  for (const parallelism of [4, 8]) {
    const proxy = await startLateProxy(origin, LATENCY)
    writeFileSync(join(cwd, 'zonewright.yaml'), configFor(proxy.origin, parallelism))
    // The first run fills the proxy.
    await runNode(plan, { cwd, env })
    proxy.taken()
    const late = []
    for (let run = 0; run < RUNS; run += 1) {
      const { seconds } = await runNode(plan, { cwd, env })
      const requests = proxy.taken()
      late.push({ seconds, requests, ratio: seconds / ((requests / parallelism) * (LATENCY / 1000)) })
    }
    const ratio = median(late.map((one) => one.ratio))
    console.log(
      `with ${LATENCY} ms per request, parallelism ${parallelism}: ${median(late.map(({ seconds }) => seconds)).toFixed(2)} s for ${late[0].requests} requests, × ${ratio.toFixed(2)} of the waiting time (limit × ${MAX_RATIO})`,
    )
    isMet &&= ratio <= MAX_RATIO
    await proxy.stop()
  }
  if (!isMet) process.exitCode = 1
} finally {
  await service.stop()
  rmSync(cwd, { recursive: true, force: true })
}
