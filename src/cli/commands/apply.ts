/** `zonewright apply`: options; the run itself is in `apply/run-apply.ts`. */
import type { Command } from 'commander'
import type { ExitStatus } from '../../apply/exit-status.ts'
import { runApply } from '../../apply/run-apply.ts'
import type { ApplyOptions } from '../../apply/run-context.ts'
import { type CommonOptions, type SetAction, withApplyOptions, withConfigOption, withFormatOption, withPlanOptions } from '../command.ts'
import type { CliIo } from '../io.ts'
import { applySetup } from '../run-setup.ts'

export function configure(command: Command, setAction: SetAction): void {
  withPlanOptions(withConfigOption(command)).argument('[planfile|zone...]', 'a plan file, or zones (default: all)')
  setAction(withApplyOptions(withFormatOption(command, 'plan')), apply)
}

/** `zonewright apply [planfile | zone...]` */
const apply = (
  io: CliIo,
  [args]: readonly [string[]],
  options: ApplyOptions & CommonOptions & { readonly timeout?: number },
): Promise<ExitStatus> => runApply(applySetup(io, options), args)
