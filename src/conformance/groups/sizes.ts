/** Numbers of records around pages and messages. */
import type { ConformanceGroup, ConformanceStep } from '../step.ts'
import { group, step } from '../step.ts'

const owner = (index: number): string => `rec${String(index).padStart(4, '0')}`
const lines = (count: number, rdata: string): string[] => Array.from({ length: count }, (_, index) => `${owner(index)} ${rdata}`)
const sized = (name: string, size: number, records: readonly string[]): ConformanceStep => ({ ...step(name, ...records), size })

const filled = (count: number): ConformanceStep => sized(`${count} records`, count, lines(count, 'A 192.0.2.4'))
const updated = (count: number): ConformanceStep => sized(`Update ${count} records`, count, lines(count, 'A 198.51.100.4'))

/** Records that take 250 octets each, so that 256 of them are 64,000 octets, the size of one message. */
const large = (count: number): ConformanceStep => sized(`${count} records of 250 octets`, count, lines(count, `TXT "${'x'.repeat(221)}"`))

const others = Array.from({ length: 20 }, (_, index) => `other${index} TXT "beside the records of the group"`)

export const SIZE_GROUPS: readonly ConformanceGroup[] = [
  group(34, 'pager101', [filled(99), filled(100), filled(101)]),
  group(35, 'pager601', [filled(601), updated(601)]),
  group(36, 'pager1201', [filled(1200), updated(1200)]),
  group(37, 'batchRecordswithOthers', [
    filled(1200),
    sized('Update 1200 records and Create others', 1220, [...lines(1200, 'A 198.51.100.4'), ...others]),
    sized('Update 1200 records and Create and Delete others', 1215, [
      ...lines(1200, 'A 198.51.100.7'),
      ...others.slice(10),
      ...others.slice(0, 5).map((line) => `new-${line}`),
    ]),
  ]),
  group(null, 'records around a page of 500', [filled(499), filled(500), filled(501)]),
  group(null, 'records around a message', [large(255), large(256), large(257), large(513)]),
  group(null, 'large zones', [filled(1201), filled(12_000), updated(12_000)]),
]
