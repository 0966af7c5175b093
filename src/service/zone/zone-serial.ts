import { isNewerSerial, nextSerial, type SerialNumber, serialNumber } from '../../dns/serial-number.ts'

/** Serials of one year: the year in front, a counter behind it. */
const YEAR = 1_000_000

/**
 * The serial after `existing` (null for a zone that has none): the year's first one, or where that is not newer, as after more than
 * a million changes or a clock set back, one more than the existing (RFC 1982 section 3.1).
 */
export function serialAfter(existing: SerialNumber | null, year: number): SerialNumber {
  const first = serialNumber(year * YEAR + 1)
  return existing === null || isNewerSerial(first, existing) ? first : nextSerial(existing)
}
