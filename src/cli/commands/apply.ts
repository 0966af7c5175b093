/** `zonewright apply`: options; the run itself is in `run/run-apply.ts`. */
import type { Command } from 'commander'
import type { Ttl } from '../../dns/ttl.ts'
import { type ChoreographyOptions, runChoreography } from '../../moves/stages/run-choreography.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { runApply } from '../../run/run-apply.ts'
import {
  type CommonOptions,
  type SetAction,
  ttl,
  withApplyOptions,
  withConfigOption,
  withExamples,
  withFormatOption,
  withObserveOptions,
  withPlanOptions,
  withUsageOption,
} from '../command.ts'
import type { CliIo } from '../io.ts'
import { type ObserveOptions, observed } from '../observed-run.ts'
import { createOutput } from '../output.ts'
import { applySetup } from '../run-setup.ts'
import { readSelection, withSelection, type ZoneListOptions } from '../selection.ts'

export function configure(command: Command, setAction: SetAction): void {
  withSelection(withUsageOption(withPlanOptions(withConfigOption(command)))).argument(
    '[planfile|zone...]',
    'a plan file; or names, globs, or paths of definitions (default: all)',
  )
  withApplyOptions(withFormatOption(command, 'plan'))
    .option('--partial', 'with a plan file: leave out zones that have changed, and apply the others')
    .option('--choreograph', 'in stages: lower TTLs, wait, change records, restore TTLs')
    .option('--low-ttl <ttl>', 'with --choreograph: the TTL during the change', ttl, 300 as Ttl)
    .option('--stay', 'with --choreograph: wait for the stages to come, and do them')
  withObserveOptions(command)
  withExamples(command, 'apply', 'apply plan.json --yes', 'apply example.com --allow deletes', 'apply --since origin/main --yes')
  setAction(command, apply)
}

/** `zonewright apply [planfile | zone...]` */
async function apply(io: CliIo, [args]: readonly [string[]], options: ApplyCommandOptions): Promise<ExitStatus> {
  const selection = await readSelection(io, args, options, createOutput(io, options))
  if (selection === null) return EXIT.failure
  const own = { ...options, isEmptyList: selection.isEmptyList }
  const run = options.choreograph ? runChoreography : runApply
  return observed('apply', io, applySetup(io, own), (setup) => run(setup, selection.zones))
}

type ApplyCommandOptions = ChoreographyOptions &
  CommonOptions &
  ObserveOptions &
  ZoneListOptions & { readonly choreograph?: boolean; readonly timeout?: number }
