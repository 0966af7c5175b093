import { lstat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { readNameServer } from '../convert/transfer/parse-nameserver.ts'
import { displayPath } from '../definition/files/file-path.ts'
import type { Diagnostic } from '../dns/diagnostic.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { zoneFileName } from '../dns/zone-file/zone-file-name.ts'
import { canAsk, confirm } from './confirm.ts'
import type { Console } from './console.ts'
import type { CliIo } from './io.ts'

export interface CopyRequest {
  readonly provider: string
  readonly zones: readonly DomainName[]
  readonly viaService?: string | undefined
  readonly clone?: string | undefined
  readonly yes?: boolean | undefined
  readonly dryRun?: boolean | undefined
  readonly force?: boolean | undefined
  readonly out?: string | undefined
}

/**
 * Whether a provider may be told to make zones by itself: what would keep their definitions from being written is found before, and
 * somebody agrees. Why not is said; `left` is what --dry-run does, `interrupted` what Ctrl-C at the question does.
 */
export async function mayCopy(io: CliIo, console: Console, asked: CopyRequest): Promise<'yes' | 'no' | 'left' | 'interrupted'> {
  const { provider, zones, viaService, clone } = asked
  const refuse = (message: string, hint?: string): 'no' => {
    console.error('usage', message, hint)
    return 'no'
  }
  if (viaService !== undefined && clone !== undefined) return refuse('--via-service and --clone cannot both be meant')
  const server = viaService === undefined ? null : readNameServer(viaService)
  if (server?.ok === false) return refuse(`--via-service: ${server.message}`, 'such as 192.0.2.53 or ns1.example.net')
  if (zones.length === 0) return refuse('the zones to make are not named')
  if (clone !== undefined && zones.length > 1) return refuse('a clone is one zone', 'clone them one by one')
  if (zones.length > 1 && asked.out === undefined)
    return refuse('several definitions cannot be shown as one', 'name a folder for them with -o')
  const inTheWay = asked.force === true ? [] : await filesInTheWay(io, asked)
  console.diagnostics(inTheWay)
  if (inTheWay.length > 0) return 'no'
  const source = viaService === undefined ? `a copy of ${clone}` : `what it transfers from ${viaService}`
  const what = `${provider} makes ${zones.join(', ')} of ${source}`
  if (asked.dryRun === true) {
    console.say(`${what}: left undone.`)
    return 'left'
  }
  if (asked.yes === true) return 'yes'
  if (!canAsk(io)) {
    console.error(
      'not-confirmed',
      `nothing was made: ${what}, and there is no terminal to ask at`,
      'give --yes to do it without being asked',
    )
    return 'no'
  }
  return confirm(io, `${what}. Do it?`, new AbortController().signal)
}

async function filesInTheWay(io: CliIo, { zones, out }: CopyRequest): Promise<Diagnostic[]> {
  if (out === undefined) return []
  const taken = new Set<string>()
  const paths = zones.map((zone) => resolve(io.cwd, out, zoneFileName(zone, taken, 'yaml')))
  const there = await Promise.all(
    paths.map((path) =>
      lstat(path).then(
        () => [path],
        () => [],
      ),
    ),
  )
  return there.flat().map((path) => ({
    severity: 'error',
    code: 'file-exists',
    message: `${displayPath(path, io.cwd)} is there already`,
    hint: '--force replaces files that are there',
  }))
}
