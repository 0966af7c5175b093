/** `zonewright verify`: options; the run itself is in `run/run-verify.ts`. */
import type { Command } from 'commander'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { runVerify, type VerifyOptions } from '../../run/run-verify.ts'
import {
  type CommonOptions,
  collect,
  type SetAction,
  withConfigOption,
  withExamples,
  withFormatOption,
  withObserveOptions,
} from '../command.ts'
import type { CliIo } from '../io.ts'
import { type ObserveOptions, observed } from '../observed-run.ts'
import { createOutput } from '../output.ts'
import { readOnlySetup } from '../run-setup.ts'
import { readSelection, withSelection, type ZoneListOptions } from '../selection.ts'

export function configure(command: Command, setAction: SetAction): void {
  withSelection(withConfigOption(command))
    .argument('[zone...]', 'names, globs, or paths of definitions (default: all)')
    .option('--target <name>', 'only this target')
    .addOption(
      command
        .createOption('--nameserver <address>', 'ask this name server (repeatable)')
        .argParser(collect)
        .default([], '"nameservers" in the configuration, or else the NS records'),
    )
    .option('--resolvers <region>', "ask the resolvers of the provider's region instead of name servers")
    .option('--no-dns', 'ask no name server')
  withExamples(command, 'verify', 'verify example.com --format json')
  setAction(withObserveOptions(withFormatOption(command, 'verification')), verify)
}

/** `zonewright verify [zone...]` */
async function verify(
  io: CliIo,
  [args]: readonly [string[]],
  options: VerifyOptions & CommonOptions & ObserveOptions & ZoneListOptions,
): Promise<ExitStatus> {
  const selection = await readSelection(io, args, options, createOutput(io, options))
  if (selection === null) return EXIT.failure
  const own = { ...options, isEmptyList: selection.isEmptyList }
  return observed('verify', io, readOnlySetup(io, own), (setup) => runVerify(setup, selection.zones))
}
