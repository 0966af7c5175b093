import { expect, test } from 'vitest'
import { isNewerSerial, nextSerial, serialNumber } from '../../src/dns/serial-number.ts'
import { fc, forAll } from '../support/fast-check.ts'

const serial = fc.integer({ min: 0, max: 0xffffffff }).map(serialNumber)

test.each([
  [1, 0, true],
  [0, 1, false],
  [5, 5, false],
  [0, 0xffffffff, true],
  [100, 0xffffff00, true],
  [0x80000000, 0, false],
  [0, 0x80000000, false],
  [0x7fffffff, 0, true],
  [0x80000001, 0, false],
])('%d is newer than %d: %s', (a, b, expected) => expect(isNewerSerial(serialNumber(a), serialNumber(b))).toBe(expected))

test('the next serial is newer, and never 0', () => {
  expect(nextSerial(serialNumber(0xffffffff))).toBe(1)
  forAll(100, serial, (value) => isNewerSerial(nextSerial(value), value))
})

test('two serials are never both newer than each other', () => {
  forAll(100, serial, serial, (a, b) => !(isNewerSerial(a, b) && isNewerSerial(b, a)))
})
