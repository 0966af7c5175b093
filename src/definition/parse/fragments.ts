import type { Diagnostic, SourcePosition } from '../../dns/diagnostic.ts'
import { didYouMean } from '../../dns/nearest-word.ts'
import { isNull, lookUp, type YamlEntry, type YamlMapping, type YamlNode, type YamlScalar } from '../yaml/yaml-node.ts'
import type { FileLoader } from './file-loader.ts'
import { type DiagnosticCollector, type ParseState, quoted } from './parse-state.ts'
import { readRecordMap } from './read-record-map.ts'
import { type IncludeEntry, SETTING_KEYS } from './read-settings.ts'

/** `${name}` stands for a variable, `$${` for `${`. */
const REFERENCE = /\$(\$\{)|\$\{([^{}]*)\}/g

/** What fills in the variables of fragments; all of a definition's share one, so that together they stay within `maxLength` characters. */
export interface VariableExpansion {
  /** Characters that values may still take. */
  charactersLeft: number
  readonly problems: DiagnosticCollector
}

/**
 * A fragment with its variables filled in. They are filled into scalars of the tree, so that no value can change the structure
 * of the file; a key that comes out the same as another of its mapping is a fault, and so is more text than there may be. Variables without a
 * value are reported; `used` gathers the names that occur.
 */
export function expandVariables(
  root: YamlNode,
  variables: ReadonlyMap<string, string>,
  used: Set<string>,
  filling: VariableExpansion,
): YamlNode {
  const { problems } = filling
  const filled = new Map<YamlNode, YamlNode>()
  const fill = (node: YamlNode): YamlNode => {
    if (node.kind === 'scalar') return fillScalar(node)
    let done = filled.get(node)
    if (done === undefined) {
      done = node.kind === 'sequence' ? { ...node, items: node.items.map(fill) } : fillMapping(node)
      filled.set(node, done)
    }
    return done
  }
  const fillMapping = (node: YamlMapping): YamlMapping => {
    const entries = node.entries.map(({ key, value }) => ({ key: fillScalar(key), value: fill(value) }))
    // The names of the record map itself are compared as names.
    return { ...node, entries: node === root ? entries : withoutTwice(entries, node.entries, problems) }
  }
  const fillScalar = (node: YamlScalar): YamlScalar => {
    if (!node.text.includes('${')) return node
    let whole = true
    const text = node.text.replace(REFERENCE, (reference, literal: string | undefined, name: string | undefined) => {
      if (literal !== undefined) return literal
      const value = variables.get(name ?? '')
      used.add(name ?? '')
      if (value !== undefined) {
        filling.charactersLeft -= value.length
        if (filling.charactersLeft >= 0) return value
        problems.report('include-invalid', root.at, '', 'the values of variables make the included files too long')
        whole = false
        return ''
      }
      const hint =
        didYouMean(name ?? '', variables.keys()) ?? 'Give it a value under `with:` of the include; write $${ for the characters themselves.'
      problems.report('variable-unknown', node.at, '', `the variable ${reference} has no value`, { hint })
      whole = false
      return reference
    })
    // What a value stands for is text, be it empty or `null`.
    const done = { ...node, text }
    return whole ? { ...done, plain: node.plain && !isNull(done) } : { ...done, broken: true }
  }
  return fill(root)
}

/** The entries without those whose key a variable has made the same as an earlier one's. */
function withoutTwice(entries: readonly YamlEntry[], before: readonly YamlEntry[], problems: DiagnosticCollector): readonly YamlEntry[] {
  if (entries.every(({ key }, i) => key === before[i]?.key)) return entries
  const first = new Map<string, YamlScalar>()
  return entries.filter(({ key }) => {
    const earlier = first.get(key.text)
    if (earlier === undefined) {
      first.set(key.text, key)
      return true
    }
    const related = [{ message: 'the other key', at: earlier.at }]
    problems.report('yaml-duplicate-key', key.at, '', `variables make two keys ${quoted(key.text)} of one mapping`, { related })
    return false
  })
}

/** A plain string under `domain:` marks the layout with settings; in a record map a record or a list of them stands there. */
export function hasSettings(root: YamlNode): root is YamlMapping {
  return root.kind === 'mapping' && lookUp(root, 'domain')?.kind === 'scalar'
}

/** The first key of a record map that is no name of records but a setting. */
export function straySetting(root: YamlNode): YamlScalar | undefined {
  if (root.kind !== 'mapping') return undefined
  return root.entries.find(({ key, value }) => {
    if (key.text === 'records') return value.kind === 'mapping' && lookUp(value, 'type')?.kind !== 'scalar'
    if (key.text === 'include') return value.kind === 'sequence' && value.items.some(({ kind }) => kind === 'scalar')
    return (SETTING_KEYS as readonly string[]).includes(key.text) && value.kind === 'scalar' && !isNull(value)
  })?.key
}

/** Faults of other files, from one on, say where those were included: with other variables they may be none. */
export function nameInclusion(diagnostics: Diagnostic[], from: number, at: SourcePosition): void {
  for (const [index, one] of diagnostics.entries()) {
    if (index < from || one.at === undefined || one.at.file === at.file) continue
    diagnostics[index] = { ...one, related: [...(one.related ?? []), { message: 'included', at }] }
  }
}

/** Takes the records of a fragment into the zone. */
export function readFragment(entry: IncludeEntry, files: FileLoader, state: ParseState, filling: VariableExpansion): void {
  const { problems } = state
  const refuse = (message: string): void => problems.report('include-invalid', entry.at, state.zone, `${quoted(entry.path)} ${message}`)
  if (/\.(?:zone|db)$/i.test(entry.path)) {
    refuse('is a zone file; a fragment is a map of records in YAML, and $INCLUDE of zone files takes others')
    return
  }
  const tree = files.include(entry.path, entry.at)
  if (tree === null) return
  if (hasSettings(tree)) {
    refuse('is a definition of its own (it has domain:), not a fragment of records')
    return
  }
  const stray = straySetting(tree)
  if (stray !== undefined) {
    refuse(`has the setting ${quoted(stray.text)}; a fragment has records only, at its top`)
    return
  }
  const used = new Set<string>()
  const root = expandVariables(tree, entry.with, used, filling)
  for (const name of entry.with.keys()) {
    if (used.has(name)) continue
    problems.report('variable-unused', entry.at, state.zone, `${quoted(entry.path)} does not use the variable ${quoted(name)}`, {
      severity: 'warning',
    })
  }
  readRecordMap(root, state)
}
