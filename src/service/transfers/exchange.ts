import { connect } from 'node:net'
import { createFrameReader, frame } from '../../formats/wire/frames.ts'
import type { Peer } from './peer.ts'
import { transferFailure } from './transfer-failure.ts'

export interface ExchangeLimits {
  /** Milliseconds until the connection stands. */
  readonly connect: number
  /** Milliseconds for each whole message: one that comes octet by octet is cut off. */
  readonly idle: number
  /** Milliseconds for all of it. */
  readonly total: number
  /** Octets of all messages together. */
  readonly octets: number
}

/**
 * Sends one message over a TCP connection of its own and gives each message that comes back to `onMessage`, until that returns false
 * (RFC 7766). Rejects with a `TransferFailure`, or with what `onMessage` throws; the connection is gone in any case.
 */
export function exchange(
  peer: Peer,
  message: Uint8Array,
  limits: ExchangeLimits,
  signal: AbortSignal,
  onMessage: (octets: Buffer) => boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const { address: host, port, localAddress } = peer
    const socket = connect({ host, port, noDelay: true, ...(localAddress === null ? {} : { localAddress }) })
    const framesOf = createFrameReader()
    let octets = 0
    const finish = (error?: unknown): void => {
      clearTimeout(stage)
      clearTimeout(whole)
      signal.removeEventListener('abort', stop)
      socket.destroy()
      if (error === undefined) resolve()
      else reject(error)
    }
    const late = (what: string, milliseconds: number) => (): void =>
      finish(transferFailure('timeout', `${what} within ${milliseconds / 1000} s`))
    const stop = (): void => finish(transferFailure('stopped', 'was not asked to the end: the service stops'))
    let stage = setTimeout(late('could not be connected to', limits.connect), limits.connect)
    const whole = setTimeout(late('did not come to the end of its answer', limits.total), limits.total)
    signal.addEventListener('abort', stop)
    if (signal.aborted) return stop()
    socket.on('connect', () => {
      clearTimeout(stage)
      stage = setTimeout(late('sent no whole message', limits.idle), limits.idle)
      socket.write(frame(message))
    })
    socket.on('data', (chunk: Buffer) => {
      octets += chunk.length
      if (octets > limits.octets) return finish(transferFailure('too-large', `sent more than ${limits.octets} octets`))
      try {
        for (const received of framesOf(chunk)) {
          stage.refresh()
          if (!onMessage(received)) return finish()
        }
      } catch (error) {
        finish(error)
      }
    })
    socket.on('error', (error: NodeJS.ErrnoException) =>
      finish(transferFailure('unreachable', `cannot be reached over TCP (${error.code ?? error.message})`, error)),
    )
    socket.on('end', () => finish(transferFailure('unreachable', 'closed the connection before its answer was complete')))
  })
}
