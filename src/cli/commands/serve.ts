/** `zonewright serve`: options; starts the service, reloads certificate and keys on SIGHUP, and stops the service on a signal. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { resolveSecret } from '../../config/resolve-secret.ts'
import { formatServerAddress } from '../../dns/server-address.ts'
import { describeReadError, readText } from '../../files/read-text.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import type {
  Address,
  Certificate,
  CommandOptions,
  LogLevel,
  PublicImage,
  RegionResolvers,
  RunningService,
  Seed,
  TransferKey,
} from '../../service/index.ts'
import {
  type CommonOptions,
  oneOf,
  portNumber,
  positiveNumber,
  rateLimit,
  type SetAction,
  subcommand,
  withStoreOptions,
} from '../command.ts'
import { listenForInterruption, survivesHangup } from '../interruption.ts'
import type { CliIo } from '../io.ts'
import { type CliOutput, createOutput } from '../output.ts'
import { configureAdmin } from '../serve-admin.ts'
import { reportingProblems, type StoreOptions, storeOptions, storePlace } from './backup.ts'

export interface ServeOptions extends CommonOptions {
  readonly listen: string
  readonly dns: string
  readonly data?: string
  readonly database?: string
  readonly nsNames?: string
  readonly operations?: string
  readonly admin?: string
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly logLevel: LogLevel
  readonly seed?: string
  readonly regionResolvers?: string
  readonly publicImages?: string
  readonly imageData?: string
  readonly publicUrl?: string
  /** Limits per account. */
  readonly quotas?: string
  readonly auditDays: number
  /** Requests per minute; 0 for no limit. */
  readonly rateLimit: number
  readonly peerPort: number
  readonly transferAddresses?: string
  readonly publicPeersOnly?: boolean
  readonly secondaries?: string
  readonly catalogZone?: string
  readonly tsigKeys?: string
  /** The destination of text messages. */
  readonly smsSink: string
  readonly clockSpeed: number
  /** Equal responses per second to one network; 0 for no limit. */
  readonly dnsRateLimit: number
}

export function configure(command: Command, setAction: SetAction): void {
  command
    .helpCommand(false)
    .option('--listen <address>', 'HTTP address and port, or "none" for a name server only', '127.0.0.1:8080')
    .option('--dns <address>', 'name server address and port, or "none"', '127.0.0.1:5353')
    .option('--data <dir>', 'folder of the SQLite database (default: "zonewright-data")')
    .option('--database <url>', 'PostgreSQL instead, which several processes may use: postgres://user@host/name')
    .addOption(
      command
        .createOption('--peer-port <port>', 'port of the name servers to transfer zones from and to send NOTIFY to')
        .argParser(portNumber)
        .default(53),
    )
    .option('--transfer-addresses <addresses>', 'addresses from which the service transfers zones, separated by commas')
    .option('--public-peers-only', 'transfer zones from, and send NOTIFY to, addresses of the public Internet only')
    .option('--secondaries <addresses>', 'name servers that may transfer every zone and get NOTIFY, separated by commas')
    .option('--catalog-zone <name>', 'name of a catalog zone for the secondaries, such as catalog.invalid')
    .option('--tsig-keys <file>', 'YAML file of the keys that sign transfers and NOTIFY (TSIG); SIGHUP reads it again')
    .addOption(
      command
        .createOption('--dns-rate-limit <n>', 'equal responses per second over UDP to one network, or "off"')
        .argParser(rateLimit)
        .default(200),
    )
    .option('--ns-names <names>', 'names of the name servers, separated by commas')
    .option('--tls-cert <file>', 'certificate chain in PEM, for HTTPS; SIGHUP reads it again')
    .option('--tls-key <file>', 'its private key in PEM')
    .option('--seed <file>', 'YAML file of accounts and users to create unless they exist')
    .option('--image-data <dir>', 'folder for the data of images (default: "images" in the folder of --data; none with --database)')
    .option('--public-url <url>', 'the URL for clients, if it is not the address of --listen: https://dns.example.net')
    .option('--region-resolvers <file>', 'YAML file of the recursive name servers of each region')
    .option('--public-images <file>', 'YAML file of public images that the program does not have')
    .addOption(
      command
        .createOption('--rate-limit <n>', 'requests per minute of one token and operation, or "off"')
        .argParser(rateLimit)
        .default(800),
    )
    .option('--quotas <list>', 'limits per account, such as domains=5000,images=none; "none" for no limits')
    .addOption(command.createOption('--audit-days <n>', 'days for which the audit log is kept').argParser(positiveNumber).default(365))
    .option('--sms-sink <sink>', 'destination of text messages: "log", "file:PATH", or a URL to POST them to', 'log')
    .addOption(
      command.createOption('--clock-speed <n>', 'for tests: how many times faster time passes').argParser(positiveNumber).default(1),
    )
    .option('--operations <address>', 'address and port of /metrics, /healthz, /readyz and /usage (default: not served)')
    .option(
      '--admin <address>',
      'address and port of the administrative API, unix:PATH or "none" (default: admin.sock in the folder of --data)',
    )
    .addOption(
      command
        .createOption('--log-level <level>', `what to log on standard error, as lines of JSON: ${LOG_LEVELS.join(', ')}`)
        .argParser(oneOf(LOG_LEVELS))
        .default('info', 'info'),
    )
    .addHelpText('after', HELP)
  setAction(command, serve)
  const rotation = withStoreOptions(subcommand(command, 'rotate-key', ROTATE_KEY_SUMMARY)).addHelpText('after', ROTATE_KEY_HELP)
  // The folder and the database may be named before or after the name of the subcommand.
  setAction(rotation, (io, args: readonly [], options: StoreOptions) =>
    rotateKey(io, args, { ...storeOptions(command.opts()), ...options }),
  )
  configureAdmin(command, setAction)
}

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent']

const HELP = `
ZONEWRIGHT_DATABASE sets --database without showing its password to others.
The first start prints an administrator's token on standard error, once;
ZONEWRIGHT_BOOTSTRAP_TOKEN sets it instead.
Second factors, security questions and codes are stored encrypted. Their key
is in the file secrets.key of the data folder, which the first start creates,
or in ZONEWRIGHT_SECRETS_KEY (32 characters or more), which --database requires.
When it is ready, the command prints one line of JSON on standard output:
{"event":"listening","http":"http://127.0.0.1:8080/v4","dns":"127.0.0.1:5353"}.
SIGTERM and Ctrl-C let requests in progress finish. The log contains no tokens,
headers or bodies.`

/** `zonewright serve`: runs the DNS hosting service until a signal ends it. When it is ready, it prints its addresses as one line of JSON. */
async function serve(io: CliIo, _args: readonly [], options: ServeOptions): Promise<ExitStatus> {
  const output = createOutput(io, options)
  // Before the first file is read.
  const hangups = survivesHangup(process.argv) ? reloadOnHangup(io, output, options) : null
  const listen = options.listen === 'none' ? null : readAddress(output, '--listen', options.listen)
  const dns = options.dns === 'none' ? null : readAddress(output, '--dns', options.dns)
  const operations = options.operations === undefined ? null : readAddress(output, '--operations', options.operations)
  const admin = readAdminPlace(io, output, options.admin)
  const tls = readCertificate(io, output, options)
  if (listen === undefined || dns === undefined || operations === undefined || admin === undefined || tls === undefined) return EXIT.failure
  if (listen === null && dns === null) {
    output.error('usage', 'with --listen none and --dns none there is nothing to serve')
    return EXIT.failure
  }
  const seed = options.seed === undefined ? null : await readSeedFile(io, output, options.seed)
  const resolvers = options.regionResolvers === undefined ? new Map() : await readRegionResolversFile(io, output, options.regionResolvers)
  const publicImages = options.publicImages === undefined ? [] : await readPublicImagesFile(io, output, options.publicImages)
  const transferKeys = options.tsigKeys === undefined ? [] : await readTransferKeysFile(io, output, options.tsigKeys)
  if (seed === undefined || resolvers === undefined || publicImages === undefined || transferKeys === undefined) return EXIT.failure
  const bootstrapToken = io.env['ZONEWRIGHT_BOOTSTRAP_TOKEN'] || null
  const interruption = listenForInterruption(output.note, 'Stopping: waiting for requests in progress. Press Ctrl-C again to end at once.')
  // Files get explicit modes; the umask covers files of libraries.
  const umask = process.umask(0o077)
  try {
    const service = await start(
      io,
      output,
      { listen, dns, observability: operations, admin, tls, bootstrapToken, seed, regionResolvers: resolvers, publicImages, transferKeys },
      options,
    )
    if (service === null) return EXIT.failure
    if (service.token !== null && bootstrapToken === null) output.say(`Administrator's token, shown this once: ${service.token}`)
    const dnsAddress = service.dnsAddress && formatServerAddress(service.dnsAddress)
    const ready = {
      ...{ event: 'listening', http: service.baseUrl || null, dns: dnsAddress },
      operations: service.observabilityUrl ?? undefined,
      admin: options.admin === undefined ? undefined : (service.adminAddress ?? undefined),
    }
    output.print(`${JSON.stringify(ready)}\n`)
    hangups?.started(service)
    await aborted(interruption.signal)
    await service.stop()
    return EXIT.done
  } finally {
    hangups?.release()
    process.umask(umask)
    interruption.release()
  }
}

/** Reports a text that is not an address, and returns undefined. */
function readAddress(output: CliOutput, option: string, text: string): Address | undefined {
  const address = parseListen(text)
  if (address !== null) return address
  output.error(
    'usage',
    `${option} ${JSON.stringify(text)} is not ADDRESS:PORT`,
    'such as 127.0.0.1:8080 or [::1]:8080; port 0 picks a free one',
  )
  return undefined
}

/** The place of the administrative API. Reports one that is not valid, and returns undefined. */
function readAdminPlace(io: CliIo, output: CliOutput, admin = 'data-folder'): CommandOptions['admin'] | undefined {
  if (admin === 'none') return null
  if (admin === 'data-folder') return admin
  return admin.startsWith('unix:') ? { path: resolve(io.cwd, admin.slice('unix:'.length)) } : readAddress(output, '--admin', admin)
}

/** SIGHUP reads the certificate and the transfer keys again; during the start, as soon as the service runs. */
function reloadOnHangup(io: CliIo, output: CliOutput, options: ServeOptions) {
  let started: (service: RunningService) => void = () => undefined
  const running = new Promise<RunningService>((resolve) => {
    started = resolve
  })
  const reload = async (): Promise<void> => {
    const service = await running
    reloadCertificate(io, output, service, options)
    await reloadTransferKeys(io, output, service, options)
  }
  process.on('SIGHUP', reload)
  return { started, release: () => void process.off('SIGHUP', reload) }
}

function reloadCertificate(io: CliIo, output: CliOutput, service: RunningService, options: ServeOptions): void {
  const certificate = readCertificate(io, output, options, true)
  if (certificate === undefined) output.say('The previous certificate stays.')
  if (!certificate) return
  try {
    service.useCertificate(certificate)
    output.note('The certificate has been read again.')
  } catch (error) {
    output.say(`The new certificate cannot be used, so the previous one stays: ${(error as Error).message}`)
  }
}

async function reloadTransferKeys(io: CliIo, output: CliOutput, service: RunningService, { tsigKeys }: ServeOptions): Promise<void> {
  if (tsigKeys === undefined) return
  try {
    const keys = await readTransferKeysFile(io, output, tsigKeys)
    if (keys === undefined) return output.say('The previous transfer keys stay.')
    await service.useTransferKeys(keys)
    output.note('The transfer keys have been read again.')
  } catch (error) {
    output.say(`The new transfer keys cannot be used, so the previous ones stay: ${(error as Error).message}`)
  }
}

type StartOptions = Pick<
  CommandOptions,
  'listen' | 'dns' | 'observability' | 'admin' | 'tls' | 'bootstrapToken' | 'seed' | 'regionResolvers' | 'publicImages' | 'transferKeys'
>

/** Reports why the service cannot start, and returns null. */
async function start(io: CliIo, output: CliOutput, given: StartOptions, options: ServeOptions): Promise<RunningService | null> {
  const { DEFAULT_NS_NAMES, parseQuotas, parseSmsDestination, requestsPerMinute, startService, UNLIMITED_RATES } = await import(
    '../../service/index.ts'
  )
  const { imageData, nsNames, quotas, transferAddresses } = options
  try {
    const sms = parseSmsDestination(options.smsSink)
    // Nothing is spread that depends on a condition: the compiler does not check the names of such options.
    const all: CommandOptions = {
      ...{ dataFolder: null, database: null, ...storePlace(io, options) },
      ...given,
      imageFolder: imageData === undefined ? null : resolve(io.cwd, imageData),
      publicUrl: options.publicUrl ?? null,
      quotas: quotas === undefined ? {} : parseQuotas(quotas),
      rateLimits: options.rateLimit === 0 ? UNLIMITED_RATES : requestsPerMinute(options.rateLimit),
      auditDays: options.auditDays,
      peerPort: options.peerPort,
      publicPeersOnly: options.publicPeersOnly ?? false,
      secondaries: options.secondaries === undefined ? [] : listOf(options.secondaries),
      catalogZone: options.catalogZone ?? null,
      clockSpeed: options.clockSpeed,
      smsSink: sms.kind === 'file' ? { ...sms, path: resolve(io.cwd, sms.path) } : sms,
      secretsKey: io.env['ZONEWRIGHT_SECRETS_KEY'] || null,
      adminToken: io.env['ZONEWRIGHT_ADMIN_TOKEN'] || null,
      transferAddresses: transferAddresses === undefined ? [] : listOf(transferAddresses),
      nameServerLimits: { responsesPerSecond: options.dnsRateLimit },
      log: { level: options.logLevel, write: (line) => io.stderr.write(line) },
      nsNames: nsNames === undefined ? DEFAULT_NS_NAMES : listOf(nsNames),
    }
    return await startService(all)
  } catch (error) {
    // A TypeError is a program error; others come from addresses, folders and options.
    if (!(error instanceof Error) || error instanceof TypeError) throw error
    const inUse = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
    const hint = inUse ? 'give another address with --listen or --dns; port 0 picks a free one' : undefined
    output.error('service-start', `the service cannot start: ${error.message}`, hint)
    return null
  }
}

const listOf = (text: string): string[] => text.split(',').map((item) => item.trim())

const aborted = (signal: AbortSignal): Promise<void> =>
  signal.aborted ? Promise.resolve() : new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

/** Parses `ADDRESS:PORT` or `[ADDRESS]:PORT`; with port 0 the system chooses. Null for anything else. */
function parseListen(text: string): { host: string; port: number } | null {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+)):([0-9]{1,5})$/.exec(text) ?? []
  const host = bracketed ?? plain
  if (host === undefined || Number(port) > 65_535 || (bracketed !== undefined && !isIPv6(bracketed))) return null
  return { host, port: Number(port) }
}

type Parsed<T> = readonly [value: T | null, diagnostics: readonly Diagnostic[]]

/** Reads and parses a file for the service. Reports a file that cannot be used, and returns undefined. `secret`: reports show none of its text. */
async function readServiceFile<T>(
  io: CliIo,
  output: CliOutput,
  file: string,
  secret: boolean,
  parse: (text: string, service: typeof import('../../service/index.ts')) => Parsed<T> | Promise<Parsed<T>>,
): Promise<T | undefined> {
  const text = await textOf(io, output, file)
  if (text === undefined) return undefined
  const [value, diagnostics] = await parse(text, await import('../../service/index.ts'))
  output.diagnostics(diagnostics, { secret })
  return value ?? undefined
}

/** Reads the accounts and users of a seed file. */
const readSeedFile = (io: CliIo, output: CliOutput, file: string): Promise<Seed | undefined> =>
  readServiceFile(io, output, file, true, (text, { readSeed }) => {
    const { seed, diagnostics } = readSeed(text, file)
    return [seed, diagnostics]
  })

/** Reads the resolvers of regions. */
const readRegionResolversFile = (io: CliIo, output: CliOutput, file: string): Promise<RegionResolvers | undefined> =>
  readServiceFile(io, output, file, false, (text, { readRegionResolvers }) => {
    const { resolvers, diagnostics } = readRegionResolvers(text, file)
    return [resolvers, diagnostics]
  })

/** Reads additional public images. */
const readPublicImagesFile = (io: CliIo, output: CliOutput, file: string): Promise<readonly PublicImage[] | undefined> =>
  readServiceFile(io, output, file, false, (text, { readPublicImages }) => {
    const { images, diagnostics } = readPublicImages(text, file)
    return [images, diagnostics]
  })

/** Reads the keys of transfers. Paths of secrets are relative to the file's folder. */
const readTransferKeysFile = (io: CliIo, output: CliOutput, file: string): Promise<readonly TransferKey[] | undefined> =>
  readServiceFile(io, output, file, true, async (text, { readTransferKeys }) => {
    const source = { folder: dirname(resolve(io.cwd, file)), env: io.env, loaded: io.secrets }
    const { keys, diagnostics } = await readTransferKeys(text, file, (secret, what, at) => resolveSecret(secret, what, at, source))
    return [keys, [...diagnostics, ...(await readableByOthers(io, file))]]
  })

/** Permissions of the group and of other users. */
const OTHERS = 0o077

async function readableByOthers(io: CliIo, file: string): Promise<Diagnostic[]> {
  const { mode } = await stat(resolve(io.cwd, file))
  if ((mode & OTHERS) === 0) return []
  const message = `${file} has the mode ${(mode & 0o777).toString(8).padStart(4, '0')}: other users of this machine may read it`
  return [{ severity: 'warning', code: 'tsig-keys-readable', message, hint: `chmod 600 ${file}` }]
}

async function textOf(io: CliIo, output: CliOutput, file: string): Promise<string | undefined> {
  const text = await readText(resolve(io.cwd, file), file, null)
  if (text.ok) return text.text
  output.error(text.problem.code, text.problem.message)
  return undefined
}

/** The largest PEM file, in octets. */
const MAX_PEM = 1_000_000

interface CertificateOptions {
  readonly tlsCert?: string
  readonly tlsKey?: string
}

/** Reads the certificate and its key; null without TLS. Reports files that cannot be read, and returns undefined. `isRunning` is for a service that must not wait. */
function readCertificate(
  io: CliIo,
  output: CliOutput,
  { tlsCert, tlsKey }: CertificateOptions,
  isRunning = false,
): Certificate | null | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return null
  if (tlsCert === undefined || tlsKey === undefined) {
    output.error('usage', '--tls-cert and --tls-key belong together')
    return undefined
  }
  const read = (option: string, file: string): string => {
    try {
      return readPem(resolve(io.cwd, file), isRunning)
    } catch (error) {
      throw new RangeError(`${option} ${file} ${error instanceof RangeError ? error.message : describeReadError(error)}`)
    }
  }
  try {
    return { cert: read('--tls-cert', tlsCert), key: read('--tls-key', tlsKey) }
  } catch (error) {
    output.error('service-start', (error as Error).message)
    return undefined
  }
}

/** Reads a file, or at the start a pipe, which secret stores use. Stops after the limit, since a device has no end. */
function readPem(file: string, isRunning: boolean): string {
  // O_NONBLOCK keeps a named pipe from blocking the service.
  const descriptor = openSync(file, isRunning ? constants.O_RDONLY | constants.O_NONBLOCK : constants.O_RDONLY)
  try {
    if (isRunning && !fstatSync(descriptor).isFile()) throw new RangeError('is not a regular file, the only kind that SIGHUP reads')
    const octets = Buffer.alloc(MAX_PEM + 1)
    let length = 0
    for (let read = -1; read !== 0 && length <= MAX_PEM; length += read)
      read = readSync(descriptor, octets, length, octets.length - length, null)
    if (length > MAX_PEM) throw new RangeError(`is larger than ${MAX_PEM} octets`)
    return octets.toString('utf8', 0, length)
  } finally {
    closeSync(descriptor)
  }
}

const ROTATE_KEY_SUMMARY = 'encrypt the secrets of the DNS hosting service with a new key, while it runs'

const ROTATE_KEY_HELP = `
With a key file, the command creates the new key and running services find it.
With ZONEWRIGHT_SECRETS_KEY=NEW,FORMER, first restart every process with both
keys, then run this command, then restart them with only the new key. If the
command is interrupted, run it again.`

/** `zonewright serve rotate-key`: encrypts the secrets of the DNS hosting service with a new key, while the service runs. */
async function rotateKey(io: CliIo, _args: readonly [], options: StoreOptions): Promise<ExitStatus> {
  const output = createOutput(io, options)
  return reportingProblems(output, async () => {
    const service = await import('../../service/index.ts')
    const { resealed, keyFile, notErased } = await service.rotateKey(storePlace(io, options), io.env['ZONEWRIGHT_SECRETS_KEY'] || null)
    output.note(`All secrets are encrypted with the new key (${resealed} of them by this run).`)
    if (notErased !== null)
      output.note(`Previous values are still in free space of the tables (${notErased}); run the command again to erase them.`)
    output.note(
      keyFile === null
        ? 'Restart every process with only the new key. Earlier backups need the previous key: keep it with them.'
        : `The previous key is the second line of ${keyFile}: earlier backups need it.`,
    )
  })
}
