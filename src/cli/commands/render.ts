/** `zonewright render`: shows the zones that definitions make, as YAML. */
import type { Command } from 'commander'
import { hasErrors } from '../../base/diagnostic.ts'
import type { LoadedZone } from '../../config/configured-zone.ts'
import { printDefinition } from '../../definition/print/print-definition.ts'
import { loadDefinitions } from '../../load/load-definitions.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { loadConfigOrDefault } from '../../run/load/run-config.ts'
import { type CommonOptions, type SetAction, withConfigOption, withExamples } from '../command.ts'
import type { CliIo } from '../io.ts'
import { createOutput } from '../output.ts'

export function configure(command: Command, setAction: SetAction): void {
  withConfigOption(command).argument('[zone...]', 'names, globs, or paths of definitions (default: all)')
  withExamples(command, 'render example.com')
  setAction(command, render)
}

/**
 * `zonewright render [zone...]`: prints one YAML document per zone with the records that its definition makes, in canonical order. Contacts no server. The status is 1
 * if a definition has an error; then it prints nothing.
 */
async function render(io: CliIo, [names]: readonly [string[]], options: CommonOptions): Promise<ExitStatus> {
  const output = createOutput(io, options)
  const { config, diagnostics } = await loadConfigOrDefault(io, options.config)
  output.diagnostics(diagnostics, { from: 'error' })
  if (config === null) return EXIT.failure
  const loaded = await loadDefinitions(config, { zones: names, autoPtr: false, lints: false })
  // A zone without a target can be rendered.
  const found = loaded.diagnostics.filter(({ severity, code }) => severity === 'error' && code !== 'target-missing')
  output.diagnostics(found)
  if (hasErrors(found)) return EXIT.failure
  output.print(loaded.zones.map(document).join('---\n'))
  return EXIT.done
}

function document({ zone, files, targets }: LoadedZone): string {
  const { file, line } = zone.at
  return `# ${files.includes(file) ? `${file}:${line}` : (files[0] ?? file)}\n${printDefinition({ ...zone, targets, policy: zone.policy ?? undefined })}`
}
