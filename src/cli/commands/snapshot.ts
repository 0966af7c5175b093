/** `zonewright snapshot`: options; the run itself is in `inspect/run-snapshot.ts`. */
import type { Command } from 'commander'
import { runSnapshot, type SnapshotOptions } from '../../inspect/run-snapshot.ts'
import type { ExitStatus } from '../../run/context/exit-status.ts'
import { type CommonOptions, positiveInteger, type SetAction, withConfigOption, withExamples } from '../command.ts'
import type { CliIo } from '../io.ts'
import { readOnlySetup } from '../run-setup.ts'

export function configure(command: Command, setAction: SetAction): void {
  withConfigOption(command)
    .argument('[zone...]', 'names, globs, or paths of definitions (default: all)')
    .requiredOption('-o, --out <file>', 'the file to write')
    .option('--sign-key <key>', 'sign with this Ed25519 private key: env:NAME or file:PATH')
    .option('--target <name>', 'only this target')
    .option('--parallelism <n>', 'concurrent requests per target', positiveInteger)
  withExamples(command, 'snapshot --out live.json')
  setAction(command, snapshot)
}

/** `zonewright snapshot [zone...]` */
const snapshot = (io: CliIo, [zones]: readonly [string[]], options: SnapshotOptions & CommonOptions): Promise<ExitStatus> =>
  runSnapshot(readOnlySetup(io, options), zones)
