import { expect, it } from 'vitest'
import { isNewerSerial, type SerialNumber, serialNumber } from '../../../src/dns/serial-number.ts'
import { chooseSerial, dateSerial, type ExistingZoneFile, unixTimeSerial } from '../../../src/dns/zone-file/choose-serial.ts'
import { fc, forAll } from '../../support/fast-check.ts'

const existing = (serial: number, isChanged: boolean) => ({ serial: serialNumber(serial), isChanged, isReplaceable: true })
const SAME = (serial: number): ExistingZoneFile => existing(serial, false)
const CHANGED = (serial: number): ExistingZoneFile => existing(serial, true)
const rule = (atLeast: number | null): { atLeast: SerialNumber | null } => ({ atLeast: atLeast === null ? null : serialNumber(atLeast) })

/** The serial asked for, that of the definition, the existing file, the result. */
it.each([
  ['a new file', rule(null), null, null, 1],
  ['a new file, with a serial in the definition', rule(null), 2026010101, null, 2026010101],
  ['nothing changed', rule(null), null, SAME(7), 7],
  ['something changed', rule(null), null, CHANGED(7), 8],
  ['the largest serial', rule(null), null, CHANGED(4294967295), 1],
  ['an older serial in the definition', rule(null), 5, CHANGED(7), 8],
  ['an older serial in the definition, nothing changed', rule(null), 5, SAME(7), 7],
  ['a newer serial in the definition', rule(null), 100, CHANGED(7), 100],
  ['only a newer serial in the definition', rule(null), 100, SAME(7), 100],
  ['a serial in the definition that is newer around the end', rule(null), 3, CHANGED(4294967290), 3],
  ['a serial in the definition without an order', rule(null), 2147483655, CHANGED(7), 8],
  ['a date, new file', rule(2026112300), null, null, 2026112300],
  ['a date after another date', rule(2026112300), null, CHANGED(2026112207), 2026112300],
  ['a date on the same day', rule(2026112300), null, CHANGED(2026112300), 2026112301],
  ['a date with a serial of the future', rule(2026112300), null, CHANGED(2027010100), 2027010101],
  ['a date, nothing changed', rule(2026112300), null, SAME(2025010100), 2025010100],
  ['a time after 2038, new file', rule(3000000000), null, null, 3000000000],
  ['a date, new file, a newer serial in the definition', rule(2026112300), 2026112305, null, 2026112305],
  ['a number', 9, null, CHANGED(7), 9],
  ['a number, nothing changed', 9, null, SAME(7), 9],
  ['the same number, nothing changed', 7, null, SAME(7), 7],
  ['a number around the end', 1, null, CHANGED(4294967290), 1],
  ['a number, new file', 0, 5, null, 0],
] as const)('%s', (_, asked, defined, file, expected) => {
  expect(chooseSerial(asked, defined === null ? null : serialNumber(defined), file)).toEqual({ ok: true, value: expected })
})

it.each([
  ['an older number', 6, CHANGED(7), 'the serial 6 is not newer than 7, that of the existing file'],
  ['an older number, nothing changed', 6, SAME(7), 'the serial 6 is not newer than 7, that of the existing file'],
  ['the same number', 7, CHANGED(7), 'the existing file has the serial 7 and other content'],
  ['a number without an order', 2147483655, CHANGED(7), 'the serial 2147483655 is not newer than 7, that of the existing file'],
] as const)('%s is refused', (_, asked, file, message) => expect(chooseSerial(asked, null, file)).toEqual({ ok: false, message }))

it('never goes back, and stays only if nothing changed', () => {
  const anySerial = fc.integer({ min: 0, max: 4294967295 }).map(serialNumber)
  const any = fc.option(anySerial, { nil: null })
  forAll(100, any, any, anySerial, fc.boolean(), (atLeast, defined, serial, isChanged) => {
    const chosen = chooseSerial({ atLeast }, defined, existing(serial, isChanged))
    if (!chosen.ok) throw new Error(chosen.message)
    expect(isNewerSerial(chosen.value, serial) || (!isChanged && chosen.value === serial)).toBe(true)
  })
})

it('is a date or a time in UTC', () => {
  const now = new Date('2026-11-23T23:59:59Z')
  expect([dateSerial(now), unixTimeSerial(now)]).toEqual([2026112300, 1795478399])
})
