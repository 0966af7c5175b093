/** `zonewright copy`: options; the run itself is in `moves/copy/run-copy.ts`. */
import type { Command } from 'commander'
import { type CopyRunOptions, runCopy } from '../../moves/copy/run-copy.ts'
import type { ExitStatus } from '../../run/context/exit-status.ts'
import {
  type CommonOptions,
  collect,
  type SetAction,
  withApplyOptions,
  withConfigOption,
  withFormatOption,
  withLossyOption,
  withPlanningOptions,
} from '../command.ts'
import type { CliIo } from '../io.ts'
import { applySetup } from '../run-setup.ts'

export function configure(command: Command, setAction: SetAction): void {
  withLossyOption(withPlanningOptions(withConfigOption(command)), 'leave out what the new provider does not support')
    .argument('<zone...>', 'zones')
    .requiredOption('--from <provider>', 'the provider to read, by its name in the config')
    .requiredOption('--to <provider>', 'the provider to change')
    .option('--apex-ns <name>', 'a name server of the new provider, for the apex NS records (repeatable)', collect, [])
    .option('-o, --out <file>', 'save the plan instead of applying it, for "apply <file>"')
    .option('--dry-run', 'show the plan and change nothing')
    .addHelpText('after', HELP)
  setAction(withApplyOptions(withFormatOption(command, 'plan')), copy)
}

const HELP = `
Example:
  zonewright copy --from cloud --to lab example.com --dry-run`

/** `zonewright copy --from PROVIDER --to PROVIDER zone...` */
const copy = (
  io: CliIo,
  [zones]: readonly [string[]],
  options: CopyRunOptions & CommonOptions & { readonly timeout?: number },
): Promise<ExitStatus> => runCopy(applySetup(io, options), zones)
