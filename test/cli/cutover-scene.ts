/** A zone that `cutover` moves from BIND to BIND, or to a folder, below a parent zone of another BIND. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CliResult, cli } from '../support/cli.ts'
import { type DnsServer, startBind, TEST_KEY } from '../support/dns-servers.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { transferZone } from '../support/tools.ts'

const SOA = '@ SOA ns1.example.net. hostmaster.example.net. 1 14400 14400 1209600 300\n'
const ZONE = `$TTL 600\n${SOA}@ 86400 NS ns1.example.net.\n@ 86400 NS ns2.example.net.\nwww A 192.0.2.1\n`
export const parentZone = (...servers: string[]): string =>
  `$TTL 3600\n${SOA}@ NS ns1.example.net.\n${servers.map((server) => `example 7200 NS ${server}.\n`).join('')}`

export interface Move {
  readonly former: DnsServer
  /** The new provider `own`. */
  readonly own: DnsServer
  readonly parent: DnsServer
  readonly folder: string
  /** The command line. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Runs `cutover` some seconds after the start. */
  cutover(seconds: number, ...args: string[]): Promise<CliResult>
}

/** From BIND to a BIND that does not have the names of its servers in the zone, or to a folder without the zone. */
export async function openMove(to: 'own' | 'files' = 'own', parentRecords = ''): Promise<Move> {
  const key = TEST_KEY
  const former = await startBind({ zones: [{ name: 'example.test', text: ZONE }], key })
  const own = await startBind({ zones: [{ name: 'example.test', text: `$TTL 60\n${SOA}@ NS ns9.example.net.\n` }], key })
  const parent = await startBind({ zones: [{ name: 'test', text: parentZone('ns1.example.net', 'ns2.example.net') + parentRecords }] })
  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'served'))
  const server = (port: number): string => `{type: rfc2136, server: '127.0.0.1:${port}', tsig: {name: ${key.name}, secret: env:LAB_KEY}}`
  const providers = `  former: ${server(former.port)}\n  own: ${server(own.port)}\n  files: {type: zonefile, directory: served}\n`
  writeFileSync(join(folder, 'zonewright.yaml'), `providers:\n${providers}defaults: {soa_email: hostmaster@example.net}\n`)
  const toServer = `127.0.0.1:${to === 'own' ? own.port : former.port}`
  const servers = ['--from-server', `127.0.0.1:${former.port}`, '--to-server', toServer, '--parent-server', `127.0.0.1:${parent.port}`]
  const args = ['cutover', 'example.test', '--from', 'former', '--to', to, '--yes', '--allow', 'apex-ns', ...servers, '--no-color']
  const env = { LAB_KEY: key.secret }
  const cutover: Move['cutover'] = (seconds, ...more) =>
    cli([...args, ...more], { cwd: folder, env, now: () => new Date(Date.UTC(2026, 10, 23) + seconds * 1000) })
  return { former, own, parent, folder, args, env, cutover }
}

export const NEW = ['--apex-ns', 'ns7.example.net', '--apex-ns', 'ns8.example.net']
export type State = { readonly step: string; readonly formerTtl: number; readonly notBefore: string | null }

export const stateFile = ({ folder }: Move): string => {
  const [name = ''] = readdirSync(join(folder, '.zonewright/cutovers')).filter((one) => !one.startsWith('.'))
  return join(folder, '.zonewright/cutovers', name)
}
export const stateOf = (move: Move): State => JSON.parse(readFileSync(stateFile(move), 'utf8')) as State

export const apexNs = async ({ port }: DnsServer): Promise<string[]> =>
  (await transferZone({ port, name: 'example.test', key: TEST_KEY })).filter((line) => /\sNS\s/.test(line))
