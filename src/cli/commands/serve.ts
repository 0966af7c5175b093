import { resolve } from 'node:path'
import type { Address, RunningService } from '../../service/index.ts'
import type { CommonOptions } from '../common-options.ts'
import { type Console, createConsole } from '../console.ts'
import { EXIT, type ExitStatus } from '../exit-status.ts'
import { listenForInterruption } from '../interruption.ts'
import type { CliIo } from '../io.ts'
import { parseListen } from '../listen-address.ts'

export interface ServeOptions extends CommonOptions {
  readonly listen: string
  readonly dns: string
  readonly data: string
  readonly nsNames?: string
}

/** `zonewright serve`: the DNS hosting service until a signal ends it. Ready, it prints one line of JSON with its addresses. */
export async function serve(io: CliIo, _args: readonly [], options: ServeOptions): Promise<ExitStatus> {
  const console = createConsole(io, options)
  const listen = readAddress(console, '--listen', options.listen)
  const dns = options.dns === 'none' ? null : readAddress(console, '--dns', options.dns)
  if (listen === undefined || dns === undefined) return EXIT.failure
  const given = io.env['ZONEWRIGHT_BOOTSTRAP_TOKEN'] || null
  const interruption = listenForInterruption(console.note, 'Stopping: requests under way are finished. Once more to stop at once.')
  try {
    const service = await start(io, console, { listen, dns, given }, options)
    if (service === null) return EXIT.failure
    if (service.token !== null && given === null) console.say(`Administrator's token, shown this once: ${service.token}`)
    const dnsAddress = service.dnsAddress && hostPort(service.dnsAddress)
    console.print(`${JSON.stringify({ event: 'listening', http: service.baseUrl, dns: dnsAddress })}\n`)
    await aborted(interruption.signal)
    await service.stop()
    return EXIT.done
  } finally {
    interruption.release()
  }
}

/** Undefined, and said, where the text is no address. */
function readAddress(console: Console, option: string, text: string): Address | undefined {
  const address = parseListen(text)
  if (address !== null) return address
  console.error(
    'usage',
    `${option} ${JSON.stringify(text)} is not ADDRESS:PORT`,
    'such as 127.0.0.1:8080 or [::1]:8080; port 0 picks a free one',
  )
  return undefined
}

interface Start {
  readonly listen: Address
  readonly dns: Address | null
  readonly given: string | null
}

/** Null, and said why, where the service cannot start as it is asked to. */
async function start(io: CliIo, console: Console, { listen, dns, given }: Start, options: ServeOptions): Promise<RunningService | null> {
  const { startService } = await import('../../service/index.ts')
  try {
    return await startService({
      dataDirectory: resolve(io.cwd, options.data),
      listen,
      dns,
      bootstrapToken: given,
      onError: (error) => console.say(`fault while serving: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`),
      ...(options.nsNames === undefined ? {} : { nsNames: options.nsNames.split(',').map((name) => name.trim()) }),
    })
  } catch (error) {
    // A TypeError is a fault of the program; the rest is of addresses, folders and options.
    if (!(error instanceof Error) || error instanceof TypeError) throw error
    const inUse = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
    const hint = inUse ? 'give another address with --listen or --dns; port 0 picks a free one' : undefined
    console.error('service-start', `the service cannot start: ${error.message}`, hint)
    return null
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  signal.aborted ? Promise.resolve() : new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

const hostPort = ({ host, port }: Address): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)
