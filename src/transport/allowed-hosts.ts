/** The hosts that a run may contact. The list comes only from the environment, so a pull request that changes the config cannot send the token to another host. */
import { isIPv4, isIPv6 } from 'node:net'
import type { Diagnostic, SourcePosition } from '../base/diagnostic.ts'
import { type Environment, isCi } from '../base/environment.ts'
import { parseIpv6 } from '../dns/ip-address.ts'
import type { ServerAddress } from '../dns/server-address.ts'

/** The variable with the list: names, addresses, `host:port` and `*.domain`, separated by commas or spaces. */
export const ALLOWED_HOSTS = 'ZONEWRIGHT_ALLOWED_HOSTS'

/** The destination of a connection. */
export interface Endpoint {
  readonly scheme: 'https' | 'http' | 'dns'
  /** A name, an IPv4 address, or an IPv6 address with or without brackets. */
  readonly host: string
  readonly port: number
}

export interface HostPolicy {
  /** Errors in the list itself. If there are any, `check` refuses every host. */
  readonly diagnostics: readonly Diagnostic[]
  /** Why the endpoint must not be contacted; null if it may be. `what` names it in the message, such as `providers.cloud`. */
  check(what: string, endpoint: Endpoint, at?: SourcePosition): Diagnostic | null
}

/** The endpoint of an `http:` or `https:` URL. */
export const endpointOfUrl = ({ protocol, hostname, port }: URL): Endpoint => {
  const scheme = protocol === 'https:' ? 'https' : 'http'
  return { scheme, host: hostname, port: port === '' ? DEFAULT_PORTS[scheme] : Number(port) }
}

/** The endpoint of a name server. */
export const endpointOfServer = ({ host, port }: ServerAddress): Endpoint => ({ scheme: 'dns', host, port })

/** Why a name server must not be queried; null if it may be. `what` says where its name comes from. */
export const refusedServer = (policy: HostPolicy, what: string, server: ServerAddress, at?: SourcePosition): Diagnostic | null =>
  policy.check(what, endpointOfServer(server), at)

const DEFAULT_PORTS = { https: 443, http: 80 } as const

/** The entry of the list that allows the endpoint, without the port if the scheme implies it. */
export function hostEntry(endpoint: Endpoint): string {
  const isDefault = endpoint.scheme !== 'dns' && endpoint.port === DEFAULT_PORTS[endpoint.scheme]
  return isDefault ? formatEndpoint(endpoint).replace(/:[0-9]+$/, '') : formatEndpoint(endpoint)
}

/** The policy that the environment sets. Without a list every host is allowed, but in CI plain HTTP only to loopback addresses. */
export function readHostPolicy(env: Environment): HostPolicy {
  const list = env[ALLOWED_HOSTS]
  if (list === undefined) return { diagnostics: [], check: (what, endpoint, at) => (isCi(env) ? checkTls(what, endpoint, at) : null) }
  const texts = list.split(/[\s,]+/).filter((text) => text !== '')
  const entries = texts.map(readEntry)
  const malformed = texts.filter((_, index) => entries[index] === null)
  const diagnostics = texts.length === 0 ? [EMPTY] : malformed.map(malformedEntry)
  return {
    diagnostics,
    check: (what, endpoint, at) =>
      diagnostics[0] ?? (entries.some((entry) => entry !== null && allows(entry, endpoint)) ? null : notAllowed(what, endpoint, at)),
  }
}

/** Whether a host is this machine: `localhost`, `127.0.0.0/8` or `::1`. */
export function isLoopback(host: string): boolean {
  const canonical = canonicalHost(host)
  return canonical === 'localhost' || canonical === '::1' || (canonical !== null && isIPv4(canonical) && canonical.startsWith('127.'))
}

interface Entry {
  readonly host: string
  /** Null for every port. */
  readonly port: number | null
  /** The entry is for the names below `host`, not for `host` itself. */
  readonly isBelow: boolean
}

const NAME = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/

function readEntry(text: string): Entry | null {
  if (isIPv6(text)) return entryOf(text, undefined, false)
  const [, below, bracketed, plain = '', port] = /^(\*\.)?(?:(\[[^\]]+\])|([^:]+))(?::([1-9][0-9]{0,4}))?$/.exec(text) ?? []
  return entryOf(bracketed ?? plain, port, below !== undefined)
}

function entryOf(text: string, port: string | undefined, isBelow: boolean): Entry | null {
  const host = canonicalHost(text)
  if (host === null || (port !== undefined && Number(port) > 65_535)) return null
  // Other spellings of an address, such as 0x7f.1, are a mistake in a list that people read.
  const isAddress = isIPv6(host) || isIPv4(host)
  if (isAddress ? isBelow || (isIPv4(host) && text !== host) : !NAME.test(host)) return null
  return { host, port: port === undefined ? null : Number(port), isBelow }
}

function allows(entry: Entry, { host, port }: Endpoint): boolean {
  const canonical = canonicalHost(host)
  if (canonical === null || (entry.port !== null && entry.port !== port)) return false
  return entry.isBelow ? canonical.endsWith(`.${entry.host}`) : canonical === entry.host
}

/**
 * The one spelling of a host: names in lower case and A-labels without a final dot, IPv4 addresses in dotted decimals (the URL standard reads
 * `0x7f.1` and `2130706433` as addresses, and so does the system), IPv6 addresses as in RFC 5952 without brackets. Null if the text is not a host.
 */
function canonicalHost(text: string): string | null {
  const bare = /^\[(.*)\]$/.exec(text)?.[1] ?? text
  if (bare.includes(':')) {
    const address = parseIpv6(bare)
    return address.ok ? address.value : null
  }
  if (/[\s/?#@%\\[\]]/.test(bare)) return null
  try {
    return new URL(`http://${bare}/`).hostname.replace(/\.$/, '') || null
  } catch {
    return null
  }
}

const formatEndpoint = ({ host, port }: Endpoint): string => {
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  return bare.includes(':') ? `[${bare}]:${port}` : `${bare}:${port}`
}

const notAllowed = (what: string, endpoint: Endpoint, at: SourcePosition | undefined): Diagnostic => ({
  severity: 'error',
  code: 'host-not-allowed',
  message: `${what}: ${formatEndpoint(endpoint)} is not among the hosts in ${ALLOWED_HOSTS}`,
  at,
  hint: 'if this run may contact that host, add it to the variable',
})

function checkTls(what: string, endpoint: Endpoint, at: SourcePosition | undefined): Diagnostic | null {
  if (endpoint.scheme !== 'http' || isLoopback(endpoint.host)) return null
  const message = `${what}: would send the token to ${endpoint.host} without TLS`
  return { severity: 'error', code: 'insecure-url', message, at, hint: 'use https; plain http is for loopback addresses only' }
}

const EMPTY: Diagnostic = {
  severity: 'error',
  code: 'allowed-hosts-invalid',
  message: `${ALLOWED_HOSTS} is empty`,
  hint: 'set it to the hosts this run may contact, or remove it to allow all',
}

const malformedEntry = (text: string): Diagnostic => ({
  severity: 'error',
  code: 'allowed-hosts-invalid',
  // The text before an @ may be a password.
  message: `${ALLOWED_HOSTS}: ${JSON.stringify(text.replace(/^.*@/, '***@').slice(0, 100))} is not a host`,
  hint: 'write a name, an address, host:port or *.domain, without a scheme or path, separated by commas',
})
