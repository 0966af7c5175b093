import type { ExitStatus } from '../../apply/exit-status.ts'
import { runApply } from '../../apply/run-apply.ts'
import type { ApplyOptions } from '../../apply/run-context.ts'
import type { CommonOptions } from '../common-options.ts'
import type { CliIo } from '../io.ts'
import { applySetup } from '../run-setup.ts'

/** `zonewright apply [planfile | zone...]` */
export const apply = (
  io: CliIo,
  [args]: readonly [string[]],
  options: ApplyOptions & CommonOptions & { readonly timeout?: number },
): Promise<ExitStatus> => runApply(applySetup(io, options), args)
