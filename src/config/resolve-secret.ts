/** Resolves references to secrets (`env:NAME`, `file:PATH`). */
import { isUtf8 } from 'node:buffer'
import { open, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Diagnostic, SourcePosition } from '../base/diagnostic.ts'
import type { LoadedSecrets } from '../base/secret-guard.ts'
import { addSecret } from '../base/secret-guard.ts'
import { type PathScope, refusedPath } from '../files/allowed-paths.ts'
import { notAFile } from '../files/file-error.ts'
import type { ProviderConfig } from './config.ts'

/** The environment variable with the key that signs plans. */
export const PLAN_KEY = 'ZONEWRIGHT_PLAN_KEY'

/** Maximum size of a file with a secret in octets: private keys have a few thousand. */
const MAX_SECRET_OCTETS = 65_536

/** The ends of the keys of provider settings that contain secrets, at any depth: `token`, `key_secret`, `secret_access_key`. */
const SECRET_KEY =
  /(?:^|_)(?:token|secret|password|passphrase|api_key|private_key|secret_key|access_key|auth_key|consumer_key|pass|psw|pass_phrase|service_account_info|key_content)$/

/** Settings of our types that are no secrets, and may be `env:NAME` nevertheless. Plans may have their values, such as in identifiers of records. */
export const VARIABLE_SETTINGS: ReadonlySet<string> = new Set(
  'account_id base_url client_id profile project resource_group subscription tenant tsig.name'.split(' '),
)

/** The sources of secrets. */
export interface SecretSource extends PathScope {
  /** Whether the environment names the file, which may then be anywhere. */
  readonly anyFile?: boolean
  /** Receives every resolved secret. */
  readonly loaded: LoadedSecrets
}

export type ResolvedSecret =
  | { readonly value: string; readonly diagnostic: null }
  | { readonly value: null; readonly diagnostic: Diagnostic }

/** Whether a setting is a reference to a secret. */
export const isSecretReference = (text: string): boolean => /^(?:env|file):/.test(text)

/** References of shells (`$NAME`, `${NAME}`), of workflows (`${{ … }}`) and of octoDNS (`env/NAME`). */
const OTHER_REFERENCE = /^(?:\$[A-Z_][A-Z0-9_]*|\$\{.*\}|env\/[A-Z_][A-Z0-9_]*)$/i

/**
 * Resolves the secret that `env:NAME` or `file:PATH` refers to; any other text is the secret itself. Line ends at the end of a file are
 * dropped. `what` names the setting in messages (`providers.cloud.token`), which never contain the value. The secret is added to those of the run.
 */
export async function resolveSecret(
  text: string,
  what: string,
  at: SourcePosition | undefined,
  source: SecretSource,
): Promise<ResolvedSecret> {
  const missing = (message: string, hint?: string): ResolvedSecret => ({
    value: null,
    diagnostic: { severity: 'error', code: 'secret-missing', message: `${what}: ${message}`, at, hint },
  })
  const found = (value: string): ResolvedSecret => {
    addSecret(source.loaded, what, value)
    return { value, diagnostic: null }
  }
  if (text.startsWith('env:')) {
    const name = text.slice(4)
    const value = source.env[name]
    if (value !== undefined && value !== '') return found(value)
    // Do not show text that does not look like the name of a variable: it may be the secret itself.
    if (!/^[A-Z_][A-Z0-9_]{0,63}$/i.test(name) || /[0-9a-z]{24}/i.test(name))
      return missing('the text after env: is not the name of an environment variable', 'write env:NAME with the name of the variable')
    return missing(`the environment variable ${name} is not set`, `set it: export ${name}=…`)
  }
  if (text.startsWith('file:')) {
    const path = text.slice(5)
    const refused = source.anyFile ? null : refusedPath(resolve(source.folder, path), source)
    if (refused !== null) return missing(`the file ${path} ${refused}`)
    const contents = await readSecretFile(resolve(source.folder, path))
    if (!contents.ok) return missing(`the file ${path} ${contents.message}`)
    const value = contents.value.replace(/(?<![\r\n])[\r\n]+$/, '')
    return value === '' ? missing(`the file ${path} is empty`) : found(value)
  }
  if (OTHER_REFERENCE.test(text))
    return missing('the reference has the syntax of another tool', 'write env:NAME for an environment variable')
  return text === '' ? missing('the value is empty') : found(text)
}

type FileContents = { readonly ok: true; readonly value: string } | { readonly ok: false; readonly message: string }

async function readSecretFile(path: string): Promise<FileContents> {
  try {
    const facts = await stat(path)
    if (!facts.isFile()) return { ok: false, message: notAFile(facts) }
    const handle = await open(path)
    try {
      const buffer = Buffer.alloc(MAX_SECRET_OCTETS + 1)
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0)
      if (bytesRead > MAX_SECRET_OCTETS) return { ok: false, message: `is larger than ${MAX_SECRET_OCTETS} octets` }
      if (!isUtf8(buffer.subarray(0, bytesRead))) return { ok: false, message: 'is not UTF-8 text' }
      return { ok: true, value: buffer.toString('utf8', 0, bytesRead) }
    } finally {
      await handle.close()
    }
  } catch (error) {
    return { ok: false, message: describeReadError(error) }
  }
}

const describeReadError = (error: unknown): string => {
  const code = (error as NodeJS.ErrnoException).code ?? 'error'
  if (code === 'ENOENT') return 'does not exist'
  return code === 'EACCES' ? 'cannot be read: permission denied' : `cannot be read (${code})`
}

/** All texts of a provider's settings with their paths. */
function* textsOf(value: unknown, path: readonly string[] = []): Generator<readonly [text: string, path: readonly string[]]> {
  if (typeof value !== 'object' || value === null) yield [String(value ?? ''), path]
  else for (const [key, below] of Object.entries(value)) yield* textsOf(below, [...path, key])
}

/** The password in a URL; undefined if there is none. */
const passwordOf = (text: string): string | undefined => /^[a-z][a-z0-9+.-]*:\/\/[^/?#@:]*:([^/?#@]+)@/i.exec(text)?.[1]

const isPlainSecret = (text: string, path: readonly string[]): boolean =>
  SECRET_KEY.test(path.at(-1) ?? '') && text !== '' && !isSecretReference(text)

/** An error for each reference to a secret that names nothing. Others are resolved when the secret is needed. */
export const emptyReferences = (provider: ProviderConfig): Diagnostic[] =>
  [...textsOf(provider.settings)]
    .filter(([text]) => /^(?:env|file):\s*$/.test(text))
    .map(([text, path]) => ({
      severity: 'error',
      code: 'schema-value',
      message: `providers.${[provider.name, ...path].join('.')}: nothing is named after ${text.trim()}`,
      at: provider.placeOf(...path),
      hint: 'write env:NAME with the name of a variable, or file:PATH',
    }))

/** Warns of secrets in the config itself, which everyone can see who can read the repository. */
export function plainTextSecretWarnings(provider: ProviderConfig): Diagnostic[] {
  return [...textsOf(provider.settings)]
    .filter(([text, path]) => isPlainSecret(text, path) || passwordOf(text) !== undefined)
    .map(([, path]) => ({
      severity: 'warning',
      code: 'secret-in-config',
      message: `providers.${[provider.name, ...path].join('.')} contains a secret in plain text`,
      at: provider.placeOf(...path),
      hint: 'write env:NAME or file:PATH instead',
    }))
}

/** The absolute paths of all `file:` references of providers. `folder` is that of the config. */
export const secretFilesOf = (providers: Iterable<ProviderConfig>, folder: string): string[] =>
  [...providers].flatMap(({ settings }) =>
    [...textsOf(settings)].flatMap(([text]) => (text.startsWith('file:') ? [resolve(folder, text.slice('file:'.length))] : [])),
  )

/**
 * Registers all secrets of a config and the key of plan files, before any file is read that could contain one. Missing secrets are skipped:
 * the provider that needs one reports it.
 */
export async function registerSecrets(providers: Iterable<ProviderConfig>, source: SecretSource): Promise<void> {
  const key = source.env[PLAN_KEY] ?? ''
  if (key !== '') addSecret(source.loaded, PLAN_KEY, key)
  for (const { name, type, settings, placeOf } of providers) {
    for (const [text, path] of textsOf(settings)) {
      if (text.startsWith('env:') && VARIABLE_SETTINGS.has(path.join('.')) && !type.startsWith('npm:')) continue
      const what = `providers.${[name, ...path].join('.')}`
      const password = passwordOf(text)
      if (isSecretReference(text) || isPlainSecret(text, path)) await resolveSecret(text, what, placeOf(...path), source)
      else if (password !== undefined) addSecret(source.loaded, what, password)
    }
  }
}
