import { Command, CommanderError, Option } from 'commander'
import { EXIT, type ExitStatus } from '../apply/exit-status.ts'
import { oneLine } from '../dns/diagnostic.ts'
import { REFUSAL_NAMES } from '../dns/zone.ts'
import type { StoreOptions } from './commands/backup.ts'
import type { CommonOptions } from './common-options.ts'
import { describeExport, describeImport, describeRecord, RECORD_ACTIONS, RECORD_HELP } from './convert-commands.ts'
import { withGuardedStreams } from './guarded-streams.ts'
import { VERSION } from './identity.ts'
import { type CliIo, widthOf, withPlainErrors } from './io.ts'
import { collect, oneOf, portNumber, positiveInteger, positiveNumber, rateLimit } from './option-values.ts'
import { BACKUP_HELP, ROTATE_KEY_HELP, SERVE_HELP } from './service-help.ts'

/** A command's code is read only when it runs. */
type Run<A extends readonly unknown[], O> = () => Promise<(io: CliIo, args: A, options: O & CommonOptions) => Promise<ExitStatus>>

/** Runs a command line (without the program's own name) and gives its exit status. */
export const runCli = (argv: readonly string[], given: CliIo): Promise<ExitStatus> =>
  withGuardedStreams(withPlainErrors(given, argv), (io) => run(argv, io))

async function run(argv: readonly string[], io: CliIo): Promise<ExitStatus> {
  let status: ExitStatus = EXIT.done
  try {
    const end = (ended: ExitStatus): void => {
      status = ended
    }
    await describeProgram(io, end).parseAsync([...argv], { from: 'user' })
    return status
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 ? EXIT.done : EXIT.failure
  }
}

function describeProgram(io: CliIo, end: (status: ExitStatus) => void): Command {
  const program = new Command('zonewright')
    .description('DNS as code: plan and apply zone definition files against live DNS')
    .version(VERSION, '-V, --version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      getOutHelpWidth: () => widthOf(io.stdout),
      getErrHelpWidth: () => widthOf(io.stderr),
      // Colours are decided in one place; commander would look at the process itself.
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      outputError: (text, write) => write(usageError(text)),
    })
    .enablePositionalOptions()
    .addHelpText(
      'after',
      '\nExit status: 0 done, 1 invalid input or failure, 2 changes pending or\ndifferences, 3 refused, 4 applied in part; interrupted: 129, 130, 143.\n\nZONEWRIGHT_ALLOWED_HOSTS lists the hosts that a run may contact (default: all).',
    )

  const command = (usage: string, summary: string, parent: Command = program): Command =>
    parent
      .command(usage)
      .summary(summary)
      .description(summary)
      .option('--no-color', 'no colours (also: NO_COLOR)')
      .option('-q, --quiet', 'no progress, no notices')
      .option('-v, --verbose', 'everything in full')

  /** A command on the definitions of a configuration. */
  const working = (usage: string, summary: string, parent: Command = program): Command =>
    command(usage, summary, parent).option('-c, --config <file>', 'the configuration (default: zonewright.yaml, searched upward)')

  /** A command on the data of the service, while it runs or does not. */
  const storing = (usage: string, summary: string, parent: Command = program): Command =>
    command(usage, summary, parent)
      .option('--data <dir>', 'folder of the SQLite database (default: "zonewright-data")')
      .option('--database <url>', 'PostgreSQL instead (also: ZONEWRIGHT_DATABASE)')

  const runs = <A extends readonly unknown[], O>(described: Command, load: Run<A, O>): Command =>
    described.action(async (...given: unknown[]) => {
      const args = given.slice(0, -2) as unknown as A
      end(await (await load())(io, args, described.opts() as O & CommonOptions))
    })

  runs(
    command('demo', 'plan and apply the example zones against a service of its own').option(
      '--zones <dir>',
      'the definitions (default: the examples of the package)',
    ),
    async () => (await import('./commands/demo.ts')).demo,
  )

  runs(
    command('init', 'write a configuration, a first zone and a CI workflow into this folder')
      .option('--zone <name>', 'the zone', 'example.com')
      .option('--soa-email <address>', 'who answers for the zone (default: hostmaster at the zone)')
      .option('--from <address>', 'all zones of a provider instead: the base URL of its interface, or a preset such as linode')
      .option('--lossy', 'with --from: leave out what definitions cannot hold; each thing is a warning'),
    async () => (await import('./commands/init.ts')).init,
  )

  runs(
    working('validate', 'check definitions without any network')
      .argument('[path...]', 'files or folders (default: those of the configuration)')
      .addOption(reportFormat(['text', 'json', 'github'])),
    async () => (await import('./commands/validate.ts')).validate,
  )

  runs(
    planning(working('plan', 'show what would change').argument('[zone...]', 'zones (default: all)'))
      .addOption(reportFormat(['text', 'json', 'markdown', 'html', 'github']))
      .option('--detailed-exitcode', 'exit with 2 where changes are pending')
      .option('-o, --out <file>', 'save the plan, to be applied as it is by "apply <file>"'),
    async () => (await import('./commands/plan.ts')).plan,
  )

  runs(
    planning(
      working('apply', 'plan, ask, and make the changes; or make those of a saved plan').argument(
        '[planfile|zone...]',
        'a plan file, or zones (default: all)',
      ),
    )
      .addOption(reportFormat(['text', 'json', 'markdown', 'html', 'github']))
      .option('-y, --yes', 'do not ask')
      .option('--timeout <seconds>', 'begin nothing new after this time', positiveInteger)
      .option('--wait <seconds>', 'wait so long for other runs that are changing a zone', positiveInteger),
    async () => (await import('./commands/apply.ts')).apply,
  )

  runs(
    working('verify', 'compare definitions with records, rendered zone files and DNS answers')
      .argument('[zone...]', 'zones (default: all)')
      .option('--target <name>', 'only this target')
      .addOption(
        new Option('--nameserver <address>', 'ask this name server (repeatable)')
          .argParser(collect)
          .default([], '"nameservers" of the configuration, else the NS records'),
      )
      .option('--resolvers <region>', "ask the resolvers of the provider's region, in place of name servers")
      .option('--no-dns', 'ask no name server')
      .addOption(reportFormat(['text', 'json', 'github'])),
    async () => (await import('./commands/verify.ts')).verify,
  )

  runs(
    working('doctor', 'look at connections, tokens and what they may do')
      .argument('[zone...]', 'zones (default: all)')
      .addOption(reportFormat(['text', 'json'])),
    async () => (await import('./commands/doctor.ts')).doctor,
  )

  runs(
    working('history', 'list what runs did, or show one')
      .argument('[run]', 'the run, or the beginning of its name')
      .option('--last', 'the latest run that changed something')
      .option('--prune <keep>', 'remove all runs but the latest so many', positiveInteger)
      .addOption(reportFormat(['text', 'json'])),
    async () => (await import('./commands/history.ts')).history,
  )

  runs(
    planning(
      working('rollback', 'take back what a run did').argument(
        '[run-or-zone...]',
        'the run, unless --last says it, and zones (default: all it changed)',
      ),
    )
      .option('--last', 'the latest run that changed something')
      .option('--overwrite', 'put back also what others changed again since')
      .addOption(reportFormat(['text', 'json', 'markdown', 'html', 'github']))
      .option('-y, --yes', 'do not ask')
      .option('--timeout <seconds>', 'begin nothing new after this time', positiveInteger)
      .option('--wait <seconds>', 'wait so long for other runs that are changing a zone', positiveInteger),
    async () => (await import('./commands/rollback.ts')).rollback,
  )

  runs(
    working('fmt', 'write definitions in the canonical layout, comments kept')
      .argument('[path...]', 'files or folders (default: those of the configuration)')
      .option('--check', 'write nothing; exit with 2 where a file would change'),
    async () => (await import('./commands/fmt.ts')).fmt,
  )

  runs(
    describeImport(working('import', 'write definitions of zones that are elsewhere')),
    async () => (await import('./commands/import.ts')).importCommand,
  )

  runs(
    describeExport(working('export', 'write definitions in another format')),
    async () => (await import('./commands/export.ts')).exportCommand,
  )

  const record = program
    .command('record')
    .description('change a record in its definition, comments kept')
    .configureHelp({ subcommandTerm: (action) => action.name() })
    .addHelpText('after', RECORD_HELP)
  for (const [action, summary] of RECORD_ACTIONS) {
    runs(describeRecord(working(action, summary, record), action), async () => (await import('./commands/record.ts')).editRecord(action))
  }

  runs(
    command('explain', 'say what a diagnostic means').argument('[code]', 'such as cname-not-alone (default: list all)'),
    async () => (await import('./commands/explain.ts')).explain,
  )

  const serve = command('serve', 'run the DNS hosting service').helpCommand(false)
  runs(
    serve
      .option('--listen <address>', 'HTTP address and port, or "none" for a name server only', '127.0.0.1:8080')
      .option('--dns <address>', 'name server address and port, or "none"', '127.0.0.1:5353')
      .option('--data <dir>', 'folder of the SQLite database (default: "zonewright-data")')
      .option('--database <url>', 'PostgreSQL instead, which several processes may use: postgres://user@host/name')
      .addOption(
        new Option('--peer-port <port>', 'port of the name servers that zones come from by transfer, and that get NOTIFY')
          .argParser(portNumber)
          .default(53),
      )
      .option('--transfer-addresses <addresses>', 'addresses that name servers must let transfer zones, separated by commas')
      .option('--public-peers-only', 'transfer zones from, and send NOTIFY to, addresses of the public Internet only')
      .option('--tsig-keys <file>', 'YAML file of the keys that sign transfers and NOTIFY (TSIG); SIGHUP reads it again')
      .addOption(
        new Option('--dns-rate-limit <n>', 'equal answers a second over UDP to one network, or "off"').argParser(rateLimit).default(200),
      )
      .option('--ns-names <names>', 'names of the name servers, separated by commas')
      .option('--tls-cert <file>', 'certificate chain in PEM, for HTTPS; SIGHUP reads it anew')
      .option('--tls-key <file>', 'its private key in PEM')
      .option('--seed <file>', 'YAML file of accounts and users to make unless they exist')
      .option('--image-data <dir>', 'folder for the data of images (default: "images" in the folder of --data; none with --database)')
      .option('--public-url <url>', 'what clients reach the service by, where that is not the address of --listen: https://dns.example.net')
      .option('--region-resolvers <file>', 'YAML file of the recursive name servers that each region has')
      .addOption(new Option('--rate-limit <n>', 'requests a minute of one token and operation, or "off"').argParser(rateLimit).default(800))
      .option('--quotas <list>', 'what one account can have, such as domains=5000,images=none; "none" for no limits')
      .option('--sms-sink <sink>', 'where messages to phones go: "log", "file:PATH", or a URL that gets them by POST', 'log')
      .addOption(new Option('--clock-speed <n>', 'for tests: how many times as fast time passes').argParser(positiveNumber).default(1))
      .option('--operations <address>', 'address and port of /metrics and /healthz (default: nowhere)')
      .addOption(
        new Option('--log-level <level>', `what is logged on standard error, as lines of JSON: ${LOG_LEVELS.join(', ')}`)
          .argParser(oneOf(LOG_LEVELS))
          .default('info', 'info'),
      )
      .addHelpText('after', SERVE_HELP),
    async () => (await import('./commands/serve.ts')).serve,
  )
  runs(
    storing('rotate-key', 'encrypt the secrets of the DNS hosting service with a new key, while it runs', serve).addHelpText(
      'after',
      ROTATE_KEY_HELP,
    ),
    async () => {
      const { rotateKey } = await import('./commands/rotate-key.ts')
      // The folder and the database may be named on either side of the command.
      const { data, database } = serve.opts<StoreOptions>()
      const outer = { ...(data === undefined ? {} : { data }), ...(database === undefined ? {} : { database }) }
      return (io: CliIo, args: readonly [], options: StoreOptions) => rotateKey(io, args, { ...outer, ...options })
    },
  )

  runs(
    storing('backup', 'save all that the DNS hosting service keeps, also while it runs')
      .argument('<file>', 'where to; it is written anew')
      .addHelpText('after', BACKUP_HELP),
    async () => (await import('./commands/backup.ts')).backup,
  )

  runs(
    storing('restore', 'fill an empty database of the DNS hosting service from a backup').argument(
      '<file>',
      'a backup, of either database',
    ),
    async () => (await import('./commands/restore.ts')).restore,
  )
  return program
}

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent']

/** Commander's message as a diagnostic: `error: unknown option '--formt'` and, on a line of its own, `(Did you mean --format?)`. */
function usageError(text: string): string {
  const message = text.trim().replace(/^error: /, '')
  return `${oneLine(`error[usage] ${message.replace(/\n(\(Did you mean [^\n]*\))$/, ' $1')}`)}\n`
}

const reportFormat = (formats: readonly string[]): Option =>
  new Option('--format <format>', `the report: ${formats.join(', ')}`).argParser(oneOf(formats)).default('text', 'text')

const planning = (command: Command): Command =>
  command
    .option('--target <name>', 'only this target')
    .addOption(
      new Option('--allow <limit>', `lift a safety limit (repeatable): ${REFUSAL_NAMES.join(', ')}`)
        .argParser((value: string, previous: readonly string[]): string[] => [...previous, oneOf(REFUSAL_NAMES)(value)])
        .default([], 'those of the configuration'),
    )
    .addOption(
      new Option('--prefer <what>', 'where both cannot be had: no interruption (continuity), or fewest calls (calls)')
        .argParser(oneOf(['continuity', 'calls']))
        .default('continuity', 'continuity'),
    )
    .option('--parallelism <n>', 'requests under way at once for each target', positiveInteger)
