/** Addresses of name servers, with or without a port. */
import { isIP, isIPv6 } from 'node:net'
import { parseDomainName } from './domain-name.ts'

const DNS_PORT = 53

/** The host and port of a name server. */
export interface ServerAddress {
  /** An IP address, or a name for the system to resolve. */
  readonly host: string
  readonly port: number
}

/** Splits `address`, `address:port`, `[address]:port`, `name` or `name:port`. Non-ASCII labels of a name become A-labels. */
export function parseServerAddress(text: string): ServerAddress {
  if (isIPv6(text)) return { host: text, port: DNS_PORT }
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::([0-9]{1,5}))?$/.exec(text) ?? []
  return { host: bracketed ?? asciiHost(plain ?? text), port: port === undefined ? DNS_PORT : Number(port) }
}

/** The address and port of a server as text that `parseServerAddress` reads. */
export const formatServerAddress = ({ host, port }: ServerAddress): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)

function asciiHost(host: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are ASCII
  const name = /^[\x00-\x7f]*$/.test(host) ? null : parseDomainName(`${host}.`)
  return name?.ok ? name.value.slice(0, -1) : host
}

/** Whether the last label is a number, as only in addresses (RFC 1123 section 2.1). The system would read `10.1` as 10.0.0.1. */
const isNumeric = (host: string): boolean => /(?:^|\.)[0-9]+\.?$/.test(host)

/** Whether the text has one of the forms that `parseServerAddress` reads. */
export function isServerAddress(text: string): boolean {
  const { host, port } = parseServerAddress(text)
  return (
    port >= 1 &&
    port <= 65_535 &&
    (isIP(host) !== 0 || (!isNumeric(host) && /^[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,252}[A-Za-z0-9_.])?$/.test(host)))
  )
}

/** `https://HOST/…`, `//HOST/…`, `HOST:PORT` or `HOST/…`, also with a final dot that was added to make it a name. */
const URL_FORMS = [
  /^(?:[a-z][a-z0-9+.-]*:)?\/\/(?:[^/?#@]*@)?([^/?#@:]+)/i,
  /^([a-z0-9_.-]+):[0-9]{1,5}(?:[/.]|$)/i,
  // Not the slash of 0/25.2.0.192.in-addr.arpa (RFC 2317).
  /^((?:[a-z0-9_-]+\.)+[a-z][a-z0-9-]*)\//i,
]

/** The absolute name of the host if the text is a URL, or has a port or path, instead of a name; otherwise null. */
export function hostOfUrl(text: string): string | null {
  if (!text.includes(':') && !text.includes('/')) return null
  for (const form of URL_FORMS) {
    const host = form.exec(text)?.[1]
    if (host !== undefined) return `${host.endsWith('.') ? host.slice(0, -1) : host}.`
  }
  return null
}
