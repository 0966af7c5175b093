/**
 * The proxy that the environment names for HTTPS requests. The variables are those of curl and most other programs: `HTTPS_PROXY` or `ALL_PROXY`, and `NO_PROXY` for
 * the hosts that are contacted directly; the spelling in lower case takes precedence. Plain HTTP goes to loopback addresses only, so it uses no proxy.
 */
import type { Agent, AgentOptions } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Diagnostic } from '../base/diagnostic.ts'

/** The proxy did not open a tunnel to the server. */
export class ProxyError extends Error {}

type Environment = Readonly<Record<string, string | undefined>>

const HTTPS_PROXY = 'HTTPS_PROXY'

/** The proxy for a server; null for a direct connection or after an error was added to the diagnostics. The URL may contain a password. */
export function proxyFor(server: URL, env: Environment, diagnostics: Diagnostic[]): URL | null {
  if (server.protocol !== 'https:' || isExempt(server, variable(env, 'NO_PROXY'))) return null
  const name = variable(env, HTTPS_PROXY) === '' ? 'ALL_PROXY' : HTTPS_PROXY
  const text = variable(env, name)
  if (text === '') return null
  // curl takes a proxy without a scheme as well.
  const url = parseUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`)
  if (url !== null) return url
  diagnostics.push({
    severity: 'error',
    code: 'proxy-invalid',
    // The address may contain a password, so it is not shown.
    message: `the environment variable ${name} is not the address of an HTTP proxy`,
    hint: 'write http://HOST:PORT or https://HOST:PORT; NO_PROXY lists hosts that need no proxy',
  })
  return null
}

/** Creates agents whose connections are tunnels through a proxy (CONNECT, RFC 9110 section 9.3.6). The package is loaded only if there is a proxy. */
export async function loadProxyAgent(proxy: URL): Promise<(settings: AgentOptions) => Agent> {
  const { HttpsProxyAgent } = await import('hpagent')
  class ProxyAgent extends HttpsProxyAgent {
    override createConnection(...[options, callback]: Parameters<Agent['createConnection']>): Duplex | null | undefined {
      return super.createConnection(options, (error, socket) =>
        callback?.(error && new ProxyError(reasonOf(error), { cause: error }), socket),
      )
    }
  }
  return (settings) => new ProxyAgent({ ...settings, proxy })
}

/** `hpagent` reports the status of a refusal in its message. */
function reasonOf({ code, message }: Error & { readonly code?: string }): string {
  const [, status] = /^Bad response: ([0-9]{3})$/.exec(message) ?? []
  if (status === '407') return 'the proxy asks for another user name or password (407)'
  return status === undefined ? (code ?? message) : `the proxy responded with status ${status}`
}

const variable = (env: Environment, name: string): string => (env[name.toLowerCase()] ?? env[name] ?? '').trim()

function parseUrl(text: string): URL | null {
  try {
    const url = new URL(text)
    for (const part of [url.username, url.password]) decodeURIComponent(part)
    return url.protocol === 'http:' || url.protocol === 'https:' ? url : null
  } catch {
    return null
  }
}

/** Whether the list has `*`, the host, a domain above it, or a network with its address, each with the server's port or without one. */
function isExempt({ hostname, port }: URL, list: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((text) => {
      const [, bracketed, plain = '', entryPort] = isIPv6(text.split('/')[0] ?? '')
        ? ['', text]
        : (/^(?:\[([^\]]*)\]|([^:]*))(?::([0-9]+))?$/.exec(text) ?? [])
      const entry = bracketed ?? plain
      if (entry === '*') return true
      if (entry === '' || (entryPort !== undefined && entryPort !== (port === '' ? '443' : port))) return false
      if (isIP(host) !== 0) return isInNetwork(host, entry)
      const domain = entry.replace(/^\*?\./, '').replace(/\.$/, '')
      return host === domain || host.endsWith(`.${domain}`)
    })
}

/** `network`: an address, or an address with a prefix length. */
function isInNetwork(address: string, network: string): boolean {
  const [start = '', length] = network.split('/')
  const family = isIPv6(start) ? 'ipv6' : 'ipv4'
  const bits = length === undefined ? (family === 'ipv6' ? 128 : 32) : Number(length)
  if (isIP(start) === 0 || !(bits >= 0 && bits <= (family === 'ipv6' ? 128 : 32) && Number.isInteger(bits))) return false
  const networks = new BlockList()
  networks.addSubnet(start, bits, family)
  return networks.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}
