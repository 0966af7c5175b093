import { hostEntries } from '../apply/allowed-endpoints.ts'
import { checkImport } from '../convert/check-import.ts'
import { importFiles } from '../convert/import-files.ts'
import { importFromProvider } from '../convert/provider/import-provider.ts'
import { unsupportedFeatureDiagnostics } from '../convert/unsupported-feature-diagnostics.ts'
import { CONFIG_FILE } from '../definition/config/config.ts'
import { printText } from '../definition/yaml/print-plain.ts'
import { hasErrors } from '../dns/diagnostic.ts'
import type { CommonOptions } from './common-options.ts'
import { type Console, sayingLosses } from './console.ts'
import { type InitFile, TOKEN_VARIABLE, workflow } from './init-files.ts'
import type { CliIo } from './io.ts'
import { reportThrottling } from './report-throttling.ts'
import { readRunConfig } from './run-config.ts'

/**
 * The files of a repository for what a provider holds: `from` is its base URL, or the name of a preset. A configuration, a workflow, and a
 * definition of every zone, so that a plan is empty. Null where that cannot be had, which is told.
 */
export async function filesFromProvider(
  io: CliIo,
  console: Console,
  from: string,
  version: string,
  options: CommonOptions & { readonly lossy?: boolean },
): Promise<readonly InitFile[] | null> {
  const text = config(from)
  const { config: read, diagnostics } = readRunConfig(io, text, { file: CONFIG_FILE, folder: io.cwd, cwd: io.cwd })
  if (read === null || hasErrors(diagnostics)) {
    console.diagnostics(diagnostics)
    return null
  }
  const request = {
    source: 'cloud',
    zones: [],
    cwd: io.cwd,
    env: io.env,
    config: read,
    onThrottled: reportThrottling(console),
    options: { out: 'zones' },
  }
  const imported = await importFromProvider(request)
  const found = [
    ...diagnostics,
    ...imported.diagnostics,
    ...unsupportedFeatureDiagnostics(imported.dropped, 'import-lossy', 'provider', options.lossy === true),
  ]
  const { files, diagnostics: inFiles } = importFiles(imported)
  found.push(...inFiles)
  if (!hasErrors(found)) found.push(...(await checkImport(imported.zones, files, read, (path) => `zones/${path}`)))
  console.diagnostics(found, sayingLosses(options))
  if (hasErrors(found)) return null
  return [
    { path: CONFIG_FILE, text },
    ...files.map((file) => ({ path: `zones/${file.path}`, text: file.text })),
    { path: '.github/workflows/dns.yml', text: workflow(version, hostEntries(read)) },
  ]
}

const config = (from: string): string => `# yaml-language-server: $schema=node_modules/zonewright/schemas/config.schema.json
# Where zones live, which definitions go where, and how careful to be.
providers:
  cloud: {type: cloud, ${/^[a-z]+$/.test(from) ? `preset: ${from}` : `base_url: ${printText(from, 'flow')}`}, token: 'env:${TOKEN_VARIABLE}'}
zones:
  - {files: 'zones/**/*', targets: [cloud]}
# A plan beyond these limits is refused until --allow lifts the refusal.
safety: {max_delete_percent: 30, max_update_percent: 30}
`
