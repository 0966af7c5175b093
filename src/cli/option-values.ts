/** How the values of options are read; what is none is told with the option (commander's `InvalidArgumentError`). */
import { InvalidArgumentError } from 'commander'
import { didYouMean } from '../definition/parse/suggest.ts'
import { parseTtl, type Ttl } from '../dns/ttl.ts'

/** One of a few words; the nearest is suggested for another. */
export const oneOf =
  (allowed: readonly string[]) =>
  (value: string): string => {
    if (allowed.includes(value)) return value
    const suggestion = didYouMean(value, allowed)
    throw new InvalidArgumentError(`It is one of ${allowed.join(', ')}.${suggestion === undefined ? '' : ` ${suggestion}`}`)
  }

/** A number of things in a time; 0 for no limit. */
export function rateLimit(value: string): number {
  // Commander would make an empty text of null.
  if (value === 'off' || value === 'none') return 0
  if (!/^(?:0|[1-9][0-9]{0,8})$/.test(value)) throw new InvalidArgumentError('It is a whole number from 1, or off.')
  return Number(value)
}

export function portNumber(value: string): number {
  if (!/^[1-9][0-9]{0,4}$/.test(value) || Number(value) > 65_535) throw new InvalidArgumentError('It is a port from 1 to 65535.')
  return Number(value)
}

export function positiveInteger(value: string): number {
  if (!/^[1-9][0-9]{0,3}$/.test(value)) throw new InvalidArgumentError('It is a whole number from 1 to 9999.')
  return Number(value)
}

export function positiveNumber(value: string): number {
  if (!/^[0-9]{1,6}(?:\.[0-9]{1,3})?$/.test(value) || Number(value) === 0) throw new InvalidArgumentError('It is a number above 0.')
  return Number(value)
}

/** The serial of a zone (RFC 1035 section 3.3.13). */
export function serialNumber(value: string): number {
  if (!/^[0-9]{1,10}$/.test(value) || Number(value) > 0xffffffff)
    throw new InvalidArgumentError('It is a whole number from 0 to 4294967295.')
  return Number(value)
}

/** A TTL in seconds or with units. */
export function ttl(value: string): Ttl {
  const parsed = parseTtl(value)
  if (!parsed.ok) throw new InvalidArgumentError(`${parsed.message}.`)
  return parsed.value
}

/** Collects the values of an option that may be given several times. */
export const collect = (value: string, previous: readonly string[]): string[] => [...previous, value]
