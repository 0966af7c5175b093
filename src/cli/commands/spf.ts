/** `zonewright spf`: options and output; the queries are in `programs/dnscontrol/`. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { hasErrors } from '../../base/diagnostic.ts'
import { parseServerAddress } from '../../dns/server-address.ts'
import { refreshSpf } from '../../programs/dnscontrol/refresh-spf.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { loadConfigOrDefault } from '../../run/load/run-config.ts'
import { readHostPolicy, refusedServer } from '../../transport/allowed-hosts.ts'
import { type CommonOptions, type SetAction, withConfigOption } from '../command.ts'
import { deliverFiles } from '../deliver-files.ts'
import type { CliIo } from '../io.ts'
import { createOutput } from '../output.ts'

interface SpfCacheOptions extends CommonOptions {
  readonly resolver?: string
  readonly dryRun?: boolean
}

export function configure(command: Command, setAction: SetAction): void {
  withConfigOption(command)
    .argument('[path...]', 'programs (default: all in the configuration)')
    .option('--resolver <server>', 'query this resolver (default: as on this machine)')
    .option('--dry-run', 'write nothing; name what has changed')
  setAction(command, spf)
}

/** `zonewright spf [path...]`: writes `spfcache.json` beside each program. Writes nothing if a name cannot be queried. */
async function spf(io: CliIo, [paths]: readonly [string[]], options: SpfCacheOptions): Promise<ExitStatus> {
  const output = createOutput(io, options)
  const { config, diagnostics } = await loadConfigOrDefault(io, options.config)
  output.diagnostics(diagnostics)
  if (config === null || hasErrors(diagnostics)) return EXIT.failure
  const resolver = options.resolver === undefined ? null : parseServerAddress(options.resolver)
  const refused = resolver && refusedServer(readHostPolicy(io.env), '--resolver', resolver)
  if (refused) {
    output.diagnostics([refused])
    return EXIT.failure
  }
  const absolute = paths.length === 0 ? null : paths.map((path) => resolve(io.cwd, path))
  const { caches, diagnostics: found } = await refreshSpf(config, absolute, resolver && [resolver])
  output.diagnostics(found)
  if (hasErrors(found)) return EXIT.failure
  for (const { folder, file, changes } of caches) {
    for (const change of changes) output.print(`${change}\n`)
    if (changes.length === 0) continue
    const delivery = { command: 'import', files: [file], contents: file.path, out: folder, force: true, dryRun: options.dryRun } as const
    const status = await deliverFiles(io, output, delivery)
    if (status !== EXIT.done) return status
  }
  return EXIT.done
}
