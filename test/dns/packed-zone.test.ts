import { expect, it } from 'vitest'
import { createZonePacker } from '../../src/dns/packed-zone.ts'
import type { DefinedRecord } from '../../src/dns/record.ts'
import type { DesiredZone } from '../../src/dns/zone.ts'
import { desiredZone, name } from '../support/records.ts'

const LINES = '@ 300 MX 10 mail\nwww A 192.0.2.1\n*.x 60 TXT "a \\"b\\" \\010 \\195\\188" "c"\n\\010 60 A 192.0.2.2'

const zone = (more: readonly Partial<DefinedRecord>[] = []): DesiredZone => {
  const { records, ...rest } = desiredZone(name('example.com.'), LINES)
  return { ...rest, records: [...records, ...more.map((one): DefinedRecord => ({ ...(records[0] as DefinedRecord), ...one }))] }
}

it('makes the same records again, in the same order', () => {
  const pack = createZonePacker()
  const at = { file: 'shared/mail.yaml', line: 7, column: 3 }
  const made = { file: 'zones/example.com.ts', line: 3, column: 1, calledFrom: [at] }
  const zones = [
    zone(),
    zone([{ at }, { ttl: null, autoPtr: true }, { expires: undefined }, { at: made }, { name: name('example.org.') }]),
    zone([{ at }]),
    { ...zone(), records: [] },
  ]
  const packed = zones.map(pack)
  for (const [index, one] of packed.entries()) expect(one).toStrictEqual(zones[index])
  expect(JSON.stringify(packed)).toBe(JSON.stringify(zones))
})

it('makes the records of the zone that was read last only once', () => {
  const pack = createZonePacker()
  const [one, other] = [pack(zone()), pack(zone())]
  const { records } = one
  expect(one.records).toBe(records)
  expect(other.records).not.toBe(records)
  expect(one.records).not.toBe(records)
})
