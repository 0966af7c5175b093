export interface DnsServer {
  /** An address, or a name for the system to resolve. */
  readonly host: string
  readonly port: number
}

/** The server as messages name it. */
export const formatServer = (server: DnsServer): string => `${server.host} port ${server.port}`
