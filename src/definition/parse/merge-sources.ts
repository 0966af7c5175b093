/** Merges the records of a definition and its fragments. */
import type { SourcePosition } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { rrsetKey } from '../../dns/record.ts'
import { type DiagnosticCollector, newSource, type RecordSource, type SourceContents } from './parse-state.ts'

/** The records of an RRset in one source. */
interface Contribution {
  readonly source: RecordSource
  readonly name: DomainName
  readonly type: string
  readonly at: SourcePosition
  /** TTL and data of each record, as text. */
  readonly contents: string[]
}

/**
 * Merges the sources of a zone. An RRset must come from a single source, unless the definition overrides that of the fragments, or all
 * sources but one mark theirs with `merge`. Everything else is reported with both positions. Overridden RRsets are removed entirely.
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
    reportUnusedOverride(key, at, from, problems)
  }
  for (const [key, from] of contributions) if (!replaced.has(key)) reportUnmerged(key, from, problems)
  const isKept = (one: Named): boolean => !replaced.has(rrsetKey(one))
  const all = <T extends Named>(listOf: (source: RecordSource) => readonly T[]): T[] => [
    ...listOf(own),
    ...fragments.flatMap((source) => (replaced.size === 0 ? listOf(source) : listOf(source).filter(isKept))),
  ]
  return {
    records: all(({ records }) => records),
    sourced: all(({ sourced }) => sourced),
    providerSpecific: all(({ providerSpecific }) => providerSpecific),
    rrsetTargets: all(({ rrsetTargets }) => rrsetTargets),
    unsupportedKeys: all(({ unsupportedKeys }) => unsupportedKeys),
    lenient: new Set([...own.lenient, ...fragments.flatMap(({ lenient }) => [...lenient].filter((key) => !replaced.has(key)))]),
  }
}

interface Named {
  readonly name: DomainName
  readonly type: string
}

/** Warns of an override without effect: there is nothing to override, or the records are the same. */
function reportUnusedOverride(key: string, at: SourcePosition, from: readonly Contribution[], problems: DiagnosticCollector): void {
  const own = from.find(({ source }) => source.kind === 'definition')
  const others = from.filter((one) => one !== own)
  const warn = (message: string, related?: { message: string; at: SourcePosition }[]): void =>
    problems.report('override-unused', at, key, message, { severity: 'warning', hint: 'Remove override.', related })
  const [other] = others
  if (other === undefined) warn('override has no effect: no included file has these records')
  else if (own !== undefined && others.length === 1 && contentsOf(own, key) === contentsOf(other, key))
    warn(`override has no effect: ${other.at.file} has the same records`, [{ message: 'the same records', at: other.at }])
}

/** The content of an RRset in a source as comparable text. An RRset from a source differs from any other by its position. */
const contentsOf = ({ source, contents }: Contribution, key: string): string =>
  JSON.stringify([[...contents].sort(), scopeOf(source, key), source.lenient.has(key)])

const scopeOf = ({ rrsetTargets }: RecordSource, key: string): string =>
  JSON.stringify(rrsetTargets.filter((scope) => rrsetKey(scope) === key))

function contributionsOf(sources: readonly RecordSource[]): Map<string, Contribution[]> {
  const contributions = new Map<string, Contribution[]>()
  for (const source of sources) {
    for (const record of [...source.records, ...source.sourced]) {
      const { name, type, at } = record
      const key = rrsetKey(record)
      const known = contributions.get(key)
      const last = known?.at(-1)
      const content =
        'data' in record
          ? `${record.ttl} ${record.data} ${record.autoPtr} ${record.owner} ${record.expires} ${JSON.stringify([record.providerSettings, record.ignore])}`
          : JSON.stringify(record)
      if (last?.source === source) last.contents.push(content)
      else if (known === undefined) contributions.set(key, [{ source, name, type, at, contents: [content] }])
      else known.push({ source, name, type, at, contents: [content] })
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
      const message = `${second.at.file} is included twice, so these records come from two inclusions`
      const hint = 'Include it once, or write merge: true at the records to combine both.'
      problems.report('rrset-split', again, key, message, { hint, related: [{ message: 'the other inclusion', at: once }] })
      return
    }
    const hint =
      first.source.kind === 'definition'
        ? 'Write override: true in the definition to replace the records of the fragment, or merge: true in the fragment to combine both.'
        : 'Write merge: true in one of the fragments to combine both.'
    reportConflictingSources(first, second, problems, hint)
    return
  }
  const [one, ...others] = from as [Contribution, ...Contribution[]]
  const different = others.find((other) => scopeOf(other.source, key) !== scopeOf(one.source, key))
  if (different === undefined) return
  const message = `the merged records of ${one.at.file} and ${different.at.file} are for different targets`
  const hint = 'Write the same targets under octodns: in both files.'
  problems.report('rrset-split', different.at, key, message, { hint, related: [{ message: 'the other records', at: one.at }] })
}

/** Reports an RRset with records in two files, neither of which says how to combine them. */
export function reportConflictingSources(
  first: Pick<Contribution, 'at'>,
  second: Pick<Contribution, 'name' | 'type' | 'at'>,
  problems: DiagnosticCollector,
  hint: string,
): void {
  const message = `both ${first.at.file} and ${second.at.file} have these records, and neither says how to combine them`
  problems.report('rrset-split', second.at, `${second.name} ${second.type}`, message, {
    hint,
    related: [{ message: 'the other records', at: first.at }],
  })
}
