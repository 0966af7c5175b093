import type { ExitStatus } from '../../apply/exit-status.ts'
import { runVerify, type VerifyOptions } from '../../apply/run-verify.ts'
import type { CommonOptions } from '../common-options.ts'
import type { CliIo } from '../io.ts'
import { runSetup } from '../run-setup.ts'

/** `zonewright verify [zone...]` */
export const verify = (io: CliIo, [zones]: readonly [string[]], options: VerifyOptions & CommonOptions): Promise<ExitStatus> =>
  runVerify(runSetup(io, options), zones)
