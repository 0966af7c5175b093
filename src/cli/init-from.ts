/** The files that `zonewright init --from` writes for the zones of a provider. */
import { readRunConfig, requiredHostEntries } from '../apply/run-config.ts'
import { reportThrottling } from '../apply/run-context.ts'
import { importZones } from '../convert/import.ts'
import { CONFIG_FILE } from '../definition/config/config.ts'
import { printText } from '../definition/yaml/print-yaml.ts'
import { hasErrors } from '../dns/diagnostic.ts'
import type { CommonOptions } from './command.ts'
import { type InitFile, TOKEN_VARIABLE, workflow } from './init-files.ts'
import type { CliIo } from './io.ts'
import { type CliOutput, lossReportOptions } from './output.ts'

/**
 * Creates the files of a repository for the zones of a provider: a config, a workflow and a definition of every zone. A plan is then empty.
 * `from` is the provider's base URL or the name of a preset. Reports errors, and then returns null.
 */
export async function filesFromProvider(
  io: CliIo,
  output: CliOutput,
  from: string,
  version: string,
  options: CommonOptions & { readonly lossy?: boolean },
): Promise<readonly InitFile[] | null> {
  const text = configText(from)
  const { config, diagnostics } = readRunConfig(io, text, { file: CONFIG_FILE, folder: io.cwd, cwd: io.cwd })
  if (config === null || hasErrors(diagnostics)) {
    output.diagnostics(diagnostics)
    return null
  }
  const imported = await importZones({
    format: 'provider',
    source: 'cloud',
    zones: [],
    cwd: io.cwd,
    env: io.env,
    config,
    lossy: options.lossy === true,
    overwrite: false,
    allowEmpty: true,
    onThrottled: reportThrottling(output),
    options: { out: 'zones' },
  })
  const found = [...diagnostics, ...(imported?.diagnostics ?? [])]
  output.diagnostics(found, lossReportOptions(options))
  if (imported === null || hasErrors(found)) return null
  return [
    { path: CONFIG_FILE, text },
    ...imported.files.map((file) => ({ path: `zones/${file.path}`, text: file.text })),
    { path: '.github/workflows/dns.yml', text: workflow(version, requiredHostEntries(config)) },
  ]
}

const configText = (from: string): string => `# yaml-language-server: $schema=node_modules/zonewright/schemas/config.schema.json
# The providers, the provider of each definition, and the safety limits.
providers:
  cloud: {type: cloud, ${/^[a-z]+$/.test(from) ? `preset: ${from}` : `base_url: ${printText(from, 'flow')}`}, token: 'env:${TOKEN_VARIABLE}'}
zones:
  - {files: 'zones/**/*', targets: [cloud]}
# A plan beyond these limits is refused until --allow lifts the refusal.
safety: {max_delete_percent: 30, max_update_percent: 30}
`
