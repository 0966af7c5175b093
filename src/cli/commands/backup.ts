/** `zonewright backup`: options and output; the service writes the backup. Also the location of its data for other commands. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import type { DatabaseLocation } from '../../service/index.ts'
import { type CommonOptions, type SetAction, withStoreOptions } from '../command.ts'
import type { CliIo } from '../io.ts'
import { type CliOutput, createOutput } from '../output.ts'

export interface StoreOptions extends CommonOptions {
  readonly data?: string
  readonly database?: string
}

export function configure(command: Command, setAction: SetAction): void {
  withStoreOptions(command).argument('<file>', 'the file to write; an existing file is replaced').addHelpText('after', HELP)
  setAction(command, backup)
}

const HELP = `
A backup is a consistent snapshot, in one format for SQLite and PostgreSQL: it
can be restored into either. Protect it like the database: it contains tokens
only as hashes and secrets encrypted, but everything else in clear text. It
does not contain the key of the secrets, which the restored service needs.`

/** `zonewright backup`: writes a consistent copy of the data of the DNS hosting service to a file, even while the service runs. */
async function backup(io: CliIo, [file]: readonly [string], options: StoreOptions): Promise<ExitStatus> {
  const output = createOutput(io, options)
  return reportingProblems(output, async () => {
    const { backUpService } = await import('../../service/index.ts')
    const { rows } = await backUpService(storePlace(io, options), resolve(io.cwd, file))
    output.note(`${rows} rows are in ${file}.`)
  })
}

const DEFAULT_FOLDER = 'zonewright-data'

/** The place of the service's data: `--database`, then `--data`, then the environment, then the default folder. */
export const storePlace = (io: CliIo, { data, database }: Pick<StoreOptions, 'data' | 'database'>): DatabaseLocation => {
  const url = database ?? (data === undefined ? io.env['ZONEWRIGHT_DATABASE'] || null : null)
  return url === null ? { dataFolder: resolve(io.cwd, data ?? DEFAULT_FOLDER) } : { database: url }
}

/** The place that is named before the name of a subcommand. */
export const storeOptions = ({ data, database }: StoreOptions): StoreOptions => ({
  ...(data === undefined ? {} : { data }),
  ...(database === undefined ? {} : { database }),
})

/** Reports errors of files and databases. Rethrows program errors. */
export async function reportingProblems(output: CliOutput, work: () => Promise<void>): Promise<ExitStatus> {
  try {
    await work()
    return EXIT.done
  } catch (error) {
    if (!(error instanceof Error) || error instanceof TypeError) throw error
    output.error('service-store', error.message)
    return EXIT.failure
  }
}
