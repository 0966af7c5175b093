import { rcodeName } from '../../formats/wire/message.ts'
import type { DomainName } from '../../model/domain-name.ts'
import { respond } from './respond.ts'
import { listenTcp, type TcpLimits, type TcpListener } from './tcp-listener.ts'
import { listenUdp, type UdpListener } from './udp-listener.ts'
import { buildZoneData, type ServedRecord, type ZoneData } from './zone-data.ts'

export interface NameServerOptions {
  /** An address of this machine. */
  readonly host: string
  /** For UDP and TCP; 0 takes one that is free for both. */
  readonly port: number
  readonly tcp?: Partial<TcpLimits>
  /** Told of every message: the name of the answer's response code, null where none was sent. */
  readonly onAnswer?: (answer: { readonly transport: 'udp' | 'tcp'; readonly rcode: string | null }) => void
}

/** What the name server answers for: SOA and NS at the apex are among the records. */
export interface ServedZone {
  readonly name: DomainName
  readonly serial: number
  readonly records: Iterable<ServedRecord>
}

export interface NameServer {
  readonly address: { readonly host: string; readonly port: number }
  /** Serves the zone from now on, instead of an earlier one of its name. Throws a `RangeError` unless it has one SOA at its apex. */
  setZone(zone: ServedZone): void
  removeZone(name: DomainName): void
  zoneCount(): number
  close(): Promise<void>
}

const TCP_LIMITS: TcpLimits = { connections: 256, idle: 10_000, queryOctets: 4096 }

/** Free ports of TCP that are tried before one is free for UDP too. */
const PORT_TRIES = 16

/**
 * An authoritative name server (RFC 1034, RFC 1035 and their updates) over UDP and TCP. It answers only for its zones, knows no
 * recursion, and refuses zone transfers. Rejects with the error of the system if the address cannot be had.
 */
export async function startNameServer(options: NameServerOptions): Promise<NameServer> {
  const zones = new Map<DomainName, ZoneData>()
  const limits = { ...TCP_LIMITS, ...options.tcp }
  const answer = (octets: Uint8Array, transport: 'udp' | 'tcp'): Buffer | null => {
    const response = respond(zones, octets, transport)
    options.onAnswer?.({ transport, rcode: response && rcodeName((response[3] as number) & 0xf) })
    return response
  }
  const { udp, tcp } = await listen(options.host, options.port, limits, answer)
  return {
    address: { host: options.host, port: tcp.port },
    setZone: ({ name, serial, records }) => {
      zones.set(name, buildZoneData(name, serial, records))
    },
    removeZone: (name) => {
      zones.delete(name)
    },
    zoneCount: () => zones.size,
    close: async () => {
      await Promise.all([udp.close(), tcp.close()])
    },
  }
}

async function listen(
  host: string,
  port: number,
  limits: TcpLimits,
  answer: (octets: Uint8Array, transport: 'udp' | 'tcp') => Buffer | null,
): Promise<{ udp: UdpListener; tcp: TcpListener }> {
  for (let tries = 1; ; tries += 1) {
    const tcp = await listenTcp(host, port, limits, (octets) => answer(octets, 'tcp'))
    try {
      return { tcp, udp: await listenUdp(host, tcp.port, (octets) => answer(octets, 'udp')) }
    } catch (error) {
      await tcp.close()
      const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
      if (port !== 0 || !isTaken || tries === PORT_TRIES) throw error
    }
  }
}
