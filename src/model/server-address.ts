import { isIP, isIPv6 } from 'node:net'

const DNS_PORT = 53

/** A host and the port of a name server on it. */
export interface ServerAddress {
  /** An address, or a name for the system to resolve. */
  readonly host: string
  readonly port: number
}

/** `address`, `address:port`, `[address]:port` or a host name with or without port. */
export function parseServerAddress(text: string): ServerAddress {
  if (isIPv6(text)) return { host: text, port: DNS_PORT }
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::([0-9]{1,5}))?$/.exec(text) ?? []
  return { host: bracketed ?? plain ?? text, port: port === undefined ? DNS_PORT : Number(port) }
}

/** Whether a text is of one of the forms `parseServerAddress` reads. */
export function isServerAddress(text: string): boolean {
  const { host, port } = parseServerAddress(text)
  return port >= 1 && port <= 65_535 && (isIP(host) !== 0 || /^[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,252}[A-Za-z0-9_.])?$/.test(host))
}
