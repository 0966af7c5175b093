/** Sends one DNS message over TCP and receives the responses, signed if there is a key. */
import { connect } from 'node:net'
import type { Result } from '../../dns/result.ts'
import { createFrameReader, frameMessage } from '../../dns/wire/frames.ts'
import { HEADER_OCTETS, RCODE } from '../../dns/wire/message.ts'
import { splitSignature } from '../../dns/wire/tsig.ts'
import { createTsigVerifier, signMessage } from '../../dns/wire/tsig-client.ts'
import type { Peer, Signing } from './peer.ts'
import { transferFailure } from './transfer-failure.ts'

export interface ExchangeLimits {
  /** Milliseconds for connecting. */
  readonly connect: number
  /** Milliseconds for each complete message. */
  readonly idle: number
  /** Milliseconds for the whole exchange. */
  readonly total: number
  /** Maximum size in octets of all messages together. */
  readonly octets: number
}

/**
 * Sends one message over a new TCP connection and passes each response message to `onMessage` until that returns false (RFC 7766). With a key,
 * the message is signed and the response verified (RFC 8945): do not trust the received messages until the promise resolves. Rejects with a
 * `TransferFailure` or with what `onMessage` throws. The connection is always closed.
 */
export function exchange(
  peer: Peer,
  message: Uint8Array,
  limits: ExchangeLimits,
  signal: AbortSignal,
  onMessage: (octets: Buffer) => boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const { address: host, port, localAddress, signing } = peer
    const signed = signing === null ? unsigned(message) : sign(message, signing)
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
    const timedOut = (what: string, milliseconds: number) => (): void =>
      finish(transferFailure('timeout', `${what} within ${milliseconds / 1000} s`))
    const stop = (): void => finish(transferFailure('stopped', 'was not queried completely: the service is stopping'))
    let stage = setTimeout(timedOut('could not be connected to', limits.connect), limits.connect)
    const whole = setTimeout(timedOut('did not complete its response', limits.total), limits.total)
    signal.addEventListener('abort', stop)
    if (signal.aborted) return stop()
    socket.on('connect', () => {
      clearTimeout(stage)
      stage = setTimeout(timedOut('sent no complete message', limits.idle), limits.idle)
      socket.write(frameMessage(signed.octets))
    })
    socket.on('data', (chunk: Buffer) => {
      octets += chunk.length
      if (octets > limits.octets) return finish(transferFailure('too-large', `sent more than ${limits.octets} octets`))
      try {
        for (const received of framesOf(chunk)) {
          stage.refresh()
          signed.check(received)
          if (onMessage(received)) continue
          signed.end()
          return finish()
        }
      } catch (error) {
        finish(error)
      }
    })
    socket.on('error', (error: NodeJS.ErrnoException) =>
      finish(transferFailure('unreachable', `cannot be reached over TCP (${error.code ?? error.message})`, error)),
    )
    socket.on('end', () => finish(transferFailure('unreachable', 'closed the connection before its response was complete')))
  })
}

/** A message to send and the checks of its responses, which throw a `TransferFailure`. */
interface CheckedMessage {
  readonly octets: Uint8Array
  readonly check: (received: Buffer) => void
  /** Call it after the last message. */
  readonly end: () => void
}

const unsigned = (octets: Uint8Array): CheckedMessage => ({ octets, check: () => {}, end: () => {} })

function sign(message: Uint8Array, { key, clock }: Signing): CheckedMessage {
  const now = (): number => Math.floor(clock() / 1000)
  const { octets, mac } = signMessage(message, key, now())
  const verifier = createTsigVerifier(key, mac)
  const requireOk = (verdict: Result<void>): void => {
    if (!verdict.ok) throw transferFailure('unverified', `does not answer with the key ${key.name}: ${verdict.message}`)
  }
  return {
    octets,
    check: (received) => {
      // An error response may be unsigned: a forged one does no more harm than no response.
      if (isUnsignedError(received)) return
      requireOk(verifier.accept(received, now()))
    },
    end: () => requireOk(verifier.finish()),
  }
}

function isUnsignedError(octets: Buffer): boolean {
  if (octets.length < HEADER_OCTETS || ((octets[3] as number) & 0xf) === RCODE.NOERROR) return false
  const found = splitSignature(octets)
  return found.ok && found.value.signature === null
}
