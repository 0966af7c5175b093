import type { ExitStatus } from '../../apply/exit-status.ts'
import { type PlanRunOptions, runPlan } from '../../apply/run-plan.ts'
import type { CommonOptions } from '../common-options.ts'
import type { CliIo } from '../io.ts'
import { runSetup } from '../run-setup.ts'

/** `zonewright plan [zone...]` */
export const plan = (io: CliIo, [zones]: readonly [string[]], options: PlanRunOptions & CommonOptions): Promise<ExitStatus> =>
  runPlan(runSetup(io, options), zones)
