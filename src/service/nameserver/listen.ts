import type { Client } from './answer-transfer.ts'
import type { TcpReply } from './tcp-connection.ts'
import { listenTcp, type TcpLimits, type TcpListener } from './tcp-listener.ts'
import { listenUdp, type UdpListener } from './udp-listener.ts'

export interface Answers {
  readonly udp: (query: Buffer, client: Client) => Buffer | Promise<Buffer> | null
  readonly tcp: (query: Buffer, client: Client) => TcpReply
}

/** Free ports of TCP that are tried before one is free for UDP too. */
const PORT_TRIES = 16

/** Listens on one port over both; 0 takes one that is free for both. Rejects with the error of the system. */
export async function listen(
  host: string,
  port: number,
  limits: TcpLimits,
  answers: Answers,
): Promise<{ readonly udp: UdpListener; readonly tcp: TcpListener }> {
  for (let tries = 1; ; tries += 1) {
    const tcp = await listenTcp(host, port, limits, answers.tcp)
    try {
      return { tcp, udp: await listenUdp(host, tcp.port, answers.udp) }
    } catch (error) {
      await tcp.close()
      const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
      if (port !== 0 || !isTaken || tries === PORT_TRIES) throw error
    }
  }
}
