import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeMessage } from '../../../src/formats/wire/encode-message.ts'
import { createQuery } from '../../../src/formats/wire/message.ts'
import type { DomainName } from '../../../src/model/domain-name.ts'
import type { ResourceRecord } from '../../../src/model/record.ts'

/** A real name server that serves the same zones, to compare with. */
export interface JudgeServer {
  readonly port: number
  stop(): Promise<void>
}

export interface JudgeZone {
  readonly name: DomainName
  readonly records: readonly ResourceRecord[]
}

export const isInstalled = (program: string): boolean => existsSync(program)

/** Says aloud that a judge is missing: a skipped comparison must not look like a passed one. */
export function missing(program: string): boolean {
  if (isInstalled(program)) return false
  process.stderr.write(`\nSKIPPED: ${program} is not installed, so nothing was compared with it\n`)
  return true
}

/** Canonical records are zone-file text. */
const zoneFile = (records: readonly ResourceRecord[]): string =>
  records.map((record) => `${record.name} ${record.ttl} IN ${record.type} ${record.data}\n`).join('')

const fileName = (zone: JudgeZone): string => `${zone.name}zone`

export const NAMED = '/usr/sbin/named'

export const startNamed = (zones: readonly JudgeZone[]): Promise<JudgeServer> =>
  startJudge(zones, (directory, port) => {
    const statements = zones.map(
      (zone) =>
        `zone "${zone.name}" { type primary; file "${fileName(zone)}"; check-names ignore; check-integrity no; check-wildcard no; };\n`,
    )
    const config = `options {
      directory "${directory}"; pid-file none; session-keyfile none; lock-file none;
      listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
      recursion no; dnssec-validation no; notify no; minimal-responses no-auth; minimal-any yes;
      allow-query { any; }; allow-transfer { any; }; answer-cookie no;
      rrset-order { order fixed; };
      key-directory "${directory}"; managed-keys-directory "${directory}";
    };
    controls { };
    logging { channel e { stderr; severity warning; }; category default { e; }; };\n${statements.join('')}`
    writeFileSync(join(directory, 'named.conf'), config)
    return [NAMED, '-f', '-c', join(directory, 'named.conf'), '-n', '1']
  })

export const NSD = '/usr/sbin/nsd'

export const startNsd = (zones: readonly JudgeZone[]): Promise<JudgeServer> =>
  startJudge(zones, (directory, port) => {
    const clauses = zones.map((zone) => `zone:\n  name: ${zone.name}\n  zonefile: ${fileName(zone)}\n  provide-xfr: 127.0.0.1 NOKEY\n`)
    const config = `server:
  server-count: 1
  ip-address: 127.0.0.1@${port}
  do-ip6: no
  username: ""
  chroot: ""
  zonesdir: "${directory}"
  database: ""
  pidfile: "${directory}/nsd.pid"
  xfrdfile: "${directory}/xfrd.state"
  xfrdir: "${directory}"
  zonelistfile: "${directory}/zone.list"
  minimal-responses: yes
  rrl-ratelimit: 0
remote-control:
  control-enable: no
${clauses.join('')}`
    writeFileSync(join(directory, 'nsd.conf'), config)
    return [NSD, '-d', '-c', join(directory, 'nsd.conf')]
  })

async function startJudge(zones: readonly JudgeZone[], configure: (directory: string, port: number) => string[]): Promise<JudgeServer> {
  const directory = mkdtempSync(join(tmpdir(), 'zonewright-judge-'))
  for (const zone of zones) writeFileSync(join(directory, fileName(zone)), zoneFile(zone.records))
  const port = await freePort()
  const [program = '', ...args] = configure(directory, port)
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let log = ''
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString()
  })
  const stop = async (): Promise<void> => {
    await end(child)
    rmSync(directory, { recursive: true, force: true })
  }
  for (const zone of zones) {
    if (await answersFor(zone.name, port)) continue
    await stop()
    throw new Error(`${program} does not serve ${zone.name}:\n${log}`)
  }
  return { port, stop }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address ? address.port : 0
}

/** Asks for the SOA until an answer with records comes: an earlier SERVFAIL or REFUSED means that the zone is still loading. */
async function answersFor(zone: DomainName, port: number): Promise<boolean> {
  const socket = createSocket('udp4')
  let hasAnswer = false
  socket.on('message', (octets) => {
    hasAnswer ||= octets.readUInt16BE(6) > 0
  })
  socket.on('error', () => {})
  const query = encodeMessage(createQuery(1, { name: zone, type: 'SOA' }))
  for (let i = 0; i < 300 && !hasAnswer; i += 1) {
    socket.send(query, port, '127.0.0.1')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  socket.close()
  return hasAnswer
}

/** What a program of this machine prints. */
export const output = (program: string, args: readonly string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', timeout: 10_000 })
