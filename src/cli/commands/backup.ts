import { resolve } from 'node:path'
import type { Command } from 'commander'
import { EXIT, type ExitStatus } from '../../apply/exit-status.ts'
import type { DatabaseLocation } from '../../service/index.ts'
import { type CommonOptions, type Runs, withStoreOptions } from '../command.ts'
import { type Console, createConsole } from '../console.ts'
import type { CliIo } from '../io.ts'

export interface StoreOptions extends CommonOptions {
  readonly data?: string
  readonly database?: string
}

export function describe(command: Command, runs: Runs): void {
  withStoreOptions(command).argument('<file>', 'where to; it is written anew').addHelpText('after', HELP)
  runs(command, backup)
}

const HELP = `
A backup is of one moment, and the same for SQLite and PostgreSQL: it can be
restored into either. Keep it as you keep the database: tokens are in it as
hashes only, secrets encrypted, everything else as it is. The key of the
secrets is not in it, and a service on the restored data needs it.`

/** `zonewright backup`: all that the DNS hosting service keeps, as of one moment, to a file. The service may run meanwhile. */
async function backup(io: CliIo, [file]: readonly [string], options: StoreOptions): Promise<ExitStatus> {
  const console = createConsole(io, options)
  return reportingProblems(console, async () => {
    const { backUpService } = await import('../../service/index.ts')
    const { rows } = await backUpService(storePlace(io, options), resolve(io.cwd, file))
    console.note(`${rows} rows are in ${file}.`)
  })
}

const DEFAULT_FOLDER = 'zonewright-data'

/** Where the service keeps its data: what the command line says, `--database` before `--data`, then the environment, then a folder here. */
export const storePlace = (io: CliIo, { data, database }: Pick<StoreOptions, 'data' | 'database'>): DatabaseLocation => {
  const url = database ?? (data === undefined ? io.env['ZONEWRIGHT_DATABASE'] || null : null)
  return url === null ? { dataDirectory: resolve(io.cwd, data ?? DEFAULT_FOLDER) } : { database: url }
}

/** A fault of the program is thrown on; the rest is of files and databases. */
export async function reportingProblems(console: Console, work: () => Promise<void>): Promise<ExitStatus> {
  try {
    await work()
    return EXIT.done
  } catch (error) {
    if (!(error instanceof Error) || error instanceof TypeError) throw error
    console.error('service-store', error.message)
    return EXIT.failure
  }
}
