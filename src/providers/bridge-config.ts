/** Starts the child process that runs the Python code of others for a provider, with the secrets of its options. */
import { createHash } from 'node:crypto'
import { delimiter } from 'node:path'
import { type Diagnostic, isError } from '../base/diagnostic.ts'
import type { Environment } from '../base/environment.ts'
import { addSecret, redacted } from '../base/secret-guard.ts'
import type { ProviderConfig } from '../config/config.ts'
import { isSecretReference, resolveSecret, type SecretSource } from '../config/resolve-secret.ts'
import type { PathScope } from '../files/allowed-paths.ts'
import { findProgram, NO_PROGRAM, trustedFolders } from '../files/find-program.ts'
import { type Message, ProcessError } from './bridge-process.ts'
import { type BridgeSession, createBridgeSession, type SessionOptions } from './bridge-session.ts'
import type { ProviderContext } from './provider.ts'
import { refusedCode } from './run-code.ts'
import { settingProblem } from './setting-problem.ts'

const DEFAULT_TIMEOUT_SECONDS = 300
const DEFAULT_PYTHON = 'python3'

export interface BridgedCode extends Pick<SessionOptions, 'subject' | 'timeoutHint' | 'errorOf'> {
  /** The setting that names it, and its name for ZONEWRIGHT_ALLOWED_PACKAGES. */
  readonly setting: string
  readonly code: string
  /** More environment variables that it gets. */
  readonly environment: readonly string[]
  /** The first request without the options. */
  readonly start: Message
  /** The package that the interpreter must have. */
  readonly needs: string
  /** The problem of a first request that the code did not carry out. */
  readonly problemOf: (error: Message) => Diagnostic
}

export interface StartedBridge {
  readonly session: BridgeSession
  /** What the code says about itself. */
  readonly features: Message
  /** A digest of the options as they are written: a saved plan is valid only for the same. */
  readonly digest: string
  /** Milliseconds for one request. */
  readonly timeout: number
  readonly redact: (text: string) => string
}

/** Starts the code, because only it can say what it supports, and whether its options are valid. Returns problems of the settings instead. */
export async function startBridge(
  config: ProviderConfig,
  { secrets }: ProviderContext,
  bridged: BridgedCode,
): Promise<StartedBridge | readonly Diagnostic[]> {
  const { settings, name } = config
  for (const [key, code] of [[bridged.setting, bridged.code] as const, ['python', settings['python']] as const]) {
    const refused = code === undefined ? null : refusedCode(config, key, String(code), secrets.env)
    if (refused !== null) return [refused]
  }
  const diagnostics: Diagnostic[] = []
  const options = await withSecrets(settings['options'] ?? {}, ['options'], config, secrets, diagnostics)
  if (diagnostics.some(isError)) return diagnostics
  for (const [variable, value] of secretsOf(secrets.env, bridged.environment)) addSecret(secrets.loaded, variable, value)
  const python = String(settings['python'] ?? DEFAULT_PYTHON)
  const program = findProgram(python, secrets)
  if (program === null) {
    const hint = `install Python 3.8 or later, or name the interpreter that has ${bridged.needs} in "python"`
    return [settingProblem(config, 'python', `${python} ${NO_PROGRAM}`, hint, 'provider-class')]
  }
  const redact = (text: string): string => redacted(secrets.loaded, text)
  const timeout = Number(settings['timeout'] ?? DEFAULT_TIMEOUT_SECONDS) * 1000
  const process = { python: program, folder: secrets.folder, env: childEnvironment(secrets, bridged.environment), redact }
  const session = createBridgeSession({ ...bridged, provider: name, process, timeout, start: { ...bridged.start, name, options } })
  const started = await session.start().catch((error: unknown) => error)
  const problem = problemOf(config, bridged, started)
  if (problem !== null) {
    await session.close()
    return [{ ...problem, message: redact(problem.message), hint: problem.hint && redact(problem.hint) }]
  }
  const digest = createHash('sha256')
    .update(JSON.stringify(settings['options'] ?? {}))
    .digest('hex')
    .slice(0, 8)
  return { session, features: ((started as Message)['ok'] ?? {}) as Message, digest, timeout, redact }
}

function problemOf(
  config: ProviderConfig,
  { setting, subject, problemOf: problemOfStart }: BridgedCode,
  started: unknown,
): Diagnostic | null {
  if (started instanceof ProcessError) return settingProblem(config, setting, `${subject} ${started.message}`, undefined, 'provider-class')
  if (started instanceof Error) throw started
  const { error } = started as Message
  return error === undefined ? null : problemOfStart(error as Message)
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
