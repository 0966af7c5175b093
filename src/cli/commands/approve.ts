/** `zonewright approve`: options; the work is in `run/run-approve.ts`. */
import type { Command } from 'commander'
import type { ExitStatus } from '../../run/context/exit-status.ts'
import { runApprove } from '../../run/run-approve.ts'
import { type CommonOptions, type SetAction, withConfigOption, withExamples } from '../command.ts'
import type { CliIo } from '../io.ts'
import { applySetup } from '../run-setup.ts'

export function configure(command: Command, setAction: SetAction): void {
  withConfigOption(command)
    .argument('<planfile>', 'a plan that "plan --out" has saved')
    .requiredOption('--key <file>', 'your private key, which "ssh-keygen -t ed25519" creates')
    .option('-y, --yes', 'do not ask')
    .option('--trusted-config <file>', 'the config of the base branch, whose list of keys applies')
  withExamples(command, 'approve plan.json --key ~/.ssh/dns-approval')
  setAction(command, approve)
}

interface ApproveCommandOptions extends CommonOptions {
  readonly key: string
  readonly yes?: boolean
  readonly trustedConfig?: string
}

/** `zonewright approve PLANFILE --key FILE` */
const approve = (io: CliIo, [file]: readonly [string], options: ApproveCommandOptions): Promise<ExitStatus> =>
  runApprove(applySetup(io, { ...options, verbose: true }), file)
