/** Real servers whose zones providers change: BIND and Knot DNS by dynamic update, PowerDNS by its HTTP API. Each has one zone and one key. */
import { execFileSync, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import Database from 'libsql'

/** The secret is the Base64 of 32 zero octets. */
export const KEY = { name: 'bench', secret: Buffer.alloc(32).toString('base64') }
export const API_KEY = 'bench-api-key'

const PATH = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`
const PDNS_SCHEMAS = ['/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql', '/usr/share/doc/pdns-backend-sqlite3/schema.sqlite3.sql']

export const isInstalled = (program) => {
  try {
    execFileSync('which', [program], { stdio: 'ignore', env: { ...process.env, PATH } })
    return true
  } catch {
    return false
  }
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

export async function startBind(directory, zone) {
  const port = await freePort()
  writeFileSync(
    join(directory, 'named.conf'),
    `key "${KEY.name}" { algorithm hmac-sha256; secret "${KEY.secret}"; };
options { directory "${directory}"; pid-file none; session-keyfile none; lock-file none; listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; dnssec-validation no; notify no; managed-keys-directory "${directory}"; };
controls { };
zone "${zone}" { type primary; file "zone"; allow-transfer { key "${KEY.name}"; }; allow-update { key "${KEY.name}"; }; };
`,
  )
  return startServer(['named', '-f', '-c', join(directory, 'named.conf'), '-n', '1'], directory, port, zone)
}

export async function startKnot(directory, zone) {
  const port = await freePort()
  for (const name of ['run', 'db']) mkdirSync(join(directory, name))
  writeFileSync(
    join(directory, 'knot.conf'),
    `server:
    rundir: "${directory}/run"
    listen: 127.0.0.1@${port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
log:
  - target: stderr
    any: warning
database:
    storage: "${directory}/db"
key:
  - id: ${KEY.name}
    algorithm: hmac-sha256
    secret: ${KEY.secret}
acl:
  - id: signed
    key: ${KEY.name}
    action: [transfer, update]
zone:
  - domain: ${zone}
    storage: "${directory}"
    file: zone
    zonefile-sync: -1
    journal-content: all
    zonefile-load: difference-no-serial
    acl: signed
`,
  )
  return startServer(['knotd', '-c', join(directory, 'knot.conf')], directory, port, zone)
}

export async function startPowerDns(directory, zone) {
  const [port, apiPort] = [await freePort(), await freePort()]
  writeFileSync(
    join(directory, 'pdns.conf'),
    `launch=gsqlite3
gsqlite3-database=${directory}/pdns.db
gsqlite3-pragma-synchronous=0
local-address=127.0.0.1
local-port=${port}
socket-dir=${directory}
daemon=no
guardian=no
setuid=
setgid=
loglevel=3
primary=yes
security-poll-suffix=
api=yes
api-key=${API_KEY}
webserver=yes
webserver-address=127.0.0.1
webserver-port=${apiPort}
`,
  )
  const database = new Database(join(directory, 'pdns.db'))
  database.exec(readFileSync(PDNS_SCHEMAS.find(existsSync), 'utf8'))
  database.close()
  for (const args of [
    ['load-zone', zone, join(directory, 'zone')],
    ['set-kind', zone, 'primary'],
  ])
    execFileSync('pdnsutil', [`--config-dir=${directory}`, ...args], { stdio: 'ignore', env: { ...process.env, PATH } })
  return { ...(await startServer(['pdns_server', `--config-dir=${directory}`], directory, port, zone)), apiPort }
}

/** Starts a server and waits until it answers for the zone. */
async function startServer([program, ...args], directory, port, zone) {
  const child = spawn(program, args, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, PATH } })
  let log = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (log = (log + text).slice(-4000)))
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  for (let tries = 0; !(await answers(port, zone)); tries += 1) {
    if (tries === 300 || child.exitCode !== null) {
      await stop()
      throw new Error(`${program} does not answer\n${log}`)
    }
    await wait(100)
  }
  return { port, stop }
}

/** Whether the server answers a query for the SOA record within 0.5 s. */
function answers(port, zone) {
  return new Promise((resolve) => {
    const socket = createSocket('udp4')
    const finish = (isAnswer) => {
      clearTimeout(timer)
      socket.close()
      resolve(isAnswer)
    }
    const timer = setTimeout(() => finish(false), 500)
    socket.on('error', () => finish(false))
    socket.on('message', (message) => finish((message[3] & 15) === 0 && message.readUInt16BE(6) > 0))
    const labels = zone.split('.').flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)])
    const query = Buffer.concat([Buffer.from('000100000001000000000000', 'hex'), ...labels, Buffer.from([0, 0, 6, 0, 1])])
    socket.connect(port, '127.0.0.1', () => socket.send(query))
  })
}

/** A proxy before a name server that counts the messages of clients over TCP. */
export async function countMessages(port) {
  let messages = 0
  const sockets = new Set()
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    let pending = Buffer.alloc(0)
    client.on('data', (chunk) => {
      pending = Buffer.concat([pending, chunk])
      while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
        messages += 1
        pending = pending.subarray(2 + pending.readUInt16BE(0))
      }
    })
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ]) {
      sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => sockets.delete(socket))
      socket.pipe(other)
    }
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: server.address().port,
    count: () => messages,
    stop: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(resolve)
      }),
  }
}
