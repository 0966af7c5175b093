import { parseRecordType } from '../../dns/record-type.ts'
import { failure, ok, type Result } from '../../dns/result.ts'
import type { UnmanagedSelector } from '../../dns/zone.ts'

/** One `IGNORE` of DNSControl, as its intermediate JSON has it. An absent pattern stands for everything. */
export interface IgnorePattern {
  readonly label: string
  /** Types with commas, or `*`. */
  readonly types: string
  readonly target: string
}

/** Types of whose data the last part is what DNSControl's pattern is of; ours is of all. */
const TARGET_LAST: ReadonlySet<string> = new Set('MX NAPTR SRV SSHFP TLSA SMIMEA'.split(' '))

/** Types whose target may have more behind it. */
const TARGET_WITHIN: ReadonlySet<string> = new Set(['HTTPS', 'SVCB'])

/** Types whose data is what DNSControl's pattern is of. */
const ALL_TARGET: ReadonlySet<string> = new Set('A AAAA ALIAS CNAME DHCID DNAME NS OPENPGPKEY PTR TXT'.split(' '))

/** What an `IGNORE` comes to here. */
export interface IgnoreSelectors {
  readonly selectors: readonly UnmanagedSelector[]
  /** They leave more to others than the `IGNORE` does: its pattern says of single characters what none can be. */
  readonly isWider: boolean
  /** Types that only DNSControl knows, of which there are no records here; no selector is of them. */
  readonly ownTypes: readonly string[]
}

/**
 * An `IGNORE` as selectors, one for each type and alternative. Its `*` goes over dots, as `**` does: DNSControl compiles its patterns without
 * separators (its pkg/diff2/handsoff.go), though its documentation has a `*` end at a dot. What stands for one character (`?`, `[ab]`, an
 * escaped `*`) becomes `*`.
 */
export function selectorsOf({ label, types, target }: IgnorePattern): Result<IgnoreSelectors> {
  const names = globsOf(label)
  if (!names.ok) return names
  const datas = globsOf(target)
  if (!datas.ok) return datas
  const list = types
    .split(',')
    .map((type) => type.trim().toUpperCase())
    .filter((type) => type !== '')
  if (list.some((type) => type !== '*' && !/^[A-Z0-9_-]{1,30}$/.test(type)))
    return failure(`the types ${JSON.stringify(types.slice(0, 60))}`)
  const ofTypes = list.length === 0 || list.includes('*') ? null : list.filter((type) => parseRecordType(type).ok)
  const ownTypes = ofTypes === null ? [] : list.filter((type) => !ofTypes.includes(type))
  const selectors: UnmanagedSelector[] = []
  for (const name of names.value.globs) {
    for (const data of datas.value.globs) {
      const parts = selectorsOfGlobs(name, ofTypes, data)
      if (!parts.ok) return parts
      selectors.push(...parts.value)
    }
  }
  return ok({ selectors, isWider: names.value.isWider || datas.value.isWider, ownTypes })
}

/** The same for one glob each; null is of everything. */
function selectorsOfGlobs(name: string | null, types: readonly string[] | null, data: string | null): Result<UnmanagedSelector[]> {
  if (types === null && name === null && data === null) return failure('it leaves everything to others')
  const named = name === null ? {} : { name }
  if (data === null) return ok((types ?? [null]).map((type) => ({ ...named, ...(type !== null && { type }) })))
  const other = types?.find((type) => !ALL_TARGET.has(type) && targetGlobs(type, data).length === 0)
  if (other !== undefined) return failure(`a target of type ${other}`)
  if (types !== null)
    return ok(
      types.flatMap((type) => (ALL_TARGET.has(type) ? [data] : targetGlobs(type, data)).map((target) => ({ ...named, type, target }))),
    )
  const behindOthers = [...TARGET_LAST, 'CAA', ...TARGET_WITHIN].flatMap((type) =>
    targetGlobs(type, data).flatMap((target) => (target === data ? [] : [{ ...named, type, target }])),
  )
  return ok([{ ...named, target: data }, ...behindOthers])
}

/** A pattern of the target as patterns of all data of a type in which more stands than that; none where it is not known what. */
function targetGlobs(type: string, target: string): string[] {
  const behind = target.startsWith('*') ? target : `* ${target}`
  if (TARGET_LAST.has(type) || (target.startsWith('*') && target.endsWith('*'))) return isKnown(type) ? [behind] : []
  if (type === 'CAA') return [target.startsWith('*') ? `${target}"` : `* "${target}"`]
  return TARGET_WITHIN.has(type) ? [behind, `${behind} *`] : []
}

const isKnown = (type: string): boolean => TARGET_LAST.has(type) || TARGET_WITHIN.has(type) || type === 'CAA'

interface Globs {
  /** Null for everything. */
  readonly globs: readonly (string | null)[]
  readonly isWider: boolean
}

/** Alternatives that one pattern may come to. */
const MOST_ALTERNATIVES = 50

/** What no text of a definition is: control characters, line ends, half of a character. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029]/u

/** A pattern of DNSControl's (its library is gobwas/glob) as globs of ours. */
function globsOf(pattern: string): Result<Globs> {
  const unheld = failure(`the pattern ${JSON.stringify(pattern.slice(0, 60))}`)
  if (pattern.length > 1000 || UNPRINTABLE.test(pattern)) return unheld
  let isWider = false
  // Braces last: within them other patterns may stand.
  const plain = pattern.replace(/\\(.)|\?|\[[^\]]*\]/gsu, (_, escaped: string | undefined) => {
    if (escaped !== undefined && !/[*?[\]{}!\\,]/.test(escaped)) return escaped
    isWider = true
    return '*'
  })
  const alternatives = expandBraces(plain)
  if (alternatives === null || alternatives.some((one) => /[?[\]{}\\]/.test(one))) return unheld
  const globs = alternatives.map((one) => {
    const glob = one.replace(/\*+/g, '*')
    return glob === '' || glob === '*' ? null : glob
  })
  return isWider && globs.includes(null) ? unheld : ok({ globs: [...new Set(globs)], isWider })
}

/** The texts that `{a,b}` stands for, innermost braces first; null where they are too many or do not fit together. */
function expandBraces(pattern: string): string[] | null {
  let texts = [pattern]
  while (texts.some((text) => text.includes('{'))) {
    const next = texts.flatMap((text) => {
      const [all, inner = ''] = /\{([^{}]*)\}/.exec(text) ?? []
      if (all === undefined) return [text]
      const at = text.indexOf(all)
      return inner.split(',').map((part) => text.slice(0, at) + part + text.slice(at + all.length))
    })
    if (next.length > MOST_ALTERNATIVES || next.every((text, i) => text === texts[i])) return null
    texts = next
  }
  return texts
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

/** A pattern of all data as one of the target. */
function targetGlob(type: string | undefined, target: string): string | null {
  if (type === undefined || ALL_TARGET.has(type)) return target
  if (type === 'CAA') return /^\* "(.*)"$/s.exec(target)?.[1] ?? null
  if (!TARGET_LAST.has(type)) return null
  const behind = target.replace(/^\* /, '')
  return behind !== target || target.startsWith('*') ? behind : null
}
