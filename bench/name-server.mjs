/**
 * Queries per second that the name server answers over UDP, compared with NSD for the same zone and questions, measured by dnsperf:
 * `node bench/name-server.mjs`, with `--short` one run of one second each. The server and dnsperf share the machine with other programs,
 * so the ratio says more than the figures. Both servers have one process.
 */
import { execFile, execFileSync, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Pool } from 'undici'
import { median } from './measure.mjs'
import { startService, TOKEN } from './service-under-test.mjs'

const RUNS = process.argv.includes('--short') ? 1 : 5
const SECONDS = process.argv.includes('--short') ? 1 : 3
const ZONE = 'queries.example'
const RECORDS = 2000
const QUESTIONS = 20_000

const isInstalled = (program) => {
  try {
    execFileSync('which', [program], { stdio: 'ignore', env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` } })
    return true
  } catch {
    return false
  }
}

const missing = ['dnsperf', 'nsd'].filter((program) => !isInstalled(program))
if (missing.length > 0) {
  console.log(`skipped: ${missing.join(' and ')} not installed (Debian packages of the same names)`)
  process.exit(0)
}

/** The records to create: addresses, aliases, texts and mail in equal parts. */
const recordOf = (i) =>
  [
    { type: 'A', name: `host-${i}`, target: `198.51.100.${i % 256}` },
    { type: 'CNAME', name: `host-${i}`, target: `host-${i - 1}.${ZONE}` },
    { type: 'TXT', name: `host-${i}`, target: `record number ${i}` },
    { type: 'MX', name: `host-${i}`, target: `host-${i - 3}.${ZONE}`, priority: 10 },
  ][i % 4]

/** Questions with the percentages of `share`: with an answer, without data, and for names that do not exist. */
const questionsOf = (shares) =>
  Array.from({ length: QUESTIONS }, (_, n) => {
    const i = (n * 7919) % RECORDS
    const { name, type } = recordOf(i)
    const dice = (n * 31) % 100
    if (dice < shares[0]) return `${name}.${ZONE} ${type === 'CNAME' ? 'A' : type}`
    if (dice < shares[0] + shares[1]) return `${name}.${ZONE} SRV`
    return `none-${n}.${ZONE} A`
  }).join('\n')

const MIXES = {
  'names that exist': [100, 0],
  'as resolvers ask: 75 % exist, 15 % have no data, 10 % do not exist': [75, 15],
  'names that do not exist': [0, 0],
}

async function fill(http) {
  const { origin, pathname } = new URL(http)
  const pool = new Pool(origin, { connections: 16 })
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  const ask = async (method, path, body) => {
    const answer = await pool.request({ method, path: pathname + path, headers, body: body ? JSON.stringify(body) : null })
    if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.statusCode} ${await answer.body.text()}`)
    return answer.body.json()
  }
  const { id } = await ask('POST', '/domains', { domain: ZONE, type: 'master', soa_email: 'hostmaster@example.com' })
  let next = 0
  const create = async () => {
    while (next < RECORDS) await ask('POST', `/domains/${id}/records`, recordOf(next++))
  }
  await Promise.all(Array.from({ length: 16 }, create))
  await new Promise((resolve) => setTimeout(resolve, 1000))
  const { zone_file: lines } = await ask('GET', `/domains/${id}/zone-file`)
  await pool.close()
  return `${lines.join('\n')}\n`
}

async function startNsd(directory, zoneFile) {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await new Promise((resolve) => socket.once('listening', resolve))
  const { port } = socket.address()
  socket.close()
  writeFileSync(join(directory, 'zone'), zoneFile)
  const paths = ['xfrdfile', 'pidfile', 'zonelistfile'].map((option) => `  ${option}: "${join(directory, option)}"`)
  writeFileSync(
    join(directory, 'nsd.conf'),
    `server:\n  server-count: 1\n  ip-address: 127.0.0.1@${port}\n  username: ""\n  chroot: ""\n  database: ""\n  zonesdir: "${directory}"\n${paths.join('\n')}
  xfrdir: "${directory}"\n  rrl-ratelimit: 0\n  minimal-responses: yes\nremote-control:\n  control-enable: no\nzone:\n  name: ${ZONE}\n  zonefile: zone\n`,
  )
  const program = ['/usr/sbin/nsd', '/usr/bin/nsd'].find(existsSync) ?? 'nsd'
  const child = spawn(program, ['-d', '-c', join(directory, 'nsd.conf')], { stdio: 'ignore' })
  await new Promise((resolve) => setTimeout(resolve, 500))
  return {
    port,
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', resolve)
        child.kill('SIGTERM')
      }),
  }
}

/** Answered queries per second, and the share that was lost. */
async function measure(port, file) {
  const args = ['-s', '127.0.0.1', '-p', String(port), '-d', file, '-l', String(SECONDS), '-e', '-c', '8', '-q', '200', '-t', '1']
  const { stdout } = await promisify(execFile)('dnsperf', args)
  const number = (pattern) => Number(pattern.exec(stdout)?.[1] ?? Number.NaN)
  return { rate: number(/Queries per second:\s+([0-9.]+)/), lost: number(/Queries lost:\s+[0-9]+ \(([0-9.]+)%\)/) }
}

const directory = mkdtempSync(join(tmpdir(), 'zonewright-bench-'))
const service = await startService(['--dns-rate-limit', 'off'])
let nsd = null
try {
  nsd = await startNsd(directory, await fill(service.http))
  const ownPort = Number(service.dns.split(':').at(-1))
  for (const [name, shares] of Object.entries(MIXES)) {
    const file = join(directory, 'questions')
    writeFileSync(file, `${questionsOf(shares)}\n`)
    for (const port of [ownPort, nsd.port]) await measure(port, file)
    const pairs = []
    for (let run = 0; run < RUNS; run += 1) pairs.push([await measure(ownPort, file), await measure(nsd.port, file)])
    const ours = median(pairs.map(([own]) => own.rate))
    const theirs = median(pairs.map(([, other]) => other.rate))
    const ratio = median(pairs.map(([own, other]) => other.rate / own.rate))
    const lost = Math.max(...pairs.map(([own]) => own.lost))
    console.log(name)
    console.log(
      `  ${String(Math.round(ours)).padStart(7)} a second   NSD ${String(Math.round(theirs)).padStart(7)}   × ${ratio.toFixed(1)}   lost ${lost} %`,
    )
  }
} finally {
  await Promise.all([service.stop(), nsd?.stop()])
  rmSync(directory, { recursive: true, force: true })
}
