/** `zonewright init`: options, output, and the files that it writes. With `--from` a provider, its zones are imported. */
import type { Command } from 'commander'
import { type Diagnostic, hasErrors } from '../../base/diagnostic.ts'
import type { AcceptedLosses } from '../../checks/accepted-losses.ts'
import { CONFIG_FILE } from '../../config/config.ts'
import { importZones } from '../../convert/import.ts'
import { type DomainName, displayName, parseAbsoluteName, ROOT } from '../../dns/domain-name.ts'
import type { WriteOutcome } from '../../files/replace-files.ts'
import { writeFiles } from '../../files/write-files.ts'
import { isPartlyWritten, writeProblems } from '../../files/write-problem.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { reportThrottling } from '../../run/context/run-context.ts'
import { readRunConfig, requiredHostEntries } from '../../run/load/run-config.ts'
import { type CommonOptions, oneOf, type SetAction, withLossyOption } from '../command.ts'
import { CI_SITES, type CiSite, ciFiles } from '../init/ci-files.ts'
import { cloudNeeds, providerNeeds } from '../init/ci-needs.ts'
import { FIRST_TYPES, type FirstProvider, firstProvider, pythonPackagesOf } from '../init/first-provider.ts'
import { installedRelease, type Release } from '../init/release.ts'
import { endedBySignals } from '../interruption.ts'
import type { CliIo } from '../io.ts'
import { type CliOutput, createOutput, lossReportOptions } from '../output.ts'

/** The environment variable with the token, for configuration and workflow. */
const TOKEN_VARIABLE = 'ZONEWRIGHT_TOKEN'

export interface InitOptions extends CommonOptions {
  readonly zone: string
  readonly soaEmail?: string
  /** The base URL, the preset or the type of a provider, to import all its zones instead of writing an example. */
  readonly from?: string
  /** With `from`: leaves out what definitions cannot express. */
  readonly lossy?: AcceptedLosses
  readonly ci: CiSite
}

export function configure(command: Command, setAction: SetAction): void {
  withLossyOption(command, 'with --from: leave out what definitions cannot express; each gets a warning')
    .option('--zone <name>', 'the zone', 'example.com')
    .option('--soa-email <address>', 'the person responsible for the zone (default: hostmaster at the zone)')
    .option(
      '--from <address>',
      `all zones of a provider instead: the base URL of its API, a preset such as linode, or ${FIRST_TYPES.join(', ')}`,
    )
    .addOption(
      command
        .createOption('--ci <site>', `jobs for the CI of: ${CI_SITES.join(', ')}`)
        .argParser(oneOf(CI_SITES))
        .default('github', 'github'),
    )
  setAction(command, init)
}

/** Addresses that the `rname` of an SOA can express and YAML reads as text. */
const EMAIL = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,62}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9-]{2,63}$/

/** `zonewright init`: writes a configuration, a first zone and CI jobs into the working directory. Replaces no file. */
async function init(io: CliIo, _args: readonly [], options: InitOptions): Promise<ExitStatus> {
  const output = createOutput(io, options)
  const release = installedRelease()
  if (options.from !== undefined) {
    const files = await filesFromProvider(io, output, options.from, release, options)
    return files === null
      ? nothingWritten(output)
      : write(io, output, files, STEPS_FROM_PROVIDER + mergeStep(options.ci) + releaseStep(release))
  }
  const zone = readZone(output, options.zone)
  if (zone === null) return EXIT.failure
  const soaEmail = options.soaEmail ?? `hostmaster@${zone.slice(0, -1)}`
  if (!EMAIL.test(soaEmail)) {
    const given =
      options.soaEmail === undefined ? `${JSON.stringify(soaEmail)}, derived from the zone,` : `--soa-email ${JSON.stringify(soaEmail)}`
    output.error('usage', `${given} is not an e-mail address`, 'such as --soa-email hostmaster@example.com')
    return EXIT.failure
  }
  return write(
    io,
    output,
    initFiles({ zone, soaEmail, release, ci: options.ci }),
    NEXT_STEPS + mergeStep(options.ci) + releaseStep(release),
  )
}

async function write(io: CliIo, output: CliOutput, files: readonly InitFile[], steps: string): Promise<ExitStatus> {
  const outcome = await endedBySignals(() =>
    writeFiles(io.cwd, files, { overwrite: false, command: 'init', now: io.now, secrets: io.secrets }),
  )
  const problems = problemsOf(outcome)
  output.diagnostics(problems)
  if (isPartlyWritten(outcome)) return EXIT.failure
  if (problems.length > 0) return nothingWritten(output)
  output.print(`Written:\n${files.map(({ path }) => `  ${path}\n`).join('')}`)
  output.print(steps)
  return EXIT.done
}

function nothingWritten(output: CliOutput): ExitStatus {
  output.say('Nothing was written.')
  return EXIT.failure
}

function readZone(output: CliOutput, text: string): DomainName | null {
  const name = parseAbsoluteName(text)
  if (name.ok && name.value !== ROOT) return name.value
  output.error(
    'usage',
    `--zone ${JSON.stringify(text)} is not the name of a zone${name.ok ? '' : `: ${name.message}`}`,
    'such as example.com',
  )
  return null
}

function problemsOf(outcome: WriteOutcome): Diagnostic[] {
  if (outcome.state === 'exists') return outcome.paths.map(alreadyExists)
  if (outcome.state === 'written' && outcome.written.length === 0) return outcome.unchanged.map(alreadyExists)
  return writeProblems(outcome, (path) => path)
}

const alreadyExists = (path: string): Diagnostic => ({
  severity: 'error',
  code: 'file-exists',
  message: `${path} already exists`,
  hint: 'init never overwrites a file: move it away, or run init in another folder',
})

const NEXT_STEPS = `
To try it, start a service in another terminal:
  export ${TOKEN_VARIABLE}=$(openssl rand -hex 32)
  ZONEWRIGHT_BOOTSTRAP_TOKEN=$${TOKEN_VARIABLE} zonewright serve
Then run here, with the same ${TOKEN_VARIABLE}:
  zonewright validate    checks the definitions offline
  zonewright plan        shows what would change
  zonewright apply       asks, then makes the changes
  zonewright verify      compares them with what the name server answers

If the zone is already live, import all its records first (zonewright import --help): apply deletes records that are not in the definition.
Keep the service's zonewright-data/ and the journal .zonewright/ out of the repository.
`

const STEPS_FROM_PROVIDER = `
The definitions equal the zones at the provider, so a plan is empty:
  zonewright plan        shows what would change
  zonewright verify      compares them with what the name servers answer
From now on, change the definitions and run "zonewright apply".
`

/** The settings of the site that keep refused plans from being merged and secrets from other branches, and let a reviewer approve each apply. */
const mergeStep = (site: CiSite): string =>
  site === 'github'
    ? `
Require the checks "plan" and "check" for main, so that no refused plan is merged:
  https://github.com/OWNER/REPOSITORY/settings/rules/new?target=branch
Let only main use the environments "dns-read" and "dns", and give "dns" required reviewers if each apply needs a consent:
  https://github.com/OWNER/REPOSITORY/settings/environments
`
    : '\nTurn on "Pipelines must succeed" (Settings, Merge requests), so that no refused plan is merged.\n'

/** What the user has to add to the CI jobs. */
const releaseStep = ({ tarball, checksum }: Release): string =>
  tarball !== '' && checksum !== ''
    ? ''
    : `
Set ${tarball === '' ? 'ZONEWRIGHT_TARBALL and ZONEWRIGHT_CHECKSUM' : 'ZONEWRIGHT_CHECKSUM'} in the CI jobs to the release that CI is to install. Until then each job ends with an error.
`

/**
 * Creates the files of a repository for the zones of a provider: a config, CI jobs and a definition of every zone. A plan is then empty.
 * `from` is as for `firstProvider`. Reports errors, and then returns null.
 */
async function filesFromProvider(
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

interface InitFile {
  /** Relative to the folder of the repository, with `/`. */
  readonly path: string
  readonly text: string
}

interface NewConfig {
  readonly zone: DomainName
  readonly soaEmail: string
  /** The release that the jobs install. */
  readonly release: Release
  /** The site whose CI runs the jobs. */
  readonly ci: CiSite
}

const SERVICE = '127.0.0.1:8080'
const NAME_SERVER = '127.0.0.1:5353'

export const initFiles = ({ zone, soaEmail, release, ci }: NewConfig): readonly InitFile[] => [
  { path: 'zonewright.yaml', text: config(soaEmail) },
  { path: definitionPath(zone), text: definition(zone, soaEmail) },
  ...ciFiles(ci, release, [SERVICE, NAME_SERVER], cloudNeeds(TOKEN_VARIABLE)),
]

/** The path for a zone. A zone of RFC 2317 has a slash in its name; the definition itself names the zone. */
const definitionPath = (zone: DomainName): string => `zones/${zone.slice(0, -1).replace(/[^a-z0-9._-]/g, '-')}.yaml`

const config = (soaEmail: string): string => `# yaml-language-server: $schema=node_modules/zonewright/schemas/config.schema.json
# The providers, the provider of each definition, and the safety limits.
providers:
  # A service on this machine: ZONEWRIGHT_BOOTSTRAP_TOKEN=$${TOKEN_VARIABLE} zonewright serve
  cloud: {type: cloud, base_url: 'http://${SERVICE}/v4', token: 'env:${TOKEN_VARIABLE}'}
  # Or a service elsewhere, with a token that may read and write domains. Also change ZONEWRIGHT_ALLOWED_HOSTS of the
  # CI jobs:
  # cloud: {type: cloud, base_url: 'https://dns.example.net/v4', token: 'env:${TOKEN_VARIABLE}'}
  # or Akamai Cloud (Linode):
  # cloud: {type: cloud, preset: linode, token: 'env:${TOKEN_VARIABLE}'}
zones:
  - {files: 'zones/**/*', targets: [cloud]}
# Settings for definitions that do not have them.
defaults: {soa_email: ${soaEmail}}
# A plan beyond these limits is refused until --allow lifts the refusal.
safety: {max_delete_percent: 30, max_update_percent: 30}
# The name servers that "zonewright verify" asks: here the service on this machine. Default: those in the zone's NS records.
nameservers: ['${NAME_SERVER}']
`

const definition = (
  zone: DomainName,
  soaEmail: string,
): string => `# yaml-language-server: $schema=../node_modules/zonewright/schemas/zone.schema.json
# All records of the zone: "zonewright apply" deletes any other. These are examples (RFC 2606, RFC 5737): replace them with yours.
domain: ${displayName(zone).replace(/\.$/, '')}
soa_email: ${soaEmail}
default_ttl: 1h
records:
${/\.(?:in-addr|ip6)\.arpa\.$/.test(zone) ? REVERSE_RECORDS : RECORDS}`

const RECORDS = `  # The apex: the zone's own name.
  '':
    - {type: A, value: 192.0.2.1}
    - {type: TXT, value: v=spf1 -all}
  # A single label is a name in this zone, @ is the apex. A full name ends in a dot.
  www: {type: CNAME, value: '@'}
`

const REVERSE_RECORDS = `  # The last label of the address; then the name of the host, with a final dot.
  '1': {type: PTR, value: www.example.com.}
`
