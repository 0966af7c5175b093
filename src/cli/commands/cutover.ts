/** `zonewright cutover`: options; the run itself is in `moves/cutover/run-cutover.ts`. */
import type { Command } from 'commander'
import type { Ttl } from '../../dns/ttl.ts'
import type { CutoverOptions } from '../../moves/cutover/cutover-context.ts'
import { runCutover } from '../../moves/cutover/run-cutover.ts'
import type { ExitStatus } from '../../run/context/exit-status.ts'
import {
  type CommonOptions,
  collect,
  type SetAction,
  ttl,
  withApplyOptions,
  withConfigOption,
  withFormatOption,
  withLossyOption,
  withPlanningOptions,
} from '../command.ts'
import type { CliIo } from '../io.ts'
import { oneReport } from '../output.ts'
import { applySetup } from '../run-setup.ts'

export function configure(command: Command, setAction: SetAction): void {
  withLossyOption(withPlanningOptions(withConfigOption(command)), 'leave out what the new provider does not support')
    .argument('<zone>', 'the zone')
    .option('--from <provider>', 'the provider that the zone leaves, by its name in the config')
    .option('--to <provider>', 'the new provider')
    .option('--apex-ns <name>', 'a name server of the new provider (repeatable)', collect, [])
    .option('--low-ttl <ttl>', 'the TTL of the NS records during the move', ttl, 300 as Ttl)
    .option('--stay', 'wait for the steps to come, and do them')
    .option('--abort', 'end the move and restore the TTLs')
    .option('--from-server <address>', 'a name server of the previous provider to ask (repeatable)', collect, [])
    .option('--to-server <address>', 'a name server of the new provider to ask (repeatable)', collect, [])
    .option('--parent-server <address>', 'a name server of the parent zone to ask (repeatable)', collect, [])
    .addHelpText('after', HELP)
  setAction(withApplyOptions(withFormatOption(command, 'plan')), cutover)
}

const HELP = `
Run it again when it says so, until its exit status is 0.

Example:
  zonewright cutover example.com --from cloud --to own --apex-ns ns1.example.net`

/** `zonewright cutover ZONE --from PROVIDER --to PROVIDER` */
async function cutover(
  io: CliIo,
  [zone]: readonly [string],
  options: CutoverOptions & CommonOptions & { readonly timeout?: number },
): Promise<ExitStatus> {
  const { output, print } = oneReport(io, options)
  const status = await runCutover({ ...applySetup(io, options), output }, zone)
  print()
  return status
}
