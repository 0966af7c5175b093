import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import { decodeMessage } from '../../../src/dns/wire/decode-message.ts'
import { encodeMessage } from '../../../src/dns/wire/encode-message.ts'
import { createQuery, OPCODE, rcodeName } from '../../../src/dns/wire/message.ts'
import { soa } from './scripted-master.ts'

export interface NotifyOptions {
  readonly from?: string
  readonly id?: number
  /** The serial of the SOA in the NOTIFY; without a serial the NOTIFY has no SOA. */
  readonly serial?: number
}

/** Sends one NOTIFY (RFC 1996) to a port of 127.0.0.1 from a loopback address; returns the RCODE of the response. */
export async function sendNotify(port: number, zone: string, { from = '127.0.0.1', id = 1, serial }: NotifyOptions = {}): Promise<string> {
  const socket = createSocket('udp4')
  try {
    socket.bind(0, from)
    await once(socket, 'listening')
    const query = createQuery(id, { name: `${zone}.` as DomainName, type: 'SOA' })
    const answers = serial === undefined ? [] : [soa(serial, '3600 600 604800 300', `${zone}.`)]
    socket.send(encodeMessage({ ...query, opcode: OPCODE.NOTIFY, authoritative: true, answers, edns: null }), port, '127.0.0.1')
    const [octets] = (await once(socket, 'message', { signal: AbortSignal.timeout(10_000) })) as [Buffer]
    const answer = decodeMessage(octets)
    if (!answer.ok || answer.value.opcode !== OPCODE.NOTIFY || answer.value.id !== id) throw new Error('no answer to a NOTIFY')
    return rcodeName(answer.value.rcode)
  } finally {
    socket.close()
  }
}
