/** `zonewright validate`: options; the checks are in `checks/`. The diagnostics are the report. */
import type { Command } from 'commander'
import { runValidate, type ValidateOptions } from '../../library/run-validate.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { type CommonOptions, type SetAction, withConfigOption, withExamples, withFormatOption } from '../command.ts'
import type { CliIo } from '../io.ts'
import { observed } from '../observed-run.ts'
import { createOutput } from '../output.ts'
import { readOnlySetup } from '../run-setup.ts'
import { readSelection, withZoneLists, type ZoneListOptions } from '../selection.ts'
import { tuneForShortRun } from '../short-run.ts'

export function configure(command: Command, setAction: SetAction): void {
  withZoneLists(withConfigOption(command)).argument(
    '[path...]',
    'files or folders; or names or globs of zones (default: all in the configuration)',
  )
  command.option('--policies-from <revision>', 'take the policies from this git revision')
  command.option('--strict', 'exit with 1 also if there are warnings')
  withExamples(command, 'validate', 'validate zones/example.com.yaml', 'validate --since origin/main')
  setAction(withFormatOption(command, 'validation'), validate)
}

/** `zonewright validate [path...]` */
async function validate(
  io: CliIo,
  [args]: readonly [string[]],
  options: ValidateOptions & CommonOptions & ZoneListOptions,
): Promise<ExitStatus> {
  await tuneForShortRun()
  const selection = await readSelection(io, args, options, createOutput(io, options))
  if (selection === null) return EXIT.failure
  const own = { ...options, isEmptyList: selection.isEmptyList }
  return observed('validate', io, readOnlySetup(io, own), (setup) => runValidate(setup, selection.zones))
}
