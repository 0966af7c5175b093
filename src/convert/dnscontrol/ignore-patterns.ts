/** Converts `IGNORE` patterns of DNSControl to selectors of `unmanaged`, and back. */
import { failure, ok, type Result } from '../../base/result.ts'
import { quoted } from '../../base/text.ts'
import { parseRecordType } from '../../dns/record-type.ts'
import type { UnmanagedSelector } from '../../dns/zone.ts'

/** One `IGNORE` of DNSControl as in its intermediate JSON. An empty pattern matches everything. */
export interface IgnorePattern {
  readonly label: string
  /** Comma-separated types, or `*`. */
  readonly types: string
  readonly target: string
}

/** Types for which DNSControl's pattern matches the last field; ours matches all data. */
const TARGET_LAST: ReadonlySet<string> = new Set('MX NAPTR SRV SSHFP TLSA SMIMEA'.split(' '))

/** Types whose target may be followed by more fields. */
const TARGET_WITHIN: ReadonlySet<string> = new Set(['HTTPS', 'SVCB'])

/** Types for which DNSControl's pattern matches all data. */
const ALL_TARGET: ReadonlySet<string> = new Set('A AAAA ALIAS CNAME DHCID DNAME NS OPENPGPKEY PTR TXT'.split(' '))

/** The selectors for an `IGNORE`. */
export interface IgnoreSelectors {
  readonly selectors: readonly UnmanagedSelector[]
  /** Whether they match more than the `IGNORE`, because its pattern has single-character wildcards. */
  readonly isWider: boolean
  /** Types that only DNSControl knows. No records here have them, and no selector covers them. */
  readonly ownTypes: readonly string[]
}

/**
 * Converts an `IGNORE` to selectors, one per type and alternative. `*` matches across dots like `**`: DNSControl compiles its patterns
 * without separators (its pkg/diff2/handsoff.go), although its documentation says otherwise. Wildcards for one character (`?`, `[ab]`) become
 * `*`; an escaped `*` stays one.
 */
export function selectorsForIgnore({ label, types, target }: IgnorePattern): Result<IgnoreSelectors> {
  const names = globsOf(label)
  if (!names.ok) return names
  const targets = globsOf(target)
  if (!targets.ok) return targets
  const list = types
    .split(',')
    .map((type) => type.trim().toUpperCase())
    .filter((type) => type !== '')
  if (list.some((type) => type !== '*' && !/^[A-Z0-9_-]{1,30}$/.test(type))) return failure(`the types ${quoted(types)}`)
  const ofTypes = list.length === 0 || list.includes('*') ? null : list.filter((type) => parseRecordType(type).ok)
  const ownTypes = ofTypes === null ? [] : list.filter((type) => !ofTypes.includes(type))
  const selectors: UnmanagedSelector[] = []
  for (const name of names.value.globs) {
    for (const data of targets.value.globs) {
      const parts = selectorsForGlobs(name, ofTypes, data)
      if (!parts.ok) return parts
      selectors.push(...parts.value)
    }
  }
  return ok({ selectors, isWider: names.value.isWider || targets.value.isWider, ownTypes })
}

/** Selectors for one glob each of name and data; null matches everything. */
function selectorsForGlobs(name: string | null, types: readonly string[] | null, data: string | null): Result<UnmanagedSelector[]> {
  if (types === null && name === null && data === null) return failure('it ignores everything')
  const named = name === null ? {} : { name }
  if (data === null) return ok((types ?? [null]).map((type) => ({ ...named, ...(type !== null && { type }) })))
  const other = types?.find((type) => !ALL_TARGET.has(type) && targetGlobs(type, data).length === 0)
  if (other !== undefined) return failure(`a target of type ${other}`)
  if (types !== null)
    return ok(
      types.flatMap((type) => (ALL_TARGET.has(type) ? [data] : targetGlobs(type, data)).map((target) => ({ ...named, type, target }))),
    )
  const inLongerData = [...TARGET_LAST, 'CAA', ...TARGET_WITHIN].flatMap((type) =>
    targetGlobs(type, data).flatMap((target) => (target === data ? [] : [{ ...named, type, target }])),
  )
  return ok([{ ...named, target: data }, ...inLongerData])
}

/** Converts a pattern of the target to patterns of all data, for types whose data contains more. Empty if the type is unknown. */
function targetGlobs(type: string, target: string): string[] {
  const suffix = target.startsWith('*') ? target : `* ${target}`
  if (TARGET_LAST.has(type) || (target.startsWith('*') && target.endsWith('*'))) return isKnown(type) ? [suffix] : []
  if (type === 'CAA') return [target.startsWith('*') ? `${target}"` : `* "${target}"`]
  return TARGET_WITHIN.has(type) ? [suffix, `${suffix} *`] : []
}

const isKnown = (type: string): boolean => TARGET_LAST.has(type) || TARGET_WITHIN.has(type) || type === 'CAA'

interface Globs {
  /** Null for everything. */
  readonly globs: readonly (string | null)[]
  readonly isWider: boolean
}

/** The maximum number of alternatives of one pattern. */
const MAX_ALTERNATIVES = 50

/** Characters that no definition can contain: control characters and line breaks. */
const UNPRINTABLE = /[\p{Cc}\u2028\u2029]/u

/** Replaces an escaped asterisk while a pattern is converted. Patterns with this character are refused. */
const LITERAL_ASTERISK = '\u0000'

/** Converts a pattern of DNSControl (its library is gobwas/glob) to globs of ours. */
function globsOf(pattern: string): Result<Globs> {
  const unsupported = failure(`the pattern ${quoted(pattern)}`)
  if (pattern.length > 1000 || UNPRINTABLE.test(pattern)) return unsupported
  let isWider = false
  // Braces come last, because they may contain other patterns.
  const plain = pattern.replace(/\\(.)|\?|\[[^\]]*\]/gsu, (_, escaped: string | undefined) => {
    if (escaped === '*') return LITERAL_ASTERISK
    if (escaped !== undefined && !/[?[\]{}!\\,]/.test(escaped)) return escaped
    isWider = true
    return '*'
  })
  const alternatives = expandBraces(plain)
  if (alternatives === null || alternatives.some((one) => /[?[\]{}\\]/.test(one))) return unsupported
  const globs = alternatives.map((one) => {
    const glob = one.replace(/\*+/g, '*').replaceAll(LITERAL_ASTERISK, '\\*')
    return glob === '' || glob === '*' ? null : glob
  })
  return isWider && globs.includes(null) ? unsupported : ok({ globs: [...new Set(globs)], isWider })
}

/** Expands `{a,b}`, innermost braces first; null if there are too many alternatives or the braces do not match. */
function expandBraces(pattern: string): string[] | null {
  let texts = [pattern]
  while (texts.some((text) => text.includes('{'))) {
    const next = texts.flatMap((text) => {
      const [all, inner = ''] = /\{([^{}]*)\}/.exec(text) ?? []
      if (all === undefined) return [text]
      const at = text.indexOf(all)
      return inner.split(',').map((part) => text.slice(0, at) + part + text.slice(at + all.length))
    })
    if (next.length > MAX_ALTERNATIVES || next.every((text, i) => text === texts[i])) return null
    texts = next
  }
  return texts
}

/** The arguments of `IGNORE` for a selector; null if no pattern of DNSControl means the same. */
export function ignoreArguments({ name, type, target, owner, preset }: UnmanagedSelector): string[] | null {
  if (owner !== undefined || preset !== undefined) return null
  if (/[?[\]{}!]|\\(?!\*)/.test(`${name ?? ''}${target ?? ''}`)) return null
  const glob = target === undefined ? '*' : targetGlob(type?.toUpperCase(), target)
  if (glob === null) return null
  return [
    name === undefined ? '*' : name === '' ? '@' : name.replace(/(?<!\\)\*+/g, '**'),
    type ?? '*',
    glob.replace(/(?<!\\)\*+/g, '**').replace(/^\*\*$/, '*'),
  ]
}

/** Converts a pattern of all data to one of the target; null if there is none. */
function targetGlob(type: string | undefined, target: string): string | null {
  if (type === undefined || ALL_TARGET.has(type)) return target
  if (type === 'CAA') return /^\* "(.*)"$/s.exec(target)?.[1] ?? null
  if (!TARGET_LAST.has(type)) return null
  const suffix = target.replace(/^\* /, '')
  return suffix !== target || target.startsWith('*') ? suffix : null
}
