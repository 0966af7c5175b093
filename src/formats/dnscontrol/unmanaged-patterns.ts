import { fault, ok, type Result } from '../../model/result.ts'
import type { UnmanagedSelector } from '../../model/zone.ts'

/** One `IGNORE` of DNSControl, as its intermediate JSON has it. An absent pattern stands for everything. */
export interface IgnorePattern {
  readonly label: string
  /** Types with commas, or `*`. */
  readonly types: string
  readonly target: string
}

/** Types before whose name stands more: DNSControl's pattern is of the name, ours of all. */
const NAME_LAST: ReadonlySet<string> = new Set(['MX', 'NAPTR', 'SRV'])

/** Types whose data is what DNSControl's pattern is of. */
const ALL_TARGET: ReadonlySet<string> = new Set('A AAAA ALIAS CNAME DHCID DNAME NS OPENPGPKEY PTR TXT'.split(' '))

/**
 * An `IGNORE` as selectors, one a type. By its documentation DNSControl's `*` stops at a dot and `**` does not; here `*` is both, so
 * that a pattern with a `*` beside something else would leave more to others than is meant and is refused.
 */
export function selectorsOf({ label, types, target }: IgnorePattern): Result<UnmanagedSelector[]> {
  const name = globOf(label)
  if (!name.ok) return name
  const data = globOf(target)
  if (!data.ok) return data
  const list = types
    .split(',')
    .map((type) => type.trim().toUpperCase())
    .filter((type) => type !== '')
  if (list.some((type) => type !== '*' && !/^[A-Z0-9_-]{1,30}$/.test(type))) return fault(`the types ${JSON.stringify(types.slice(0, 60))}`)
  const everything = list.length === 0 || list.includes('*')
  if (everything && name.value === null && data.value === null) return fault('it leaves everything to others')
  const named = name.value === null ? {} : { name: name.value }
  if (data.value === null) return ok((everything ? [null] : list).map((type) => ({ ...named, ...(type !== null && { type }) })))
  const glob = data.value
  const behind = glob.startsWith('*') ? glob : `* ${glob}`
  const other = list.find((type) => type !== '*' && !NAME_LAST.has(type) && !ALL_TARGET.has(type))
  if (other !== undefined) return fault(`a target of type ${other}`)
  if (!everything) return ok(list.map((type) => ({ ...named, type, target: NAME_LAST.has(type) ? behind : glob })))
  const ofNames = behind === glob ? [] : [...NAME_LAST].map((type) => ({ ...named, type, target: behind }))
  return ok([{ ...named, target: glob }, ...ofNames])
}

/** A glob of DNSControl's as one of ours; null for everything. */
function globOf(pattern: string): Result<string | null> {
  if (pattern === '' || pattern === '*' || pattern === '**') return ok(null)
  if (/[?[\]{}\\!]/.test(pattern)) return fault(`the pattern ${JSON.stringify(pattern.slice(0, 60))}`)
  const wide = pattern.replaceAll('**', '')
  return wide.includes('*') ? fault(`the pattern ${JSON.stringify(pattern.slice(0, 60))}`) : ok(pattern.replaceAll('**', '*'))
}

/** A selector as the arguments of `IGNORE`; null where it is of what a pattern there cannot be of. */
export function ignoreArguments({ name, type, target }: UnmanagedSelector): string[] | null {
  if (/[?[\]{}\\!]/.test(`${name ?? ''}${target ?? ''}`)) return null
  const glob = target === undefined ? '*' : targetGlob(type?.toUpperCase(), target)
  if (glob === null) return null
  return [
    name === undefined ? '*' : name === '' ? '@' : name.replace(/\*+/g, '**'),
    type ?? '*',
    glob.replace(/\*+/g, '**').replace(/^\*\*$/, '*'),
  ]
}

/** A pattern of all data as one of its name. */
function targetGlob(type: string | undefined, target: string): string | null {
  if (type === undefined || ALL_TARGET.has(type)) return target
  if (!NAME_LAST.has(type)) return null
  const behind = target.replace(/^\* /, '')
  return behind !== target || target.startsWith('*') ? behind : null
}
