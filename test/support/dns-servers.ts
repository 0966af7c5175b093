/**
 * Real name servers as child processes, each with its own directory and port on 127.0.0.1. Starting one resolves when it
 * answers for its zones. It is stopped at the end of the test file unless the test stopped it.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { decode, encode, type Packet } from 'dns-packet'
import { afterEveryFile } from './after-file.ts'
import { freePort } from './free-port.ts'
import { bind } from './server-recipes/bind.ts'
import { bindResolver, type ForwardedZone } from './server-recipes/bind-resolver.ts'
import { bindViews, type View } from './server-recipes/bind-views.ts'
import { knot } from './server-recipes/knot.ts'
import { nsd } from './server-recipes/nsd.ts'
import { POWERDNS_API_KEY, powerdns } from './server-recipes/powerdns.ts'
import type { PrimaryZone, SecondaryZone, ServerRecipe, ServerSetup } from './server-recipes/recipe.ts'
import { temporaryDirectory } from './temp-directory.ts'
import { findTool, type TsigKey } from './tools.ts'

export type { PrimaryZone, SecondaryZone } from './server-recipes/recipe.ts'
export type { TsigKey } from './tools.ts'

/** A key for tests; its secret is the Base64 of 32 zero octets. */
export const TEST_KEY: TsigKey = { name: 'upd.', algorithm: 'hmac-sha256', secret: Buffer.alloc(32).toString('base64') }

export interface DnsServerOptions {
  readonly zones?: readonly PrimaryZone[]
  readonly secondaryZones?: readonly SecondaryZone[]
  /** Allows signed transfers and updates. */
  readonly key?: TsigKey
  /** Whether unsigned transfers are allowed; default: true. */
  readonly unsignedTransfer?: boolean
  /** Ports on 127.0.0.1 that get a NOTIFY when a zone changes. */
  readonly notify?: readonly number[]
  /** Signs NOTIFY with the key, and accepts only signed ones; default: false. */
  readonly signedNotify?: boolean
  /** Whether NSD sends and requests incremental transfers, and BIND sends them for replaced zone files; default: false. */
  readonly incremental?: boolean
  /** The address in 127.0.0.0/8 to listen on and to transfer from; default: 127.0.0.1. BIND and PowerDNS support no other. */
  readonly host?: string
  /** A fixed port, for example if a secondary is configured before its primary runs. */
  readonly port?: number
  /** Milliseconds within which the server must answer. */
  readonly readyWithin?: number
}

export interface DnsServer {
  readonly port: number
  readonly directory: string
  readonly pid: number
  /** The standard error of the server so far. */
  log(): string
  /** Replaces a zone file and makes the server reload it. Not for PowerDNS, which keeps zones in its database. */
  replaceZone(name: string, text: string): void
  /** Makes the server reload its configuration and zone files (SIGHUP). */
  reload(): void
  stop(): Promise<void>
}

export interface PowerDnsServer extends DnsServer {
  readonly api: { readonly url: string; readonly key: string }
}

export const startBind = (options: DnsServerOptions = {}): Promise<DnsServer> => startServer(bind, options)
export const startKnot = (options: DnsServerOptions = {}): Promise<DnsServer> => startServer(knot, options)
export const startNsd = (options: DnsServerOptions = {}): Promise<DnsServer> => startServer(nsd, options)

/** BIND with a view per key; the last view also answers requests without a key. */
export const startBindViews = (views: readonly View[]): Promise<DnsServer> => startServer(bindViews(views), {})

/** A resolver that queries the given servers and caches their answers. */
export const startResolver = (forwarded: readonly ForwardedZone[]): Promise<DnsServer> => startServer(bindResolver(forwarded), {})

export async function startPowerDns(options: DnsServerOptions = {}): Promise<PowerDnsServer> {
  const apiPort = await freePort()
  const server = await startServer(powerdns(apiPort), options)
  return { ...server, api: { url: `http://127.0.0.1:${apiPort}/api/v1`, key: POWERDNS_API_KEY } }
}

const LOOPBACK = '127.0.0.1'
const STOPPED_WITHIN = 3_000
const running = new Set<ChildProcess>()

afterEveryFile(async () => {
  await Promise.all([...running].map(stopChild))
})
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts a server with its own recipe. */
export async function startServer(recipe: ServerRecipe, options: DnsServerOptions): Promise<DnsServer> {
  // Another process can take the free port before its use. The server then exits, and the next port is tried.
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(recipe, options)
    } catch (error) {
      if (attempt === 3 || options.port !== undefined || !/in use/i.test(String(error))) throw error
    }
  }
}

async function startOnce(recipe: ServerRecipe, options: DnsServerOptions): Promise<DnsServer> {
  const setup: ServerSetup = {
    directory: temporaryDirectory(),
    host: options.host ?? LOOPBACK,
    port: options.port ?? (await freePort()),
    zones: options.zones ?? [],
    secondaryZones: options.secondaryZones ?? [],
    key: options.key ?? null,
    unsignedTransfer: options.unsignedTransfer ?? true,
    notify: options.notify ?? [],
    signedNotify: options.signedNotify ?? false,
    incremental: options.incremental ?? false,
  }
  for (const [path, text] of Object.entries(recipe.files(setup))) writeBelow(setup.directory, path, text)
  await recipe.prepare?.(setup)
  const [program, ...args] = recipe.command(setup)
  const path = findTool(program)
  if (path === null) throw new Error(`${program} is not installed`)
  const child = spawn(path, args, { cwd: setup.directory, stdio: ['ignore', 'pipe', 'pipe'] })
  running.add(child)
  child.once('exit', () => running.delete(child))
  let log = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      if (log.length < 1_000_000) log += text
    })
  }
  try {
    await untilReady(setup, child, options.readyWithin ?? 30_000)
  } catch (error) {
    await stopChild(child)
    throw new Error(`${program}: ${(error as Error).message}\n${log.slice(-4000)}`)
  }
  return {
    port: setup.port,
    directory: setup.directory,
    pid: child.pid as number,
    log: () => log,
    replaceZone: (name, text) => {
      for (const stale of recipe.staleFiles(name)) rmSync(join(setup.directory, stale), { force: true })
      writeBelow(setup.directory, recipe.zoneFile(name), text)
      child.kill('SIGHUP')
    },
    reload: () => {
      child.kill('SIGHUP')
    },
    stop: () => stopChild(child),
  }
}

function writeBelow(directory: string, path: string, text: string): void {
  const target = join(directory, path)
  mkdirSync(path.endsWith('/') ? target : dirname(target), { recursive: true })
  if (!path.endsWith('/')) writeFileSync(target, text)
}

/** A server is ready when it answers for every primary zone or, without such zones, when it answers at all. */
async function untilReady({ host, port, zones }: ServerSetup, child: ChildProcess, within: number): Promise<void> {
  const deadline = Date.now() + within
  const questions = zones.length === 0 ? ['.'] : zones.map(({ name }) => name)
  for (const name of questions) {
    for (;;) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`ended with ${child.exitCode ?? child.signalCode} before it was ready`)
      const reply = await querySoa(host, port, name, 100)
      if (reply !== null && (zones.length === 0 || (reply.answers ?? []).length > 0)) break
      if (Date.now() > deadline) throw new Error(`no answer for ${name} within ${within} ms`)
      await sleep(5)
    }
  }
}

/** Waits until a server answers the SOA query for the zone, with the serial if it is given. `timeout` is in milliseconds. */
export async function waitForZone(
  port: number,
  zone: string,
  { serial, timeout = 20_000, host = LOOPBACK }: { serial?: number; timeout?: number; host?: string } = {},
) {
  const deadline = Date.now() + timeout
  let last: number | null = null
  while (Date.now() < deadline) {
    const answer = (await querySoa(host, port, zone, 200))?.answers?.[0]
    if (answer?.type === 'SOA') {
      last = answer.data.serial ?? null
      if (serial === undefined || last === serial) return
    }
    await sleep(10)
  }
  throw new Error(`port ${port} answers ${last === null ? 'no SOA' : `serial ${last}`} for ${zone} after ${timeout} ms`)
}

/** One SOA query over UDP; null if no answer arrives in time. */
function querySoa(host: string, port: number, zone: string, timeout: number): Promise<Packet | null> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4')
    const finish = (reply: Packet | null): void => {
      clearTimeout(timer)
      socket.close()
      resolve(reply)
    }
    const timer = setTimeout(() => finish(null), timeout)
    socket.on('error', () => finish(null))
    socket.on('message', (message) => finish(decode(message)))
    // A connected socket reports immediately that nothing listens yet.
    socket.connect(port, host, () => {
      socket.send(encode({ type: 'query', id: 1, questions: [{ type: 'SOA', name: zone === '.' ? '.' : zone.replace(/\.$/, '') }] }))
    })
  })
}

function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), STOPPED_WITHIN)
    child.once('exit', () => {
      clearTimeout(timer)
      resolve()
    })
    child.kill('SIGTERM')
  })
}
