import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { ExitStatus } from '../../apply/exit-status.ts'
import { type Runs, withStoreOptions } from '../command.ts'
import { createConsole } from '../console.ts'
import type { CliIo } from '../io.ts'
import { reportingProblems, type StoreOptions, storePlace } from './backup.ts'

export function describe(command: Command, runs: Runs): void {
  withStoreOptions(command).argument('<file>', 'a backup, of either database')
  runs(command, restore)
}

/** `zonewright restore`: fills an empty database of the DNS hosting service from a backup. */
async function restore(io: CliIo, [file]: readonly [string], options: StoreOptions): Promise<ExitStatus> {
  const console = createConsole(io, options)
  return reportingProblems(console, async () => {
    const { restoreService } = await import('../../service/index.ts')
    const { rows, created } = await restoreService(storePlace(io, options), resolve(io.cwd, file), ({ path }, message) =>
      console.note(`${path}: ${message}`),
    )
    console.note(`${rows} rows of the backup of ${created} UTC are restored.`)
  })
}
