/** The interface of a command file, the options that several commands share, and the parsers of option values. */
import type { Argument, Command, Option } from 'commander'
import { didYouMean } from '../base/nearest-word.ts'
import type { Result } from '../base/result.ts'
import { parseUsageSource } from '../config/usage-source.ts'
import { parseTtl, type Ttl } from '../dns/ttl.ts'
import { parseAllowance, REFUSAL_NAMES } from '../dns/zone.ts'
import '../library/use-programs.ts'
import { REPORT_FORMATS } from '../report/formats.ts'
import type { ExitStatus } from '../run/context/exit-status.ts'
import type { CliIo } from './io.ts'

/** Options that every command has. */
export interface CommonOptions {
  readonly config?: string
  readonly color?: boolean
  readonly quiet?: boolean
  readonly verbose?: boolean
  /** The format of the report; text for a command without a choice. */
  readonly format?: string
  /** Whether to go on without consent, so that nothing waits for a reader. */
  readonly yes?: boolean
}

/** Runs a command with its arguments and options as commander parsed them. */
export type Action<Args extends readonly unknown[], Options> = (io: CliIo, args: Args, options: Options) => Promise<ExitStatus>

/** Sets the action that a command runs. */
export type SetAction = <Args extends readonly unknown[], Options>(command: Command, action: Action<Args, Options>) => void

/** What the file of a command exports. */
export interface CommandModule {
  /** Adds arguments, options, help and action to a command. Its name, summary and common options are set already. */
  readonly configure: (command: Command, setAction: SetAction) => void
}

/** The options that only `--help-all` lists, since few readers of the help look for them. */
const RARE: ReadonlySet<string> = new Set(
  [
    'no-color var prefer parallelism usage zones-from stdin shard keep-going notify notify-format notify-key metrics-file timeout trusted-config',
    'snapshot verify-key max-age base policies-from compare-targets partial low-ttl stay via-service clone credentials tsig from-server to-server',
    'parent-server peer-port transfer-addresses public-peers-only dns-rate-limit image-data public-url region-resolvers public-images rate-limit',
    'quotas sms-sink clock-speed seed ns-names tsig-keys secondaries catalog-zone audit-days admin operations',
  ].flatMap((names) => names.split(' ').map((name) => `--${name}`)),
)

export const isRare = ({ long }: Option): boolean => RARE.has(long ?? '')

/** Adds examples to the help of a command: command lines without the name of the program. */
export const withExamples = (command: Command, ...examples: readonly string[]): Command =>
  command.addHelpText('after', `\nExamples:\n${examples.map((one) => `  zonewright ${one}`).join('\n')}`)

/** Adds the option that lists what `--help` leaves out. */
export const withHelpAll = (command: Command, description = 'list all options'): Command =>
  command.option('--help-all', description).on('option:help-all', () => command.help())

/** Adds the options that every command has. */
export const withCommonOptions = (command: Command): Command =>
  withHelpAll(command)
    .option('--no-color', 'no colours (also: NO_COLOR)')
    .option('-q, --quiet', 'no progress, no notices')
    .option('-v, --verbose', 'show everything in full')

/** Adds a command below another one. */
export const subcommand = (parent: Command, name: string, summary: string): Command =>
  withCommonOptions(parent.command(name).summary(summary).description(summary))

export const withConfigOption = (command: Command): Command =>
  withVariableOption(command).option('-c, --config <file>', 'the configuration (default: zonewright.yaml, searched upward)')

export const withVariableOption = (command: Command): Command =>
  command.option('--var <name=value>', 'a variable for programs; repeatable', addVariable)

function addVariable(text: string, former: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [, name, value] = /^([A-Za-z_$][\w$]*)=(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined) throw invalidArgument('It must be NAME=VALUE.')
  return { ...former, [name]: value }
}

/** Adds the options of commands that work on the data of the service. */
export const withStoreOptions = (command: Command): Command =>
  command
    .option('--data <dir>', 'folder of the SQLite database (default: "zonewright-data")')
    .option('--database <url>', 'PostgreSQL instead (also: ZONEWRIGHT_DATABASE)')

/** Adds the options of commands that plan the targets of definitions. */
export const withPlanOptions = (command: Command): Command => withPlanningOptions(command.option('--target <name>', 'only this target'))

/** Adds the options of commands that plan. */
export const withPlanningOptions = (command: Command): Command =>
  command
    .addOption(
      withChoices(
        command.createOption('--allow <limit>', `lift a safety limit (repeatable): ${REFUSAL_NAMES.join(', ')}, in-use:NAME`),
        REFUSAL_NAMES,
      )
        .argParser((value: string, previous: readonly string[]): string[] => [...previous, allowance(value)])
        .default([], 'those in the configuration'),
    )
    .addOption(
      command
        .createOption('--prefer <what>', 'which matters more: no interruption (continuity) or fewest requests (calls)')
        .argParser(oneOf(['continuity', 'calls']))
        .default('continuity', 'continuity'),
    )
    .option('--parallelism <n>', 'concurrent requests per target', positiveInteger)

/** Adds the option of commands that delete what definitions no longer have. */
export const withUsageOption = (command: Command): Command =>
  command.addOption(
    command
      .createOption('--usage <source>', 'a CSV file or address with how often names are queried (repeatable); names in use are not deleted')
      .argParser(usageSource)
      .default([], 'those in the configuration'),
  )

/** Adds the options of commands that change zones. */
export const withApplyOptions = (command: Command): Command =>
  command
    .option('-y, --yes', 'do not ask')
    .option('--timeout <seconds>', 'send no further request after this time', positiveInteger)
    .option('--wait <seconds>', 'how long to wait for runs that have locked a zone', positiveInteger)
    .option('--trusted-config <file>', 'the config of the base branch, whose approvals and policies apply')

/** Adds the options of commands that tell others about their run. */
export const withObserveOptions = (command: Command): Command =>
  command
    .addOption(
      command
        .createOption('--notify <address>', 'send the result to this web address (repeatable); also env:NAME or file:PATH')
        .argParser(collect)
        .default([], 'none'),
    )
    .addOption(
      command
        .createOption('--notify-format <format>', 'what is sent: json, or slack for a chat room')
        .argParser(oneOf(['json', 'slack']))
        .default('json', 'json'),
    )
    .option('--notify-key <reference>', 'sign it with the key that env:NAME or file:PATH names')
    .option('--metrics-file <file>', 'write metrics of the run for Prometheus')

/** Adds the options of commands that write files in another format. */
/** `lossy` describes the option `--lossy`. */
export const withConversionOptions = (command: Command, lossy: string): Command =>
  withLossyOption(command, lossy).option('--force', 'replace existing files').option('--dry-run', 'write nothing; name the files')

/** `--lossy` and `--lossy=NAME,NAME`. */
export function withLossyOption(command: Command, description: string): Command {
  // Commander takes the argument after an option without a value for its value.
  const parseOptions = command.parseOptions.bind(command)
  command.parseOptions = (args) =>
    parseOptions(args.map((arg, i) => (arg === '--lossy' && !args.slice(0, i).includes('--') ? '--lossy=' : arg)))
  return command.option('--lossy [=losses]', description, acceptedLosses)
}

/** The value of `--lossy=geo,URLFWD`; without a value, all losses but those that must be named. Several options add up. */
const acceptedLosses = (value: string, previous: ReadonlySet<string> = new Set()): ReadonlySet<string> =>
  new Set([...previous, ...(value === '' ? [''] : value.split(',').filter((name) => name !== ''))])

export const withFormatOption = (
  command: Command,
  report: keyof typeof REPORT_FORMATS,
  formats: readonly string[] = REPORT_FORMATS[report],
): Command =>
  command.addOption(
    command
      .createOption('--format <format>', `the report: ${formats.join(', ')}`)
      .argParser(oneOf(formats))
      .default(formats[0], formats[0]),
  )

/** What commander reports as an error of an argument. Its own class would load commander again, beside that of the entry script. */
export const invalidArgument = (message: string): Error => Object.assign(new Error(message), { code: 'commander.invalidArgument' })

/** The words that a parser takes, for the completion of shells. */
const CHOICES = new WeakMap<object, readonly string[]>()

export const choicesOf = (taker: Option | Argument): readonly string[] | null =>
  CHOICES.get(taker) ?? (taker.parseArg === undefined ? null : (CHOICES.get(taker.parseArg) ?? null))

/** Says that the value of an option, or the first one of an argument, is one of a few words. */
export function withChoices<Taker extends Option | Argument>(taker: Taker, allowed: readonly string[]): Taker {
  CHOICES.set(taker, allowed)
  return taker
}

/** Creates a parser for one of a few words. Its error suggests the nearest one. */
export function oneOf(allowed: readonly string[]): (value: string) => string {
  const parser = (value: string): string => {
    if (allowed.includes(value)) return value
    const suggestion = didYouMean(value, allowed)
    throw invalidArgument(`It must be one of ${allowed.join(', ')}.${suggestion === undefined ? '' : ` ${suggestion}`}`)
  }
  CHOICES.set(parser, allowed)
  return parser
}

/** A rate; 0 for no limit. */
export function rateLimit(value: string): number {
  // Commander would turn an empty text into null.
  if (value === 'off' || value === 'none') return 0
  if (!/^(?:0|[1-9][0-9]{0,8})$/.test(value)) throw invalidArgument('It must be a whole number from 1, or off.')
  return Number(value)
}

export function portNumber(value: string): number {
  if (!/^[1-9][0-9]{0,4}$/.test(value) || Number(value) > 65_535) throw invalidArgument('It must be a port from 1 to 65535.')
  return Number(value)
}

export function positiveInteger(value: string): number {
  if (!/^[1-9][0-9]{0,3}$/.test(value)) throw invalidArgument('It must be a whole number from 1 to 9999.')
  return Number(value)
}

export function positiveNumber(value: string): number {
  if (!/^[0-9]{1,6}(?:\.[0-9]{1,3})?$/.test(value) || Number(value) === 0) throw invalidArgument('It must be a number above 0.')
  return Number(value)
}

/** How the serials of zone files are raised. */
export const SERIAL_METHODS = ['increment', 'date', 'unixtime'] as const

/** A serial (RFC 1035 section 3.3.13), or how it is raised. */
export function serial(value: string): number | (typeof SERIAL_METHODS)[number] {
  const method = SERIAL_METHODS.find((one) => one === value)
  if (method !== undefined) return method
  if (!/^[0-9]{1,10}$/.test(value) || Number(value) > 0xffffffff)
    throw invalidArgument(`It must be ${SERIAL_METHODS.join(', ')} or a whole number from 0 to 4294967295.`)
  return Number(value)
}

/** A parser of arguments that refuses what `parse` refuses. */
export const parsed =
  <Value>(parse: (text: string) => Result<Value>) =>
  (text: string): Value => {
    const value = parse(text)
    if (!value.ok) throw invalidArgument(value.message.endsWith('?') ? value.message : `${value.message}.`)
    return value.value
  }

/** A TTL in seconds or with units. */
export const ttl: (value: string) => Ttl = parsed(parseTtl)

function usageSource(value: string, previous: readonly string[]): string[] {
  parsed((text) => parseUsageSource(text, '', ''))(value)
  return [...previous, value]
}

/** What `--allow` lifts, in canonical form. */
const allowance = (value: string): string => (value.startsWith('in-use:') ? parsed(parseAllowance) : oneOf(REFUSAL_NAMES))(value)

/** A time in seconds, in the form of TTLs. */
export function seconds(value: string): number {
  const parsed = parseTtl(value)
  if (!parsed.ok) throw invalidArgument('It must be seconds, or a number with s, m, h, d or w, such as 6h.')
  return parsed.value
}

/** Collects the values of a repeatable option. */
export const collect = (value: string, previous: readonly string[]): string[] => [...previous, value]
