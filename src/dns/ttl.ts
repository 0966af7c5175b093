/** TTLs: parsing and limits. */
import { failure, ok, type Result } from '../base/result.ts'

declare const ttlBrand: unique symbol

/** How many seconds a record may be cached, from 0 to 2^31 - 1 (RFC 2181 section 8). */
export type Ttl = number & { readonly [ttlBrand]: true }

export const MAX_TTL = 2 ** 31 - 1

const UNIT_SECONDS = { s: 1, m: 60, h: 3600, d: 86400, w: 604800 } as const

/** Converts a number of seconds to a TTL. Fails unless it is a whole number from 0 to `MAX_TTL`. */
export function ttlFromSeconds(seconds: number): Result<Ttl> {
  if (!Number.isInteger(seconds)) return failure(`a TTL is a whole number of seconds, not ${seconds}`)
  if (seconds < 0) return failure(`a TTL cannot be negative (${seconds})`)
  if (seconds > MAX_TTL) return failure(`${seconds} is more than the largest TTL, ${MAX_TTL} (RFC 2181)`)
  return ok(seconds as Ttl)
}

/** Parses a TTL: seconds, or numbers with units as in zone files (`30s`, `5m`, `1h30m`, `1d`, `1w`). */
export function parseTtl(text: string): Result<Ttl> {
  if (/^[0-9]{1,15}$/.test(text)) return ttlFromSeconds(Number(text))
  if (!/^(?:[0-9]{1,10}[smhdw])+$/i.test(text)) {
    const [, amount, unit = 's'] = /^([0-9]{1,6}\.[0-9]{1,3})([smhdw])$/i.exec(text) ?? []
    const meant = Math.round(Number(amount) * UNIT_SECONDS[unit.toLowerCase() as keyof typeof UNIT_SECONDS])
    const remedy =
      amount === undefined
        ? 'use seconds or a number with s, m, h, d or w, such as 300 or 1h'
        : `write ${meant % 60 === 0 ? `${meant / 60}m` : meant}, since the number must be whole`
    return failure(`${JSON.stringify(text.slice(0, 40))} is not a TTL: ${remedy}`)
  }
  let seconds = 0
  for (const [, amount, unit] of text.toLowerCase().matchAll(/([0-9]+)([smhdw])/g)) {
    seconds += Number(amount) * UNIT_SECONDS[unit as keyof typeof UNIT_SECONDS]
  }
  return ttlFromSeconds(seconds)
}
