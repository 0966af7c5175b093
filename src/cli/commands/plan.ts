/** `zonewright plan`: options; the run itself is in `run/run-plan.ts`. */
import type { Command } from 'commander'
import { type CompareSetup, runCompareTargets } from '../../inspect/compare-targets.ts'
import { renderComparisonJson, renderComparisonMarkdown, renderComparisonText } from '../../report/target-comparison.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { type PlanRunOptions, runPlan } from '../../run/run-plan.ts'
import {
  type CommonOptions,
  type SetAction,
  seconds,
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
import { readOnlySetup } from '../run-setup.ts'
import { readSelection, withSelection, type ZoneListOptions } from '../selection.ts'
import { tuneForShortRun } from '../short-run.ts'

export function configure(command: Command, setAction: SetAction): void {
  withSelection(withUsageOption(withPlanOptions(withConfigOption(command)))).argument(
    '[zone...]',
    'names, globs, or paths of definitions (default: all)',
  )
  withFormatOption(command, 'plan')
    .option('--detailed-exitcode', 'exit with 2 if changes are pending')
    .option('-o, --out <file>', 'save the plan, for "apply <file>"')
    .option('--snapshot <file>', 'plan against a snapshot instead of the live zones; contacts no server')
    .option('--verify-key <key>', 'the public key that must have signed the snapshot: env:NAME, file:PATH or "ssh-ed25519 …"')
    .option('--max-age <time>', 'refuse an older snapshot, such as 6h (default: 24h)', seconds)
    .option('--base <revision>', 'show only what the branch adds to the plan of this git revision')
    .option('--policies-from <revision>', 'take the policies from this git revision')
    .option('--compare-targets', 'compare what the targets of each zone support; contacts no server')
  withObserveOptions(command)
  withExamples(command, 'plan', 'plan example.com --target cloud', 'plan --since origin/main --format markdown', 'plan -o plan.json')
  setAction(command, plan)
}

type PlanCommandOptions = PlanRunOptions &
  CommonOptions &
  ObserveOptions &
  ZoneListOptions & { readonly format: string; readonly compareTargets?: boolean }

/** `zonewright plan [zone...]` */
async function plan(io: CliIo, [args]: readonly [string[]], options: PlanCommandOptions): Promise<ExitStatus> {
  await tuneForShortRun()
  const selection = await readSelection(io, args, options, createOutput(io, options))
  if (selection === null) return EXIT.failure
  const { zones, isEmptyList } = selection
  const own = { ...options, isEmptyList }
  return options.compareTargets === true
    ? compareTargets(readOnlySetup(io, own), zones)
    : observed('plan', io, readOnlySetup(io, own), (setup) => runPlan(setup, zones))
}

async function compareTargets(setup: ReturnType<typeof readOnlySetup<PlanCommandOptions>>, zones: string[]): Promise<ExitStatus> {
  const { options, output } = setup
  const { base, format, out, snapshot, target } = options
  const hasOthers = [base, out, snapshot, target].some((option) => option !== undefined)
  if (!['text', 'json', 'markdown'].includes(format) || hasOthers) {
    output.error(
      'usage',
      '--compare-targets has the formats text, json and markdown, and goes with none of --base, --out, --snapshot and --target',
    )
    return EXIT.failure
  }
  const comparison: CompareSetup['output']['comparison'] = (groups, diagnostics) =>
    output.formatted({
      text: (view) => (groups === null ? '' : renderComparisonText(groups, view)),
      json: () => renderComparisonJson(groups ?? [], diagnostics),
      markdown: (view) => renderComparisonMarkdown(groups ?? [], view),
    })
  return runCompareTargets({ ...setup, output: { ...output, comparison } }, zones)
}
