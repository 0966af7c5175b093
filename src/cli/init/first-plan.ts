/** The first plan of a new config, and the commands that come next. */
import type { Config } from '../../config/config.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import type { PlanRunOptions } from '../../run/run-plan.ts'
import type { CommonOptions } from '../command.ts'
import type { CliIo } from '../io.ts'
import type { CliOutput } from '../output.ts'
import { readOnlySetup } from '../run-setup.ts'
import { needsOf } from './ci-needs.ts'

/** The variables that plans with a config need and the environment lacks. */
export const missingVariables = (config: Config, env: CliIo['env']): string[] => needsOf(config).required.filter((name) => !env[name])

/** Plans with the config at `file`, if the environment has its secrets; else names those that are missing. */
export async function firstPlan(
  io: CliIo,
  output: CliOutput,
  { config, file }: { readonly config: Config; readonly file: string },
  { color = true, quiet = false, verbose = false }: CommonOptions,
): Promise<ExitStatus> {
  const missing = missingVariables(config, io.env)
  if (missing.length > 0) {
    output.say(`Set ${missing.join(', ')}; then "zonewright plan" shows what differs at the providers.`)
    return EXIT.done
  }
  const { runPlan } = await import('../../run/run-plan.ts')
  return runPlan(readOnlySetup<PlanRunOptions & CommonOptions>(io, { color, quiet, verbose, config: file, format: 'text' }), [])
}

/** The commands after an import. `config` is the option that a plan needs; null if there is no config yet. */
export function nextCommands(config: string | null): readonly string[] {
  const plan = `  zonewright plan${config ?? ''}    shows what would change`
  const init = `  zonewright init    adds ${config === null ? 'a config, ' : ''}CI jobs and .gitignore`
  return config === null ? ['Next:', init, plan] : ['Next:', plan, init]
}
