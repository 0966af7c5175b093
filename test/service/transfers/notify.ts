import type { DomainName } from '../../../src/dns/domain-name.ts'
import { decodeMessage } from '../../../src/dns/wire/decode-message.ts'
import { encodeMessage } from '../../../src/dns/wire/encode-message.ts'
import { createQuery, OPCODE, rcodeName } from '../../../src/dns/wire/message.ts'
import { askOctets } from '../nameserver/udp-client.ts'
import { soa } from './scripted-master.ts'

export interface NotifyOptions {
  readonly from?: string
  readonly id?: number
  /** The serial of the SOA in the NOTIFY; without a serial the NOTIFY has no SOA. */
  readonly serial?: number
}

/** Sends one NOTIFY (RFC 1996) to a port of 127.0.0.1 from a loopback address; returns the RCODE of the response. */
export async function sendNotify(port: number, zone: string, { from = '127.0.0.1', id = 1, serial }: NotifyOptions = {}): Promise<string> {
  const query = createQuery(id, { name: `${zone}.` as DomainName, type: 'SOA' })
  const answers = serial === undefined ? [] : [soa(serial, '3600 600 604800 300', `${zone}.`)]
  const octets = encodeMessage({ ...query, opcode: OPCODE.NOTIFY, authoritative: true, answers, edns: null })
  const answer = decodeMessage(await askOctets(port, octets, { from }))
  if (!answer.ok || answer.value.opcode !== OPCODE.NOTIFY || answer.value.id !== id) throw new Error('no answer to a NOTIFY')
  return rcodeName(answer.value.rcode)
}
