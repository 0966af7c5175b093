/** `zonewright verify`: options; the run itself is in `apply/run-verify.ts`. */
import type { Command } from 'commander'
import type { ExitStatus } from '../../apply/exit-status.ts'
import { runVerify, type VerifyOptions } from '../../apply/run-verify.ts'
import { type CommonOptions, collect, type SetAction, withConfigOption, withFormatOption, withObserveOptions } from '../command.ts'
import type { CliIo } from '../io.ts'
import { type ObserveOptions, observed } from '../observed-run.ts'
import { readOnlySetup } from '../run-setup.ts'

export function configure(command: Command, setAction: SetAction): void {
  withConfigOption(command)
    .argument('[zone...]', 'zones (default: all)')
    .option('--target <name>', 'only this target')
    .addOption(
      command
        .createOption('--nameserver <address>', 'ask this name server (repeatable)')
        .argParser(collect)
        .default([], '"nameservers" in the configuration, or else the NS records'),
    )
    .option('--resolvers <region>', "ask the resolvers of the provider's region instead of name servers")
    .option('--no-dns', 'ask no name server')
  setAction(withObserveOptions(withFormatOption(command, 'verification')), verify)
}

/** `zonewright verify [zone...]` */
const verify = (io: CliIo, [zones]: readonly [string[]], options: VerifyOptions & CommonOptions & ObserveOptions): Promise<ExitStatus> =>
  observed('verify', readOnlySetup(io, options), (setup) => runVerify(setup, zones))
