/** JSON as checksums need it: one text for one value, and bounds on what is parsed at all. */

/** A value's JSON without blanks, the keys of every object sorted by UTF-16 code unit. Members that are undefined are left out. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item)).join(',')}]`
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`)
  return `{${members.join(',')}}`
}

export interface JsonBounds {
  /** Arrays and objects within one another. */
  readonly depth: number
  /** Values in all. */
  readonly values: number
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN = new Set([0x5b, 0x7b])
const CLOSE = new Set([0x5d, 0x7d])

/** Which bound the JSON of a text would pass; null where none. Looks at the text only, so that what would fill the memory is never parsed. */
export function boundPassed(text: string, bounds: JsonBounds): keyof JsonBounds | null {
  let depth = 0
  let values = 1
  let inString = false
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (inString) {
      if (code === BACKSLASH) at += 1
      else if (code === QUOTE) inString = false
    } else if (code === QUOTE) inString = true
    else if (code === COMMA) values += 1
    else if (OPEN.has(code)) {
      depth += 1
      values += 1
      if (depth > bounds.depth) return 'depth'
    } else if (CLOSE.has(code)) depth -= 1
    if (values > bounds.values) return 'values'
  }
  return null
}

/** Where two JSON values first differ, as a path such as `zones[0].calls.total`; null where they are equal. */
export function firstDifference(a: unknown, b: unknown, path = ''): string | null {
  if (Array.isArray(a) && Array.isArray(b)) {
    for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
      const found = firstDifference(a[index], b[index], `${path}[${index}]`)
      if (found !== null) return found
    }
    return null
  }
  if (isObject(a) && isObject(b)) {
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
      const found = firstDifference(a[key], b[key], path === '' ? key : `${path}.${key}`)
      if (found !== null) return found
    }
    return null
  }
  return Object.is(a, b) ? null : path
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
