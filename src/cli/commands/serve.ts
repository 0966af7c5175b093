import { resolve } from 'node:path'
import type { CommonOptions } from '../common-options.ts'
import { createConsole } from '../console.ts'
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
  const http = parseListen(options.listen)
  const dns = options.dns === 'none' ? null : parseListen(options.dns)
  if (http === null || (dns === null && options.dns !== 'none')) {
    const wrong = http === null ? `--listen ${options.listen}` : `--dns ${options.dns}`
    console.diagnostics([
      {
        severity: 'error',
        code: 'usage',
        message: `${wrong} is not ADDRESS:PORT`,
        hint: 'such as 127.0.0.1:8080 or [::1]:8080; port 0 picks a free one',
      },
    ])
    return EXIT.failure
  }
  const token = io.env['ZONEWRIGHT_BOOTSTRAP_TOKEN']
  const { startService } = await import('../../service/index.ts')
  const interruption = listenForInterruption(console.say)
  const service = await startService({
    dataDirectory: resolve(io.cwd, options.data),
    listen: http,
    dns,
    ...(token === undefined ? {} : { bootstrapToken: token }),
    ...(options.nsNames === undefined ? {} : { nsNames: options.nsNames.split(',').map((name) => name.trim()) }),
  })
  if (service.token !== null && token === undefined) console.say(`Administrator's token, shown this once: ${service.token}`)
  const dnsAddress = service.dnsAddress === null ? null : hostPort(service.dnsAddress)
  console.print(`${JSON.stringify({ event: 'listening', http: service.baseUrl, dns: dnsAddress })}\n`)
  if (!interruption.signal.aborted)
    await new Promise<void>((stop) => interruption.signal.addEventListener('abort', () => stop(), { once: true }))
  await service.stop()
  interruption.release()
  return EXIT.done
}

const hostPort = ({ host, port }: { readonly host: string; readonly port: number }): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
