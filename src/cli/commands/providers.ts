/** `zonewright providers`: options and report; the capabilities are those of `providers/`. */
import type { Command } from 'commander'
import { unknownProvider } from '../../config/config.ts'
import { allProviderTypes, configuredProviders } from '../../inspect/list-providers.ts'
import { type ProviderView, renderProvidersJson, renderProvidersText } from '../../report/provider-report.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { loadRunConfig } from '../../run/load/run-config.ts'
import { type CommonOptions, type SetAction, withConfigOption, withExamples, withFormatOption } from '../command.ts'
import type { CliIo } from '../io.ts'
import { createOutput } from '../output.ts'

export interface ProvidersOptions extends CommonOptions {
  readonly all?: boolean
}

export function configure(command: Command, setAction: SetAction): void {
  withConfigOption(command)
    .argument('[name...]', 'providers of the configuration (default: all)')
    .option('--all', 'every type of provider; needs no configuration')
  withExamples(command, 'providers', 'providers --all')
  setAction(withFormatOption(command, 'providers'), providers)
}

/** `zonewright providers [name...]`: shows capabilities. Contacts no server. */
async function providers(io: CliIo, [names]: readonly [string[]], options: ProvidersOptions): Promise<ExitStatus> {
  const output = createOutput(io, options)
  const render = (views: readonly ProviderView[]): ExitStatus => {
    output.formatted({ text: (view) => renderProvidersText(views, view), json: () => renderProvidersJson(views) })
    return EXIT.done
  }
  if (options.all === true && names.length > 0) {
    output.error('usage', '--all and names exclude each other', 'give one of them')
    return EXIT.failure
  }
  if (options.all === true) return render(allProviderTypes())
  const { config, diagnostics } = await loadRunConfig(io, options.config, { programs: false })
  output.diagnostics(diagnostics, { from: 'error' })
  if (config === null) return EXIT.failure
  const unknown = names.filter((name) => !config.providers.has(name))
  output.diagnostics(unknown.map((name) => unknownProvider(name, config.providers.keys(), undefined)))
  if (config.providers.size === 0) output.note('The config has no providers; --all shows every type.')
  return unknown.length > 0 ? EXIT.failure : render(configuredProviders(config, names))
}
