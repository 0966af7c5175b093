import { isIP, isIPv6 } from 'node:net'
import type { DnsServer } from '../transport/dns-client-server.ts'
import type { PlannedZone } from './plan-zones.ts'

const DNS_PORT = 53

/** The servers to ask about a zone: the configured ones, else those its apex NS records name, as far as they are known. */
export function nameServersOf(planned: PlannedZone, configured: readonly string[] | null): DnsServer[] {
  if (configured !== null) return configured.map(parseServer)
  const listed = (planned.existing?.records ?? []).filter((record) => record.type === 'NS' && record.name === planned.plan.zone)
  const names = new Set([...(planned.rendered.servedApexNs ?? []), ...listed.map((record) => record.data)])
  return [...names].sort().map((name) => ({ host: name.replace(/\.$/, ''), port: DNS_PORT }))
}

/** Whether a text is of one of the forms `parseServer` reads. */
export const isServerAddress = (text: string): boolean => {
  const { host, port } = parseServer(text)
  return port >= 1 && port <= 65_535 && (isIP(host) !== 0 || /^[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,252}[A-Za-z0-9_.])?$/.test(host))
}

/** `address`, `address:port`, `[address]:port` or a host name with or without port. */
export function parseServer(text: string): DnsServer {
  if (isIPv6(text)) return { host: text, port: DNS_PORT }
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::([0-9]{1,5}))?$/.exec(text) ?? []
  return { host: bracketed ?? plain ?? text, port: port === undefined ? DNS_PORT : Number(port) }
}
