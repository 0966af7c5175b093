import { CLASS, RCODE } from '../../formats/wire/message.ts'
import { META_TYPE } from '../../formats/wire/type-code.ts'
import type { DomainName } from '../../model/domain-name.ts'
import { isNewerSerial, serialNumber } from '../../model/serial-number.ts'
import { type Answer, emptyAnswer } from './answer.ts'
import { canonicalAddress } from './client-address.ts'
import type { Query } from './parse-query.ts'
import { writeBare, writeResponse } from './write-response.ts'
import type { ZoneData } from './zone-data.ts'
import { transferMessages } from './zone-transfer.ts'

/** Who sent a message, and over what. */
export interface Client {
  readonly transport: 'udp' | 'tcp'
  /** As the system tells it. */
  readonly address: string
}

/** Messages that are made as they are sent. */
export interface Transfer {
  /** The next message; null after the last one, `broken` where it cannot be made: the connection ends, lest what was sent pass for the zone. */
  next(): Buffer | null | 'broken'
  /** To be called when no more are wanted, or there are no more. */
  end(): void
}

/** The zone a transfer may be of, and the addresses that may have it, in their canonical form. */
export interface TransferZone {
  readonly data: ZoneData
  readonly clients: ReadonlySet<string>
}

/** Bounds the transfers at one time: each holds a version of a zone. */
export interface TransferSlots {
  /** Whether there was a free one. */
  take(): boolean
  giveBack(): void
}

export function createTransferSlots(count: number): TransferSlots {
  let free = count
  return {
    take: () => {
      if (free <= 0) return false
      free -= 1
      return true
    },
    giveBack: () => {
      free += 1
    },
  }
}

/**
 * Answers AXFR (RFC 5936) and IXFR (RFC 1995), whose changes are not kept: its answer is the whole zone, or the SOA alone where the asker
 * has it all, or over UDP, so that it comes back over TCP. Who is not among the zone's clients is refused; the machine's own
 * addresses are not special. `limit` is the most octets of an answer that is one message.
 */
export function answerTransfer(
  query: Query,
  client: Client,
  limit: number,
  find: (name: DomainName) => TransferZone | undefined,
  slots: TransferSlots,
): Buffer | Transfer {
  if (query.class !== CLASS.IN) return writeBare(query, RCODE.REFUSED)
  const isIncremental = query.code === META_TYPE.IXFR
  const zone = find(query.name)
  if (!zone) return writeBare(query, RCODE.NOTAUTH)
  // There is no AXFR over UDP (RFC 5936 section 4.2).
  if (client.transport === 'udp' && !isIncremental) return writeBare(query, RCODE.FORMERR)
  if (!zone.clients.has(canonicalAddress(client.address) ?? '')) return writeBare(query, RCODE.REFUSED)
  const { data } = zone
  const isCurrent = query.serial !== null && !isNewerSerial(serialNumber(data.serial), serialNumber(query.serial))
  if (isIncremental && (isCurrent || client.transport === 'udp')) return writeResponse(query, soaAnswer(data), limit)
  if (!slots.take()) return writeBare(query, RCODE.SERVFAIL)
  return createTransfer(transferMessages(query, data), slots)
}

const soaAnswer = ({ name, soa }: ZoneData): Answer => ({
  ...emptyAnswer(RCODE.NOERROR),
  authoritative: true,
  answers: [{ name, rrset: soa }],
})

function createTransfer(messages: Generator<Buffer, void>, slots: TransferSlots): Transfer {
  let ended = false
  const end = (): void => {
    if (ended) return
    ended = true
    slots.giveBack()
  }
  return {
    next: () => {
      const message = ended ? { done: true as const, value: undefined } : messages.next()
      if (!message.done) return message.value
      end()
      return null
    },
    end,
  }
}
