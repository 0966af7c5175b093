import { MAX_RDATA_OCTETS, MAX_STRING_OCTETS, quoteString, unescapeString } from '../character-string.ts'
import { failure, ok, type Result } from '../result.ts'
import type { Token } from './token.ts'

/** One character-string in quotes. */
export function canonicalString(token: Token): Result<string> {
  const octets = stringOctets(token)
  return octets.ok ? ok(quoteString(octets.value)) : octets
}

/** Character-strings in quotes; together they fit in one record. */
export function canonicalStrings(tokens: readonly Token[]): Result<string> {
  let data = ''
  let total = 0
  for (const token of tokens) {
    const octets = stringOctets(token)
    if (!octets.ok) return octets
    total += octets.value.length + 1
    data += data === '' ? quoteString(octets.value) : ` ${quoteString(octets.value)}`
  }
  return total > MAX_RDATA_OCTETS ? tooLong(total) : ok(data)
}

/** Text without a length octet, in quotes. */
export function canonicalText(token: Token): Result<string> {
  const octets = unescapeString(token.text)
  if (!octets.ok) return octets
  return octets.value.length > MAX_RDATA_OCTETS ? tooLong(octets.value.length) : ok(quoteString(octets.value))
}

function stringOctets(token: Token): Result<Uint8Array> {
  const octets = unescapeString(token.text)
  if (!octets.ok || octets.value.length <= MAX_STRING_OCTETS) return octets
  return failure(`a string of ${octets.value.length} octets is longer than ${MAX_STRING_OCTETS}`)
}

/** What is wrong with data of more octets than a record holds. */
export const tooLong = (octets: number): { readonly ok: false; readonly message: string } =>
  failure(`takes ${octets} octets; a record holds ${MAX_RDATA_OCTETS}`)
