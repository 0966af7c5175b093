/** `zonewright init`: options, output, and the example. `cli/init/take-over.ts` takes over what a folder has. */
import { existsSync } from 'node:fs'
import { relative, resolve, sep } from 'node:path'
import type { Command } from 'commander'
import { type Diagnostic, hasErrors } from '../../base/diagnostic.ts'
import type { AcceptedLosses } from '../../checks/accepted-losses.ts'
import { CONFIG_FILE } from '../../config/config.ts'
import { importZones } from '../../convert/import.ts'
import { type DomainName, displayName, parseAbsoluteName, ROOT } from '../../dns/domain-name.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { reportThrottling } from '../../run/context/run-context.ts'
import { readRunConfig } from '../../run/load/run-config.ts'
import { type CommonOptions, oneOf, type SetAction, withExamples, withLossyOption, withVariableOption } from '../command.ts'
import { existingText, withProvider } from '../init/add-files.ts'
import { filesForCi, warning } from '../init/ci-files.ts'
import { schemaComment } from '../init/editor-schemas.ts'
import { findSources, hasDefinitions, lookAround, type SeenFile, type Source } from '../init/find-sources.ts'
import { configText, FIRST_TYPES, firstProvider } from '../init/first-provider.ts'
import { CI_SITES, type CiSite, type Repository, repositoryOf } from '../init/repository.ts'
import { complete, type InitContext, nothingWritten, prepare, readNew } from '../init/take-over.ts'
import type { CliIo } from '../io.ts'
import { type CliOutput, createOutput, lossReportOptions } from '../output.ts'

/** The environment variable with the token, for configuration and workflow. */
const TOKEN_VARIABLE = 'ZONEWRIGHT_TOKEN'

export interface InitOptions extends CommonOptions {
  readonly zone?: string
  readonly soaEmail?: string
  /** The base URL, the preset or the type of a provider, to import all its zones instead of writing an example. */
  readonly from?: string
  /** The same, for zones that are imported and name no provider. */
  readonly to?: string
  /** Leaves out what definitions cannot express. */
  readonly lossy?: AcceptedLosses
  readonly ci?: CiSite
}

export function configure(command: Command, setAction: SetAction): void {
  withLossyOption(command, 'leave out what definitions cannot express; each gets a warning')
    .argument('[path]', 'what to take over, if the folder has several: a config, program, state or folder')
    .option('--zone <name>', 'write an example zone (default in a folder without zones: example.com)')
    .option('--soa-email <address>', 'the person responsible for the zone (default: hostmaster at the zone)')
    .option(
      '--from <address>',
      `import all zones of a provider: the base URL of its API, a preset such as linode, or ${FIRST_TYPES.join(', ')}`,
    )
    .option('--to <address>', 'the provider for zone files or definitions in this folder, written as for --from')
    .addOption(
      command
        .createOption('--ci <site>', `jobs for the CI of: ${CI_SITES.join(', ')}; alone: write only these`)
        .argParser(oneOf(CI_SITES))
        .default(undefined, 'as in the repository'),
    )
    .option('-y, --yes', 'do not ask')
  withVariableOption(command).addHelpText('after', HELP)
  withExamples(command, 'init', 'init --zone example.org --ci gitlab')
  setAction(command, init)
}

const HELP = `
In a folder with a repository of octoDNS or DNSControl, zone files, a state of
Terraform (show -json) or a zonewright.yaml, init shows what it would write and
which hosts, variables and classes a plan uses, and asks. It adds what is
missing, and shows every change of an existing file.`

/** Addresses that the `rname` of an SOA can express and YAML reads as text. */
const EMAIL = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,62}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9-]{2,63}$/

/** `zonewright init [PATH]`: takes over what the working directory has, or writes a configuration, a first zone and CI jobs. */
async function init(io: CliIo, [path]: readonly [string | undefined], options: InitOptions): Promise<ExitStatus> {
  const output = createOutput(io, options)
  const { zone, soaEmail, from, to } = options
  const found = repositoryOf(io.cwd)
  const repository = { ...found, site: options.ci ?? found.site, isSiteKnown: options.ci !== undefined || found.isSiteKnown }
  // --to is for what is at PATH, too.
  const ways = Object.entries({
    PATH: path,
    '--from': from,
    '--zone or --soa-email': zone ?? soaEmail,
    '--to': path === undefined ? to : undefined,
  })
  const chosen = ways.flatMap(([way, value]) => (value === undefined ? [] : [way]))
  if (chosen.length > 1) return refuse(output, `${chosen.join(' and ')} exclude each other`)
  const odd = Object.entries(io.variables ?? {}).find(([, value]) => !/^[\w.,:@%+/-]+$/.test(value))
  if (odd !== undefined) return refuse(output, `the value of --var ${odd[0]} has other characters than letters, digits and .,:@%+/-`)
  if (/['"#:\p{Cc}]/u.test(repository.below))
    return refuse(output, `CI jobs cannot name the folder ${JSON.stringify(repository.below)}`, 'rename it')
  const steps = mergeStep(repository)
  const provider = firstProvider(from ?? to ?? SERVICE_ADDRESS, TOKEN_VARIABLE)
  if (!provider.ok) return refuse(output, to === undefined ? provider.message : provider.message.replaceAll('--from', '--to'))
  if (to !== undefined) {
    const { diagnostics } = readRunConfig({ ...io, env: {} }, configText(provider.value, '**/*'), {
      file: CONFIG_FILE,
      folder: io.cwd,
      cwd: io.cwd,
    })
    output.diagnostics(aboutOption(diagnostics, '--to', to))
    if (hasErrors(diagnostics)) return nothingWritten(output)
  }
  const { seen, diagnostics } = from === undefined ? await lookAround(io.cwd) : { seen: [], diagnostics: [] }
  output.diagnostics(diagnostics)
  const context: InitContext = { io, output, options, repository, seen, provider: provider.value }
  if (from !== undefined) {
    const prepared = await prepareProvider(context, from)
    return prepared === null ? nothingWritten(output) : complete(context, prepared, STEPS_FROM_PROVIDER, steps)
  }
  if (zone !== undefined || soaEmail !== undefined) return writeExample(context, options, steps)
  const sources = sourcesIn(seen, relative(io.cwd, resolve(io.cwd, path ?? '.')))
  const hasConfig = existingText(io.cwd, CONFIG_FILE) !== null
  if (path !== undefined && !existsSync(resolve(io.cwd, path)))
    return refuse(output, `${path} does not exist`, `name ${EXPECTED}; for a new config run "zonewright init" alone`)
  const [source, ...others] = hasConfig && path === undefined ? ['config' as const] : sources
  if (others.length > 0) {
    const commands = sources.map((one) => `zonewright init ${typeof one === 'string' ? '' : one.path}`)
    return refuse(output, 'the folder has several things to take over', `choose one: ${commands.join(', ')}`)
  }
  if (source === undefined && path !== undefined)
    return refuse(output, `there is nothing to take over at ${JSON.stringify(path)}`, EXPECTED)
  if (hasConfig && typeof source === 'object') {
    const command = `zonewright import ${source.kind} ${source.path}${source.kind === 'dnscontrol' ? ' --convert' : ''} -o zones`
    output.diagnostics([warning(`${CONFIG_FILE} exists, so ${source.path} is not imported`, command)])
  }
  if (options.ci !== undefined && path === undefined && to === undefined) {
    const prepared = await prepare(context, source ?? 'definitions')
    if (prepared === null) return nothingWritten(output)
    if (prepared.config === null) return refuse(output, 'there is no config, which says what the jobs need', 'zonewright init writes one')
    const jobs = await filesForCi(io, repository, prepared.config, output, false)
    const status = await complete(context, { files: jobs.map((file) => ({ ...file, changes: true })), config: null }, '', steps)
    if (!hasConfig && status === EXIT.done) output.print(`The jobs need ${CONFIG_FILE}: "zonewright init" writes it.\n`)
    return status
  }
  if (source === undefined && seen.some((one) => /^[^/]+\.(?:tf|tofu)$/.test(one.path)))
    return refuse(output, 'the folder has a configuration of Terraform, and no state of it', 'run: terraform show -json > show.json')
  if (source === undefined && to !== undefined)
    return refuse(output, '--to is for zones that are here, and there are none', 'import those of a provider with --from')
  if (source === undefined) {
    if (seen.some(({ path }) => !/^\.|(?:^|\/)package(?:-lock)?\.json$|\.md$/.test(path)))
      output.say(
        `Nothing to take over was found, so this is an example. init takes over ${EXPECTED}. "zonewright import --help" names more formats.`,
      )
    return writeExample(context, options, steps)
  }
  const prepared = await prepare(context, hasConfig ? 'config' : source)
  return prepared === null ? nothingWritten(output) : complete(context, prepared, '', steps)
}

/** What the folder has at or below a path. */
function sourcesIn(seen: readonly SeenFile[], below: string): readonly (Source | 'definitions')[] {
  const sources = findSources(seen, below.split(sep).join('/') || '.')
  return sources.length === 0 && hasDefinitions(seen) ? ['definitions'] : sources
}

const EXPECTED = 'a config of octoDNS, a dnsconfig.js, zone files such as example.com.zone, or what "terraform show -json" prints'

function refuse(output: CliOutput, message: string, hint?: string): ExitStatus {
  output.error('usage', message, hint)
  return EXIT.failure
}

/** A config for a service on this machine, and a zone with examples. */
async function writeExample(context: InitContext, options: InitOptions, steps: string): Promise<ExitStatus> {
  const { output, repository } = context
  const zone = readZone(output, options.zone ?? 'example.com')
  if (zone === null) return EXIT.failure
  const soaEmail = options.soaEmail ?? `hostmaster@${zone.slice(0, -1)}`
  if (!EMAIL.test(soaEmail)) {
    const given =
      options.soaEmail === undefined ? `${JSON.stringify(soaEmail)}, derived from the zone,` : `--soa-email ${JSON.stringify(soaEmail)}`
    return refuse(output, `${given} is not an e-mail address`, 'such as --soa-email hostmaster@example.com')
  }
  const files = [
    { path: CONFIG_FILE, text: exampleConfig(soaEmail) },
    { path: definitionPath(zone), text: definition(zone, soaEmail) },
  ]
  // In a folder of a repository, an example is there to try the program.
  const hasJobs = repository.below === '' || options.ci !== undefined
  const config = hasJobs ? readNew(context.io, exampleConfig(soaEmail)) : null
  return complete(context, { files, config, ignored: [] }, hasJobs ? NEXT_STEPS : NEXT_STEPS + jobsLeftOut(repository), steps)
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
`

const STEPS_FROM_PROVIDER = `
The definitions equal the zones at the provider, so a plan is empty:
  zonewright plan        shows what would change
  zonewright verify      compares them with what the name servers answer
From now on, change the definitions and run "zonewright apply".
`

const jobsLeftOut = ({ site, isSiteKnown }: Repository): string =>
  `\nThe example has no CI jobs, as it is below the root of the repository. To add them: zonewright init --ci ${site}${isSiteKnown ? '' : ' (or gitlab)'}\n`

/** The settings of the site that keep refused plans from being merged and secrets from other branches, and let a reviewer approve each apply. */
const mergeStep = ({ site, isSiteKnown, branch }: Repository): string =>
  site === 'github'
    ? `
${isSiteKnown ? '' : 'CI jobs are for GitHub; for GitLab: zonewright init --ci gitlab\n'}At GitHub, set the secrets that the head of .github/workflows/dns.yml lists.
Require the checks "plan" and "check" for ${branch}, so that no refused plan is merged:
  https://github.com/OWNER/REPOSITORY/settings/rules/new?target=branch
Let only ${branch} use the environments "dns-read" and "dns", and give "dns" required reviewers if each apply needs a consent:
  https://github.com/OWNER/REPOSITORY/settings/environments
`
    : '\nAt GitLab, set the variables that the head of the pipeline lists. Turn on "Pipelines must succeed" (Settings, Merge requests), so that no refused plan is merged.\n'

/**
 * The files of a repository for the zones of a provider: a config and a definition of every zone. A plan is then empty. An existing config gets the provider.
 * Reports errors, and then returns null.
 */
async function prepareProvider({ io, output, options, provider: { name, entry } }: InitContext, from: string) {
  const place = { file: CONFIG_FILE, folder: io.cwd, cwd: io.cwd }
  const before = existingText(io.cwd, CONFIG_FILE)
  const fresh = configText({ name, entry }, 'zones/**/*')
  const [known, wanted] = [before ?? '', fresh].map((text) => readRunConfig(io, text, place).config?.providers.get(name))
  const isSame = JSON.stringify([known?.type, known?.settings]) === JSON.stringify([wanted?.type, wanted?.settings])
  const text = !before ? fresh : known === undefined ? withProvider(before, name, entry) : isSame ? before : null
  if (text === null) {
    refuse(
      output,
      `${CONFIG_FILE} has another provider ${name}, or its providers on one line`,
      `add "NAME: ${entry}" to it, and run: zonewright import --from NAME -o zones`,
    )
    return null
  }
  const { config, diagnostics } = readRunConfig(io, text, place)
  if (config === null || hasErrors(diagnostics)) {
    output.diagnostics(aboutOption(diagnostics, '--from', from))
    return null
  }
  const imported = await importZones({
    format: 'provider',
    source: name,
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
  const found = aboutOption([...diagnostics, ...(imported?.diagnostics ?? [])], '--from', from)
  output.diagnostics(found, lossReportOptions(options))
  if (imported === null || hasErrors(found)) return null
  const definitions = imported.files.map((file) => ({ path: `zones/${file.path}`, text: file.text, changes: true }))
  return { files: [{ path: CONFIG_FILE, text, changes: true }, ...definitions], config, ignored: [] }
}

/** The setting that `--from` or `--to` states, at the begin of a message. */
const STATED = /^"?providers\.\w+\.base_url"?:? /

/** Diagnostics of a config that is not written yet, which has no places: they are about the option that it was made from. */
const aboutOption = (diagnostics: readonly Diagnostic[], option: '--from' | '--to', stated: string): Diagnostic[] =>
  diagnostics.map(({ at, ...rest }) => {
    if (at === undefined || at.file !== CONFIG_FILE) return { ...rest, at }
    if (!STATED.test(rest.message)) return rest
    const hint = rest.hint ?? `give the base URL of an API, or a type of provider: ${FIRST_TYPES.join(', ')}`
    return { ...rest, message: rest.message.replace(STATED, () => `${option} ${JSON.stringify(stated)} `), hint }
  })

const SERVICE_ADDRESS = 'http://127.0.0.1:8080/v4'
const NAME_SERVER = '127.0.0.1:5353'

/** The path for a zone. A zone of RFC 2317 has a slash in its name; the definition itself names the zone. */
const definitionPath = (zone: DomainName): string => `zones/${zone.slice(0, -1).replace(/[^a-z0-9._-]/g, '-')}.yaml`

const exampleConfig = (
  soaEmail: string,
): string => `${schemaComment('config')}# The providers, the provider of each definition, and the safety limits.
providers:
  # A service on this machine: ZONEWRIGHT_BOOTSTRAP_TOKEN=$${TOKEN_VARIABLE} zonewright serve
  cloud: {type: cloud, base_url: '${SERVICE_ADDRESS}', token: 'env:${TOKEN_VARIABLE}'}
  # Or a service elsewhere, with a token that may read and write domains. Also change ZONEWRIGHT_ALLOWED_HOSTS of the
  # CI jobs:
  # cloud: {type: cloud, base_url: 'https://dns.example.net/v4', token: 'env:${TOKEN_VARIABLE}'}
  # or Akamai Cloud (Linode):
  # cloud: {type: cloud, preset: linode, token: 'env:${TOKEN_VARIABLE}'}
zones:
  # Certificate clients come and go: their challenges (TXT at _acme-challenge) are theirs unless a definition has them.
  - {files: 'zones/**/*', targets: [cloud], unmanaged: [{preset: acme}]}
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
): string => `${schemaComment('zone', '../')}# All records of the zone: "zonewright apply" deletes any other. These are examples (RFC 2606, RFC 5737): replace them with yours.
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
