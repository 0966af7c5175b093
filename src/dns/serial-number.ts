/** Serial number arithmetic (RFC 1982). */
declare const serialBrand: unique symbol

/** A zone's serial number, modulo 2^32 (RFC 1982). */
export type SerialNumber = number & { readonly [serialBrand]: true }

export const serialNumber = (value: number): SerialNumber => (value >>> 0) as SerialNumber

/** The next serial: addition modulo 2^32 (RFC 1982 section 3.1), without 0, which servers and tools take for no serial. */
export const nextSerial = (serial: SerialNumber): SerialNumber => serialNumber(serialNumber(serial + 1) || 1)

/** Whether `a` is newer than `b` (RFC 1982 section 3.2). Serials 2^31 apart have no order; the result is then false both ways. */
export function isNewerSerial(a: SerialNumber, b: SerialNumber): boolean {
  const distance = (a - b) >>> 0
  return distance !== 0 && distance < 0x80000000
}

/** Whether a value is a serial number. */
export const isSerial = (value: unknown): value is SerialNumber =>
  typeof value === 'number' && Number.isInteger(value) && value >>> 0 === value
