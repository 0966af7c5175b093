/** Creates a provider from settings that name a provider class of octoDNS. */
import { createHash } from 'node:crypto'
import { delimiter } from 'node:path'
import { type Diagnostic, isError } from '../../base/diagnostic.ts'
import type { Environment } from '../../base/environment.ts'
import { addSecret, redacted } from '../../base/secret-guard.ts'
import type { ProviderConfig } from '../../config/config.ts'
import { isSecretReference, resolveSecret, type SecretSource } from '../../config/resolve-secret.ts'
import type { PathScope } from '../../files/allowed-paths.ts'
import { findProgram, NO_PROGRAM, trustedFolders } from '../../files/find-program.ts'
import type { CreatedProvider, ProviderContext } from '../provider.ts'
import { refusedCode } from '../run-code.ts'
import { settingProblem } from '../setting-problem.ts'
import { type Message, ProcessError } from './bridge-process.ts'
import { readFeatures } from './class-capabilities.ts'
import { problemOfStart } from './class-errors.ts'
import { createClassProvider } from './class-provider.ts'
import { createClassSession } from './class-session.ts'
import { changesPerCall, checkClassSettings, createsZones } from './class-settings.ts'

const DEFAULT_TIMEOUT_SECONDS = 300
const DEFAULT_PYTHON = 'python3'

/** Starts the class, because only it can say what it supports, and whether its options are valid. */
export async function createFromClass(config: ProviderConfig, context: ProviderContext): Promise<CreatedProvider> {
  const { settings, name } = config
  const { secrets } = context
  const className = String(settings['class'])
  for (const key of ['class', 'python']) {
    const refused = settings[key] === undefined ? null : refusedCode(config, key, String(settings[key]), secrets.env)
    if (refused !== null) return { provider: null, diagnostics: [refused] }
  }
  const diagnostics = [...checkClassSettings(config)]
  const options = await withSecrets(settings['options'] ?? {}, ['options'], config, secrets, diagnostics)
  if (diagnostics.some(isError)) return { provider: null, diagnostics }
  const more = (settings['environment'] as readonly string[] | undefined) ?? []
  for (const [variable, value] of secretsOf(secrets.env, more)) addSecret(secrets.loaded, variable, value)
  const python = String(settings['python'] ?? DEFAULT_PYTHON)
  const program = findProgram(python, secrets)
  if (program === null) {
    const hint = 'install Python 3.8 or later, or name the interpreter that has octoDNS in "python"'
    return { provider: null, diagnostics: [settingProblem(config, 'python', `${python} ${NO_PROGRAM}`, hint, 'provider-class')] }
  }
  const redact = (text: string): string => redacted(secrets.loaded, text)
  const timeout = Number(settings['timeout'] ?? DEFAULT_TIMEOUT_SECONDS) * 1000
  const session = createClassSession({
    provider: name,
    className,
    process: {
      python: program,
      folder: secrets.folder,
      env: childEnvironment(secrets, more),
      redact,
    },
    timeout,
    options,
  })
  const started = await session.start().catch((error: unknown) => error)
  const problem = problemOf(config, className, started)
  const features = problem === null ? readFeatures(className, (started as Message)['ok']) : null
  if (problem !== null || features === null) {
    await session.close()
    const found: Diagnostic = problem ?? {
      severity: 'error',
      code: 'provider-class',
      message: `providers.${name}: the class says nothing about itself`,
    }
    return { provider: null, diagnostics: [{ ...found, message: redact(found.message), hint: found.hint && redact(found.hint) }] }
  }
  const provider = createClassProvider({
    provider: name,
    className,
    address: addressOf(className, settings['options'] ?? {}),
    features,
    session,
    timeout,
    changesPerCall: changesPerCall(config),
    createsZones: createsZones(config) && !features.isSource,
  })
  return { provider, diagnostics: [] }
}

function problemOf(config: ProviderConfig, className: string, started: unknown): Diagnostic | null {
  if (started instanceof ProcessError) {
    return settingProblem(config, 'class', `${className} ${started.message}`, undefined, 'provider-class')
  }
  if (started instanceof Error) throw started
  const { error } = started as Message
  return error === undefined ? null : problemOfStart(config, className, error as Message)
}

/** The options with the values of their `env:` and `file:` references. */
async function withSecrets(
  value: unknown,
  path: readonly string[],
  config: ProviderConfig,
  source: SecretSource,
  diagnostics: Diagnostic[],
): Promise<unknown> {
  if (typeof value === 'string') {
    if (!isSecretReference(value)) return value
    const found = await resolveSecret(value, `providers.${[config.name, ...path].join('.')}`, config.placeOf(...path), source)
    if (found.diagnostic) diagnostics.push(found.diagnostic)
    return found.value
  }
  const inside = (below: unknown, key: string): Promise<unknown> => withSecrets(below, [...path, key], config, source, diagnostics)
  if (Array.isArray(value)) return Promise.all(value.map((below, index) => inside(below, String(index))))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(await Promise.all(Object.entries(value).map(async ([key, below]) => [key, await inside(below, key)] as const)))
}

/** The class, and a digest of its options as they are written: a saved plan is valid only for the same. */
function addressOf(className: string, options: unknown): string {
  const digest = createHash('sha256').update(JSON.stringify(options)).digest('hex').slice(0, 8)
  return `octodns:${className}#${digest}`
}

/** The variables that every child process gets: where programs, packages and files are; language; proxies and certificates. None has a token. */
const VARIABLES: readonly string[] = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'TMPDIR', 'TZ', 'LANG', 'LC_*'],
  ...['PYTHONPATH', 'PYTHONHOME', 'VIRTUAL_ENV'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE'],
]

/** The environment of a child process that runs a provider class. `more`: the names of the setting `environment`; a final `*` stands for any end. Programs and modules are found in no relative folder and, in CI, in none of the checkout. */
export function childEnvironment(scope: PathScope, more: readonly string[]): Record<string, string> {
  const patterns = [...VARIABLES, ...more]
  const inherited: Record<string, string> = {}
  for (const [name, value] of Object.entries(scope.env)) {
    if (value === undefined || !patterns.some((pattern) => matches(pattern, name))) continue
    inherited[name] = /^(?:PATH|PYTHON(?:PATH|HOME|USERBASE))$/.test(name) ? trustedFolders(value, scope).join(delimiter) : value
  }
  return inherited
}

const matches = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern

/** The values of the variables that the config adds and that hold secrets, by their names. */
const secretsOf = (env: Environment, more: readonly string[]): (readonly [name: string, value: string])[] =>
  Object.entries(env).flatMap(([name, value = '']) =>
    more.some((pattern) => matches(pattern, name)) && /SECRET|TOKEN|PASSWORD|PASSPHRASE|KEY/i.test(name) ? [[name, value] as const] : [],
  )
