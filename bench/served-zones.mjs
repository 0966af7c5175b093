/**
 * A service with many zones: processor time and memory of its first start, which renders all zones, and of a later start, and the processor time
 * of queries for random names. `node bench/served-zones.mjs [ZONES]`: 100,000 zones of 20 records, with `--short` 2,000. Linux only.
 */
import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Libsql from 'libsql'
import { startOnFolder } from './service-under-test.mjs'

const [given] = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const ZONES = Number(given ?? (process.argv.includes('--short') ? 2_000 : 100_000))
const RECORDS = 20
const QUERIES = 20_000

/** Processor seconds, memory and peak memory in KiB of a process until now (proc(5)). */
function usageOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ')
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  const kibibytes = (field) => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1])
  return { cpu: (Number(fields[11]) + Number(fields[12])) / 100, resident: kibibytes('VmRSS'), peak: kibibytes('VmHWM') }
}

/** Addresses, aliases, texts and mail in equal parts. */
const recordOf = (i, zone) =>
  [
    ['A', `host-${i}`, `198.51.100.${i}`, 0],
    ['CNAME', `host-${i}`, `host-${i - 1}.${zone}`, 0],
    ['TXT', `host-${i}`, `v=spf1 include:mail-${i}.example.net ~all`, 0],
    ['MX', `host-${i}`, `host-${i - 3}.${zone}`, 10],
  ][i % 4]

/** Writes the domains as the API does, unrendered. */
function fill(folder) {
  const db = new Libsql(join(folder, 'service.db'))
  const now = '2026-01-31T09:00:00'
  const { id: account } = db.prepare('select min(id) as id from accounts').get()
  const domain = db.prepare(
    `insert into domains (account_id, domain, type, status, description, "group", soa_email, master_ips, axfr_ips, errors, created, updated,
     expire_sec, refresh_sec, retry_sec, ttl_sec, record_count, reversed_name)
     values (?, ?, 'master', 'active', '', '', 'hostmaster@example.com', '[]', '[]', '', ?, ?, 0, 0, 0, 0, ?, ?)`,
  )
  const record = db.prepare(
    `insert into records (domain_id, type, name, target, created, updated, priority, weight, port, ttl_sec) values (?, ?, ?, ?, ?, ?, ?, 0, 0, 0)`,
  )
  db.exec('begin')
  for (let n = 0; n < ZONES; n += 1) {
    const zone = `zone-${n}.example`
    const { lastInsertRowid: id } = domain.run(account, zone, now, now, RECORDS, `example.zone-${n}`)
    for (let i = 0; i < RECORDS; i += 1) {
      const [type, name, target, priority] = recordOf(i, zone)
      record.run(id, type, name, target, now, now, priority)
    }
  }
  db.exec('commit')
  db.close()
}

/** Sends queries, some at once, and resolves when all are answered or lost. Returns how many were answered. */
async function ask(address, names) {
  const socket = createSocket('udp4').bind()
  const port = Number(address.split(':').at(-1))
  let answered = 0
  let next = 0
  await new Promise((resolve) => {
    const send = () => {
      const name = names[next]
      if (name === undefined) return
      const labels = name.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1'))
      const header = Buffer.from([next >> 8, next & 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0])
      next += 1
      socket.send(Buffer.concat([header, ...labels, Buffer.from([0, 0, 1, 0, 1])]), port, '127.0.0.1')
    }
    const timer = setTimeout(resolve, 60_000)
    socket.on('message', () => {
      answered += 1
      if (answered < names.length) return send()
      clearTimeout(timer)
      resolve()
    })
    for (let i = 0; i < 50; i += 1) send()
  })
  socket.close()
  return answered
}

const figure = (name, text) => console.log(`${name.padEnd(46)} ${text}`)

function report(name, { cpu, resident, peak }, empty) {
  const perZone = (kibibytes) => `${((kibibytes - empty.resident) / ZONES).toFixed(1)} KiB`
  figure(name, `${(cpu - empty.cpu).toFixed(2)} s of processor time, ${perZone(resident)} a zone, ${perZone(peak)} at the peak`)
}

const folder = mkdtempSync(join(tmpdir(), 'zonewright-bench-'))
const start = () => startOnFolder(folder, ['--dns-rate-limit', 'off'])
try {
  const first = await start()
  const empty = usageOf(first.pid)
  await first.stop()
  fill(folder)
  figure(
    `${ZONES.toLocaleString('en-US')} zones of ${RECORDS} records`,
    `without zones ${empty.cpu} s, ${Math.round(empty.resident / 1024)} MiB`,
  )
  for (const name of ['first start', 'later start']) {
    const service = await start()
    report(name, usageOf(service.pid), empty)
    if (name === 'later start') {
      const zone = () => `zone-${randomInt(ZONES)}.example`
      const kinds = {
        'names that do not exist': (i) => `none-${i}.${zone()}`,
        'names that exist': () => `host-${randomInt(RECORDS)}.${zone()}`,
      }
      for (const [kind, nameOf] of Object.entries(kinds)) {
        const names = Array.from({ length: QUERIES }, (_, i) => nameOf(i))
        await ask(service.dns, names.slice(0, QUERIES / 2))
        const before = usageOf(service.pid)
        const answered = await ask(service.dns, names.slice(QUERIES / 2))
        const after = usageOf(service.pid)
        const [micros, more] = [((after.cpu - before.cpu) * 1e6) / answered, (after.resident - before.resident) / 1024]
        figure(`${answered.toLocaleString('en-US')} random ${kind}`, `${micros.toFixed(0)} µs a query, ${more.toFixed(0)} MiB more`)
      }
    }
    await service.stop()
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
