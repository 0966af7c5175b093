import { fault, ok, type Result } from '../../model/result.ts'
import type { UnmanagedSelector } from '../../model/zone.ts'

/** One `IGNORE` of DNSControl, as its intermediate JSON has it. An absent pattern stands for everything. */
export interface IgnorePattern {
  readonly label: string
  /** Types with commas, or `*`. */
  readonly types: string
  readonly target: string
}

/**
 * An `IGNORE` as selectors, one a type. DNSControl's `*` stops at a dot and `**` does not; here `*` is both, so that a pattern
 * with a `*` beside something else would leave more to others than is meant and is refused.
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
  return ok(
    (everything ? [null] : list).map((type) => ({
      ...(name.value === null ? {} : { name: name.value }),
      ...(type === null ? {} : { type }),
      ...(data.value === null ? {} : { target: data.value }),
    })),
  )
}

/** A glob of DNSControl's as one of ours; null for everything. */
function globOf(pattern: string): Result<string | null> {
  if (pattern === '' || pattern === '*' || pattern === '**') return ok(null)
  if (/[?[\]{}\\!]/.test(pattern)) return fault(`the pattern ${JSON.stringify(pattern.slice(0, 60))}`)
  const wide = pattern.replaceAll('**', '')
  return wide.includes('*') ? fault(`the pattern ${JSON.stringify(pattern.slice(0, 60))}`) : ok(pattern.replaceAll('**', '*'))
}

/** A selector as the arguments of `IGNORE`; null where characters of it are others to DNSControl's globs, or it is one of everything. */
export function ignoreArguments({ name, type, target }: UnmanagedSelector): string[] | null {
  if (/[?[\]{}\\!]/.test(`${name ?? ''}${target ?? ''}`)) return null
  return [
    name === undefined ? '*' : name === '' ? '@' : name.replace(/\*+/g, '**'),
    type ?? '*',
    target === undefined ? '*' : target.replace(/\*+/g, '**'),
  ]
}
