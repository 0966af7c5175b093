/** Merge keys (`<<`) and duplicate keys of YAML mappings. */
import type { Diagnostic, SourcePosition } from '../../base/diagnostic.ts'
import type { DiagnosticCode } from '../../base/diagnostic-codes.ts'
import { isBroken, lookUp, type YamlEntry, type YamlMapping, type YamlNode } from './yaml-node.ts'

/** Reports a problem of a file. */
export type ReportProblem = (
  code: DiagnosticCode,
  message: string,
  at: SourcePosition,
  hint?: string,
  related?: Diagnostic['related'],
) => void

/** Below this many keys, comparing each with each is faster than a map. */
const FEW = 8

/**
 * The entries of a mapping, merged with those of `<<`. The mapping's own keys take precedence, then earlier merges
 * (https://yaml.org/type/merge.html). A duplicate key is reported with both positions; the first one is used.
 */
export function mergeEntries(own: readonly YamlEntry[], report: ReportProblem): readonly YamlEntry[] {
  const distinct = withoutDuplicates(own, report)
  const index = distinct.findIndex(isMerge)
  if (index === -1) return distinct
  const merge = distinct[index] as YamlEntry
  const rest = distinct.filter((_, i) => i !== index)
  const seen = new Set(rest.map((entry) => entry.key.text))
  const merged: YamlEntry[] = []
  for (const source of mergeSources(merge.value, report)) {
    for (const entry of source.entries) {
      if (seen.has(entry.key.text)) continue
      seen.add(entry.key.text)
      merged.push(entry)
    }
  }
  return [...merged, ...rest]
}

const isMerge = (entry: YamlEntry): boolean => entry.key.text === '<<' && entry.key.plain

function mergeSources(value: YamlNode, report: ReportProblem): YamlMapping[] {
  const sources = value.kind === 'sequence' ? value.items : [value]
  return sources.filter((source): source is YamlMapping => {
    if (source.kind === 'mapping') return true
    if (isBroken(source)) return false
    const message = '<< can only merge keys with values, or a list of them'
    report('yaml-unsupported', message, source.at)
    return false
  })
}

function withoutDuplicates(entries: readonly YamlEntry[], report: ReportProblem): readonly YamlEntry[] {
  if (entries.length < FEW && !hasDuplicate(entries)) return entries
  const first = new Map<string, YamlEntry>()
  for (const entry of entries) {
    const { text, at } = entry.key
    const earlier = first.get(text)
    if (earlier === undefined) first.set(text, entry)
    else {
      const [message, hint] = describeDuplicate(entry, earlier)
      report('yaml-duplicate-key', message, at, hint, [{ message: 'the first one', at: earlier.key.at }])
    }
  }
  return first.size === entries.length ? entries : [...first.values()]
}

function describeDuplicate({ key, value }: YamlEntry, earlier: YamlEntry): [message: string, hint: string] {
  const [before, types] = [recordTypes(earlier.value), recordTypes(value)]
  const shown = JSON.stringify(key.text.slice(0, 80))
  if (before.length === 0 || types.length === 0)
    return [`the key ${shown} is given twice`, value.kind === 'scalar' ? 'Keep one of them.' : 'Rename one, or merge the two.']
  const has = `${shown} has ${before.includes('CNAME') ? 'a CNAME record' : `${[...new Set(before)].join(', ')} records`} already`
  if ([...before, ...types].includes('CNAME')) return [`${has}, and a CNAME must be alone at its name`, 'Remove one of the two.']
  return [has, `Put all into one list: ${shown}: [{type: ${before[0]}, …}, {type: ${types[0]}, …}].`]
}

/** The types of the records that a node looks like; empty if it looks like anything else. */
export function recordTypes(node: YamlNode): string[] {
  if (node.kind === 'sequence') return node.items.flatMap(recordTypes)
  const type = node.kind === 'mapping' ? lookUp(node, 'type') : undefined
  return type?.kind === 'scalar' && /^[A-Z]{1,10}[0-9]*$/.test(type.text) ? [type.text] : []
}

function hasDuplicate(entries: readonly YamlEntry[]): boolean {
  for (let i = 1; i < entries.length; i += 1) {
    const text = entries[i]?.key.text
    for (let j = 0; j < i; j += 1) if (entries[j]?.key.text === text) return true
  }
  return false
}
