import type { ExitStatus } from '../../apply/exit-status.ts'
import { type RollbackOptions, runRollback } from '../../apply/rollback/run-rollback.ts'
import type { CommonOptions } from '../common-options.ts'
import type { CliIo } from '../io.ts'
import { applySetup } from '../run-setup.ts'

/** `zonewright rollback RUN [zone...]` */
export const rollback = (
  io: CliIo,
  [args]: readonly [string[]],
  options: RollbackOptions & CommonOptions & { readonly timeout?: number },
): Promise<ExitStatus> => runRollback(applySetup(io, options), args)
