/** SPF records (RFC 7208) of DNSControl's SPF_BUILDER: includes are replaced by their content, and long records become chains. */
import { failure, ok, type Result } from '../../base/result.ts'
import { quoted } from '../../base/text.ts'

/** SPF records by the name that publishes them, in lower case. */
export type SpfCache = ReadonlyMap<string, string>

/** Returns the SPF record of a name in lower case; undefined if it is unknown. */
export type SpfLookUp = (name: string) => string | undefined

const KNOWN_PART = /^[+\-~?]?(?:all|(?:a|mx|ptr)(?:[:/].+)?|(?:ip4|ip6|include|exists):.+)$|^(?:redirect|exp)=.+$/i

/** The parts after `v=spf1`. */
function partsOf(record: string): Result<string[]> {
  const [version, ...parts] = record.split(' ').filter(Boolean)
  if (version?.toLowerCase() !== 'v=spf1') return failure('it is no SPF record: it does not begin with v=spf1')
  const unknown = parts.find((part) => !KNOWN_PART.test(part))
  return unknown === undefined ? ok(parts) : failure(`SPF has no part ${quoted(unknown)}`)
}

const isAll = (part: string): boolean => /^[+\-~?]?all$/i.test(part)

/** Included names, and how deep they are. RFC 7208 section 4.6.4 allows ten. */
const MAX_DEPTH = 10

/**
 * Replaces the includes of names in `flatten` (`*` for all) by the parts of their records, except their `all`. A `redirect` of an included record
 * becomes an include, because the outer `all` decides. `lookUp` returns the record of a name.
 */
export function flattenSpf(record: string, flatten: readonly string[], lookUp: SpfLookUp): Result<string> {
  const expand = (text: string, depth: number): Result<string[]> => {
    const parts = partsOf(text)
    if (!parts.ok) return parts
    const expanded: string[] = []
    for (const written of parts.value) {
      if (depth > 0 && (isAll(written) || /^exp=/i.test(written))) continue
      const part = depth > 0 ? written.replace(/^redirect=/i, 'include:') : written
      const [, name] = /^\+?include:(.+)$/i.exec(part) ?? []
      if (name === undefined || !(flatten.includes('*') || flatten.includes(name))) {
        expanded.push(part)
        continue
      }
      const included = lookUp(name.toLowerCase())
      if (included === undefined)
        return failure(`spfcache.json does not have ${name}, which is to be flattened: "zonewright spf" queries it`)
      if (depth === MAX_DEPTH) return failure(`the includes that lead to ${name} are nested too deep`)
      const inner = expand(included, depth + 1)
      if (!inner.ok) return failure(`${name}: ${inner.message}`)
      expanded.push(...inner.value)
    }
    return ok(expanded)
  }
  const parts = expand(record, 0)
  return parts.ok ? ok(['v=spf1', ...parts.value].join(' ')) : parts
}

/**
 * Splits a record into a chain of includes. Each keeps the final `all`.
 * @param sizes octets of the first record and of each other
 * @param nameOf the name of the record with an index from 1
 */
export function splitSpf(record: string, [first, other]: readonly [number, number], nameOf: (index: number) => string): Result<string[]> {
  const parts = partsOf(record)
  if (!parts.ok) return parts
  const last = parts.value.filter((part, i) => i === parts.value.length - 1 && (isAll(part) || /^redirect=/i.test(part)))
  let rest = parts.value.slice(0, parts.value.length - last.length)
  const records: string[] = []
  for (;;) {
    const size = records.length === 0 ? first : other
    const whole = ['v=spf1', ...rest, ...last].join(' ')
    if (whole.length <= size) return ok([...records, whole])
    const include = `include:${nameOf(records.length + 1)}`
    let count = 0
    while (['v=spf1', ...rest.slice(0, count + 1), include, ...last].join(' ').length <= size) count += 1
    if (count === 0 || !Number.isFinite(size)) return failure(`no part fits in ${size} octets`)
    records.push(['v=spf1', ...rest.slice(0, count), include, ...last].join(' '))
    rest = rest.slice(count)
  }
}

/** Reads `spfcache.json`: `{"NAME": {"SPF": "v=spf1 …"}}`. Null if it has another form. An empty file is an empty cache. */
export function readSpfCache(text: string): SpfCache | null {
  if (text.trim() === '') return new Map()
  try {
    const root: unknown = JSON.parse(text)
    if (typeof root !== 'object' || root === null) return null
    const entries = Object.entries(root).map(([name, entry]) => [name.toLowerCase(), (entry as { SPF?: unknown } | null)?.SPF] as const)
    return entries.every((entry): entry is readonly [string, string] => typeof entry[1] === 'string') ? new Map(entries) : null
  } catch {
    return null
  }
}

/** The text of `spfcache.json`. */
export const printSpfCache = (cache: SpfCache): string =>
  `${JSON.stringify(Object.fromEntries([...cache].sort().map(([name, SPF]) => [name, { SPF }])), null, 2)}\n`
