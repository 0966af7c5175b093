import type { SourcePosition } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { rrsetKey } from '../../dns/record.ts'
import { type DiagnosticCollector, newSource, type RecordSource, type SourceContents } from './parse-state.ts'

/** An RRset in one source. */
interface Contribution {
  readonly source: RecordSource
  readonly name: DomainName
  readonly type: string
  readonly at: SourcePosition
  /** All that is said of it, as text. */
  readonly says: string[]
}

/**
 * One zone of several sources. An RRset comes from one of them, unless the definition overrides those of fragments, or fragments say that theirs
 * are merged: at most one source may leave that unsaid. Anything else is an error with both places. What is overridden is gone with all that
 * was said of it.
 */
export function mergeSources(sources: readonly RecordSource[], problems: DiagnosticCollector): SourceContents {
  const [own, ...fragments] = sources
  if (own === undefined) return newSource('definition')
  if (fragments.length === 0 && own.overriding.size === 0) return own
  const contributions = contributionsOf(sources)
  const replaced = new Set<string>()
  for (const [key, at] of own.overriding) {
    const from = contributions.get(key) ?? []
    if (from.some(({ source }) => source !== own)) replaced.add(key)
    reportIdle(key, at, from, problems)
  }
  for (const [key, from] of contributions) if (!replaced.has(key)) reportUnmerged(key, from, problems)
  const stays = (one: Named): boolean => !replaced.has(rrsetKey(one))
  const all = <T extends Named>(listOf: (source: RecordSource) => readonly T[]): T[] => [
    ...listOf(own),
    ...fragments.flatMap((source) => (replaced.size === 0 ? listOf(source) : listOf(source).filter(stays))),
  ]
  return {
    records: all(({ records }) => records),
    inventory: all(({ inventory }) => inventory),
    foreign: all(({ foreign }) => foreign),
    scopes: all(({ scopes }) => scopes),
    unsupportedKeys: all(({ unsupportedKeys }) => unsupportedKeys),
    lenient: new Set([...own.lenient, ...fragments.flatMap(({ lenient }) => [...lenient].filter((key) => !replaced.has(key)))]),
  }
}

interface Named {
  readonly name: DomainName
  readonly type: string
}

/** A warning where an override has no effect: there is nothing to override, or it says the same. */
function reportIdle(key: string, at: SourcePosition, from: readonly Contribution[], problems: DiagnosticCollector): void {
  const own = from.find(({ source }) => source.kind === 'definition')
  const others = from.filter((one) => one !== own)
  const warn = (message: string, related?: { message: string; at: SourcePosition }[]): void =>
    problems.report('override-unused', at, key, message, { severity: 'warning', hint: 'Take override out.', related })
  const [other] = others
  if (other === undefined) warn('no included file has these records, so that nothing is overridden')
  else if (own !== undefined && others.length === 1 && saysOf(own, key) === saysOf(other, key))
    warn(`${other.at.file} says the same, so that nothing is overridden`, [{ message: 'the same records', at: other.at }])
}

/** All that a source says of an RRset, as text. Where its records come from an inventory, their place is of it. */
const saysOf = ({ source, says }: Contribution, key: string): string =>
  JSON.stringify([[...says].sort(), scopeOf(source, key), source.lenient.has(key)])

const scopeOf = ({ scopes }: RecordSource, key: string): string => JSON.stringify(scopes.filter((scope) => rrsetKey(scope) === key))

function contributionsOf(sources: readonly RecordSource[]): Map<string, Contribution[]> {
  const contributions = new Map<string, Contribution[]>()
  for (const source of sources) {
    for (const record of [...source.records, ...source.inventory]) {
      const { name, type, at } = record
      const key = rrsetKey(record)
      const known = contributions.get(key)
      const last = known?.at(-1)
      const says = 'data' in record ? `${record.ttl} ${record.data}` : JSON.stringify(record)
      if (last?.source === source) last.says.push(says)
      else if (known === undefined) contributions.set(key, [{ source, name, type, at, says: [says] }])
      else known.push({ source, name, type, at, says: [says] })
    }
  }
  return contributions
}

function reportUnmerged(key: string, from: readonly Contribution[], problems: DiagnosticCollector): void {
  if (from.length < 2) return
  const [first, second] = from.filter(({ source }) => !source.merged.has(key))
  if (first !== undefined && second !== undefined) {
    const [again, once] = [second.source.includedAt, first.source.includedAt]
    if (again !== null && once !== null && first.at.file === second.at.file) {
      const message = `${second.at.file} is included twice, and does not say how its records go together`
      const hint = 'Include it once, or write merge: true in it to have the records of both.'
      problems.report('rrset-split', again, key, message, { hint, related: [{ message: 'the other inclusion', at: once }] })
      return
    }
    const hint =
      first.source.kind === 'definition'
        ? 'Write override: true in the definition to replace those of the fragment, or merge: true in the fragment to have both.'
        : 'Write merge: true in one of the fragments to have both.'
    reportConflictingSources(first, second, problems, hint)
    return
  }
  const [one, ...others] = from as [Contribution, ...Contribution[]]
  const odd = others.find((other) => scopeOf(other.source, key) !== scopeOf(one.source, key))
  if (odd === undefined) return
  const message = `the merged records of ${one.at.file} and of ${odd.at.file} are for different targets`
  const hint = 'Write the same under octodns: in both.'
  problems.report('rrset-split', odd.at, key, message, { hint, related: [{ message: 'the other records', at: one.at }] })
}

/** The error that an RRset has records in two places of which neither says how they go together. */
export function reportConflictingSources(
  first: Pick<Contribution, 'at'>,
  second: Pick<Contribution, 'name' | 'type' | 'at'>,
  problems: DiagnosticCollector,
  hint: string,
): void {
  const message = `the records come from ${first.at.file} and from ${second.at.file}, and neither says how they go together`
  problems.report('rrset-split', second.at, `${second.name} ${second.type}`, message, {
    hint,
    related: [{ message: 'the other records', at: first.at }],
  })
}
