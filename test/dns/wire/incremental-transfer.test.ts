import { expect, it } from 'vitest'
import { serialNumber } from '../../../src/dns/serial-number.ts'
import { createQuery, type Message, type WireRecord } from '../../../src/dns/wire/message.ts'
import { createIxfrReader, type IxfrAnswer } from '../../../src/dns/wire/transfer.ts'
import { name } from '../../support/records.ts'

const ZONE = name('example.test.')
const HELD = serialNumber(3)

const record = (text: string): WireRecord => {
  const [owner = '', type = '', ...data] = text.split(' ')
  return { name: name(owner), type, class: 1, ttl: 60, data: data.join(' ') }
}
const soa = (serial: number): WireRecord => record(`example.test. SOA ns.example.test. h.example.test. ${serial} 1 1 1 1`)
const host = (number: number): WireRecord => record(`h${number}.example.test. A 192.0.2.${number}`)

const message = (answers: readonly WireRecord[], changes: Partial<Message> = {}): Message => {
  return { ...createQuery(1, { name: ZONE, type: 'IXFR' }), response: true, answers, ...changes }
}

/** Reads the response twice, one record per message and all in one message; expects the same result. */
function read(records: readonly WireRecord[]): IxfrAnswer | string {
  const results = [records.map((one) => [one]), [records]].map((messages) => {
    const reader = createIxfrReader(ZONE, 1, HELD)
    let state = 'more'
    for (const answers of messages) {
      const accepted = reader.accept(message(answers))
      if (!accepted.ok) return accepted.message
      state = accepted.value
    }
    return state === 'complete' ? reader.answer() : 'more'
  })
  expect(results[1]).toEqual(results[0])
  return results[0] as IxfrAnswer | string
}

it.each([
  ['the same SOA', [soa(3)], { kind: 'current', soa: soa(3) }],
  ['an older SOA', [soa(2)], { kind: 'current', soa: soa(2) }],
  ['a newer SOA needs more records', [soa(5)], 'more'],
  [
    'one step',
    [soa(5), soa(3), host(1), soa(5), host(2), host(3), soa(5)],
    { kind: 'differences', soa: soa(5), differences: [{ removed: [host(1)], added: [host(2), host(3)] }] },
  ],
  [
    'several steps, empty lists too',
    [soa(6), soa(3), soa(4), host(1), soa(4), host(1), soa(5), soa(5), soa(6), soa(6)],
    {
      kind: 'differences',
      soa: soa(6),
      differences: [
        { removed: [], added: [host(1)] },
        { removed: [host(1)], added: [] },
        { removed: [], added: [] },
      ],
    },
  ],
  ['a full zone', [soa(5), host(1), host(2), soa(5)], { kind: 'whole', records: [soa(5), host(1), host(2)] }],
  ['a full zone with only its SOA', [soa(5), soa(5)], { kind: 'whole', records: [soa(5)] }],
  ['no SOA', [host(1)], 'it begins with h1.example.test. A, not with the SOA of example.test.'],
  ['differences from another version', [soa(5), soa(2), soa(5), soa(5)], 'a difference begins with serial 2, not 3'],
  ['differences that do not connect', [soa(6), soa(3), soa(4), soa(5)], 'a difference begins with serial 5, not 4'],
  ['a full zone that ends with another SOA', [soa(5), host(1), soa(6)], 'its last SOA differs from the first'],
  ['records after the end', [soa(5), host(1), soa(5), host(2)], 'records follow the last SOA'],
  ['a missing end', [soa(5), soa(3), host(1)], 'more'],
] as const)('%s', (_, records, expected) => expect(read(records)).toEqual(expected))

it.each<[string, Partial<Message>]>([
  ['another identifier', { id: 2 }],
  ['an error', { rcode: 4 }],
  ['another question', { questions: [{ name: ZONE, type: 'AXFR', class: 1 }] }],
  ['the question of another zone', { questions: [{ name: name('o.test.'), type: 'IXFR', class: 1 }] }],
  ['a truncated list', { truncated: true }],
  ['no records', { answers: [] }],
])('refuses a message with %s', (_, changes) => expect(createIxfrReader(ZONE, 1, HELD).accept(message([soa(3)], changes)).ok).toBe(false))
