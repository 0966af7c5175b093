/** `zonewright conformance`: options; the run itself is in `conformance/run-command.ts`. */
import type { Command } from 'commander'
import { type ConformanceCommandOptions, runConformanceCommand } from '../../conformance/run-command.ts'
import type { ExitStatus } from '../../run/context/exit-status.ts'
import { type CommonOptions, collect, positiveInteger, type SetAction, withConfigOption } from '../command.ts'
import type { CliIo } from '../io.ts'
import { readOnlySetup } from '../run-setup.ts'

export function configure(command: Command, setAction: SetAction): void {
  withConfigOption(command)
    .argument('<zone>', 'a zone for tests: all its records are deleted')
    .option('--target <name>', 'the provider (default: the only one)')
    .option('--delete-records', 'agree that all records of the zone are deleted')
    .addOption(
      command.createOption('--group <name>', 'only this group, by number or name (repeatable)').argParser(collect).default([], 'all'),
    )
    .addOption(command.createOption('--max-size <records>', 'leave out steps with more records').argParser(positiveInteger))
  setAction(command, conformance)
}

/** `zonewright conformance <zone>` */
const conformance = (io: CliIo, [zone]: readonly [string], options: ConformanceCommandOptions & CommonOptions): Promise<ExitStatus> =>
  runConformanceCommand(readOnlySetup(io, options), zone)
