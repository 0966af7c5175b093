/** The value forms of SVCB and HTTPS parameters (RFC 9460 section 7). */
import { failure, ok, type Result } from '../../base/result.ts'
import { quoted } from '../../base/text.ts'
import { formatIpv6, ipv6Groups, parseIpv4, parseIpv6 } from '../ip-address.ts'

/** Converts the text of a parameter to the octets of its value, and back to canonical text. */
interface SvcParamForm {
  readonly parse: (text: Uint8Array) => Result<Uint8Array>
  readonly format: (value: Uint8Array) => Result<Uint8Array>
}

/** Keys by name (RFC 9460 section 14.3.2, RFC 9461, RFC 9540 and the registry). */
const KEYS: ReadonlyMap<string, number> = new Map([
  ['mandatory', 0],
  ['alpn', 1],
  ['no-default-alpn', 2],
  ['port', 3],
  ['ipv4hint', 4],
  ['ech', 5],
  ['ipv6hint', 6],
  ['dohpath', 7],
  ['ohttp', 8],
  ['tls-supported-groups', 9],
  ['docpath', 10],
])

const NAMES: ReadonlyMap<number, string> = new Map([...KEYS].map(([name, key]) => [key, name]))

/** The number of a key, given by name or as `key12345` in lower case (RFC 9460 section 2.1); null if there is none. 65535 is reserved. */
export function svcParamKey(name: string): number | null {
  const known = KEYS.get(name)
  if (known !== undefined) return known
  const generic = /^key(0|[1-9][0-9]{0,4})$/.exec(name)
  return generic && Number(generic[1]) < 65535 ? Number(generic[1]) : null
}

export const svcParamName = (key: number): string => NAMES.get(key) ?? `key${key}`

const ascii = (octets: Uint8Array): string => Buffer.from(octets).toString('latin1')
const octetsOf = (text: string): Uint8Array => Buffer.from(text, 'latin1')

const COMMA = 0x2c
const BACKSLASH = 0x5c

/** Splits a list at its commas, with the escapes `\,` and `\\` (RFC 9460 appendix A.1). */
function splitItems(text: Uint8Array): Result<Uint8Array[]> {
  const items: Uint8Array[] = []
  let item: number[] = []
  for (let i = 0; i < text.length; i += 1) {
    let octet = text[i] as number
    if (octet === COMMA) {
      items.push(Uint8Array.from(item))
      item = []
      continue
    }
    if (octet === BACKSLASH) {
      i += 1
      octet = text[i] ?? 0
      if (octet !== COMMA && octet !== BACKSLASH) return failure('a backslash in a list must precede a comma or a backslash')
    }
    item.push(octet)
  }
  items.push(Uint8Array.from(item))
  return ok(items)
}

/** A list of strings, each of 1 to 255 octets after a length octet. */
const strings = (canBeEmpty: boolean): SvcParamForm => ({
  parse: (text) => {
    if (text.length === 0) return canBeEmpty ? ok(text) : failure('has no value')
    const items = splitItems(text)
    if (!items.ok) return items
    if (items.value.some(({ length }) => length === 0 || length > 255)) return failure('each item of the list must have 1 to 255 octets')
    return ok(Buffer.concat(items.value.flatMap((item) => [Uint8Array.of(item.length), item])))
  },
  format: (value) => {
    if (value.length === 0 && !canBeEmpty) return failure('has no value')
    const items: string[] = []
    for (let i = 0; i < value.length; ) {
      const end = i + 1 + (value[i] as number)
      if (end === i + 1 || end > value.length) return failure('an item of the list is empty or exceeds the value')
      items.push(ascii(value.subarray(i + 1, end)).replace(/[\\,]/g, '\\$&'))
      i = end
    }
    return ok(octetsOf(items.join(',')))
  },
})

/** A list of at least one value of a fixed size. */
const sized = (size: number, parseOne: (text: string) => Result<Uint8Array>, formatOne: (octets: Uint8Array) => string): SvcParamForm => ({
  parse: (text) => {
    const values: Uint8Array[] = []
    for (const item of ascii(text).split(',')) {
      const value = parseOne(item)
      if (!value.ok) return value
      values.push(value.value)
    }
    return ok(Buffer.concat(values))
  },
  format: (value) => {
    if (value.length === 0 || value.length % size !== 0) return failure(`has ${value.length} octets, not a multiple of ${size}`)
    const items: string[] = []
    for (let i = 0; i < value.length; i += size) items.push(formatOne(value.subarray(i, i + size)))
    return ok(octetsOf(items.join(',')))
  },
})

const u16Octets = (value: number): Uint8Array => Uint8Array.of(value >> 8, value & 0xff)
const u16Of = (octets: Uint8Array): number => ((octets[0] as number) << 8) | (octets[1] as number)

const parseU16 = (text: string): Result<Uint8Array> =>
  /^[0-9]{1,5}$/.test(text) && Number(text) <= 65535 ? ok(u16Octets(Number(text))) : failure(`${quoted(text)} is not a number up to 65535`)

const NUMBERS = sized(2, parseU16, (octets) => String(u16Of(octets)))

/** One number. */
const PORT: SvcParamForm = {
  parse: (text) => parseU16(ascii(text)),
  format: (value) => (value.length === 2 ? NUMBERS.format(value) : failure(`has ${value.length} octets, not 2`)),
}

const KEY_LIST = sized(
  2,
  (text) => {
    const key = svcParamKey(text)
    return key === null || key === 0 ? failure(`${quoted(text)} is not a key that can be mandatory`) : ok(u16Octets(key))
  },
  (octets) => svcParamName(u16Of(octets)),
)

/** Keys in ascending order without duplicates (RFC 9460 section 8). */
const MANDATORY: SvcParamForm = {
  parse: (text) => {
    const keys = KEY_LIST.parse(text)
    if (!keys.ok) return keys
    const numbers: number[] = []
    for (let i = 0; i < keys.value.length; i += 2) numbers.push(u16Of(keys.value.subarray(i, i + 2)))
    if (new Set(numbers).size < numbers.length) return failure('a key is listed twice')
    return ok(Buffer.concat(numbers.sort((a, b) => a - b).map(u16Octets)))
  },
  format: (value) => {
    for (let i = 0, last = 0; i + 1 < value.length; i += 2) {
      const key = u16Of(value.subarray(i, i + 2))
      if (key <= last) return failure('the keys are not in order, or include mandatory itself')
      last = key
    }
    return KEY_LIST.format(value)
  },
}

const NO_VALUE: SvcParamForm = {
  parse: (text) => (text.length === 0 ? ok(text) : failure('takes no value')),
  format: (value) => (value.length === 0 ? ok(value) : failure('takes no value')),
}

/** Whether an expression has the variable `dns`, with or without a modifier (RFC 6570 section 2.3). */
const hasDns = (expression: string): boolean =>
  expression
    .slice(1, -1)
    .split(',')
    .some((variable) => /^[^A-Za-z0-9_%]?dns(?:\*|:[0-9]+)?$/.test(variable))

const checkDohPath = (value: Uint8Array): Result<Uint8Array> =>
  ascii(value)
    .match(/\{[^{}]*\}/g)
    ?.some(hasDns)
    ? ok(value)
    : failure('has no variable dns, such as {?dns}')

/** A URI template with the variable `dns` (RFC 9461 section 5). */
const DOH_PATH: SvcParamForm = { parse: checkDohPath, format: checkDohPath }

const ECH: SvcParamForm = {
  parse: (text) => {
    const octets = Buffer.from(ascii(text), 'base64')
    return octets.length > 0 && octets.toString('base64') === ascii(text) ? ok(octets) : failure(`${quoted(ascii(text))} is not base64`)
  },
  format: (value) => (value.length > 0 ? ok(octetsOf(Buffer.from(value).toString('base64'))) : failure('has no value')),
}

const IPV4_HINT = sized(
  4,
  (text) => {
    const address = parseIpv4(text)
    return address.ok ? ok(Uint8Array.from(address.value.split('.').map(Number))) : address
  },
  (octets) => octets.join('.'),
)

const IPV6_HINT = sized(
  16,
  (text) => {
    const address = parseIpv6(text)
    return address.ok ? ok(Buffer.concat(ipv6Groups(address.value).map(u16Octets))) : address
  },
  (octets) => formatIpv6(Array.from({ length: 8 }, (_, i) => u16Of(octets.subarray(2 * i)))),
)

/** The forms of the known keys. The value of any other key is plain octets. */
export const SVC_PARAM_FORMS: ReadonlyMap<number, SvcParamForm> = new Map([
  [0, MANDATORY],
  [1, strings(false)],
  [2, NO_VALUE],
  [3, PORT],
  [4, IPV4_HINT],
  [5, ECH],
  [6, IPV6_HINT],
  [7, DOH_PATH],
  [8, NO_VALUE],
  [9, NUMBERS],
  [10, strings(true)],
])
