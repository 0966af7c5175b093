/** `zonewright restore`: options and output; the service restores its data. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { type SetAction, withStoreOptions } from '../command.ts'
import type { CliIo } from '../io.ts'
import { createOutput } from '../output.ts'
import { reportingProblems, type StoreOptions, storePlace } from './backup.ts'

export function configure(command: Command, setAction: SetAction): void {
  withStoreOptions(command).argument('<file>', 'a backup, of either database')
  setAction(command, restore)
}

/** `zonewright restore`: fills an empty database of the DNS hosting service from a backup. */
async function restore(io: CliIo, [file]: readonly [string], options: StoreOptions): Promise<ExitStatus> {
  const output = createOutput(io, options)
  const path = resolve(io.cwd, file)
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined || found.isDirectory()) {
    output.error('file-unreadable', `${file} ${found === undefined ? 'does not exist' : 'is a folder'}`)
    return EXIT.failure
  }
  return reportingProblems(output, async () => {
    const { restoreService } = await import('../../service/index.ts')
    const { rows, created } = await restoreService(storePlace(io, options), path, ({ path }, message) => output.note(`${path}: ${message}`))
    output.note(`${rows} rows of the backup of ${created} UTC are restored.`)
  })
}
