/** The files that `zonewright init --from` writes for the zones of a provider. */
import { FIRST_TYPES, type FirstProvider, firstProvider, pythonPackagesOf } from '../apply/first-provider.ts'
import { readRunConfig, requiredHostEntries } from '../apply/run-config.ts'
import { reportThrottling } from '../apply/run-context.ts'
import { importZones } from '../convert/import.ts'
import type { AcceptedLosses } from '../definition/accepted-losses.ts'
import { CONFIG_FILE } from '../definition/config/config.ts'
import { type Diagnostic, hasErrors } from '../dns/diagnostic.ts'
import { type CiSite, ciFiles } from './ci-files.ts'
import { cloudNeeds, providerNeeds } from './ci-needs.ts'
import type { CommonOptions } from './command.ts'
import { type InitFile, TOKEN_VARIABLE } from './init-files.ts'
import type { CliIo } from './io.ts'
import { type CliOutput, lossReportOptions } from './output.ts'
import type { Release } from './release.ts'

/**
 * Creates the files of a repository for the zones of a provider: a config, CI jobs and a definition of every zone. A plan is then empty.
 * `from` is as for `firstProvider`. Reports errors, and then returns null.
 */
export async function filesFromProvider(
  io: CliIo,
  output: CliOutput,
  from: string,
  release: Release,
  options: CommonOptions & { readonly lossy?: AcceptedLosses; readonly ci: CiSite },
): Promise<readonly InitFile[] | null> {
  const first = firstProvider(from, TOKEN_VARIABLE)
  if (!first.ok) {
    output.error('usage', first.message)
    return null
  }
  const start = first.value
  const text = configText(start)
  const { config, diagnostics } = readRunConfig(io, text, { file: CONFIG_FILE, folder: io.cwd, cwd: io.cwd })
  if (config === null || hasErrors(diagnostics)) {
    output.diagnostics(aboutOption(diagnostics, from))
    return null
  }
  const imported = await importZones({
    format: 'provider',
    source: start.name,
    zones: [],
    cwd: io.cwd,
    env: io.env,
    config,
    lossy: options.lossy ?? false,
    overwrite: false,
    allowEmpty: true,
    onThrottled: reportThrottling(output),
    options: { out: 'zones' },
  })
  const found = aboutOption([...diagnostics, ...(imported?.diagnostics ?? [])], from)
  output.diagnostics(found, lossReportOptions(options))
  if (imported === null || hasErrors(found)) return null
  const pythonPackages = start.allowed === null ? [] : await pythonPackagesOf(config, start.name, io.env)
  if (start.allowed !== null && pythonPackages.length < (start.allowed.startsWith('octodns.') ? 1 : 2))
    output.diagnostics([
      {
        severity: 'warning',
        code: 'import-aside',
        message: `the workflow does not install the package of ${start.allowed}: it is not one of octoDNS, or states no version`,
        hint: 'add its installation to INSTALL_ZONEWRIGHT in .github/workflows/dns.yml',
      },
    ])
  return [
    { path: CONFIG_FILE, text },
    ...imported.files.map((file) => ({ path: `zones/${file.path}`, text: file.text })),
    ...ciFiles(
      options.ci,
      release,
      requiredHostEntries(config),
      start.variables.length === 0 && start.allowed === null ? cloudNeeds(TOKEN_VARIABLE) : providerNeeds({ ...start, pythonPackages }),
    ),
  ]
}

/** The setting that `--from` states, at the begin of a message. */
const STATED = /^"?providers\.\w+\.(?:preset|base_url)"?:? /

/** Diagnostics of a config that is not written yet, which has no places: they are about the option that it was made from. */
const aboutOption = (diagnostics: readonly Diagnostic[], from: string): Diagnostic[] =>
  diagnostics.map(({ at, ...rest }) => {
    if (at === undefined || at.file !== CONFIG_FILE) return { ...rest, at }
    if (!STATED.test(rest.message)) return rest
    const hint = rest.hint ?? `give the base URL of an API, or a type of provider: ${FIRST_TYPES.join(', ')}`
    return { ...rest, message: rest.message.replace(STATED, () => `--from ${JSON.stringify(from)} `), hint }
  })

const configText = ({
  name,
  entry,
}: FirstProvider): string => `# yaml-language-server: $schema=node_modules/zonewright/schemas/config.schema.json
# The providers, the provider of each definition, and the safety limits.
providers:
  ${name}: ${entry}
zones:
  # Certificate clients come and go: their challenges (TXT at _acme-challenge) are theirs unless a definition has them.
  - {files: 'zones/**/*', targets: [${name}], unmanaged: [{preset: acme}]}
# A plan beyond these limits is refused until --allow lifts the refusal.
safety: {max_delete_percent: 30, max_update_percent: 30}
`
