import { failure, ok, type Result } from '../result.ts'
import { shown } from './token.ts'

/** A time in DNSSEC records as YYYYMMDDHHmmSS, UTC; a number of seconds since 1970 is taken too (RFC 4034 section 3.2). */
export function canonicalTime(text: string): Result<string> {
  if (/^[0-9]{1,10}$/.test(text)) {
    const seconds = Number(text)
    return seconds > 0xffffffff ? failure(`${text} is more than ${0xffffffff}`) : ok(formatTime(seconds))
  }
  if (!/^[0-9]{14}$/.test(text)) return failure(`${shown(text)} is not a time: YYYYMMDDHHmmSS, or seconds since 1970`)
  const seconds = timeSeconds(text)
  // A day or hour that does not exist moves to the next one.
  if (seconds < 0 || seconds > 0xffffffff || formatTime(seconds) !== text) return failure(`${text} is not a time from 1970 to 2106`)
  return ok(text)
}

/** Seconds since 1970 of YYYYMMDDHHmmSS. */
export function timeSeconds(text: string): number {
  const part = (from: number, to: number): number => Number(text.slice(from, to))
  return Date.UTC(part(0, 4), part(4, 6) - 1, part(6, 8), part(8, 10), part(10, 12), part(12, 14)) / 1000
}

/** Seconds since 1970 as YYYYMMDDHHmmSS. */
export const formatTime = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 19).replace(/[-T:]/g, '')
