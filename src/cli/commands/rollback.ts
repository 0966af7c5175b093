/** `zonewright rollback`: options; the run itself is in `moves/rollback/run-rollback.ts`. */
import type { Command } from 'commander'
import { type RollbackOptions, runRollback } from '../../moves/rollback/run-rollback.ts'
import type { ExitStatus } from '../../run/context/exit-status.ts'
import { type CommonOptions, type SetAction, withApplyOptions, withConfigOption, withFormatOption, withPlanOptions } from '../command.ts'
import type { CliIo } from '../io.ts'
import { applySetup } from '../run-setup.ts'

export function configure(command: Command, setAction: SetAction): void {
  withPlanOptions(withConfigOption(command))
    .argument('[run-or-zone...]', 'the run (unless --last is given), then zones (default: all that it changed)')
    .addHelpText('after', HELP)
    .option('--last', 'the latest run that changed something, except rollbacks and undone runs')
    .option('-o, --out <file>', 'save the plan instead of applying it, for "apply <file>"')
    .option('--overwrite', 'also overwrite later changes by other clients')
  setAction(withApplyOptions(withFormatOption(command, 'plan')), rollback)
}

const HELP = `
Examples:
  zonewright rollback --last
  zonewright rollback 20261121T071813Z-ac1a example.com
  zonewright rollback copied/20261121T071813Z-ac1a  # of another machine`

/** `zonewright rollback RUN [zone...]`, or `zonewright rollback --last [zone...]`. */
const rollback = (
  io: CliIo,
  [args]: readonly [string[]],
  options: RollbackOptions & CommonOptions & { readonly timeout?: number },
): Promise<ExitStatus> => runRollback(applySetup(io, options), args)
