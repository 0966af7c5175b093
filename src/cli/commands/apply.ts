import type { Command } from 'commander'
import type { ExitStatus } from '../../apply/exit-status.ts'
import { runApply } from '../../apply/run-apply.ts'
import type { ApplyOptions } from '../../apply/run-context.ts'
import { type CommonOptions, type Runs, withApplyOptions, withConfigOption, withFormatOption, withPlanOptions } from '../command.ts'
import type { CliIo } from '../io.ts'
import { applySetup } from '../run-setup.ts'

export function describe(command: Command, runs: Runs): void {
  withPlanOptions(withConfigOption(command)).argument('[planfile|zone...]', 'a plan file, or zones (default: all)')
  runs(withApplyOptions(withFormatOption(command, 'plan')), apply)
}

/** `zonewright apply [planfile | zone...]` */
const apply = (
  io: CliIo,
  [args]: readonly [string[]],
  options: ApplyOptions & CommonOptions & { readonly timeout?: number },
): Promise<ExitStatus> => runApply(applySetup(io, options), args)
