/** The functions of `zonewright/definition`, which run in the sandbox. Their types for editors are in `scripts/definition-helpers.d.ts`. */
import type { parseCsv } from '../../base/csv.ts'
import type { SandboxHost } from '../sandbox/sandbox.ts'

/** A JSON value. */
export type Plain = string | number | boolean | null | readonly Plain[] | { readonly [key: string]: Plain }

/** A zone as the program made it. `place` is a number of `ProgramOutput.places`. */
export interface MadeZone {
  readonly place: number
  readonly name: string
  readonly settings: { readonly [key: string]: Plain }
  /** Five values per record, since QuickJS writes one list much faster than many objects: those of a `MadeRecord`. */
  readonly records: readonly Plain[]
}

/** `more` are the keys of a record in YAML, if it has others than `type` and `value`: then these are null. */
export type MadeRecord = readonly [
  place: number,
  name: string,
  type: string | null,
  value: Plain,
  more: { readonly [key: string]: Plain } | null,
]

/** The prelude of definitions. `types`: every record type with the name of its function. Its source is evaluated in the sandbox, so it uses nothing outside itself. */
export function definitionPrelude(
  host: SandboxHost,
  types: readonly (readonly [name: string, type: string])[],
  readCsv: typeof parseCsv,
): () => readonly MadeZone[] {
  const MAX_DEPTH = 32
  const MAX_TEXT = 2 ** 20
  type Data = Readonly<Record<string, unknown>>
  type Callable = (...values: never[]) => unknown
  const zones: MadeZone[] = []
  /** What a function of a type returns: only `zone` sees what is in it. */
  class Made {
    readonly #record: MadeRecord
    constructor(record: MadeRecord) {
      this.#record = record
    }
    static recordOf = (value: unknown): MadeRecord | undefined =>
      typeof value === 'object' && value !== null && #record in value ? value.#record : undefined
  }

  const kindOf = (value: unknown): string => {
    if (value instanceof Promise) return 'a promise: write await before it'
    if (Array.isArray(value)) return 'a list'
    return value === null || value === undefined ? `${value}` : `a value of type ${typeof value}`
  }
  const isMapping = (value: unknown): value is Data => {
    if (typeof value !== 'object' || value === null) return false
    const prototype: unknown = Object.getPrototypeOf(value)
    return prototype === Object.prototype || prototype === null
  }
  /** Whether a value is text without half a surrogate pair. `isWellFormed` is of ES2024, which QuickJS has. */
  const isText = (value: unknown): value is string =>
    typeof value === 'string' && value.length <= MAX_TEXT && (value as string & { isWellFormed(): boolean }).isWellFormed()
  /** A copy as JSON. Absent values of objects are left out, so that options can be optional. `what` is only called for an error: most records have none. */
  const plain = (value: unknown, what: () => string, depth = 0): Plain => {
    if (isText(value) || value === null || typeof value === 'boolean') return value
    if (typeof value === 'number' && Number.isFinite(value)) return value
    if (typeof value === 'string' && value.length > MAX_TEXT)
      throw new RangeError(`${what()} has ${value.length} characters; at most ${MAX_TEXT} are allowed`)
    if (typeof value === 'string') throw new TypeError(`${what()} has half a surrogate pair, which is not Unicode`)
    if (depth > MAX_DEPTH) throw new TypeError(`${what()} is nested more than ${MAX_DEPTH} deep`)
    if (Array.isArray(value)) return value.map((item: unknown) => plain(item, what, depth + 1))
    // Not first: `Date` is a proxy, which `instanceof` asks slowly.
    if (!isMapping(value) && value instanceof Date) return value.toISOString().slice(0, 10)
    if (!isMapping(value)) throw new TypeError(`${what()} must be text, a number, a boolean, a list or an object, not ${kindOf(value)}`)
    const copy: Record<string, Plain> = Object.create(null)
    for (const key of Object.keys(value)) {
      const one = value[key]
      if (isText(one)) copy[key] = one
      else if (one !== undefined) copy[key] = plain(one, () => `${what()}.${key}`, depth + 1)
    }
    return copy
  }
  const options = (value: unknown, what: () => string): Record<string, Plain> => {
    if (value === undefined) return Object.create(null)
    if (!isMapping(value)) throw new TypeError(`${what()} must be an object, not ${kindOf(value)}`)
    return plain(value, what) as Record<string, Plain>
  }
  const text = (value: unknown, what: string): string => {
    if (typeof value !== 'string') throw new TypeError(`${what} must be text, not ${kindOf(value)}`)
    return value
  }

  /** The record of a call of `from`. */
  const make = (from: Callable, name: unknown, type: unknown, value: unknown, more?: unknown): object => {
    const isList = Array.isArray(value)
    const place = host.place(from, isList ? value.length : 1)
    const owner = text(name, 'the name of a record')
    const kind = text(type, 'the type of a record')
    if (more === undefined && isText(value)) return new Made([place, owner, kind, value, null])
    const shown = (): string => `the value of ${kind} ${owner}`
    if (more === undefined && !isList && value !== undefined) return new Made([place, owner, kind, plain(value, shown), null])
    const body = options(more, () => `the options of ${kind} ${owner}`)
    if (value !== undefined || !('from' in body)) body[isList ? 'values' : 'value'] = plain(value, shown)
    body['type'] = kind
    return new Made([place, owner, null, null, body])
  }
  const record = (name: unknown, type: unknown, value: unknown, more?: unknown): object => make(record, name, type, value, more)
  const addRecords = (list: readonly unknown[], zone: string, records: Plain[], depth = 0): Plain[] => {
    for (const item of list) {
      const found = Made.recordOf(item)
      if (found !== undefined) records.push(found[0], found[1], found[2], found[3], found[4])
      else if (Array.isArray(item) && depth < MAX_DEPTH) addRecords(item, zone, records, depth + 1)
      else throw new TypeError(`the zone ${zone} has something that is no record: ${kindOf(item)}`)
    }
    return records
  }
  const addZone = (from: Callable, name: unknown, settings: unknown, records: readonly unknown[]): void => {
    const place = host.place(from)
    const shown = text(name, 'the name of a zone')
    const given = options(settings, () => `the settings of ${shown}`)
    if ('domain' in given || 'records' in given)
      throw new TypeError(`the settings of ${shown} cannot have domain or records: both are arguments of zone`)
    zones.push({ place, name: shown, settings: given, records: addRecords(records, shown, []) })
  }
  const zone = (name: unknown, settings: unknown, ...records: unknown[]): void => addZone(zone, name, settings, records)

  const load = (path: unknown): unknown => {
    const file = text(path, 'the file')
    if (/\.ya?ml$/i.test(file)) return JSON.parse(host.read(`yaml:${file}`).text)
    const { text: content } = host.read(file)
    if (/\.json$/i.test(file)) return JSON.parse(content)
    if (/\.csv$/i.test(file)) return csvRows(content, file)
    throw new Error(`${file} cannot be loaded: its name ends in none of .csv, .json and .yaml`)
  }
  /** The rows of a file, by the names in its first line. */
  const csvRows = (content: string, file: string): Record<string, string>[] => {
    const table = readCsv(content)
    if (!table.ok) throw new Error(`${file}:${table.line}: ${table.message}`)
    const [head, ...body] = table.rows
    const names = head?.cells ?? []
    if (new Set(names).size < names.length) throw new Error(`${file}:1: two columns have the same name`)
    return body.map((row) => {
      if (row.cells.length !== names.length)
        throw new Error(`${file}:${row.line}: the row has ${row.cells.length} values, the first one has ${names.length}`)
      return Object.fromEntries(names.map((name, index) => [name, row.cells[index] ?? '']))
    })
  }

  const list = (value: unknown): readonly unknown[] => (value === undefined ? [] : Array.isArray(value) ? value : [value])
  const known = (value: unknown, what: string, keys: readonly string[]): Data => {
    const given = options(value, () => `the argument of ${what}`)
    const unknown = Object.keys(given).find((key) => !keys.includes(key))
    if (unknown !== undefined) throw new TypeError(`${what} does not know ${unknown}; it takes ${keys.join(', ')}`)
    return given
  }
  /** RFC 7208. The mechanisms are in the order of their DNS queries: those without one come first. */
  const spf = (value: unknown): string => {
    const given = known(value, 'spf', ['ip4', 'ip6', 'a', 'mx', 'include', 'exists', 'redirect', 'all'])
    const terms = ['ip4', 'ip6', 'a', 'mx', 'include', 'exists'].flatMap((name) =>
      list(given[name]).flatMap((one) => (one === true ? name : one === false ? [] : `${name}:${one}`)),
    )
    if (given['redirect'] !== undefined && given['all'] !== undefined) throw new TypeError('spf takes all or redirect, not both')
    if (given['all'] !== undefined && !/^[-~?+]all$/.test(`${given['all']}`)) throw new TypeError('all must be -all, ~all, ?all or +all')
    const end = given['redirect'] === undefined ? list(given['all']) : [`redirect=${given['redirect']}`]
    return ['v=spf1', ...terms, ...end].join(' ')
  }
  const tags = (version: string, given: Data, keys: readonly string[]): string =>
    [
      version,
      ...keys.flatMap((key) => (given[key] === undefined ? [] : `${key}=${list(given[key]).join(key.startsWith('ru') ? ',' : ':')}`)),
    ].join('; ')
  /** RFC 6376, section 3.6.1. An empty key revokes. */
  const dkim = (value: unknown): string => {
    const keys = ['h', 'k', 'n', 's', 't', 'p']
    const given = known(value, 'dkim', keys)
    return tags('v=DKIM1', { k: 'rsa', ...given, p: text(given['p'], 'p, the public key,').replace(/-----[^-]*-----|\s/g, '') }, keys)
  }
  /** RFC 9989, section 4.7. */
  const dmarc = (value: unknown): string => {
    const keys = ['p', 'sp', 'np', 'adkim', 'aspf', 'fo', 'pct', 'psd', 'rf', 'ri', 'rua', 'ruf', 't']
    const given = known(value, 'dmarc', keys)
    const uris = (one: unknown): string => (/^[a-z]+:/i.test(`${one}`) ? `${one}` : `mailto:${one}`)
    const reports = Object.fromEntries(
      ['rua', 'ruf'].flatMap((key) => (given[key] === undefined ? [] : [[key, list(given[key]).map(uris)]])),
    )
    return tags('v=DMARC1', { ...given, ...reports, p: text(given['p'], 'p, the policy,') }, keys)
  }
  /** RFC 8659: values for `CAA`. */
  const caa = (value: unknown): object[] => {
    const given = known(value, 'caa', ['issue', 'issuewild', 'issuemail', 'iodef', 'critical'])
    const flags = given['critical'] === true ? 128 : 0
    return ['issue', 'issuewild', 'issuemail', 'iodef'].flatMap((tag) =>
      list(given[tag]).map((one) => ({ flags, tag, value: one === false ? ';' : text(one, tag) })),
    )
  }
  /** RFC 1876: a value for `LOC`, from degrees with decimals, and metres. */
  const loc = (value: unknown): object => {
    const given = known(value, 'loc', ['latitude', 'longitude', 'altitude', 'size', 'horizontal', 'vertical'])
    const angle = (name: string, most: number, positive: string, negative: string): readonly [number, number, number, string] => {
      const degrees = given[name]
      if (typeof degrees !== 'number' || Math.abs(degrees) > most) throw new RangeError(`${name} must be a number from -${most} to ${most}`)
      const milliseconds = Math.round(Math.abs(degrees) * 3_600_000)
      return [
        Math.floor(milliseconds / 3_600_000),
        Math.floor(milliseconds / 60_000) % 60,
        (milliseconds % 60_000) / 1000,
        degrees < 0 ? negative : positive,
      ]
    }
    const [north, east] = [angle('latitude', 90, 'N', 'S'), angle('longitude', 180, 'E', 'W')]
    const parts = ['degrees', 'minutes', 'seconds', 'direction'] as const
    const keys = (prefix: string, values: readonly unknown[]): [string, unknown][] =>
      parts.map((part, index) => [`${prefix}_${part}`, values[index]])
    const { altitude = 0, size = 1, horizontal = 10_000, vertical = 10 } = given
    return {
      ...Object.fromEntries([...keys('lat', north), ...keys('long', east)]),
      altitude,
      size,
      precision_horz: horizontal,
      precision_vert: vertical,
    }
  }

  interface Address {
    readonly value: bigint
    readonly bits: 32 | 128
  }
  const parseAddress = (shown: string): Address => {
    const invalid = (): Error => new RangeError(`${shown} is not an IP address`)
    const four = (part: string): bigint => {
      const octets = part.split('.').map((octet) => (/^(?:0|[1-9]\d{0,2})$/.test(octet) ? Number(octet) : 256))
      if (octets.length !== 4 || octets.some((octet) => octet > 255)) throw invalid()
      return octets.reduce((sum, octet) => sum * 256n + BigInt(octet), 0n)
    }
    if (!shown.includes(':')) return { value: four(shown), bits: 32 }
    const dotted = /^(.*:)([\d.]+\.[\d.]+)$/.exec(shown)
    const low = dotted === null ? 0n : four(dotted[2] ?? '')
    const words = dotted === null ? shown : `${dotted[1]}${(low >> 16n).toString(16)}:${(low & 65_535n).toString(16)}`
    const [left = '', right, ...more] = words.split('::')
    const groups = (part: string): string[] => (part === '' ? [] : part.split(':'))
    const [before, after] = [groups(left), groups(right ?? '')]
    const missing = 8 - before.length - after.length
    const all = [...before, ...new Array<string>(Math.max(0, missing)).fill('0'), ...after]
    if (
      more.length > 0 ||
      all.length !== 8 ||
      (right === undefined) !== (missing === 0) ||
      all.some((group) => !/^[\da-f]{1,4}$/i.test(group))
    )
      throw invalid()
    return { value: BigInt(`0x${all.map((group) => group.padStart(4, '0')).join('')}`), bits: 128 }
  }
  const addresses = new Map<string, Address>()
  const address = (value: unknown): Address => {
    const shown = text(value, 'an address')
    const found = addresses.get(shown) ?? parseAddress(shown)
    addresses.set(shown, found)
    return found
  }
  /** RFC 5952 for IPv6. */
  const shown = ({ value, bits }: Address): string => {
    if (value < 0n || value >> BigInt(bits) !== 0n) throw new RangeError('the address is beyond the last one')
    if (bits === 32) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.')
    const groups = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 65_535n).toString(16))
    const runs = [...`${groups.map((group) => (group === '0' ? '0' : 'x')).join('')}`.matchAll(/0{2,}/g)]
    const longest = runs.reduce<RegExpMatchArray | null>(
      (best, run) => (best === null || run[0].length > best[0].length ? run : best),
      null,
    )
    if (longest === null) return groups.join(':')
    const start = longest.index ?? 0
    return `${groups.slice(0, start).join(':')}::${groups.slice(start + longest[0].length).join(':')}`
  }
  const network = (value: unknown): Address & { readonly host: bigint } => {
    const [base = '', length = '', ...more] = text(value, 'a network').split('/')
    const { value: first, bits } = address(base)
    const host = BigInt(bits) - BigInt(/^\d{1,3}$/.test(length) ? length : bits + 1)
    if (more.length > 0 || host < 0n || (first >> host) << host !== first)
      throw new RangeError(`${value} is not a network such as 192.0.2.0/24`)
    return { value: first, bits, host }
  }
  const isIn = ({ value, bits, host: size }: ReturnType<typeof network>, other: Address): boolean =>
    bits === other.bits && other.value >> size === value >> size
  const ip = Object.freeze({
    /** The address that is `count` after another. */
    add: (one: unknown, count: number) => {
      const { value, bits } = address(one)
      return shown({ value: value + BigInt(count), bits })
    },
    /** The address with this number in a network; negative numbers count from its end. */
    host: (net: unknown, index: number) => {
      const { value, bits, host: size } = network(net)
      const offset = BigInt(index) + (index < 0 ? 1n << size : 0n)
      if (offset < 0n || offset >> size !== 0n) throw new RangeError(`${net} has no address ${index}`)
      return shown({ value: value + offset, bits })
    },
    contains: (net: unknown, one: unknown) => isIn(network(net), address(one)),
    /** The name of the PTR record of an address. */
    reverse: (one: unknown) => {
      const { value, bits } = address(one)
      if (bits === 32) return `${[0n, 8n, 16n, 24n].map((shift) => (value >> shift) & 255n).join('.')}.in-addr.arpa.`
      return `${[...value.toString(16).padStart(32, '0')].reverse().join('.')}.ip6.arpa.`
    },
  })
  /** A reverse zone with the PTR records of the hosts in a network. Names are relative to `domain`, or to the only zone so far. */
  const reverse = (net: unknown, hosts: unknown, more?: unknown): void => {
    const { domain: given, ...settings } = options(more, () => 'the settings of reverse')
    if (!Array.isArray(hosts)) throw new TypeError(`the hosts of reverse must be a list, not ${kindOf(hosts)}`)
    const others = [...new Set(zones.map((one) => one.name).filter((name) => !name.includes('/')))]
    const domain = given === undefined && others.length === 1 ? others[0] : given
    const target = (name: string): string => {
      if (name.endsWith('.')) return name
      if (domain === undefined) throw new TypeError('reverse needs { domain }, which the names of the hosts are relative to')
      return `${name === '@' ? '' : `${name}.`}${`${domain}`.replace(/\.$/, '')}.`
    }
    const whole = network(net)
    // In a zone for a part of a /24, a name is the last octet (RFC 2317).
    const owner = (one: unknown): string => (whole.bits === 32 && whole.host < 8n ? `${address(one).value & 255n}` : ip.reverse(one))
    const records = hosts
      .filter((host: Data) => isIn(whole, address(host['ip'])))
      .map((host: Data) => make(reverse, owner(host['ip']), 'PTR', target(text(host['name'], 'the name of a host'))))
    addZone(reverse, net, settings, records)
  }

  // The names of functions are in stacks, where the places of their calls are searched with them.
  const functions = types.map(([name, type]) => {
    const one: Record<string, Callable> = {
      [name]: (owner: unknown, value: unknown, more?: unknown) => make(one[name] as Callable, owner, type, value, more),
    }
    return one
  })
  host.exports = {
    ...Object.assign({}, ...functions),
    zone,
    record,
    load,
    reverse,
    spf,
    dkim,
    dmarc,
    caa,
    loc,
    ip,
    variables: host.variables,
  }
  return () => zones
}
