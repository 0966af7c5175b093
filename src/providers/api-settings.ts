/** The settings that providers with an HTTP API have in common: its address and a token. */
import type { Diagnostic } from '../base/diagnostic.ts'
import type { ProviderConfig } from '../config/config.ts'
import { resolveSecret } from '../config/resolve-secret.ts'
import { type DomainName, parseAbsoluteName } from '../dns/domain-name.ts'
import { endpointOfUrl, isLoopback } from '../transport/allowed-hosts.ts'
import { proxyFor } from '../transport/proxy.ts'
import type { ApiConnection } from './json-api.ts'
import type { ProviderContext, ProviderEndpoint } from './provider.ts'
import { settingProblem } from './setting-problem.ts'

/** The address of an API; null after an error was added to the diagnostics, or before its variable is read. `example` is a valid one, for messages; `key` is its setting. */
export function checkBaseUrl(
  config: ProviderConfig,
  address: unknown,
  example: string,
  diagnostics: Diagnostic[],
  key = 'base_url',
): URL | null {
  const refuse = (code: Diagnostic['code'], problem: string, hint?: string): null => {
    diagnostics.push(settingProblem(config, key, problem, hint, code))
    return null
  }
  const url = parseUrl(address)
  if (key === 'base_url' && String(address).startsWith('env:')) return null
  if (url === null) return refuse('schema-value', 'is not a URL', `write it with https://, such as ${example}`)
  if (!isHttp(url)) return refuse('schema-value', `has the scheme ${url.protocol} instead of https:`)
  if (url.username !== '' || url.password !== '') return refuse('schema-value', 'contains a user name or password')
  if (url.search !== '' || url.hash !== '') return refuse('schema-value', 'has a query or fragment')
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    return refuse(
      'insecure-url',
      `would send the token to ${url.hostname} without TLS`,
      'use https; plain http is for loopback addresses only',
    )
  return url
}

/** A setting that maps names of zones to identifiers. */
export function readNames(config: ProviderConfig, key: string, diagnostics: Diagnostic[]): Map<DomainName, string> {
  const entries = Object.entries((config.settings[key] as Readonly<Record<string, string>> | undefined) ?? {})
  return new Map(
    entries.flatMap(([text, id]) => {
      const name = parseAbsoluteName(text)
      if (name.ok) return [[name.value, id] as const]
      diagnostics.push({ ...settingProblem(config, key, name.message), at: config.placeOf(key, text) })
      return []
    }),
  )
}

/** The host of an address that the setting `key` names; none if the address is invalid. */
export function endpointOfBaseUrl(config: ProviderConfig, key: string, address: unknown): ProviderEndpoint[] {
  const url = parseUrl(address)
  if (url === null || !isHttp(url)) return []
  return [{ setting: `providers.${config.name}.${key}`, endpoint: endpointOfUrl(url), at: config.placeOf(key) }]
}

function parseUrl(text: unknown): URL | null {
  try {
    return new URL(String(text ?? ''))
  } catch {
    return null
  }
}

const isHttp = ({ protocol }: URL): boolean => protocol === 'https:' || protocol === 'http:'

/** The secret that the setting `key` refers to, for an HTTP header; null after an error was added to the diagnostics. */
export async function resolveToken(
  config: ProviderConfig,
  key: string,
  context: ProviderContext,
  diagnostics: Diagnostic[],
): Promise<string | null> {
  const what = `providers.${config.name}.${key}`
  const at = config.placeOf(key)
  const secret = await resolveSecret(String(config.settings[key] ?? ''), what, at, context.secrets)
  if (secret.diagnostic) diagnostics.push(secret.diagnostic)
  const token = secret.value ?? ''
  if (/[^\x21-\x7e]/.test(token)) {
    const message = `${what}: the ${key} has spaces, line breaks or non-ASCII characters, which no ${key} has`
    const hint = 'remove line breaks, quotes and other characters around it'
    diagnostics.push({ severity: 'error', code: 'secret-missing', message, at, hint })
  }
  return diagnostics.some(({ severity }) => severity === 'error') ? null : token
}

const DEFAULT_TIMEOUT_SECONDS = 30

/**
 * The connection to an API by the settings `parallelism` and `timeout` (seconds, for a change or for a read with its retries) and the proxy of the environment; null
 * after an error was added to the diagnostics. `parallelism` is the number that is used without the setting.
 */
export function apiConnection(
  { name, settings }: ProviderConfig,
  context: ProviderContext,
  { baseUrl, token, parallelism }: Pick<ApiConnection, 'baseUrl' | 'token' | 'parallelism'>,
  diagnostics: Diagnostic[],
): ApiConnection | null {
  const timeout = Number(settings['timeout'] ?? DEFAULT_TIMEOUT_SECONDS) * 1000
  const { onThrottled, onRequest } = context
  const proxy = proxyFor(baseUrl, context.secrets.env, diagnostics)
  if (diagnostics.some(({ severity }) => severity === 'error')) return null
  return {
    provider: name,
    baseUrl,
    token,
    proxy,
    parallelism: context.parallelism ?? Number(settings['parallelism'] ?? parallelism),
    timeout,
    // One attempt of a read may take half the time, which leaves time for another.
    readTimeout: timeout / 2,
    readDeadline: timeout,
    onThrottled: onThrottled && ((milliseconds) => onThrottled(name, milliseconds)),
    onRequest: onRequest && ((isRetry) => onRequest(name, isRetry)),
  }
}
