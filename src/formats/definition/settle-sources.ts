import type { SourcePosition } from '../../model/diagnostic.ts'
import type { InventoryRrset } from '../../model/inventory.ts'
import { type DefinedRecord, rrsetKey } from '../../model/record.ts'
import type { Faults } from './faults.ts'

/** What one source of a definition says of its RRsets: the definition itself, or one inclusion of a fragment. */
export interface RecordSource {
  readonly kind: 'definition' | 'fragment'
  readonly records: DefinedRecord[]
  readonly inventory: InventoryRrset[]
  /** RRsets marked `merge: true`, by `rrsetKey`. */
  readonly merged: Set<string>
  /** RRsets marked `override: true`, and where. */
  readonly overriding: Map<string, SourcePosition>
}

export const newSource = (kind: RecordSource['kind']): RecordSource => ({
  kind,
  records: [],
  inventory: [],
  merged: new Set(),
  overriding: new Map(),
})

/** The places of an RRset in one source. */
interface Contribution {
  readonly source: RecordSource
  readonly name: string
  readonly type: string
  readonly at: SourcePosition
}

/**
 * One zone of several sources. An RRset comes from one of them, unless the definition overrides those of fragments, or fragments say that theirs
 * are merged: at most one source may leave that unsaid. Anything else is an error with both places.
 */
export function settleSources(sources: readonly RecordSource[], faults: Faults): Pick<RecordSource, 'records' | 'inventory'> {
  const [own, ...fragments] = sources
  if (own === undefined) return newSource('definition')
  if (fragments.length === 0 && own.overriding.size === 0) return own
  const contributions = contributionsOf(sources)
  const replaced = new Set<string>()
  for (const [key, at] of own.overriding) {
    const from = contributions.get(key) ?? []
    if (from.some(({ source }) => source !== own)) replaced.add(key)
    else {
      const { name = '', type = '' } = from[0] ?? {}
      const hint = 'Take override out.'
      faults.report('override-unused', at, `${name} ${type}`, 'no included file has these records, so that nothing is overridden', {
        severity: 'warning',
        hint,
      })
    }
  }
  for (const [key, from] of contributions) if (!replaced.has(key)) reportUnmerged(key, from, faults)
  const stays = (record: { readonly name: DefinedRecord['name']; readonly type: string }): boolean => !replaced.has(rrsetKey(record))
  return {
    records: [...own.records, ...fragments.flatMap(({ records }) => (replaced.size === 0 ? records : records.filter(stays)))],
    inventory: [...own.inventory, ...fragments.flatMap(({ inventory }) => inventory.filter(stays))],
  }
}

function contributionsOf(sources: readonly RecordSource[]): Map<string, Contribution[]> {
  const contributions = new Map<string, Contribution[]>()
  for (const source of sources) {
    for (const record of [...source.records, ...source.inventory]) {
      const { name, type, at } = record
      const key = rrsetKey(record)
      const known = contributions.get(key)
      if (known === undefined) contributions.set(key, [{ source, name, type, at }])
      else if (known.at(-1)?.source !== source) known.push({ source, name, type, at })
    }
  }
  return contributions
}

function reportUnmerged(key: string, from: readonly Contribution[], faults: Faults): void {
  if (from.length < 2) return
  const [first, second] = from.filter(({ source }) => !source.merged.has(key))
  if (first === undefined || second === undefined) return
  const hint =
    first.source.kind === 'definition'
      ? 'Write override: true in the definition to replace those of the fragment, or merge: true in the fragment to have both.'
      : 'Write merge: true in one of the fragments to have both.'
  reportSplit(first, second, faults, hint)
}

/** The error that an RRset has records in two places of which neither says how they go together. */
export function reportSplit(
  first: Pick<Contribution, 'at'>,
  second: Pick<Contribution, 'name' | 'type' | 'at'>,
  faults: Faults,
  hint: string,
): void {
  const message = `the records come from ${first.at.file} and from ${second.at.file}, and neither says how they go together`
  faults.report('rrset-split', second.at, `${second.name} ${second.type}`, message, {
    hint,
    related: [{ message: 'the other records', at: first.at }],
  })
}
