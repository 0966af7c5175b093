/** `zonewright plan`: options; the run itself is in `apply/run-plan.ts`. */
import type { Command } from 'commander'
import type { ExitStatus } from '../../apply/exit-status.ts'
import { type PlanRunOptions, runPlan } from '../../apply/run-plan.ts'
import { type CommonOptions, type SetAction, withConfigOption, withFormatOption, withPlanOptions } from '../command.ts'
import type { CliIo } from '../io.ts'
import { readOnlySetup } from '../run-setup.ts'

export function configure(command: Command, setAction: SetAction): void {
  withPlanOptions(withConfigOption(command)).argument('[zone...]', 'zones (default: all)')
  withFormatOption(command, 'plan')
    .option('--detailed-exitcode', 'exit with 2 if changes are pending')
    .option('-o, --out <file>', 'save the plan, for "apply <file>"')
  setAction(command, plan)
}

/** `zonewright plan [zone...]` */
const plan = (io: CliIo, [zones]: readonly [string[]], options: PlanRunOptions & CommonOptions): Promise<ExitStatus> =>
  runPlan(readOnlySetup(io, options), zones)
