/** Parses the command line and runs the command that it names. Each command has a file in `commands/`, which is loaded only if the command is named. */
import { Command, CommanderError, Help } from 'commander'
import { type Diagnostic, formatDiagnostic, oneLine } from '../base/diagnostic.ts'
import { assertNoSecret, isSecretExposed, LEAKED, redacted } from '../base/secret-guard.ts'
import { VERSION } from '../base/version.ts'
import { wrapText } from '../base/wrap.ts'
import { failureOf } from '../library/run.ts'
import { isProgramName } from '../load/definition-name.ts'
import { startProgramRunner } from '../load/program-loader.ts'
import { isLoadedFormat } from '../report/formats.ts'
import { EXIT, type ExitStatus, worstOf } from '../run/context/exit-status.ts'
import { type CommandModule, isRare, type SetAction, withCommonOptions, withHelpAll } from './command.ts'
import { type CliIo, COMMAND_LINE, fitLines, type TextStream, widthOf, withPlainErrors, withWrite } from './io.ts'
import { withPager } from './pager.ts'

/** A command's name, its arguments as the list of commands shows them (null for a group of commands), its summary and its file. */
type Entry = readonly [name: string, args: string | null, summary: string, load: () => Promise<CommandModule>]

/** A command that needs the packages of the service. */
const ofService = async (name: string, load: () => Promise<CommandModule>): Promise<CommandModule> =>
  (await import('./service-packages.ts')).commandOfService(name, load)

const COMMANDS: readonly Entry[] = [
  ['demo', '', 'plan and apply the example zones against a temporary service', () => ofService('demo', () => import('./commands/demo.ts'))],
  ['init', '', 'take over what this folder has, or begin with a new zone', () => import('./commands/init.ts')],
  ['validate', '[path...]', 'check definitions offline', () => import('./commands/validate.ts')],
  ['plan', '[zone...]', 'show what would change', () => import('./commands/plan.ts')],
  ['apply', '[planfile|zone...]', 'plan, ask, and apply the changes; or apply a saved plan', () => import('./commands/apply.ts')],
  ['snapshot', '[zone...]', 'write the live state of zones, to plan without credentials', () => import('./commands/snapshot.ts')],
  ['verify', '[zone...]', 'compare definitions with records, zone files and answers', () => import('./commands/verify.ts')],
  ['trace', '<name> [type]', 'follow a name from its definition to the resolvers', () => import('./commands/trace.ts')],
  ['zones', '[zone...]', 'list the zones with their files, targets and policies', () => import('./commands/zones.ts')],
  ['providers', '[name...]', 'show what each provider supports', () => import('./commands/providers.ts')],
  ['doctor', '[zone...]', 'check connections, tokens and their permissions', () => import('./commands/doctor.ts')],
  ['history', '[run]', 'list runs, or show one', () => import('./commands/history.ts')],
  ['report', '[file-or-run]', 'render a saved plan, a report or a run again', () => import('./commands/report.ts')],
  ['approve', '<planfile>', 'approve a saved plan with a key', () => import('./commands/approve.ts')],
  ['rollback', '[run-or-zone...]', 'undo a run', () => import('./commands/rollback.ts')],
  ['unlock', '[zone...]', 'unlock zones that a run has locked', () => import('./commands/unlock.ts')],
  ['copy', '<zone...>', 'copy zones from one provider to another', () => import('./commands/copy.ts')],
  ['cutover', '<zone>', 'move a zone to another provider, step by step', () => import('./commands/cutover.ts')],
  ['ci', null, 'plan pull requests, apply merges and report drift, in CI jobs', () => import('./commands/ci.ts')],
  ['fmt', '[path...]', 'format definitions, keeping comments', () => import('./commands/fmt.ts')],
  ['import', '[args...]', 'import existing zones as definitions', () => import('./commands/import.ts')],
  ['spf', '[path...]', 'query the names whose SPF records a dnsconfig.js flattens', () => import('./commands/spf.ts')],
  ['export', '[args...]', 'write definitions in another format', () => import('./commands/export.ts')],
  ['render', '[zone...]', 'show what definitions make, as YAML', () => import('./commands/render.ts')],
  ['record', null, 'change a record in its definition, keeping comments', () => import('./commands/record.ts')],
  ['zone', null, 'add, remove or rename the definition of a zone', () => import('./commands/zone.ts')],
  ['conformance', '<zone>', 'run the suite that every provider must pass, on a test zone', () => import('./commands/conformance.ts')],
  ['explain', '[code]', 'explain a diagnostic', () => import('./commands/explain.ts')],
  ['schema', '<document>', 'print the JSON Schema of zones or the config, for editors', () => import('./commands/schema.ts')],
  ['completion', '<shell>', 'print the script that completes commands in a shell', () => import('./commands/completion.ts')],
  ['serve', '', 'run the DNS hosting service', () => ofService('serve', () => import('./commands/serve.ts'))],
  [
    'backup',
    '<file>',
    'back up the DNS hosting service, even while it runs',
    () => ofService('backup', () => import('./commands/backup.ts')),
  ],
  [
    'restore',
    '<file>',
    'fill an empty database of the DNS hosting service from a backup',
    () => ofService('restore', () => import('./commands/restore.ts')),
  ],
]

/** What other tools call commands and options. */
const SYNONYMS: Readonly<Record<string, string>> = {
  ...{ diff: 'plan', preview: 'plan', 'dry-run': 'plan', status: 'plan', check: 'validate', lint: 'validate', test: 'validate' },
  ...{
    push: 'apply',
    sync: 'apply',
    deploy: 'apply',
    update: 'apply',
    undo: 'rollback',
    revert: 'rollback',
    log: 'history',
    runs: 'history',
  },
  ...{
    list: 'zones',
    ls: 'zones',
    pull: 'import',
    dump: 'export',
    format: 'fmt',
    dig: 'trace',
    lookup: 'trace',
    move: 'cutover',
    migrate: 'cutover',
  },
  ...{ del: 'remove', delete: 'remove', rm: 'remove', create: 'add', new: 'add', edit: 'set', replace: 'set', mv: 'rename' },
  ...{
    '--json': '--format json',
    '--auto-approve': '--yes',
    '--doit': '--yes',
    '--force': '--yes',
    '--provider': '--target',
    '--output': '--out',
    '--out-file': '--out',
    '--resolver': '--resolvers',
    '--config-file': '--config',
    'plan --doit': 'apply',
    'import --creds': '--credentials',
  },
  ...{ show: 'report', get: 'zones' },
  ...{ 'octodns-sync': 'plan', 'octodns-dump': 'import', 'get-zones': 'import', 'print-ir': 'render' },
}

const ZONES_ARE_ARGUMENTS = 'zones are arguments, such as: zonewright plan example.com'

/** What takes the place of commands and options of other tools. */
const INSTEAD: Readonly<Record<string, string>> = {
  'plan --dry-run': 'plan changes nothing: it is the dry run of apply',
  'apply --dry-run': '"zonewright plan" shows what apply would change',
  'fmt --fix': 'fmt writes the files; --check only names those that differ',
  'fmt --write': 'fmt writes the files; --check only names those that differ',
  man: '"zonewright help COMMAND" shows its options',
  version: '"zonewright --version" prints it',
  '--creds': 'the providers in zonewright.yaml name their credentials',
  '--credentials': 'the providers in zonewright.yaml name their credentials',
  ...Object.fromEntries(['--domains', '--domain', '--zone', '--zones', '--only'].map((option) => [option, ZONES_ARE_ARGUMENTS])),
}

/** Changes of definitions, by the word that other tools have as a command. */
const EDITS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['add', 'remove', 'rename'].map((action) => [action, `record ${action}, or zone ${action}`])),
  set: 'record set',
}

/** The commands that only `--help-all` lists. */
const RARE = new Set('snapshot report approve unlock copy spf render conformance schema completion backup restore'.split(' '))

const HELP = `
Exit status: 0 done, 1 invalid input or failure, 2 changes pending or
differences, 3 refused, 4 applied in part; interrupted: 129, 130, 143.

ZONEWRIGHT_ALLOWED_HOSTS lists the hosts that a run may contact (default: all).`

/** Runs a command line (without the program's own name) and returns its exit status. */
export const runCli = (argv: readonly string[], given: CliIo): Promise<ExitStatus> =>
  withGuardedStreams(withPlainErrors(given, argv), (io) => run(argv, io))

async function run(argv: readonly string[], given: CliIo): Promise<ExitStatus> {
  const io = withPager(given)
  let status: ExitStatus = EXIT.done
  const setAction: SetAction = (command, action) => {
    command.action(async (...parsed: unknown[]) => {
      const { format, var: variables } = command.opts()
      if (isLoadedFormat(format)) await (await import('../report/render-report.ts')).loadFormat(format)
      status = await action(variables === undefined ? io : { ...io, variables }, parsed.slice(0, -2) as never, command.opts() as never)
    })
  }
  // Node.js puts this character in the place of octets that are not UTF-8.
  const broken = argv.find((one) => one.includes('\ufffd'))
  if (broken !== undefined) {
    io.stderr.write(lineOf(io, { severity: 'error', code: 'usage', message: `the argument ${JSON.stringify(broken)} is not UTF-8 text` }))
    return EXIT.failure
  }
  try {
    const program = createProgram(io, argv)
    // The process of a program starts while the command is loaded.
    if (argv[0] !== '__complete' && argv.some(isProgramName)) await startProgramRunner()
    const words = argv[0] === '__manual' ? COMMANDS.map(([name]) => name) : argv
    for (const entry of COMMANDS) await register(program, entry, words, setAction)
    if (argv[0] === '__complete') {
      await (await import('./completion/candidates.ts')).printCandidates(io, program, argv.slice(1))
      return EXIT.done
    }
    if (argv[0] === '__manual') {
      io.stdout.write(JSON.stringify((await import('./completion/manual.ts')).programTexts(program, HELP)))
      return EXIT.done
    }
    await program.parseAsync([...argv], { from: 'user' })
    return status
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.failure
    const failure = failureOf(error)
    if (failure === null) throw error
    io.stderr.write(lineOf(io, failure))
    return EXIT.failure
  } finally {
    await io.pager.closed()
  }
}

/** Adds a command: in full if an argument has its name, otherwise only what the list of commands shows. */
async function register(
  program: Command,
  [name, args, summary, load]: Entry,
  argv: readonly string[],
  setAction: SetAction,
): Promise<void> {
  const isNamed = argv.includes(name)
  const command = program
    .command(isNamed || args === null ? name : `${name} ${args}`)
    .summary(summary)
    .description(summary)
  if (args === null) withHelpAll(command)
  else withCommonOptions(command)
  if (isNamed) (await load()).configure(command, setAction)
}

function createProgram(io: CliIo, argv: readonly string[]): Command {
  const program = new Command('zonewright')
  const listed = <Item>(items: Item[], isRarelyUsed: (item: Item) => boolean): Item[] =>
    argv.includes('--help-all') ? items : items.filter((item) => !isRarelyUsed(item))
  return withHelpAll(program, 'list all commands; of a command, all options')
    .description('DNS as code: plan and apply zone definition files against live DNS')
    .version(VERSION, '-V, --version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(helpText(text, io.stdout)),
      writeErr: (text) => io.stderr.write(helpText(text, io.stderr)),
      getOutHelpWidth: () => widthOf(io.stdout),
      getErrHelpWidth: () => widthOf(io.stderr),
      // `colorOf` decides on colours; commander would inspect the process itself.
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      outputError: (text) => io.stderr.write(fitLines(io, io.stderr, usageError(text, program, argv))),
    })
    .enablePositionalOptions()
    .configureHelp({
      subcommandTerm: (command) => command.name(),
      // Commander would show "default: []".
      optionDescription: (option) =>
        Array.isArray(option.defaultValue) && option.defaultValueDescription === undefined
          ? option.description
          : new Help().optionDescription(option),
      visibleOptions: (command) => listed(new Help().visibleOptions(command), isRare),
      visibleCommands: (command) => listed(new Help().visibleCommands(command), (one) => one.parent === program && RARE.has(one.name())),
    })
    .addHelpText('after', HELP)
}

/** Commander wraps only descriptions, and none if the terms leave less than 40 columns. The paragraphs after them are in lines of about 80 columns. */
const helpText = (text: string, stream: TextStream): string =>
  wrapText(text.replace(/(?<=^\S.{60,})\n(?=\S)/gm, ' '), widthOf(stream), 0, COMMAND_LINE)

/**
 * Commander's message as a diagnostic: `error: unknown option '--formt'` and, on its own line, `(Did you mean --format?)`. Without such a suggestion it says
 * what the command that the command line names takes.
 */
function usageError(text: string, program: Command, argv: readonly string[]): string {
  const find = (parent: Command, word = ''): Command => parent.commands.find((one) => one.name() === word) ?? parent
  const command = find(find(program, argv[0]), argv[1])
  const usage = command.createHelp().commandUsage(command)
  const [message = '', suggestion = ''] = text
    .trim()
    .replace(/^error: /, '')
    .replace(/^required option '.*' not specified$|^missing required argument '.*'$/s, (missing) => missingText(missing, command, usage))
    .replace(/^command-argument value ('.*') is invalid for argument '(.*)'\. /s, 'argument <$2>: $1 is invalid. ')
    // The reason begins with the value.
    .replace(/(?:: | argument )'(.*)' is invalid\. (?="\1)/s, ': ')
    .split(/\n(?=\(Did you mean )/)
  const isUnknown = /^unknown (command|option)/.exec(message)
  const word = /^unknown \w+ '(.*)'$/.exec(message)?.[1] ?? ''
  const meant = SYNONYMS[`${command.name()} ${word}`] ?? SYNONYMS[word]
  const isKnown = [command, program].some(({ commands }) => commands.some((one) => one !== command && one.name() === meant))
  if (isUnknown !== null && meant !== undefined && (isKnown || command.options.some(({ long }) => long === meant.split(' ')[0])))
    return `${oneLine(`error[usage] ${message} (Did you mean ${meant}?)`)}\n`
  let remedy = suggestion
  const instead = INSTEAD[`${command.name()} ${word}`] ?? INSTEAD[word]
  const edit = EDITS[meant ?? word]
  if (isUnknown !== null && instead !== undefined) remedy = `(${instead})`
  else if (isUnknown?.[1] === 'command' && command === program && edit !== undefined) remedy = `(Did you mean ${edit}?)`
  else if (isUnknown?.[1] === 'option' && command === program && program.commands.some((one) => argv.includes(one.name())))
    remedy = '(options come after the command)'
  else if (suggestion === '' || suggestion.includes(' help?')) {
    if (isUnknown?.[1] === 'command' && command.parent !== null)
      remedy = `(the commands are ${command.commands.map((one) => one.name()).join(', ')})`
    else if (isUnknown !== null) remedy = `("${usage.split(/ [[<]/)[0]} --help" lists the ${isUnknown[1]}s)`
  }
  return `${oneLine(`error[usage] ${message} ${remedy}`.trimEnd())}\n`
}

/** `copy needs --from <provider> and --to <provider> (…)`: what the command line lacks, each with its description. */
function missingText(message: string, command: Command, usage: string): string {
  const word = /^missing required argument '(.*)'$/.exec(message)?.[1]
  const taken =
    word === undefined ? command.options.filter((one) => one.mandatory && command.getOptionValue(one.attributeName()) === undefined) : []
  const argument = command.registeredArguments.find((one) => one.name() === word)
  const [name = ''] = usage.replace(/^zonewright /, '').split(/ [[<]/)
  if (argument !== undefined) return `${name} needs <${word}>${argument.description && `: ${argument.description}`} (usage: ${usage})`
  const described = taken.map(({ long, description }) => `${taken.length > 1 ? `${long}: ` : ''}${description}`)
  return `${name} needs ${taken.map(({ flags }) => flags.replace(/^-\w, /, '')).join(' and ')} (${described.join('; ')})`
}

/**
 * Runs a command with streams that let no secret of the run through. A report with a secret is withheld entirely, since half a document is useless, and the run ends.
 * A message on standard error is redacted, and the run fails at its end.
 */
async function withGuardedStreams(given: CliIo, run: (io: CliIo) => Promise<ExitStatus>): Promise<ExitStatus> {
  const { secrets } = given
  const stdout = withWrite(given.stdout, (go, text) => {
    if (typeof text === 'string') assertNoSecret(secrets, text, 'standard output')
    return go()
  })
  const stderr = withWrite(given.stderr, (go, text) => {
    if (typeof text !== 'string') return go()
    const shown = redacted(secrets, text)
    secrets.hasLeaked ||= shown !== text
    return go(shown)
  })
  const status = await run({ ...given, stdout, stderr }).catch((error: unknown) => {
    if (!isSecretExposed(error)) throw error
    stderr.write(lineOf(given, error.diagnostic))
    return EXIT.failure
  })
  if (!secrets.hasLeaked) return status
  stderr.write(lineOf(given, LEAKED))
  return worstOf([status, EXIT.failure])
}

function lineOf(io: CliIo, diagnostic: Diagnostic): string {
  const hint = diagnostic.hint === undefined ? '' : ` (${diagnostic.hint})`
  return fitLines(io, io.stderr, `${formatDiagnostic(diagnostic)}${hint}\n`)
}
