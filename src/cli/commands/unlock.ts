/** `zonewright unlock`: options; the work is in `inspect/run-unlock.ts`. */
import type { Command } from 'commander'
import { runUnlock, type UnlockOptions } from '../../inspect/run-unlock.ts'
import { type CommonOptions, type SetAction, withConfigOption, withExamples } from '../command.ts'
import { applySetup } from '../run-setup.ts'

export function configure(command: Command, setAction: SetAction): void {
  withConfigOption(command)
    .argument('[zone...]', 'the zones to unlock')
    .option('--run <run>', 'the run whose lease to end, or a prefix of its name')
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', '\nShows which run has locked the zones, and what is known about its requests.')
  withExamples(command, 'unlock example.com')
  setAction(command, (io, [zones]: readonly [string[]], options: UnlockOptions & CommonOptions) =>
    runUnlock(applySetup(io, options), zones),
  )
}
